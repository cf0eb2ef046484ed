//! Exactly one JSON document for scripts, described in `docs/json.md`.

use crate::analysis::{Comparison, RunSummary};
use crate::recording::Recording;
use serde_json::{Value, json};

/// `{"schema":1,"runs":[…]}`
pub fn runs(runs: &[RunSummary]) -> Value {
    json!({ "schema": 1, "runs": runs })
}

/// `{"schema":1,"comparisons":[…],…}`
pub fn comparison(comparison: &Comparison) -> Value {
    json!({ "schema": 1, "comparisons": comparison.metrics })
}

/// `{"schema":1,"probes":[…]}`
pub fn probe(device: &str, recording: &Recording) -> Value {
    json!({ "schema": 1, "probes": [{ "device": device, "frames": recording.frames }] })
}
