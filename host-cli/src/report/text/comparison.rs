//! Two sides.

use super::{Page, counted, or_dash};
use crate::analysis::{Comparison, Design, MetricComparison, SideSummary, Verdict};
use crate::report::EMULATED;

/// Two sides: the verdict, the metrics with their intervals, why, the hops side by side, what else differs, and what
/// was not used.
pub fn comparison(comparison: &Comparison) -> String {
    let mut page = Page::default();
    page.line(&answer(comparison));
    if comparison.emulated {
        page.line(EMULATED);
    }
    page.blank();
    page.line(&format!("base: {}", side(&comparison.base, boots(comparison, |metric| metric.base.boots))));
    page.line(&format!("new:  {}", side(&comparison.new, boots(comparison, |metric| metric.new.boots))));
    let same: Vec<String> = comparison.key.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if !same.is_empty() {
        page.line(&format!("the same on both sides: {}", same.join(", ")));
    }
    page.blank();
    let rows = comparison.metrics.iter().map(metric_row).collect();
    page.table(&["means over the runs", "base", "new", "change", "95 % interval", "p", "verdict"], rows);
    reasons(&mut page, comparison);
    if !comparison.hops.is_empty() {
        page.blank();
        hops(&mut page, comparison);
    }
    let gates: Vec<String> = comparison.gates.iter().map(|gate| gate.sentence.clone()).collect();
    let left_out: Vec<String> =
        comparison.left_out.iter().map(|run| format!("{}: {}", run.id, run.reasons.join("; "))).collect();
    let notes: Vec<String> = comparison.notes.iter().cloned().chain(outliers(comparison)).collect();
    if !(left_out.is_empty() && notes.is_empty() && gates.is_empty()) {
        page.blank();
    }
    page.list("what else differs between the sides:", &gates);
    page.list("left out, not valid:", &left_out);
    page.list("notes:", &notes);
    page.finish()
}

/// The metric of the headline: the mean latency, or the first of imported figures.
fn headline(comparison: &Comparison) -> Option<&MetricComparison> {
    let latency = comparison.metrics.iter().find(|metric| metric.metric == "latency_mean_ns");
    latency.or(comparison.metrics.first())
}

/// `regression: latency +24.6 µs per I/O (95 % interval +24.1 to +25.1), +72.4 %, p = 0.029`
fn answer(comparison: &Comparison) -> String {
    let Some(metric) = headline(comparison) else { return "nothing to compare".to_owned() };
    if comparison.imported && comparison.metrics.len() > 1 {
        let count = |verdict| comparison.metrics.iter().filter(|metric| metric.verdict == verdict).count();
        let all = [
            Verdict::Invalid,
            Verdict::Regression,
            Verdict::Improvement,
            Verdict::NoDifference,
            Verdict::Inconclusive,
        ];
        let told: Vec<String> = all
            .into_iter()
            .filter(|verdict| count(*verdict) > 0)
            .map(|verdict| format!("{} {}", count(verdict), verdict.name()))
            .collect();
        return format!("{} figures: {}", comparison.metrics.len(), told.join(", "));
    }
    let verdict = metric.verdict.name();
    let interval = |unit: &str, ends: Option<[f64; 2]>| {
        ends.map_or_else(String::new, |[low, high]| format!(" (95 % interval {low:+.1} to {high:+.1}{unit})"))
    };
    let change = match (metric.added_us_per_op, metric.change_percent) {
        (Some(added), Some(percent)) => {
            format!("latency {added:+.1} µs per I/O{}, {percent:+.1} %: ", interval("", metric.added_us_ci95))
        }
        (None, Some(percent)) => {
            format!("{} {percent:+.1} %{}: ", metric.metric, interval(" %", metric.change_ci95_percent))
        }
        _ => String::new(),
    };
    format!("{verdict}: {change}{}", metric.reason)
}

fn boots(comparison: &Comparison, of: fn(&MetricComparison) -> Option<usize>) -> Option<usize> {
    headline(comparison).and_then(of)
}

fn side(side: &SideSummary, boots: Option<usize>) -> String {
    let or_none = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let mut parts = vec![or_none(&side.variants)];
    if !side.kernels.is_empty() {
        parts.push(format!("kernel {}", side.kernels.join(", ")));
    }
    if !side.paths.is_empty() {
        let paths: Vec<String> = side.paths.iter().map(|path| path.name().to_owned()).collect();
        parts.push(format!("completion {}", paths.join(", ")));
    }
    let boots =
        boots.map_or_else(|| ", boots unknown".to_owned(), |boots| format!(" of {}", counted(boots, "boot")));
    parts.push(format!("{}{boots}", counted(side.runs.len(), "run")));
    parts.join("; ")
}

fn metric_row(metric: &MetricComparison) -> Vec<String> {
    let (name, scale) = match metric.metric.strip_suffix("_ns") {
        Some(name) => (format!("{}, µs", name.replace('_', " ")), 1e3),
        None => (metric.metric.clone(), 1.0),
    };
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| figure(value / scale));
    let interval = metric
        .change_ci95_percent
        .map_or_else(|| "-".to_owned(), |[low, high]| format!("{low:+.1} to {high:+.1}"));
    vec![
        name,
        shown(metric.base.mean),
        shown(metric.new.mean),
        metric.change_percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:+.1} %")),
        interval,
        or_dash(metric.p_value, 3),
        metric.verdict.name().to_owned(),
    ]
}

/// A figure with four digits that count, or all before the point.
pub(in crate::report) fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        large if large >= 1000.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Why each verdict is what it is, and by which method; what is the same for several metrics is said once.
fn reasons(page: &mut Page, comparison: &Comparison) {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for metric in &comparison.metrics {
        let text = format!("{}: {}", metric.verdict.name(), metric.reason);
        match groups.iter_mut().find(|(told, _)| *told == text) {
            Some((_, names)) => names.push(&metric.metric),
            None => groups.push((text, vec![&metric.metric])),
        }
    }
    // One metric's is the headline.
    if groups.len() > 1 || comparison.metrics.len() > 1 {
        for (text, names) in groups {
            page.item(&format!("{}: {text}", names.join(", ")));
        }
    }
    let Some(metric) = headline(comparison) else { return };
    let unit = match metric.design {
        Design::AcrossBoots => "the boot",
        Design::WithinBoots => "the run, compared within its boot",
        Design::UnknownBoots => "the run, since boots are not known",
    };
    let mut method = format!("the unit is {unit}: {} against {}", metric.base.units, metric.new.units);
    if let Some(test) = &metric.test {
        method.push_str(&format!("; test: {test}"));
    }
    if let Some(interval) = &metric.interval {
        method.push_str(&format!("; interval: {interval}"));
    }
    page.item(&method);
    let visible: Vec<String> = comparison.metrics.iter().filter_map(visible).collect();
    let visible = if visible.is_empty() { "none, of whatever size".to_owned() } else { visible.join(", ") };
    page.item(&format!(
        "smallest difference that is shown four times of five: {visible}; asked for: {} %",
        comparison.margin_percent
    ));
    if let Some(with) = metric.change_with_left_out_percent {
        page.item(&format!("with the runs that were left out the change would be {with:+.1} %"));
    }
}

/// `latency_mean_ns 0.4 %`
fn visible(metric: &MetricComparison) -> Option<String> {
    metric.smallest_visible_percent.map(|percent| format!("{} {percent:.1} %", metric.metric))
}

/// Runs far from the others, by metric.
fn outliers(comparison: &Comparison) -> Vec<String> {
    let of = |metric: &MetricComparison| {
        let far = metric.base.outliers.iter().chain(&metric.new.outliers);
        let far: Vec<String> =
            far.map(|run| format!("{} ({:+.1} deviations)", run.id, run.deviations)).collect();
        (!far.is_empty())
            .then(|| format!("far from the others in {}, and used: {}", metric.metric, far.join(", ")))
    };
    comparison.metrics.iter().filter_map(of).collect()
}

fn hops(page: &mut Page, comparison: &Comparison) {
    let rows = comparison.hops.iter().map(|hop| {
        let added = hop.added_us.map_or_else(|| "-".to_owned(), |added| format!("{added:+.1}"));
        vec![hop.name.to_string(), or_dash(hop.base_us, 1), or_dash(hop.new_us, 1), added]
    });
    page.table(&["hops, mean µs per I/O", "base", "new", "added"], rows.collect());
    if let Some(explained) = headline(comparison).and_then(|latency| latency.explained) {
        let part = explained.fraction.map_or_else(
            || "there is hardly a difference to explain".to_owned(),
            |fraction| format!("{:.0} % of it", fraction * 100.0),
        );
        page.item(&format!(
            "in the hops pass an I/O takes {:+.1} µs more, the hops {:+.1} µs: {part}",
            explained.of_us, explained.by_hops_us
        ));
        if explained.fraction.is_some_and(|fraction| fraction > 1.0) {
            page.item(
                "over 100 %: what a thread does now, the interrupt did before, uncounted; and a thread that was \
                 woken waits while the one that woke it still runs",
            );
        }
    }
}
