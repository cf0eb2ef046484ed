//! `tophalf compare`: two sides, each of which is a variant, a folder or a file.

use super::Answer;
use crate::analysis::{self, Asked, NotComparable, RunSummary, Verdict};
use crate::failure::Failure;
use crate::load::{Stored, load};
use crate::report;
use crate::store::Store;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// What was before: a variant, a folder, or a run file
    base: String,
    /// What is new: a variant, a folder, or a run file
    new: String,
}

pub(super) fn compare(args: &CompareArgs, store: &Store) -> anyhow::Result<Answer> {
    let base = side(&args.base, store)?;
    let new = side(&args.new, store)?;
    let comparison = analysis::compare(&base, &new, &Asked::default()).map_err(|why| match why {
        NotComparable::NoRuns(_) | NotComparable::NoValidRun => Failure::device(why.to_string()),
        NotComparable::Differ(_) | NotComparable::Twice(_) => Failure::usage(why.to_string()),
    })?;
    let metrics = &comparison.metrics;
    let invalid = metrics.is_empty() || metrics.iter().any(|metric| metric.verdict == Verdict::Invalid);
    Ok(Answer {
        invalid,
        ..Answer::new(report::text::comparison(&comparison), report::json::comparison(&comparison))
    })
}

fn side(what: &str, store: &Store) -> anyhow::Result<Vec<RunSummary>> {
    let measured = |stored| match stored {
        Stored::Measured(run) => Ok(*run),
        Stored::Imported(run) => Err(Failure::usage(format!("{} is a run of another tool", run.id))),
    };
    load(&store.find(what)?)?.into_iter().map(measured).collect()
}
