//! From files of runs to their figures: the one way in for whatever shows, compares or judges them.

mod figure_cache;
mod identity;

pub use figure_cache::FigureCache;

use crate::analysis::{ImportedRun, RunSummary, config, summarize};
use crate::failure::Failure;
use crate::recording::Recording;
use crate::store::{Found, StoredRun, is_imported, read_imported};
use figure_cache::{FolderFigures, encode};
use identity::Identity;
use std::{
    collections::BTreeMap,
    ops::Range,
    panic::resume_unwind,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Fewer runs than this are decoded sooner than the figures of all others in their folder are read.
const FEWEST_CACHED: usize = 16;

/// A stored run.
#[derive(Debug, Clone, PartialEq)]
pub enum Stored {
    /// tophalf measured it.
    Measured(Box<RunSummary>),
    /// Another tool did.
    Imported(Box<ImportedRun>),
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
    let cache = if found.runs.len() < FEWEST_CACHED { None } else { FigureCache::of_user() };
    load_with(found, cache.as_ref())
}

/// The figures of runs, in their order, with or without a cache, which changes nothing but the time it takes.
///
/// # Errors
/// A file cannot be read, or is no run.
pub fn load_with(found: &Found, cache: Option<&FigureCache>) -> anyhow::Result<Vec<Stored>> {
    let mut folders: BTreeMap<&Path, (FolderFigures, Used)> = BTreeMap::new();
    if let Some(cache) = cache {
        for folder in found.runs.iter().filter_map(|path| path.parent()) {
            folders.entry(folder).or_insert_with(|| (cache.read(folder), Used::default()));
        }
    }
    let loaded = on_all_cpus(found.runs.len(), |at| {
        let path = &found.runs[at];
        let figures = path.parent().and_then(|folder| folders.get(folder));
        load_from(path, figures.map(|(figures, _)| figures))
    });
    let mut runs = Vec::with_capacity(found.runs.len());
    for (path, loaded) in found.runs.iter().zip(loaded) {
        let (run, origin) = loaded?;
        runs.push(run);
        if let Some((_, used)) = path.parent().and_then(|folder| folders.get_mut(folder)) {
            match origin {
                Origin::Cache(record) => used.kept.push(record),
                Origin::File(Some(record)) => used.fresh.push(record),
                Origin::File(None) => {}
            }
        }
    }
    for (figures, used) in folders.into_values() {
        figures.save(&used.kept, &used.fresh);
    }
    Ok(runs)
}

/// The figures of one run.
///
/// # Errors
/// The file cannot be read, or is no run.
pub fn load_one(path: &Path) -> anyhow::Result<Stored> {
    load_from(path, None).map(|(run, _)| run)
}

/// How the kernel was built that a run was made on.
///
/// # Errors
/// The file cannot be read, or the device did not tell.
pub fn kernel_options(path: &Path) -> anyhow::Result<config::Options> {
    let mut run = StoredRun::open(path)?;
    let recording = Recording::from_events(run.events.by_ref());
    run.events.finish()?;
    config::of_recording(&recording).map_err(|why| Failure::device(format!("{}: {why}", path.display())))
}

/// Where figures come from.
enum Origin {
    /// This record of the folder's cache.
    Cache(Range<usize>),
    /// The run file, with a record for the cache if it may have one.
    File(Option<Vec<u8>>),
}

/// Records of a folder's cache.
#[derive(Default)]
struct Used {
    kept: Vec<Range<usize>>,
    fresh: Vec<Vec<u8>>,
}

fn load_from(path: &Path, figures: Option<&FolderFigures>) -> anyhow::Result<(Stored, Origin)> {
    if is_imported(path) {
        return Ok((Stored::Imported(Box::new(read_imported(path)?)), Origin::File(None)));
    }
    let before = figures.and_then(|_| Identity::of(path));
    let named = path.file_name().zip(before);
    if let Some((run, record)) = figures.zip(named).and_then(|(figures, (name, is))| figures.get(name, &is)) {
        return Ok((Stored::Measured(Box::new(run)), Origin::Cache(record)));
    }
    let run = measured(path)?;
    // What was read is what this identity names only if the file was at rest before, and the same afterwards.
    let at_rest = named.filter(|(_, is)| is.at_rest() && Identity::of(path).as_ref() == Some(is));
    let record = at_rest.and_then(|(name, is)| encode(name, is, &run));
    Ok((Stored::Measured(Box::new(run)), Origin::File(record)))
}

fn measured(path: &Path) -> anyhow::Result<RunSummary> {
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

/// What `work` gives for 0 to `count`, in this order.
fn on_all_cpus<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(count);
    let next = AtomicUsize::new(0);
    // One at a time, since files differ in size.
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < count);
    let worker = || std::iter::from_fn(take).map(|at| (at, work(at))).collect::<Vec<_>>();
    let mut done = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let joined =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.flatten().collect::<Vec<_>>()
    });
    done.sort_unstable_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests;
