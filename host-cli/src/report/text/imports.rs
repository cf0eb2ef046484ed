//! What an import brought in.

use super::{Page, counted};
use crate::analysis::Better;
use crate::report::{
    Audited, ImportedFile, audit,
    imports::{Figure, by_metric},
};
use std::collections::BTreeMap;

/// Values of a line that are shown.
const SHOWN_VALUES: usize = 6;

/// Fewer values have a common step by chance alone.
const FEWEST_FOR_STEPS: usize = 3;

/// Every file with what was made of it, every figure by variant, and the steps that the figures come in.
pub fn imports(files: &[ImportedFile]) -> String {
    let mut page = Page::default();
    for file in files {
        let runs = counted(file.imported.runs.len(), "run");
        let already = match file.there_already {
            0 => String::new(),
            all if all == file.imported.runs.len() => ", there already: nothing is added".to_owned(),
            some => format!(", {some} of them there already"),
        };
        page.line(&format!("{}: {runs}, read as {}{already}", file.file, file.imported.format.name()));
        file.imported.notes.iter().for_each(|note| page.item(note));
    }
    page.blank();
    let mut rows = Vec::new();
    for ((workload, metric), figures) in by_metric(files) {
        let mut variants: BTreeMap<&str, Vec<Figure<'_>>> = BTreeMap::new();
        for figure in figures {
            variants.entry(&figure.0.variant).or_default().push(figure);
        }
        for (variant, figures) in variants {
            rows.push(row(workload, metric, variant, &figures));
        }
    }
    page.table(&["workload", "metric", "unit", "better", "variant", "n", "values"], rows);
    page.blank();
    let audited = audit(files);
    audited.iter().filter(|audited| audited.quantum.is_some()).for_each(|audited| page.line(&steps(audited)));
    let without = audited.iter().filter(|audited| audited.quantum.is_none());
    let (enough, too_few): (Vec<&Audited>, Vec<&Audited>) =
        without.partition(|audited| audited.n >= FEWEST_FOR_STEPS);
    if !enough.is_empty() {
        page.line(&format!(
            "resolution: no steps are seen in {} with {FEWEST_FOR_STEPS} values or more",
            counted(enough.len(), "metric")
        ));
    }
    if !too_few.is_empty() {
        page.line(&format!(
            "resolution: {} with fewer values cannot show steps",
            counted(too_few.len(), "metric")
        ));
    }
    page.line("another tool measured these: what tophalf checks of its own runs is not known of them");
    page.finish()
}

fn row(workload: &str, metric: &str, variant: &str, figures: &[Figure<'_>]) -> Vec<String> {
    let first = figures.first().map(|(_, metric)| *metric);
    let better = first.map_or("", |metric| match metric.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    });
    let unit = first.map_or("", |metric| metric.unit.as_str());
    let mut values: Vec<String> =
        figures.iter().take(SHOWN_VALUES).map(|(_, metric)| figure(metric.value)).collect();
    if figures.len() > SHOWN_VALUES {
        values.push("…".to_owned());
    }
    vec![
        workload.to_owned(),
        metric.to_owned(),
        unit.to_owned(),
        better.to_owned(),
        variant.to_owned(),
        figures.len().to_string(),
        values.join(" "),
    ]
}

/// `resolution: mixed-st score comes in steps of 290.69 score, 1.6 % of the mean: 64 63 61 steps`
fn steps(audited: &Audited) -> String {
    let mut multiples: Vec<String> =
        audited.multiples.iter().take(SHOWN_VALUES).map(u64::to_string).collect();
    if audited.multiples.len() > SHOWN_VALUES {
        multiples.push("…".to_owned());
    }
    format!(
        "resolution: {} {} comes in steps of {} {}, {:.1} % of the mean ({} steps): a difference of one step is no evidence",
        audited.workload,
        audited.metric,
        figure(audited.quantum.unwrap_or_default()),
        audited.unit,
        audited.percent.unwrap_or_default(),
        multiples.join(" ")
    )
}

/// Whole numbers whole, others with six digits or so.
fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        ..1.0 => 6,
        ..10.0 => 5,
        ..100.0 => 4,
        ..1000.0 => 3,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
