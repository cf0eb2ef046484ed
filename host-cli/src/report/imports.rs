//! What an import brought in, by figure, and whether the figures come in steps.

use crate::analysis::{ImportedMetric, ImportedRun, Quantum, quantum};
use crate::exchange::Imported;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A file that was imported.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedFile {
    /// It, as it was given.
    pub file: String,
    /// What it holds.
    pub imported: Imported,
    /// How many of its runs were in the store already.
    pub there_already: usize,
}

/// Steps that the figures of one name come in, all variants together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audited {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Figures.
    pub n: usize,
    /// The step in the metric's unit, `None` if there is none.
    pub quantum: Option<f64>,
    /// The step in percent of the mean of all.
    pub percent: Option<f64>,
    /// How many steps each figure is.
    pub multiples: Vec<u64>,
}

/// A figure and its run.
pub(super) type Figure<'a> = (&'a ImportedRun, &'a ImportedMetric);

/// Each figure by workload and metric, in that order, with its run. A run that is there twice counts once.
pub(super) fn by_metric(files: &[ImportedFile]) -> BTreeMap<(&str, &str), Vec<Figure<'_>>> {
    let mut named: BTreeMap<_, Vec<Figure<'_>>> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for run in files.iter().flat_map(|file| &file.imported.runs) {
        if taken.insert(&run.id) {
            for metric in &run.metrics {
                named.entry((run.workload.as_str(), metric.name.as_str())).or_default().push((run, metric));
            }
        }
    }
    named
}

/// Looks for steps in each figure of all files.
pub fn audit(files: &[ImportedFile]) -> Vec<Audited> {
    let one = |((workload, metric), figures): ((&str, &str), Vec<Figure<'_>>)| {
        let values: Vec<f64> = figures.iter().map(|(_, metric)| metric.value).collect();
        let found = quantum(&values);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let step = found.as_ref().map(|Quantum { step, .. }| *step);
        Audited {
            workload: workload.to_owned(),
            metric: metric.to_owned(),
            unit: figures.first().map(|(_, metric)| metric.unit.clone()).unwrap_or_default(),
            n: values.len(),
            quantum: step,
            percent: step.map(|step| 100.0 * step / mean),
            multiples: found.map(|found| found.multiples).unwrap_or_default(),
        }
    };
    by_metric(files).into_iter().map(one).collect()
}
