//! What must be equal in all runs of a comparison.

use crate::analysis::{LoadSummary, NotComparable, RunSummary};
use std::collections::BTreeSet;

/// What must be equal in all runs. A span of 1 MiB against a whole device made 2.08 k against 75 IOPS
/// (koct9i/ioping#31), and a file costs what a raw device does not.
fn key_of(run: &RunSummary) -> Vec<(String, String)> {
    let unknown = || "unknown".to_owned();
    let load = |of: fn(&LoadSummary) -> String| run.load.as_ref().map_or_else(unknown, of);
    let flag = |flag: Option<bool>, yes: &str, no: &str| {
        flag.map_or_else(unknown, |is| if is { yes.to_owned() } else { no.to_owned() })
    };
    [
        ("engine", load(|load| load.engine.to_owned())),
        ("pattern", load(|load| load.pattern.to_owned())),
        ("reads", load(|load| format!("{} %", load.read_percent))),
        ("block", load(|load| format!("{} bytes", load.block_bytes))),
        ("span", run.target.span_bytes.map_or_else(unknown, |span| format!("{span} bytes"))),
        ("target", flag(run.target.block_device, "a block device", "a file")),
        ("I/O", flag(run.target.direct, "direct", "buffered")),
        ("placement", load(|load| load.cpu.map_or("free".to_owned(), |cpu| format!("CPU{cpu}")))),
        ("machine", flag(run.system.emulated, "emulated", "real")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

pub(in crate::analysis) fn common_key(runs: &[&RunSummary]) -> Result<Vec<(String, String)>, NotComparable> {
    let keys: Vec<Vec<(String, String)>> = runs.iter().map(|run| key_of(run)).collect();
    let first = keys.first().cloned().unwrap_or_default();
    let mut differ = Vec::new();
    for (at, (name, value)) in first.iter().enumerate() {
        let values: BTreeSet<&str> = keys.iter().map(|key| key[at].1.as_str()).collect();
        if values.len() > 1 {
            let values: Vec<&str> = values.into_iter().collect();
            differ.push(format!("{name}: {}", values.join(" against ")));
        } else if value == "unknown" {
            differ.push(format!("{name} is not known: the run files are not whole"));
        }
    }
    if differ.is_empty() { Ok(first) } else { Err(NotComparable::Differ(differ)) }
}
