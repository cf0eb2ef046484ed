//! Numbers of other tools, side against side.

use super::metric::{Figure, Metric};
use super::twice;
use crate::analysis::{
    Asked, Better, Comparison, ImportedRun, MetricComparison, NotComparable, Resolution, SideSummary, quantum,
};
use std::collections::{BTreeMap, BTreeSet};

/// Compares two sides of imported runs, each figure of each workload by itself. What tophalf checks of its own runs
/// cannot be checked of these.
///
/// # Errors
/// A side is empty, or a figure has more than one unit, or they have no figure of one workload in common.
pub fn compare_imported(
    base: &[ImportedRun],
    new: &[ImportedRun],
    asked: &Asked,
) -> Result<Comparison, NotComparable> {
    for (runs, side) in [(base, "base"), (new, "new")] {
        if runs.is_empty() {
            return Err(NotComparable::NoRuns(side));
        }
    }
    if let Some(twice) = twice(base.iter().chain(new).map(|run| &run.id)) {
        return Err(NotComparable::Twice(twice));
    }
    let (base_figures, new_figures) = (figures(base)?, figures(new)?);
    let mut notes = Vec::new();
    for (figures, others, side, other) in
        [(&base_figures, &new_figures, "base", "new side"), (&new_figures, &base_figures, "new side", "base")]
    {
        let lonely: Vec<&str> =
            figures.keys().filter(|name| !others.contains_key(*name)).map(String::as_str).collect();
        if !lonely.is_empty() {
            notes.push(format!("the {side} has {}, which the {other} has not", lonely.join(", ")));
        }
    }
    let mut metrics = Vec::new();
    for (name, base) in base_figures {
        let Some(new) = new_figures.get(&name) else { continue };
        if (&base.unit, base.better) != (&new.unit, new.better) {
            return Err(NotComparable::Differ(vec![format!(
                "unit of {name}: {} against {}",
                base.unit, new.unit
            )]));
        }
        let metric = Metric {
            name,
            unit: base.unit.to_owned(),
            better: base.better,
            additive: false,
            base: base.figures,
            new: new.figures.clone(),
            left_out: [vec![], vec![]],
        };
        metrics.push(with_resolution(metric.compare(asked.margin_percent, None)));
    }
    if metrics.is_empty() {
        return Err(NotComparable::Differ(notes));
    }
    notes.push("imported: what tophalf checks of its own runs cannot be checked of these".to_owned());
    Ok(Comparison {
        base: side_summary(base),
        new: side_summary(new),
        key: Vec::new(),
        emulated: false,
        imported: true,
        margin_percent: asked.margin_percent,
        metrics,
        hops: Vec::new(),
        gates: Vec::new(),
        environment: Vec::new(),
        left_out: Vec::new(),
        notes,
    })
}

/// Says it where the values of both sides come in steps.
fn with_resolution(mut metric: MetricComparison) -> MetricComparison {
    let values = [&metric.base.values[..], &metric.new.values[..]].concat();
    if let Some((quantum, mean)) = quantum(&values).zip(metric.base.mean.filter(|mean| *mean > 0.0)) {
        let percent = quantum.step / mean * 100.0;
        metric.resolution = Some(Resolution { quantum: quantum.step, percent });
        metric.reason.push_str(&format!(
            "; the values come in steps of {:.2} ({percent:.1} %), so that a difference of a step or two is none",
            quantum.step
        ));
    }
    metric
}

/// The figures of one name.
struct Named<'a> {
    unit: &'a str,
    better: Better,
    figures: Vec<Figure<'a>>,
}

/// Figures by `WORKLOAD.NAME`.
fn figures(runs: &[ImportedRun]) -> Result<BTreeMap<String, Named<'_>>, NotComparable> {
    let mut named: BTreeMap<String, Named<'_>> = BTreeMap::new();
    for run in runs {
        for metric in &run.metrics {
            let name = format!("{}.{}", run.workload, metric.name);
            let figure = Figure {
                id: &run.id,
                device: run.device.as_deref(),
                boot: run.boot.as_deref(),
                // The place of a run among those of its variant says nothing of when the other variant's were made.
                at_s: None,
                value: metric.value,
            };
            if !metric.value.is_finite() {
                return Err(NotComparable::Differ(vec![format!("{name} of {} is no number", run.id)]));
            }
            let same = named.entry(name.clone()).or_insert_with(|| Named {
                unit: &metric.unit,
                better: metric.better,
                figures: Vec::new(),
            });
            if (same.unit, same.better) != (metric.unit.as_str(), metric.better) {
                return Err(NotComparable::Differ(vec![format!(
                    "unit of {name}: {} against {}",
                    same.unit, metric.unit
                )]));
            }
            same.figures.push(figure);
        }
    }
    Ok(named)
}

fn side_summary(runs: &[ImportedRun]) -> SideSummary {
    let distinct = |values: &mut dyn Iterator<Item = &String>| {
        values.collect::<BTreeSet<_>>().into_iter().cloned().collect::<Vec<String>>()
    };
    SideSummary {
        variants: distinct(&mut runs.iter().map(|run| &run.variant)),
        kernels: distinct(&mut runs.iter().filter_map(|run| run.kernel.as_ref())),
        paths: Vec::new(),
        runs: runs.iter().map(|run| run.id.clone()).collect(),
    }
}
