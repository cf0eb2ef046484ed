//! What runs were made in, side against side.

use super::{EnvironmentLine, RunSummary};

/// The environment of both sides, a line a thing.
pub fn environment(_base: &[&RunSummary], _new: &[&RunSummary]) -> Vec<EnvironmentLine> {
    Vec::new()
}
