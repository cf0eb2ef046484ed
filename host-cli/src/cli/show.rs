//! `tophalf show`: stored runs, as they were reported when they were made.

use super::Answer;
use crate::load::{Stored, load};
use crate::report;
use crate::store::Store;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// A run file, the id of a run, a variant, or a folder
    #[arg(value_name = "RUN")]
    what: String,
}

pub(super) fn show(args: &ShowArgs, store: &Store) -> anyhow::Result<Answer> {
    Ok(answer(&load(&store.find(&args.what)?)?))
}

/// Runs as text and as JSON; invalid if one of them is.
pub(super) fn answer(runs: &[Stored]) -> Answer {
    let text = |run: &Stored| match run {
        Stored::Measured(run) => report::text::run(run),
        Stored::Imported(run) => report::text::imported(run),
    };
    let text: Vec<String> = runs.iter().map(text).collect();
    let is_invalid = |run: &Stored| matches!(run, Stored::Measured(run) if !run.quality.valid);
    Answer {
        invalid: runs.iter().any(is_invalid),
        ..Answer::new(text.join("\n"), report::json::stored(runs))
    }
}
