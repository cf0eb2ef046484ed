//! The hops side by side, and whether they account for the difference.

use super::judge::MIN_RUNS;
use crate::analysis::statistics::mean;
use crate::analysis::{Explained, Hop, HopPair, RunSummary};

/// With less than this to explain, in microseconds, no part of it is.
pub const WORTH_EXPLAINING_US: f64 = 0.1;

/// Mean of a hop over the runs, in microseconds. `None` if no run has it.
fn hop_us(runs: &[&RunSummary], name: &str) -> Option<f64> {
    let means: Vec<f64> = runs
        .iter()
        .flat_map(|run| &run.hops)
        .filter(|hop| hop.name == name)
        .map(|hop| hop.mean_ns / 1e3)
        .collect();
    mean(&means)
}

pub(super) fn hop_pairs(base: &[&RunSummary], new: &[&RunSummary]) -> Vec<HopPair> {
    let enough = base.len().min(new.len()) >= MIN_RUNS;
    Hop::NAMES
        .into_iter()
        .map(|name| (name, hop_us(base, name), hop_us(new, name)))
        .filter(|(_, base, new)| base.is_some() || new.is_some())
        .map(|(name, base_us, new_us)| {
            // A hop that is not there takes no time; without a hops pass nothing can be said.
            let measured = hop_us(base, Hop::TOTAL).and(hop_us(new, Hop::TOTAL)).filter(|_| enough);
            let added_us = measured.map(|_| new_us.unwrap_or(0.0) - base_us.unwrap_or(0.0));
            HopPair { name, base_us, new_us, added_us }
        })
        .collect()
}

pub(super) fn explained(base: &[&RunSummary], new: &[&RunSummary]) -> Option<Explained> {
    let pairs = hop_pairs(base, new);
    let of_us = pairs.iter().find(|pair| pair.name == Hop::TOTAL)?.added_us?;
    let parts: Vec<f64> =
        pairs.iter().filter(|pair| pair.name != Hop::TOTAL).filter_map(|pair| pair.added_us).collect();
    if parts.is_empty() {
        return None;
    }
    let by_hops_us: f64 = parts.iter().sum();
    let fraction = (of_us.abs() >= WORTH_EXPLAINING_US).then(|| by_hops_us / of_us);
    Some(Explained { by_hops_us, of_us, fraction })
}
