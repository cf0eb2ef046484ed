//! A device against itself: how often a comparison of equal runs calls them different, how much the runs vary and
//! drift, and how small a difference so many runs can show.

mod replay;
mod variation;

use super::compare::{RUN_METRICS, RunMetric, common_key};
use super::statistics::{fewest_units, mean, units_to_show, visible_with};
use super::{LeftOut, NotComparable, RunSummary};
use replay::{Sequence, replay};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use variation::variation;

/// Units a side for which figures are given.
const UNITS: [u32; 5] = [4, 5, 10, 20, 50];
/// Differences, in percent, for which the number of units is given.
const DIFFERENCES_PERCENT: [f64; 3] = [1.0, 2.0, 5.0];

/// What runs of one variant on one device say about comparisons on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Qualification {
    /// The device.
    pub device: String,
    /// Variant labels; all are taken for the same thing.
    pub variants: Vec<String>,
    /// What all runs did.
    pub key: Vec<(String, String)>,
    /// Times are an emulator's: instruction counts at best.
    pub emulated: bool,
    /// One entry a metric.
    pub metrics: Vec<MetricQualification>,
    /// Runs that were not used.
    pub left_out: Vec<LeftOut>,
}

/// One metric of a qualification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricQualification {
    /// `latency_mean_ns` and so on.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Runs.
    pub n: usize,
    /// Boots they come from; `None` if some run does not tell.
    pub boots: Option<usize>,
    /// Mean over the runs.
    pub mean: f64,
    /// Standard deviation of the runs of a boot, less a linear drift, in percent of the mean.
    pub run_deviation_percent: Option<f64>,
    /// Standard deviation from boot to boot, less that of the runs, in percent of the mean; `None` with one boot.
    pub boot_deviation_percent: Option<f64>,
    /// Drift within boots.
    pub drift: Option<DriftRate>,
    /// Comparisons of these runs with one another.
    pub false_alarms: Vec<FalseAlarms>,
    /// The smallest difference that is shown four times of five.
    pub smallest_visible: Vec<SmallestVisible>,
    /// How much it takes to show a difference four times of five.
    pub needed: Vec<Needed>,
    /// No more false alarms than chance allows.
    pub qualified: bool,
}

/// A linear drift within boots.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DriftRate {
    /// In percent of the mean per hour.
    pub percent_per_hour: f64,
    /// Its 95 % confidence interval.
    pub ci95: [f64; 2],
}

/// Comparisons of runs of the same thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FalseAlarms {
    /// What was compared: `runs` of a boot, or `boots`.
    pub of: &'static str,
    /// Units a side.
    pub units: u32,
    /// Comparisons of neighbours in turns (ABBA), at every place of the sequence.
    pub in_turns: usize,
    /// Those that called it a difference.
    pub alarms_in_turns: usize,
    /// Comparisons with the sides dealt out at random.
    pub at_random: usize,
    /// Those that called it a difference.
    pub alarms_at_random: usize,
    /// Comparisons in turns in which one side's mean was beyond every run of the other: what the eye calls a
    /// difference.
    pub beyond_range: usize,
}

/// The smallest difference that so many units a side show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SmallestVisible {
    /// Units a side.
    pub units: u32,
    /// As runs of one boot (a knob), in percent.
    pub runs_of_a_boot_percent: Option<f64>,
    /// As boots (a kernel), in percent; `None` with one boot.
    pub boots_percent: Option<f64>,
}

/// What it takes to show a difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Needed {
    /// The difference, in percent.
    pub percent: f64,
    /// Runs of one boot a side.
    pub runs_of_a_boot: Option<u32>,
    /// Boots a side.
    pub boots: Option<u32>,
}

/// Qualifies a device by runs of one thing. Runs that are not valid are left out and named.
///
/// # Errors
/// There is no valid run, or they did different things, or were made on several devices.
pub fn qualify(runs: &[RunSummary], margin_percent: f64) -> Result<Qualification, NotComparable> {
    let valid: Vec<&RunSummary> = runs.iter().filter(|run| run.quality.valid).collect();
    let Some(first) = valid.first() else { return Err(NotComparable::NoValidRun) };
    let key = common_key(&valid)?;
    let devices: BTreeSet<&str> = valid.iter().map(|run| run.device.as_str()).collect();
    if devices.len() > 1 {
        let devices: Vec<&str> = devices.into_iter().collect();
        return Err(NotComparable::Differ(vec![format!("device: {}", devices.join(" against "))]));
    }
    let distinct: BTreeSet<&String> = valid.iter().map(|run| &run.variant).collect();
    Ok(Qualification {
        device: first.device.clone(),
        variants: distinct.into_iter().cloned().collect(),
        key,
        emulated: valid.iter().any(|run| run.system.emulated == Some(true)),
        metrics: RUN_METRICS.iter().filter_map(|metric| of_metric(metric, &valid, margin_percent)).collect(),
        left_out: runs.iter().filter(|run| !run.quality.valid).map(LeftOut::of).collect(),
    })
}

fn of_metric(metric: &RunMetric, runs: &[&RunSummary], margin_percent: f64) -> Option<MetricQualification> {
    let first_ns = runs.iter().map(|run| run.begun_unix_ns).min()?;
    let mut boots: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    let mut boots_known = true;
    for run in runs {
        let Some(value) = (metric.of)(run) else { continue };
        boots_known &= run.boot_id.is_some();
        let at_s = run.begun_unix_ns.saturating_sub(first_ns) as f64 / 1e9;
        boots.entry(run.boot_id.as_deref().unwrap_or_default()).or_default().push((at_s, value));
    }
    for boot in boots.values_mut() {
        boot.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let sequences: Vec<Vec<(f64, f64)>> = boots.into_values().collect();
    let values: Vec<f64> = sequences.iter().flatten().map(|(_, value)| *value).collect();
    let mean = mean(&values).filter(|mean| *mean > 0.0)?;
    let variation = variation(&sequences, mean);
    let unit_of_boots = variation.boot_unit_percent;
    let false_alarms = false_alarms(&sequences, boots_known, metric, margin_percent);
    Some(MetricQualification {
        metric: metric.name.to_owned(),
        unit: metric.unit.to_owned(),
        n: values.len(),
        boots: boots_known.then_some(sequences.len()),
        mean,
        run_deviation_percent: variation.run_percent,
        boot_deviation_percent: variation.boot_percent,
        drift: variation.drift,
        smallest_visible: UNITS
            .map(|units| SmallestVisible {
                units,
                runs_of_a_boot_percent: variation
                    .run_percent
                    .and_then(|deviation| visible_with(units, deviation)),
                boots_percent: unit_of_boots.and_then(|deviation| visible_with(units, deviation)),
            })
            .into(),
        needed: DIFFERENCES_PERCENT
            .map(|percent| Needed {
                percent,
                runs_of_a_boot: variation.run_percent.and_then(|deviation| units_to_show(percent, deviation)),
                boots: unit_of_boots.and_then(|deviation| units_to_show(percent, deviation)),
            })
            .into(),
        qualified: false_alarms.iter().all(|(_, by_chance)| *by_chance),
        false_alarms: false_alarms.into_iter().map(|(alarms, _)| alarms).collect(),
    })
}

/// Replays comparisons among the runs of each boot, and among the boots; with each, whether its alarms can be chance.
fn false_alarms(
    sequences: &[Vec<(f64, f64)>],
    boots_known: bool,
    metric: &RunMetric,
    margin_percent: f64,
) -> Vec<(FalseAlarms, bool)> {
    let of_boots: Vec<(f64, f64)> = sequences
        .iter()
        .filter_map(|boot| {
            let column = |of: fn(&(f64, f64)) -> f64| mean(&boot.iter().map(of).collect::<Vec<_>>());
            column(|run| run.0).zip(column(|run| run.1))
        })
        .collect();
    let mut boots = [of_boots];
    boots.iter_mut().for_each(|boots| boots.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let mut replayed = Vec::new();
    for units in UNITS.into_iter().filter(|units| *units >= fewest_units(1)) {
        let kinds = [("runs", sequences, true), ("boots", &boots[..], false)];
        for (of, sequences, within) in kinds.into_iter().filter(|(of, ..)| *of == "runs" || boots_known) {
            let sequences: Vec<Sequence<'_>> =
                sequences.iter().map(|values| Sequence { values, within_a_boot: within }).collect();
            replayed.extend(replay(of, units, &sequences, metric.better, margin_percent));
        }
    }
    replayed
}
