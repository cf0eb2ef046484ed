//! Plain text for a terminal or a mail.

use crate::analysis::{Comparison, RunSummary};
use crate::recording::Recording;

/// One run.
pub fn run(run: &RunSummary) -> String {
    run.id.clone()
}

/// What a probe found.
pub fn probe(device: &str, recording: &Recording) -> String {
    format!("{device} {}", recording.frames)
}

/// Two sides.
pub fn comparison(comparison: &Comparison) -> String {
    format!("{}", comparison.metrics.len())
}
