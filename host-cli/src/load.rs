//! From files of runs to their figures: the one way in for whatever shows, compares or judges them.

use crate::analysis::{ImportedRun, RunSummary, summarize};
use crate::recording::Recording;
use crate::store::{Found, StoredRun, is_imported, read_imported};
use std::path::Path;

/// A stored run.
#[derive(Debug, Clone, PartialEq)]
pub enum Stored {
    /// tophalf measured it.
    Measured(Box<RunSummary>),
    /// Another tool did.
    Imported(ImportedRun),
}

/// The figures of runs, in their order. That some files are of something else, or some runs were never finished,
/// is said on standard error.
///
/// # Errors
/// A file cannot be read, or is no run.
pub fn load(found: &Found) -> anyhow::Result<Vec<Stored>> {
    if found.foreign > 0 {
        eprintln!("{} files beside the runs are of something else and are left out", found.foreign);
    }
    found.runs.iter().map(|path| load_one(path)).collect()
}

/// The figures of one run.
///
/// # Errors
/// The file cannot be read, or is no run.
pub fn load_one(path: &Path) -> anyhow::Result<Stored> {
    if is_imported(path) {
        read_imported(path).map(Stored::Imported)
    } else {
        measured(path).map(Box::new).map(Stored::Measured)
    }
}

/// The figures of a run that tophalf measured.
///
/// # Errors
/// The file cannot be read, or is no run file.
pub fn measured(path: &Path) -> anyhow::Result<RunSummary> {
    let mut run = StoredRun::open(path)?;
    if run.partial {
        eprintln!(
            "{}: incomplete: tophalf ended before the run did, and this is what had arrived",
            path.display()
        );
    }
    let recording = Recording::from_events(run.events.by_ref());
    run.events.finish()?;
    Ok(summarize(&run.header, &recording))
}
