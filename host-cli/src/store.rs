//! The folder that runs are kept in.
//!
//! A run that was measured lies at `VARIANT/TIME-DEVICE-HEX.tophalf`, and is called `….tophalf.partial` until all
//! of it is on disk. Numbers of another tool lie at `VARIANT/ID.imported.json`. There is no index: the folder is
//! the store, and people copy things into it and out of it.

mod imported_file;
mod names;
mod publish;
mod run_file;

pub(crate) use imported_file::read as read_imported;
pub(crate) use names::id_part;
pub use run_file::{Events, RunWriter, StoredRun};

use crate::analysis::ImportedRun;
use crate::failure::Failure;
use crate::printable::printable;
use crate::run_header::RunHeader;
use anyhow::Context;
use names::file_name;
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

const SUFFIX: &str = ".tophalf";
const PARTIAL_SUFFIX: &str = ".tophalf.partial";
const IMPORTED_SUFFIX: &str = ".imported.json";
/// Holds what is kept of campaigns beside their runs.
const CAMPAIGNS: &str = "campaigns";

/// A folder of runs.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// Files that a name means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Finished runs, by folder and name, which is by time within a variant.
    pub runs: Vec<PathBuf>,
    /// Files among them that are of something else.
    pub foreign: usize,
}

impl Store {
    /// The store in `folder`, which is made when the first run is.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every file of a variant, by name, runs that were never finished included; none if there is no such variant.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn files_of(&self, variant: &str) -> anyhow::Result<Vec<PathBuf>> {
        let folder = self.folder.join(file_name(variant));
        let listed = || format!("cannot list {}", folder.display());
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(listed)?,
        };
        let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut paths = paths.with_context(listed)?;
        paths.sort();
        Ok(paths)
    }

    /// Begins a run file.
    ///
    /// # Errors
    /// The folder cannot be made, or the file cannot be written.
    pub fn begin(&self, header: &RunHeader) -> anyhow::Result<RunWriter> {
        let folder = self.variant_folder(&header.variant)?;
        let stem = file_name(&header.id);
        let partial = folder.join(format!("{stem}{PARTIAL_SUFFIX}"));
        RunWriter::begin(partial, folder.join(format!("{stem}{SUFFIX}")), header)
    }

    /// Keeps a run of another tool. The same one twice is fine.
    ///
    /// # Errors
    /// The folder cannot be made, the file cannot be written, a value is not finite, or another run has its id.
    pub fn keep_imported(&self, run: &ImportedRun) -> anyhow::Result<PathBuf> {
        let folder = self.variant_folder(&run.variant)?;
        let path = folder.join(format!("{}{IMPORTED_SUFFIX}", file_name(&run.id)));
        imported_file::write(run, &path)?;
        Ok(path)
    }

    fn variant_folder(&self, variant: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(file_name(variant));
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        Ok(folder)
    }

    /// The runs that `what` means: a variant of this store, a folder, a file of a run, or the id of a run.
    ///
    /// # Errors
    /// There is no such thing, or it holds no run.
    pub fn find(&self, what: &str) -> anyhow::Result<Found> {
        let variant = self.folder.join(file_name(what));
        let path = Path::new(what);
        let mut found = Found::default();
        if variant.is_dir() {
            found.search(&variant)?;
        } else if path.is_dir() {
            found.search(path)?;
        } else if path.is_file() {
            found.runs.push(path.to_path_buf());
        } else {
            let stem = file_name(what);
            if self.folder.is_dir() {
                found.search(&self.folder)?;
            }
            found.foreign = 0;
            found.runs.retain(|run| stem_of(run) == Some(stem.as_bytes()));
            if found.runs.is_empty() {
                return Err(Failure::usage(format!(
                    "{} is no variant or run in {}, no folder and no file",
                    printable(what, 300),
                    self.folder.display()
                )));
            }
        }
        if found.runs.is_empty() {
            let foreign = match found.foreign {
                0 => String::new(),
                count => format!(
                    ", only {count} files of something else: `tophalf import` reads those of fio, and scores as CSV"
                ),
            };
            let what = printable(what, 300);
            return Err(Failure::device(format!("there is no finished run in {what}{foreign}")));
        }
        Ok(found)
    }
}

impl Found {
    /// Adds what a folder and the folders of it hold.
    fn search(&mut self, folder: &Path) -> anyhow::Result<()> {
        let from = self.runs.len();
        let ours = folder.file_name().is_some_and(|name| name == CAMPAIGNS);
        for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let path = entry.path();
            let kind = entry.file_type().with_context(|| format!("cannot look at {}", path.display()))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() {
                self.search(&path)?;
            } else if stem_of(&path).is_some() {
                self.runs.push(path);
            } else if !ours && !name.starts_with('.') && !name.ends_with(PARTIAL_SUFFIX) {
                self.foreign += 1;
            }
        }
        self.runs[from..].sort();
        Ok(())
    }
}

/// The id in the name of a finished run's file; `None` if it is no such file.
fn stem_of(path: &Path) -> Option<&[u8]> {
    let name = path.file_name()?.as_encoded_bytes();
    name.strip_suffix(SUFFIX.as_bytes()).or_else(|| name.strip_suffix(IMPORTED_SUFFIX.as_bytes()))
}

/// Whether a file holds an imported run, by its name.
pub(crate) fn is_imported(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().ends_with(IMPORTED_SUFFIX.as_bytes()))
}

#[cfg(test)]
mod tests;
