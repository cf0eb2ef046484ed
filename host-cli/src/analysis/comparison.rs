//! What a comparison says: the JSON names are a contract, documented in `docs/json.md`.

use super::CompletionPath;
use serde::Serialize;

/// One metric of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricComparison {
    /// `latency_mean_ns`, `latency_p50_ns`, `latency_p99_ns` or `iops`. The unit is in the name.
    pub metric: &'static str,
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
    /// Probability of a difference at least this large by chance.
    pub p_value: Option<f64>,
    /// The test that gave it.
    pub test: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is that verdict.
    pub reason: String,
    /// The smallest difference these runs could have shown.
    pub smallest_visible_percent: Option<f64>,
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
    /// Mean over the runs.
    pub mean: Option<f64>,
    /// Median over the runs.
    pub median: Option<f64>,
    /// The value of each run, in the order given.
    pub values: Vec<f64>,
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
    /// One entry a metric.
    pub metrics: Vec<MetricComparison>,
    /// The hops side by side.
    pub hops: Vec<HopPair>,
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
    /// The runs did different things.
    #[error("these runs did different things and must not be compared: {}", .0.join("; "))]
    Differ(Vec<String>),
}
