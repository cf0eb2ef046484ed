//! What people and scripts read. Names and messages that come from a device are made harmless before they
//! are shown.

mod imports;
pub mod json;
pub mod text;

pub use imports::{Audited, ImportedFile, audit};

/// Said with every time that comes from an emulated machine.
pub const EMULATED: &str = "emulated: times are instruction counts at best, never phone latencies";
