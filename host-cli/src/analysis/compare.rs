//! Two sides, side by side: what differs, by how many microseconds, and whether the hops explain it.

use super::{
    Asked, Better, Comparison, Design, Explained, Hop, HopPair, LeftOut, MetricComparison, NotComparable,
    RunSummary, Side, SideSummary, Verdict, environment, gates,
};
use std::collections::BTreeSet;

/// Fewest runs a side from which a difference is made: from one run each, only the values are shown.
pub const MIN_RUNS: usize = 2;

/// With less than this to explain, in microseconds, no part of it is.
pub const WORTH_EXPLAINING_US: f64 = 0.1;

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
    let left_out = base
        .iter()
        .chain(new)
        .filter(|run| !run.quality.valid)
        .map(|run| LeftOut { id: run.id.clone(), reasons: run.quality.failed.clone() })
        .collect();
    let (base, new) = (valid(base), valid(new));
    let all: Vec<&RunSummary> = base.iter().chain(&new).copied().collect();
    let key = common_key(&all)?;
    Ok(Comparison {
        base: side_summary(&base),
        new: side_summary(&new),
        key,
        emulated: all.iter().any(|run| run.system.emulated == Some(true)),
        metrics: METRICS.iter().map(|metric| compare_metric(metric, &base, &new)).collect(),
        hops: hop_pairs(&base, &new),
        imported: false,
        margin_percent: asked.margin_percent,
        gates: gates(&base, &new, asked),
        environment: environment(&base, &new),
        left_out,
        notes: notes(&all, &base, &new),
    })
}

fn valid(runs: &[RunSummary]) -> Vec<&RunSummary> {
    runs.iter().filter(|run| run.quality.valid).collect()
}

struct Metric {
    name: &'static str,
    of: fn(&RunSummary) -> Option<f64>,
    /// Its difference is what each operation takes more.
    additive: bool,
}

const METRICS: [Metric; 4] = [
    Metric { name: "latency_mean_ns", of: |run| run.latency_ns.map(|latency| latency.mean), additive: true },
    Metric {
        name: "latency_p50_ns",
        of: |run| run.latency_ns.map(|latency| latency.p50 as f64),
        additive: false,
    },
    Metric {
        name: "latency_p99_ns",
        of: |run| run.latency_ns.map(|latency| latency.p99 as f64),
        additive: false,
    },
    Metric { name: "iops", of: |run| run.iops, additive: false },
];

/// What must be equal in all runs. A span of 1 MiB against a whole device made 2.08 k against 75 IOPS
/// (koct9i/ioping#31), and a file costs what a raw device does not.
fn key_of(run: &RunSummary) -> Vec<(String, String)> {
    let unknown = || "unknown".to_owned();
    let load = |of: fn(&super::LoadSummary) -> String| run.load.as_ref().map_or_else(unknown, of);
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

fn common_key(runs: &[&RunSummary]) -> Result<Vec<(String, String)>, NotComparable> {
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

fn side(metric: &Metric, runs: &[&RunSummary]) -> Side {
    let with_value: Vec<(&RunSummary, f64)> =
        runs.iter().copied().filter_map(|run| Some((run, (metric.of)(run)?))).collect();
    let values: Vec<f64> = with_value.iter().map(|(_, value)| *value).collect();
    let boots: Option<BTreeSet<&String>> = with_value.iter().map(|(run, _)| run.boot_id.as_ref()).collect();
    Side {
        n: values.len(),
        boots: boots.map(|boots| boots.len()),
        mean: mean(&values),
        median: median(&values),
        units: values.len(),
        stddev_percent: None,
        outliers: vec![],
        modes: None,
        values,
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted.get(middle).copied()
    } else {
        mean(sorted.get(middle.checked_sub(1)?..=middle)?)
    }
}

fn compare_metric(metric: &Metric, base_runs: &[&RunSummary], new_runs: &[&RunSummary]) -> MetricComparison {
    let (base, new) = (side(metric, base_runs), side(metric, new_runs));
    let enough = base.n.min(new.n) >= MIN_RUNS;
    let means = base.mean.zip(new.mean).filter(|_| enough);
    let (verdict, reason) = if base.n == 0 || new.n == 0 {
        (Verdict::Invalid, "a side has no run that can be trusted")
    } else if enough {
        (
            Verdict::Inconclusive,
            "this version computes no confidence interval, so that chance is not excluded",
        )
    } else {
        (
            Verdict::Inconclusive,
            "a single run on a side gives its value only: at least two runs a side make a difference",
        )
    };
    MetricComparison {
        metric: metric.name.to_owned(),
        unit: if metric.name.ends_with("_ns") { "ns" } else { "IOPS" }.to_owned(),
        better: if metric.name.ends_with("_ns") { Better::Lower } else { Better::Higher },
        design: Design::UnknownBoots,
        change_percent: means.filter(|(base, _)| *base > 0.0).map(|(base, new)| (new / base - 1.0) * 100.0),
        change_ci95_percent: None,
        added_us_per_op: means.filter(|_| metric.additive).map(|(base, new)| (new - base) / 1e3),
        added_us_ci95: None,
        p_value: None,
        test: None,
        verdict,
        reason: reason.to_owned(),
        smallest_visible_percent: None,
        interval: None,
        spread: None,
        resolution: None,
        explained: if metric.additive && enough { explained(base_runs, new_runs) } else { None },
        base,
        new,
    }
}

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

fn hop_pairs(base: &[&RunSummary], new: &[&RunSummary]) -> Vec<HopPair> {
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

fn explained(base: &[&RunSummary], new: &[&RunSummary]) -> Option<Explained> {
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
