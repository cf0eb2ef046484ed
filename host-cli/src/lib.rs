//! The host side of tophalf: meets the device through a byte stream, keeps what it sends, and makes figures
//! and texts of it. `tophalf`, the command, is [`cli::main`].
#![forbid(unsafe_code)]

pub mod agents;
pub mod analysis;
pub mod campaign;
pub mod cli;
pub mod device;
pub mod exchange;
pub mod failure;
pub mod interrupt;
pub mod load;
mod printable;
pub mod recording;
pub mod report;
pub mod run_header;
mod run_options;
pub mod session;
pub mod store;
mod units;
mod workload;
