//! What a comparison says: the JSON names are a contract, documented in `docs/json.md`.

use super::CompletionPath;
use serde::{Deserialize, Serialize};

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better: operations a second, scores.
    Higher,
    /// Less is better: times.
    Lower,
}

/// How the runs of both sides lie in boots: decides what the independent unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Each boot holds runs of one side only, as with two kernels: the unit is the boot.
    AcrossBoots,
    /// Each boot holds runs of both sides, as with a knob: the unit is the run, compared within its boot.
    WithinBoots,
    /// Boots are not known: each run counts as independent.
    UnknownBoots,
}

/// What is asked of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// Differences smaller than this, in percent, do not matter.
    pub margin_percent: f64,
    /// The claim is that one commit makes the difference: kernels of another base are refused.
    pub same_base: bool,
}

impl Default for Asked {
    fn default() -> Self {
        Self { margin_percent: 1.0, same_base: false }
    }
}

/// One metric of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricComparison {
    /// `latency_mean_ns`, `latency_p50_ns`, `latency_p99_ns`, `iops`, or `WORKLOAD.NAME` of imported numbers.
    pub metric: String,
    /// Its unit: `ns`, `IOPS`, `score`, …
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// How the runs lie in boots.
    pub design: Design,
    /// The first side.
    pub base: Side,
    /// The second.
    pub new: Side,
    /// Change of the mean in percent of the base. `None` with fewer than two runs a side.
    pub change_percent: Option<f64>,
    /// Its 95 % confidence interval.
    pub change_ci95_percent: Option<[f64; 2]>,
    /// What an operation takes more, in microseconds (mean latency only).
    pub added_us_per_op: Option<f64>,
    /// Its 95 % confidence interval.
    pub added_us_ci95: Option<[f64; 2]>,
    /// The method of the intervals.
    pub interval: Option<String>,
    /// Probability of a difference at least this large by chance, two-sided.
    pub p_value: Option<f64>,
    /// The test that gave it.
    pub test: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is that verdict.
    pub reason: String,
    /// The smallest difference that runs like these would show four times of five. `None` where they are too few
    /// to show any.
    pub smallest_visible_percent: Option<f64>,
    /// [`MetricComparison::change_percent`] of the plain means with the runs that were left out. `None` where none was.
    pub change_with_left_out_percent: Option<f64>,
    /// How far the values drift from the first run to the last, in percent of the base, whatever their side. `None`
    /// where that cannot be told.
    pub drift_percent: Option<f64>,
    /// The spread of the runs, side against side.
    pub spread: Option<SpreadChange>,
    /// The values come in steps.
    pub resolution: Option<Resolution>,
    /// Whether the hops account for the difference (mean latency only).
    pub explained: Option<Explained>,
}

/// One side of a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Valid runs.
    pub n: usize,
    /// Boots they come from; `None` if some run does not tell.
    pub boots: Option<usize>,
    /// Independent units, see [`Design`].
    pub units: usize,
    /// Mean over the runs.
    pub mean: Option<f64>,
    /// Median over the runs.
    pub median: Option<f64>,
    /// Standard deviation of the runs in percent of their mean. `None` with fewer than two runs.
    pub stddev_percent: Option<f64>,
    /// The value of each run, in the order given.
    pub values: Vec<f64>,
    /// Runs far from the others. They are listed, never dropped.
    pub outliers: Vec<Outlier>,
    /// The runs fall into two groups.
    pub modes: Option<Modes>,
}

/// A run far from the others of its side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    /// Its name.
    pub id: String,
    /// Its value.
    pub value: f64,
    /// Its distance from the median in standard deviations, as estimated from the median absolute deviation.
    pub deviations: f64,
}

/// Two groups that the runs of a side fall into.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Modes {
    /// Runs in the lower group.
    pub low_n: usize,
    /// Their mean.
    pub low_mean: f64,
    /// Runs in the upper group.
    pub high_n: usize,
    /// Their mean.
    pub high_mean: f64,
}

/// The spread of the runs, side against side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpreadChange {
    /// Standard deviation of the new side divided by that of the base, both in percent of their means.
    pub ratio: f64,
    /// Probability of a ratio at least this far from 1 by chance.
    pub p_value: f64,
    /// The spread did change.
    pub changed: bool,
}

/// Values that are multiples of a step, such as a score made from a coarse figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Resolution {
    /// The step, in the metric's unit.
    pub quantum: f64,
    /// The step in percent of the base's mean.
    pub percent: f64,
}

/// Something that differs between the sides beside what was meant to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// Its name, such as `temperature` or `kernel-config`.
    pub name: String,
    /// One sentence with the figures of both sides.
    pub sentence: String,
    /// No verdict is given because of it; otherwise it is only said.
    pub blocks: bool,
}

/// A line of the environment, side against side: `governor`: `schedutil` and `performance`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentLine {
    /// Its name.
    pub name: String,
    /// Distinct values of the base's runs, in order; empty if none tells.
    pub base: Vec<String>,
    /// The same of the new side.
    pub new: Vec<String>,
}

/// What is made of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The new side is worse.
    Regression,
    /// The new side is better.
    Improvement,
    /// No difference that could be seen.
    NoDifference,
    /// These runs do not decide.
    Inconclusive,
    /// A side has no run that can be trusted.
    Invalid,
}

impl Verdict {
    /// Its name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Improvement => "improvement",
            Self::NoDifference => "no-difference",
            Self::Inconclusive => "inconclusive",
            Self::Invalid => "invalid",
        }
    }
}

/// How much of a difference the hops account for. All figures are of the hops pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Explained {
    /// What the hops take more, in microseconds per operation.
    pub by_hops_us: f64,
    /// What the operation takes more in the same pass, in microseconds.
    pub of_us: f64,
    /// The one as a part of the other; `None` when there is hardly a difference to explain.
    pub fraction: Option<f64>,
}

/// A hop on both sides: means over the runs, in microseconds. `None`: there is no such hop on that side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HopPair {
    /// Its name, as in [`Hop`].
    pub name: &'static str,
    /// The first side.
    pub base_us: Option<f64>,
    /// The second.
    pub new_us: Option<f64>,
    /// What it takes more.
    pub added_us: Option<f64>,
}

/// A run that was not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub id: String,
    /// Why, as sentences.
    pub reasons: Vec<String>,
}

/// What the runs of one side are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SideSummary {
    /// Variant labels.
    pub variants: Vec<String>,
    /// Kernels.
    pub kernels: Vec<String>,
    /// Completion paths as observed.
    pub paths: Vec<CompletionPath>,
    /// Runs that were used.
    pub runs: Vec<String>,
}

/// Two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The first side.
    pub base: SideSummary,
    /// The second.
    pub new: SideSummary,
    /// What was compared, the same on both sides.
    pub key: Vec<(String, String)>,
    /// Times are an emulator's: instruction counts at best.
    pub emulated: bool,
    /// Numbers of another tool.
    pub imported: bool,
    /// What was asked, in percent.
    pub margin_percent: f64,
    /// One entry a metric.
    pub metrics: Vec<MetricComparison>,
    /// The hops side by side.
    pub hops: Vec<HopPair>,
    /// What else differs between the sides.
    pub gates: Vec<Gate>,
    /// What the runs were made in.
    pub environment: Vec<EnvironmentLine>,
    /// Runs that were not used.
    pub left_out: Vec<LeftOut>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// Why two sets of runs must not be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// A side is empty.
    #[error("there is no run on the {0} side")]
    NoRuns(&'static str),
    /// None of the runs is valid.
    #[error("none of the runs is valid: `tophalf show` tells why")]
    NoValidRun,
    /// A run is on both sides, or twice on one.
    #[error("the run {0} is there twice: it would count as two")]
    Twice(String),
    /// The runs did different things.
    #[error("these runs did different things and must not be compared: {}", .0.join("; "))]
    Differ(Vec<String>),
}
