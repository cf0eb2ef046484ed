//! What people and scripts read. Names and messages that come from a device are made harmless before they
//! are shown.

pub mod fio_command;
mod imports;
pub mod json;
pub mod lkp;
mod mail;
mod markdown;
mod phrases;
pub mod text;

pub use imports::{Audited, ImportedFile, audit};
pub use mail::mail;
pub use markdown::markdown;

/// Said with every time that comes from an emulated machine.
pub const EMULATED: &str = "emulated: times are instruction counts at best, never phone latencies";
