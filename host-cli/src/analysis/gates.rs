//! What else differs between two sides, beside what was meant to.

use super::{Asked, Gate, RunSummary};

/// Everything that differs between the sides and would make a difference by itself.
pub fn gates(_base: &[&RunSummary], _new: &[&RunSummary], _asked: &Asked) -> Vec<Gate> {
    Vec::new()
}
