//! Imported runs as files: `{"schema": 1, "run": …}`, where the run is an [`ImportedRun`] under its own names.

use super::publish::publish;
use crate::analysis::ImportedRun;
use crate::failure::Failure;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{ErrorKind, Read, Write},
    path::Path,
};

/// The version of these files. Unlike other documents of tophalf, no name may be added to one: an unknown name
/// is an error, so that nothing that was meant is left out silently.
const SCHEMA: u32 = 1;
/// An imported run is a few figures. Bounds what a foreign file can make a reader hold.
const MAX_BYTES: u64 = 4 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<Run> {
    schema: u32,
    run: Run,
}

/// The version alone, so that a newer file is not blamed for its names.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// Writes a run to `path`, and has it on disk when this returns. The same run twice is fine.
///
/// # Errors
/// The file cannot be written, or another run has this name.
pub(super) fn write(run: &ImportedRun, path: &Path) -> anyhow::Result<()> {
    if let Some(metric) = run.metrics.iter().find(|metric| !metric.value.is_finite()) {
        return Err(Failure::usage(format!("{}: {} is {}", run.id, metric.name, metric.value)));
    }
    let mut text = serde_json::to_string_pretty(&Document { schema: SCHEMA, run })
        .with_context(|| format!("cannot write {} as JSON", run.id))?;
    text.push('\n');
    if text.len() as u64 > MAX_BYTES {
        return Err(Failure::usage(format!(
            "the run {} takes {} bytes: {MAX_BYTES} is the most",
            run.id,
            text.len()
        )));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let kept = || -> std::io::Result<()> {
        let mut temporary = tempfile::Builder::new().prefix(".importing-").tempfile_in(folder)?;
        temporary.write_all(text.as_bytes())?;
        match publish(temporary.as_file(), temporary.path(), path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && fs::read(path)? == text.as_bytes() => {
                Ok(())
            }
            published => published,
        }
    };
    kept().map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(format!(
            "{} is there already, and is another run: remove it first, or import this one as another --variant",
            path.display()
        )),
        _ => Failure::device(format!(
            "cannot write {}: {error}: free some space or choose another --store",
            path.display()
        )),
    })
}

/// Reads what [`write`] wrote.
///
/// # Errors
/// It cannot be read, or is not exactly an imported run; with the line.
pub(crate) fn read(path: &Path) -> anyhow::Result<ImportedRun> {
    parse(path).map_err(|error| Failure::device(format!("{}: {error:#}", path.display())))
}

fn parse(path: &Path) -> anyhow::Result<ImportedRun> {
    let mut text = Vec::new();
    let file = File::open(path).context("cannot be opened")?;
    file.take(MAX_BYTES + 1).read_to_end(&mut text).context("cannot be read")?;
    if text.len() as u64 > MAX_BYTES {
        bail!("is too long for an imported run, of which {MAX_BYTES} bytes are the most");
    }
    const NONE: &str = "is no imported run";
    let Version { schema } = serde_json::from_slice(&text).context(NONE)?;
    if schema != SCHEMA {
        bail!("is of schema {schema}, and this tophalf reads {SCHEMA}: use the tophalf that made it");
    }
    let Document { run, .. } = serde_json::from_slice::<Document<ImportedRun>>(&text).context(NONE)?;
    Ok(run)
}
