//! `tophalf compare`: two sides, each of which is a variant, a folder or a file.

use super::{Answer, not_comparable};
use crate::analysis::{
    self, Asked, Comparison, EnvironmentLine, ImportedRun, RunSummary, Verdict, commits, config,
};
use crate::exchange::{benchfmt, junit};
use crate::failure::Failure;
use crate::load::{Stored, kernel_options, load};
use crate::report::{self, fio_command::fio_command};
use crate::store::{Found, Store};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Most options of kernels that are named.
const MOST_OPTIONS: usize = 12;

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// What was before: a variant, a folder, or a run file
    base: String,
    /// What is new: a variant, a folder, or a run file
    new: String,
    /// Differences smaller than PERCENT do not matter: `no-difference` is only said where they would have been seen
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    margin: f64,
    /// The claim is about one commit: refuse a verdict where version or configuration of the kernels differ
    #[arg(long)]
    same_base: bool,
    /// Exit with 1 if a regression of more than PERCENT was found (of the mean latency; of any figure imported)
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Where to write it, in place of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A git tree of the kernel in which commits that matter are looked for; it is only read
    #[arg(long, value_name = "DIR", requires_all = ["base_rev", "new_rev"])]
    tree: Option<PathBuf>,
    /// What the base was built from: a revision of --tree
    #[arg(long, value_name = "REV", requires = "tree")]
    base_rev: Option<String>,
    /// What the new side was built from
    #[arg(long, value_name = "REV", requires = "tree")]
    new_rev: Option<String>,
}

/// A way to write a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// To be pasted into a mail to a kernel list
    Mail,
    /// For GitHub and GitLab
    Markdown,
    /// One document, the same as with --json
    Json,
    /// Go benchmark text, for benchstat
    Benchfmt,
    /// For CI: a test case a metric
    Junit,
}

fn percent(text: &str) -> Result<f64, String> {
    let value: f64 =
        text.trim_end_matches('%').trim().parse().map_err(|_| format!("{text:?} is no number"))?;
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err("it must be more than 0".to_owned()) }
}

pub(super) fn compare(args: &CompareArgs, store: &Store) -> anyhow::Result<Answer> {
    let (base_found, new_found) = (store.find(&args.base)?, store.find(&args.new)?);
    let asked = Asked { margin_percent: args.margin, same_base: args.same_base };
    let (base, new) = (side(load(&base_found)?, &args.base)?, side(load(&new_found)?, &args.new)?);
    let fio = fio_of(&new);
    let mut comparison = match (base, new) {
        (Runs::Measured(base), Runs::Measured(new)) => analysis::compare(&base, &new, &asked),
        (Runs::Imported(base), Runs::Imported(new)) => analysis::compare_imported(&base, &new, &asked),
        _ => {
            return Err(Failure::usage(
                "one side was measured by tophalf and the other by another tool: they cannot be compared",
            ));
        }
    }
    .map_err(not_comparable)?;
    add_options(&mut comparison, &base_found, &new_found);
    add_commits(&mut comparison, args)?;
    let json = report::json::comparison(&comparison);
    let text = match args.format {
        Format::Text => report::text::comparison(&comparison),
        Format::Mail => report::mail(&comparison, fio.as_deref(), &files(&[&base_found, &new_found])?),
        Format::Markdown => report::markdown(&comparison),
        Format::Json => format!("{json:#}\n"),
        Format::Benchfmt => benchfmt(&comparison),
        Format::Junit => junit(&comparison)?,
    };
    let mut answer = Answer {
        invalid: comparison.metrics.iter().any(|metric| metric.verdict == Verdict::Invalid),
        found: args.fail_above.is_some_and(|limit| found_above(&comparison, limit)),
        ..Answer::new(text, json)
    };
    if let Some(path) = &args.output {
        std::fs::write(path, &answer.text)
            .map_err(|error| Failure::device(format!("cannot write {}: {error}", path.display())))?;
        answer.text = format!("written to {}\n", path.display());
    }
    Ok(answer)
}

/// Runs of one kind.
enum Runs {
    Measured(Vec<RunSummary>),
    Imported(Vec<ImportedRun>),
}

fn side(stored: Vec<Stored>, what: &str) -> anyhow::Result<Runs> {
    let (mut measured, mut imported) = (Vec::new(), Vec::new());
    for run in stored {
        match run {
            Stored::Measured(run) => measured.push(*run),
            Stored::Imported(run) => imported.push(*run),
        }
    }
    match (measured.is_empty(), imported.is_empty()) {
        (false, false) => Err(Failure::usage(format!(
            "{what} holds {} runs that tophalf measured and {} of another tool: they cannot be one side",
            measured.len(),
            imported.len()
        ))),
        (true, _) => Ok(Runs::Imported(imported)),
        (false, true) => Ok(Runs::Measured(measured)),
    }
}

/// The fio command of the first run that can be trusted.
fn fio_of(runs: &Runs) -> Option<Vec<String>> {
    match runs {
        Runs::Measured(runs) => runs.iter().filter(|run| run.quality.valid).find_map(fio_command),
        Runs::Imported(_) => None,
    }
}

/// A line a file: what it is called, and what tells it from any other.
fn files(sides: &[&Found]) -> anyhow::Result<Vec<String>> {
    let paths = sides.iter().flat_map(|found| &found.runs);
    paths
        .map(|path| {
            let bytes = std::fs::read(path)
                .map_err(|error| Failure::device(format!("cannot read {}: {error}", path.display())))?;
            let name = path.file_name().unwrap_or(path.as_os_str()).display();
            Ok(format!("{name}, CRC-32 {:08x}", crc32fast::hash(&bytes)))
        })
        .collect()
}

/// Says of each commit that matters whether it is in the kernels, as far as a tree tells.
fn add_commits(comparison: &mut Comparison, args: &CompareArgs) -> anyhow::Result<()> {
    let (Some(tree), Some(base), Some(new)) = (&args.tree, &args.base_rev, &args.new_rev) else {
        return Ok(());
    };
    let states = |revision: &str| {
        commits::in_tree(tree, revision, &commits::KNOWN)
            .map_err(|error| Failure::usage(format!("{error:#}")))
    };
    for ((commit, base), (_, new)) in states(base)?.into_iter().zip(states(new)?) {
        comparison.environment.push(EnvironmentLine {
            name: commit.short().to_owned(),
            base: vec![base.words()],
            new: vec![new.words()],
        });
    }
    Ok(())
}

/// Names the options in which two kernels differ, from a run of each.
fn add_options(comparison: &mut Comparison, base: &Found, new: &Found) {
    if !comparison.gates.iter().any(|gate| gate.name == "kernel-config") {
        return;
    }
    let options = |found: &Found| found.runs.iter().find_map(|path| kernel_options(path).ok());
    let Some((base, new)) = options(base).zip(options(new)) else { return };
    let differences = config::differences(&base, &new);
    let mut named: Vec<String> = differences
        .iter()
        .take(MOST_OPTIONS)
        .map(|(name, base, new)| format!("{name} {base} against {new}"))
        .collect();
    if differences.len() > MOST_OPTIONS {
        named.push(format!("and {} more", differences.len() - MOST_OPTIONS));
    }
    comparison.notes.push(format!("options of the kernels that differ: {}", named.join(", ")));
}

fn found_above(comparison: &Comparison, limit: f64) -> bool {
    comparison
        .metrics
        .iter()
        .filter(|metric| comparison.imported || metric.metric == "latency_mean_ns")
        .filter(|metric| metric.verdict == Verdict::Regression)
        .any(|metric| metric.change_percent.is_some_and(|change| change.abs() > limit))
}
