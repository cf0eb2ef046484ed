//! A device against itself.

use super::{Page, counted, or_dash};
use crate::analysis::{MetricQualification, Qualification};
use crate::report::EMULATED;

/// A device against itself: can comparisons on it be trusted, and how small a difference do they show?
pub fn qualification(qualification: &Qualification) -> String {
    let mut page = Page::default();
    page.line(&answer(qualification));
    if qualification.emulated {
        page.line(EMULATED);
    }
    page.blank();
    page.line(&format!("{}, variant {}", qualification.device, qualification.variants.join(", ")));
    let same: Vec<String> = qualification.key.iter().map(|(name, value)| format!("{name} {value}")).collect();
    page.line(&format!("the same in all runs: {}", same.join(", ")));
    page.blank();
    variation(&mut page, qualification);
    page.blank();
    false_alarms(&mut page, qualification);
    page.blank();
    power(&mut page, qualification);
    let left_out: Vec<String> =
        qualification.left_out.iter().map(|run| format!("{}: {}", run.id, run.reasons.join("; "))).collect();
    if !left_out.is_empty() {
        page.blank();
    }
    page.list("left out, not valid:", &left_out);
    page.finish()
}

/// The metric of the headline.
fn latency(qualification: &Qualification) -> Option<&MetricQualification> {
    qualification.metrics.iter().find(|metric| metric.metric == "latency_mean_ns")
}

fn answer(qualification: &Qualification) -> String {
    let Some(metric) = latency(qualification) else {
        return "not qualified: no run has latencies".to_owned();
    };
    let unfit: Vec<&str> = qualification
        .metrics
        .iter()
        .filter(|metric| !metric.qualified)
        .map(|metric| metric.metric.as_str())
        .collect();
    if !unfit.is_empty() {
        return format!(
            "NOT QUALIFIED: {} raises more false alarms than chance does: the runs drift or come in groups",
            unfit.join(", ")
        );
    }
    if metric.false_alarms.is_empty() {
        return format!(
            "too few runs to replay a comparison: {} of one boot are there, and 8 are needed",
            counted(metric.n, "run")
        );
    }
    let needed = metric.needed.iter().find(|needed| needed.percent <= 1.0);
    let runs = needed.and_then(|needed| needed.runs_of_a_boot);
    let boots = needed.and_then(|needed| needed.boots);
    let shown = |count: Option<u32>, what| count.map(|count| format!("{count} {what} a side"));
    let both: Vec<String> =
        [shown(runs, "runs of a boot"), shown(boots, "boots")].into_iter().flatten().collect();
    let both = if both.is_empty() { "no number of runs".to_owned() } else { both.join(" or ") };
    format!("qualified: {both} show a difference of 1 % of the mean latency four times of five")
}

fn variation(page: &mut Page, qualification: &Qualification) {
    let rows = qualification.metrics.iter().map(|metric| {
        let drift = metric.drift.map_or_else(
            || "-".to_owned(),
            |drift| {
                format!("{:+.1} ({:+.1} to {:+.1})", drift.percent_per_hour, drift.ci95[0], drift.ci95[1])
            },
        );
        vec![
            metric.metric.clone(),
            metric.n.to_string(),
            metric.boots.map_or_else(|| "-".to_owned(), |boots| boots.to_string()),
            or_dash(metric.run_deviation_percent, 2),
            or_dash(metric.boot_deviation_percent, 2),
            drift,
        ]
    });
    page.table(
        &["varies, %", "runs", "boots", "run to run", "boot to boot", "drift an hour"],
        rows.collect(),
    );
}

fn false_alarms(page: &mut Page, qualification: &Qualification) {
    let rows: Vec<Vec<String>> = latency(qualification)
        .into_iter()
        .flat_map(|metric| &metric.false_alarms)
        .map(|alarms| {
            vec![
                format!("{} {} a side", alarms.units, alarms.of),
                of(alarms.alarms_in_turns, alarms.in_turns),
                of(alarms.alarms_at_random, alarms.at_random),
                of(alarms.beyond_range, alarms.in_turns),
            ]
        })
        .collect();
    if !rows.is_empty() {
        page.table(
            &["false alarms, mean latency", "in turns", "in random order", "a mean beyond the other's range"],
            rows,
        );
    }
}

/// `3 of 120 (2.5 %)`
fn of(count: usize, all: usize) -> String {
    format!("{count} of {all} ({:.1} %)", count as f64 / all as f64 * 100.0)
}

fn power(page: &mut Page, qualification: &Qualification) {
    let Some(metric) = latency(qualification) else { return };
    let rows = metric.smallest_visible.iter().map(|visible| {
        vec![
            format!("{} a side", visible.units),
            percent(visible.runs_of_a_boot_percent),
            percent(visible.boots_percent),
        ]
    });
    page.table(&["smallest visible, mean latency", "runs of a boot", "boots"], rows.collect());
    let count = |count: Option<u32>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let rows = metric.needed.iter().map(|needed| {
        vec![format!("for {} %", needed.percent), count(needed.runs_of_a_boot), count(needed.boots)]
    });
    page.table(&["units a side needed", "runs of a boot", "boots"], rows.collect());
    if metric.boot_deviation_percent.is_none() {
        page.item("of one boot: what differs from boot to boot, and so between kernels, is not known");
    }
}

fn percent(figure: Option<f64>) -> String {
    figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.2} %"))
}
