//! The `tophalf` command as a library, so that its tests reach every part.

pub mod analysis;
pub mod recording;
pub mod report;
pub mod run_header;
