//! `tophalf import`: numbers that another tool measured, as runs of the store.

use super::Answer;
use crate::analysis::Better;
use crate::exchange::{self, Format, Given, ImportError, Imported, MAX_FILE_BYTES};
use crate::failure::Failure;
use crate::report::{self, ImportedFile};
use crate::store::Store;
use clap::Args;
use std::{
    collections::HashSet,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Output of fio, JSON or text, or a table of figures as CSV
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What the files are; told by their content if left out
    #[arg(long)]
    format: Option<Format>,
    /// Label of what was measured, where the file does not tell it
    #[arg(long, value_name = "LABEL")]
    variant: Option<String>,
    /// What was done, instead of what the file calls it
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Unit of the figures of a CSV
    #[arg(long, value_name = "U")]
    unit: Option<String>,
    /// Which way the figures of a CSV are better
    #[arg(long)]
    better: Option<BetterArg>,
    /// Place of the first run in the order in which the runs were made; those after it count on
    #[arg(long, value_name = "N")]
    run: Option<u64>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum BetterArg {
    Higher,
    Lower,
}

pub(super) fn import(args: &ImportArgs, store: &Store) -> anyhow::Result<Answer> {
    let mut given = Given {
        variant: args.variant.clone(),
        workload: args.workload.clone(),
        unit: args.unit.clone(),
        better: args.better.map(|better| match better {
            BetterArg::Higher => Better::Higher,
            BetterArg::Lower => Better::Lower,
        }),
        run: args.run,
    };
    // All are read before any is kept: half an import would be compared as if it were whole.
    let mut files = Vec::new();
    for path in &args.files {
        let imported = read(path, args.format, &given)?;
        given.run = given.run.map(|run| run.saturating_add(imported.runs.len() as u64));
        files.push((path, imported));
    }
    let mut done = Vec::new();
    for (path, imported) in files {
        let there_already = keep(&imported, store)?;
        done.push(ImportedFile { file: path.display().to_string(), imported, there_already });
    }
    Ok(Answer::new(report::text::imports(&done), report::json::imports(&done)))
}

fn read(path: &Path, format: Option<Format>, given: &Given) -> anyhow::Result<Imported> {
    let shown = path.display();
    if path.is_dir() {
        return Err(Failure::usage(format!(
            "{shown} is a folder: give the files in it that are to be imported"
        )));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    exchange::read(&bytes, &name, format, given).map_err(|error| match error {
        ImportError::Asked(_) => Failure::usage(format!("{shown} {error}")),
        ImportError::File(_) => Failure::device(format!("{shown} {error}")),
        ImportError::Line { .. } => Failure::device(format!("{shown}, {error}")),
    })
}

/// Keeps the runs of a file, and tells how many were there already.
fn keep(imported: &Imported, store: &Store) -> anyhow::Result<usize> {
    let variants: HashSet<&str> = imported.runs.iter().map(|run| run.variant.as_str()).collect();
    let mut before = HashSet::new();
    for variant in variants {
        before.extend(store.files_of(variant)?);
    }
    let mut there_already = 0;
    for run in &imported.runs {
        there_already += usize::from(before.contains(&store.keep_imported(run)?));
    }
    Ok(there_already)
}
