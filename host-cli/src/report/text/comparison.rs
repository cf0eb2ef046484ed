//! Two sides.

use super::{Page, counted, or_dash};
use crate::analysis::{Comparison, MetricComparison, SideSummary};
use crate::report::EMULATED;

/// Two sides: what an I/O takes more, the metrics, the hops side by side, and what was not used.
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
    page.line(&format!("the same on both sides: {}", same.join(", ")));
    page.blank();
    let rows = comparison.metrics.iter().map(metric_row).collect();
    page.table(&["means over the runs", "base", "new", "change", "verdict"], rows);
    if !comparison.hops.is_empty() {
        page.blank();
        hops(&mut page, comparison);
    }
    let left_out: Vec<String> =
        comparison.left_out.iter().map(|run| format!("{}: {}", run.id, run.reasons.join("; "))).collect();
    if !(left_out.is_empty() && comparison.notes.is_empty()) {
        page.blank();
    }
    page.list("left out, not valid:", &left_out);
    page.list("notes:", &comparison.notes);
    page.finish()
}

fn latency(comparison: &Comparison) -> Option<&MetricComparison> {
    comparison.metrics.iter().find(|metric| metric.metric == "latency_mean_ns")
}

/// `latency: +24.6 µs per I/O (+72.4 %), inconclusive: …`
fn answer(comparison: &Comparison) -> String {
    let Some(latency) = latency(comparison) else { return "nothing to compare".to_owned() };
    let verdict = format!("{}: {}", latency.verdict.name(), latency.reason);
    match (latency.added_us_per_op, latency.change_percent) {
        (Some(added), Some(percent)) => {
            format!("latency: {added:+.1} µs per I/O ({percent:+.1} %), {verdict}")
        }
        _ => format!("latency: {verdict}"),
    }
}

fn boots(comparison: &Comparison, of: fn(&MetricComparison) -> Option<usize>) -> Option<usize> {
    latency(comparison).and_then(of)
}

fn side(side: &SideSummary, boots: Option<usize>) -> String {
    let or_none = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let paths: Vec<String> = side.paths.iter().map(|path| path.name().to_owned()).collect();
    let boots = boots.map_or_else(|| "boots unknown".to_owned(), |boots| counted(boots, "boot"));
    format!(
        "{}; kernel {}; completion {}; {} of {boots}",
        or_none(&side.variants),
        or_none(&side.kernels),
        or_none(&paths),
        counted(side.runs.len(), "run")
    )
}

fn metric_row(metric: &MetricComparison) -> Vec<String> {
    let is_time = metric.metric.ends_with("_ns");
    let (name, scale, decimals) = match metric.metric.strip_suffix("_ns") {
        Some(name) => (format!("{}, µs", name.replace('_', " ")), 1e3, 1),
        None => (metric.metric.to_owned(), 1.0, 0),
    };
    let shown = |value: Option<f64>| or_dash(value.map(|value| value / scale), decimals);
    let change = match (metric.added_us_per_op, metric.change_percent) {
        (Some(added), Some(percent)) if is_time => format!("{added:+.1} µs, {percent:+.1} %"),
        (_, Some(percent)) => format!("{percent:+.1} %"),
        _ => "-".to_owned(),
    };
    vec![name, shown(metric.base.mean), shown(metric.new.mean), change, metric.verdict.name().to_owned()]
}

fn hops(page: &mut Page, comparison: &Comparison) {
    let rows = comparison.hops.iter().map(|hop| {
        let added = hop.added_us.map_or_else(|| "-".to_owned(), |added| format!("{added:+.1}"));
        vec![hop.name.to_owned(), or_dash(hop.base_us, 1), or_dash(hop.new_us, 1), added]
    });
    page.table(&["hops, mean µs per I/O", "base", "new", "added"], rows.collect());
    if let Some(explained) = latency(comparison).and_then(|latency| latency.explained) {
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
