//! Two sides, side by side: what differs, by how many microseconds, whether chance is excluded, and whether the hops
//! explain it.

mod hops;
mod imported;
mod judge;
mod key;
mod metric;

pub use hops::WORTH_EXPLAINING_US;
pub use imported::compare_imported;
pub use judge::{Judgement, MIN_RUNS, Question, judge};

use super::{
    Asked, Better, Comparison, Gate, LeftOut, NotComparable, RunSummary, SideSummary, environment, gates,
};
use hops::{explained, hop_pairs};
pub(super) use key::common_key;
use metric::{Figure, Metric};
use std::collections::BTreeSet;

/// Compares two sides. Runs that are not valid are left out and named.
///
/// # Errors
/// A side is empty, or the runs did different things.
pub fn compare(base: &[RunSummary], new: &[RunSummary], asked: &Asked) -> Result<Comparison, NotComparable> {
    for (runs, side) in [(base, "base"), (new, "new")] {
        if runs.is_empty() {
            return Err(NotComparable::NoRuns(side));
        }
    }
    if let Some(twice) = twice(base.iter().chain(new).map(|run| &run.id)) {
        return Err(NotComparable::Twice(twice));
    }
    let left_out = base.iter().chain(new).filter(|run| !run.quality.valid).map(LeftOut::of).collect();
    let out = [base, new].map(|runs| runs.iter().filter(|run| !run.quality.valid).collect::<Vec<_>>());
    let (base, new) = (valid(base), valid(new));
    let all: Vec<&RunSummary> = base.iter().chain(&new).copied().collect();
    let key = common_key(&all)?;
    let mut gates = gates(&base, &new, asked);
    gates.extend(devices(&base, &new));
    let blocked = gates.iter().find(|gate| gate.blocks).map(|gate| gate.sentence.clone());
    let metrics = RUN_METRICS.iter().map(|metric| {
        let metric = metric.of_runs(&base, &new, &out);
        let additive = metric.additive;
        let mut compared = metric.compare(asked.margin_percent, blocked.as_deref());
        if additive && compared.base.n.min(compared.new.n) >= MIN_RUNS {
            compared.explained = explained(&base, &new);
        }
        compared
    });
    Ok(Comparison {
        base: side_summary(&base),
        new: side_summary(&new),
        key,
        emulated: all.iter().any(|run| run.system.emulated == Some(true)),
        imported: false,
        margin_percent: asked.margin_percent,
        metrics: metrics.collect(),
        hops: hop_pairs(&base, &new),
        environment: environment(&base, &new),
        gates,
        left_out,
        notes: notes(&all, &base, &new),
    })
}

impl LeftOut {
    /// A run and what failed of it.
    pub(super) fn of(run: &RunSummary) -> Self {
        Self { id: run.id.clone(), reasons: run.quality.failed.clone() }
    }
}

fn valid(runs: &[RunSummary]) -> Vec<&RunSummary> {
    runs.iter().filter(|run| run.quality.valid).collect()
}

/// A run that is there more than once: it would count as two.
fn twice<'a>(ids: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut seen = BTreeSet::new();
    ids.into_iter().find(|id| !seen.insert(*id)).cloned()
}

/// A metric of a run.
pub(super) struct RunMetric {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) better: Better,
    pub(super) of: fn(&RunSummary) -> Option<f64>,
    additive: bool,
}

/// The metrics of a run that are compared.
pub(super) const RUN_METRICS: [RunMetric; 4] = [
    RunMetric {
        name: "latency_mean_ns",
        unit: "ns",
        better: Better::Lower,
        of: |run| run.latency_ns.map(|latency| latency.mean),
        additive: true,
    },
    RunMetric {
        name: "latency_p50_ns",
        unit: "ns",
        better: Better::Lower,
        of: |run| run.latency_ns.map(|latency| latency.p50 as f64),
        additive: false,
    },
    RunMetric {
        name: "latency_p99_ns",
        unit: "ns",
        better: Better::Lower,
        of: |run| run.latency_ns.map(|latency| latency.p99 as f64),
        additive: false,
    },
    RunMetric { name: "iops", unit: "IOPS", better: Better::Higher, of: |run| run.iops, additive: false },
];

impl RunMetric {
    fn of_runs<'a>(
        &self,
        base: &[&'a RunSummary],
        new: &[&'a RunSummary],
        out: &[Vec<&RunSummary>; 2],
    ) -> Metric<'a> {
        let first_ns = base.iter().chain(new).map(|run| run.begun_unix_ns).min().unwrap_or(0);
        let figure = |run: &&'a RunSummary| {
            let since_ns = run.begun_unix_ns.saturating_sub(first_ns);
            Some(Figure {
                id: &run.id,
                device: Some(&run.device),
                boot: run.boot_id.as_deref(),
                at_s: Some(since_ns as f64 / 1e9),
                value: (self.of)(run)?,
            })
        };
        Metric {
            name: self.name.to_owned(),
            unit: self.unit.to_owned(),
            better: self.better,
            additive: self.additive,
            base: base.iter().filter_map(figure).collect(),
            new: new.iter().filter_map(figure).collect(),
            left_out: out.each_ref().map(|runs| runs.iter().filter_map(|run| (self.of)(run)).collect()),
        }
    }
}

/// What differs between two devices looks like a difference between the sides.
fn devices(base: &[&RunSummary], new: &[&RunSummary]) -> Option<Gate> {
    let names = |runs: &[&RunSummary]| runs.iter().map(|run| run.device.clone()).collect::<BTreeSet<_>>();
    let (base, new) = (names(base), names(new));
    let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    (base != new && !base.is_empty() && !new.is_empty()).then(|| Gate {
        name: "device".to_owned(),
        sentence: format!(
            "device: the base was measured on {} and the new side on {}: what differs between devices cannot be told apart",
            list(&base),
            list(&new)
        ),
        blocks: true,
    })
}

fn side_summary(runs: &[&RunSummary]) -> SideSummary {
    let distinct = |values: &mut dyn Iterator<Item = String>| {
        values.collect::<BTreeSet<String>>().into_iter().collect::<Vec<String>>()
    };
    let mut paths = Vec::new();
    for run in runs {
        if !paths.contains(&run.completion.path) {
            paths.push(run.completion.path);
        }
    }
    SideSummary {
        variants: distinct(&mut runs.iter().map(|run| run.variant.clone())),
        kernels: distinct(&mut runs.iter().filter_map(|run| run.system.kernel_release.clone())),
        paths,
        runs: runs.iter().map(|run| run.id.clone()).collect(),
    }
}

fn notes(all: &[&RunSummary], base: &[&RunSummary], new: &[&RunSummary]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut differ = |what: &str, of: fn(&RunSummary) -> Option<String>| {
        let values: BTreeSet<String> = all.iter().filter_map(|run| of(run)).collect();
        if values.len() > 1 {
            let values: Vec<String> = values.into_iter().collect();
            notes.push(format!("{what} differ: {}", values.join(", ")));
        }
    };
    differ("machines", |run| run.system.model.clone());
    differ("seeds", |run| run.load.as_ref().map(|load| load.seed.to_string()));
    for (runs, side) in [(base, "base"), (new, "new")] {
        let summary = side_summary(runs);
        if summary.paths.len() > 1 {
            notes.push(format!(
                "completions of the {side} side took more than one path: do not average over them"
            ));
        }
        if summary.kernels.len() > 1 {
            notes.push(format!("the {side} side has more than one kernel: {}", summary.kernels.join(", ")));
        }
    }
    notes
}
