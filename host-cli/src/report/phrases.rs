//! What mail and Markdown say of a comparison in the same words.

use super::text::figure;
use crate::analysis::{Comparison, MetricComparison, Side, SideSummary, Verdict};

/// `Documentation/admin-guide/reporting-regressions.rst` of the kernel: a micro-benchmark that is slower by less is
/// unlikely to be taken for a regression, unless a broad benchmark is slower by more than one percent too.
pub(super) const GUIDE_PERCENT: f64 = 5.0;

/// The metric of the headline: the mean latency, or the first of imported figures.
pub(super) fn headline(comparison: &Comparison) -> Option<&MetricComparison> {
    let latency = comparison.metrics.iter().find(|metric| metric.metric == "latency_mean_ns");
    latency.or(comparison.metrics.first())
}

/// Large enough to be called a regression by the kernel's documentation.
pub(super) fn above_guide(metric: &MetricComparison) -> bool {
    metric.verdict == Verdict::Regression
        && metric.change_percent.is_some_and(|change| change.abs() >= GUIDE_PERCENT)
}

/// The verdict in words of a kernel list.
pub(super) fn verdict(metric: &MetricComparison, imported: bool) -> String {
    let [worse, better] = if imported { ["worse", "better"] } else { ["slower", "faster"] };
    match metric.verdict {
        Verdict::Regression if above_guide(metric) => "regression".to_owned(),
        Verdict::Regression => format!("{worse}, below the documented {GUIDE_PERCENT} % guide"),
        Verdict::Improvement => better.to_owned(),
        Verdict::NoDifference => "no difference".to_owned(),
        Verdict::Inconclusive => "inconclusive".to_owned(),
        Verdict::Invalid => "invalid".to_owned(),
    }
}

/// `tophalf.latency_mean_us` and what its values are divided by; an imported figure keeps its name and unit.
pub(super) fn metric_name(metric: &MetricComparison, imported: bool) -> (String, f64) {
    match metric.metric.strip_suffix("_ns") {
        _ if imported => (metric.metric.clone(), 1.0),
        Some(name) => (format!("tophalf.{name}_us"), 1e3),
        None => (format!("tophalf.{}", metric.metric), 1.0),
    }
}

/// The labels of both sides; where they are the same, which side it is.
pub(super) fn labels(comparison: &Comparison) -> [String; 2] {
    let of = |side: &SideSummary| side.variants.join(",");
    match [of(&comparison.base), of(&comparison.new)] {
        [base, new] if base == new || base.is_empty() || new.is_empty() => {
            ["base".to_owned(), "new".to_owned()]
        }
        both => both,
    }
}

/// `4 runs in 2 boots`
pub(super) fn counts(side: &Side) -> String {
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let boots = side.boots.map_or_else(|| "boots unknown".to_owned(), |boots| plural(boots, "boot"));
    match side.boots {
        Some(_) => format!("{} in {boots}", plural(side.n, "run")),
        None => format!("{}, {boots}", plural(side.n, "run")),
    }
}

/// `+66.6 % (95 % CI +66.1 to +67.0), p = 0.029`; empty where there is no change to tell.
pub(super) fn change(metric: &MetricComparison) -> String {
    let Some(percent) = metric.change_percent else { return String::new() };
    let mut text = format!("{percent:+.1} %");
    if let Some([low, high]) = metric.change_ci95_percent {
        text.push_str(&format!(" (95 % CI {low:+.1} to {high:+.1})"));
    }
    if let Some(p_value) = metric.p_value {
        text.push_str(&if p_value < 0.001 {
            ", p < 0.001".to_owned()
        } else {
            format!(", p = {p_value:.3}")
        });
    }
    text
}

/// What must be known to read the figures of a metric: groups, spread, steps.
pub(super) fn remarks(metric: &MetricComparison, imported: bool) -> Vec<String> {
    let (name, scale) = metric_name(metric, imported);
    let shown = |value: f64| figure(value / scale);
    let mut remarks = Vec::new();
    for (side, which) in [(&metric.base, "base"), (&metric.new, "new")] {
        if let Some(modes) = side.modes {
            remarks.push(format!(
                "{name}: the {which} side is bimodal: {} runs about {}, {} about {}",
                modes.low_n,
                shown(modes.low_mean),
                modes.high_n,
                shown(modes.high_mean)
            ));
        }
    }
    if let Some(spread) = metric.spread.filter(|spread| spread.changed) {
        remarks.push(format!(
            "{name}: the spread of the runs changed: {:.1} times that of the base (p = {:.3})",
            spread.ratio, spread.p_value
        ));
    }
    if let Some(resolution) = metric.resolution {
        remarks.push(format!(
            "{name}: values come in steps of {} = {:.1} %",
            shown(resolution.quantum),
            resolution.percent
        ));
    }
    remarks
}
