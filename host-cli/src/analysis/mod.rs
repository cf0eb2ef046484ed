//! From what a device sent to figures. Pure functions: the device measures and never judges, this side judges
//! and never measures, so that a report can be made again from its run files alone.

pub mod commits;
mod compare;
mod comparison;
pub mod completion;
mod conditions;
pub mod config;
pub mod deltas;
mod environment;
mod figures;
mod gates;
pub mod hops;
mod imported;
pub mod latency;
mod name;
mod qualify;
pub mod quality;
mod resolution;
pub mod statistics;
mod summary;

pub use compare::{Judgement, MIN_RUNS, Question, WORTH_EXPLAINING_US, compare, compare_imported, judge};
pub use comparison::*;
pub use conditions::{Conditions, ConfigSummary, Temperature};
pub use environment::environment;
pub use figures::*;
pub use gates::gates;
pub use imported::*;
pub use qualify::*;
pub use resolution::{Quantum, quantum};
pub use summary::summarize;

/// `count` per operation; `None` without operations.
fn per_op(count: u64, ops: u64) -> Option<f64> {
    (ops > 0).then(|| count as f64 / ops as f64)
}
