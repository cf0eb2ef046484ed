//! `tophalf show`: stored runs, as they were reported when they were made.

use super::Answer;
use crate::analysis::{RunSummary, summarize};
use crate::recording::Recording;
use crate::report;
use crate::store::{Store, StoredRun};
use clap::Args;
use std::path::Path;

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// A run file, the id of a run, a variant, or a folder
    #[arg(value_name = "RUN")]
    what: String,
}

pub(super) fn show(args: &ShowArgs, store: &Store) -> anyhow::Result<Answer> {
    let runs = store.find(&args.what)?.iter().map(|path| load(path)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(answer(&runs))
}

/// The figures of a stored run.
pub(super) fn load(path: &Path) -> anyhow::Result<RunSummary> {
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

/// Runs as text and as JSON; invalid if one of them is.
pub(super) fn answer(runs: &[RunSummary]) -> Answer {
    let text: Vec<String> = runs.iter().map(report::text::run).collect();
    Answer {
        invalid: runs.iter().any(|run| !run.quality.valid),
        ..Answer::new(text.join("\n"), report::json::runs(runs))
    }
}
