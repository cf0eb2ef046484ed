//! What people and scripts read.

pub mod json;
pub mod text;
