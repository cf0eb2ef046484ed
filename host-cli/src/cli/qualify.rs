//! `tophalf qualify`: a device against itself.

use super::run::{Measure, Measured};
use super::{Answer, not_comparable};
use crate::analysis::{self, Asked, RunSummary};
use crate::failure::Failure;
use crate::load::{Stored, load};
use crate::report;
use crate::run_options::RunOptions;
use crate::store::Store;
use clap::Args;
use std::path::PathBuf;

/// What the runs are labelled with where nothing else is asked for.
const VARIANT: &str = "qualify";

#[derive(Debug, Args)]
pub(super) struct QualifyArgs {
    /// Stored runs of one thing on one device, in place of new ones: variants, folders or run files
    #[arg(value_name = "RUNS", conflicts_with_all = ["device", "runs", "variant", "agent"])]
    stored: Vec<String>,
    /// adb serial, or `local` for this machine [default: the only device attached]
    #[arg(short, long, value_name = "DEV")]
    device: Option<String>,
    #[command(flatten)]
    options: RunOptions,
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(4..=10_000))]
    runs: u32,
    /// What the runs are labelled with [default: qualify]
    #[arg(long, value_name = "LABEL")]
    variant: Option<String>,
    /// The agent to use, in place of the one found for the device
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

pub(super) fn qualify(args: QualifyArgs, store: &Store) -> anyhow::Result<Answer> {
    let Measured { runs, problem } = if args.stored.is_empty() {
        let measure = Measure {
            device: args.device,
            options: args.options,
            runs: args.runs,
            variant: Some(args.variant.unwrap_or_else(|| VARIANT.to_owned())),
            agent: args.agent,
        };
        measure.measure(store)?
    } else {
        let found =
            args.stored.iter().map(|what| load(&store.find(what)?)).collect::<anyhow::Result<Vec<_>>>()?;
        Measured { runs: found.into_iter().flatten().collect(), problem: None }
    };
    let runs = runs.into_iter().map(measured).collect::<anyhow::Result<Vec<RunSummary>>>()?;
    if let Some(problem) = problem {
        // What there is can be qualified by its name, once the reason is mended.
        return Err(problem.context(format!("after {} runs", runs.len())));
    }
    let qualification = analysis::qualify(&runs, Asked::default().margin_percent).map_err(not_comparable)?;
    Ok(Answer {
        invalid: qualification.metrics.iter().any(|metric| !metric.qualified),
        ..Answer::new(
            report::text::qualification(&qualification),
            report::json::qualification(&qualification),
        )
    })
}

fn measured(run: Stored) -> anyhow::Result<RunSummary> {
    match run {
        Stored::Measured(run) => Ok(*run),
        Stored::Imported(run) => Err(Failure::usage(format!(
            "{} was imported: a device is qualified by runs that tophalf measured",
            run.id
        ))),
    }
}
