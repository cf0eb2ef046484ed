//! What `fio --output-format=json` and `json+` print (fio's stat.c, `show_thread_status_json`; for `--client` also
//! client.c): `jobs`, or `client_stats` with a `hostname` each.
//!
//! - What fio says besides stands before, between or after the documents (axboe/fio#1685), so that a document begins
//!   at a line with `{`.
//! - Names can be there twice: several `filename` in `job options` (axboe/fio#1571), `0.00` in `percentile`
//!   (axboe/fio#511), a second `disk_util` of clients (axboe/fio#129). In what is read here it is an error, but for
//!   disks, since a reader that keeps the last one would keep one by chance.
//! - `All clients` is the sum of the entries above it.
//! - With `--status-interval` each document counts from the beginning, so that only the last one is a run.
//! - Before version 3 times are in microseconds, under `lat` and `clat`.

use super::fio::{Direction, FioRun, Group, Latency, SUM_OF_CLIENTS};
use super::{Foreign, ImportError};
use crate::printable::printable;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// Reads every document of a file.
///
/// # Errors
/// A document is cut off or no JSON, has no job, a job failed, or a name that is read is there twice; with the line.
pub(super) fn parse(text: &str) -> Result<Foreign, ImportError> {
    let documents = documents(text)?;
    let (mut runs, mut notes) = (Vec::new(), Vec::new());
    for (index, (line, document)) in documents.iter().enumerate() {
        if documents.get(index + 1).is_some_and(|(_, next)| document.is_status_of(next)) {
            notes.push(format!(
                "line {line}: is left out: the next document counts the same run further (--status-interval)"
            ));
            continue;
        }
        for run in document.runs(*line, &mut notes)? {
            runs.extend(run.finish());
        }
    }
    if runs.is_empty() {
        return Err(ImportError::File("holds no run of fio that did any I/O".to_owned()));
    }
    Ok((runs, notes))
}

/// The documents of a file with their first lines.
fn documents(text: &str) -> Result<Vec<(u64, Document)>, ImportError> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1_u64);
    while !rest.is_empty() {
        if !rest.starts_with('{') {
            let (said, below) = rest.split_once('\n').unwrap_or((rest, ""));
            line += u64::from(said.len() < rest.len());
            rest = below;
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Document>();
        let document = match stream.next() {
            Some(Ok(document)) => document,
            Some(Err(error)) => {
                let at = line + (error.line() as u64).saturating_sub(1);
                let hint = if error.is_eof() { ": the file is cut off" } else { "" };
                return Err(ImportError::at(at, format!("{}{hint}", printable(&error.to_string(), 200))));
            }
            None => break,
        };
        let (read, below) = rest.split_at(stream.byte_offset());
        found.push((line, document));
        line += read.matches('\n').count() as u64;
        rest = below;
    }
    Ok(found)
}

/// One document. Only what is read of it is kept.
#[derive(Debug, Default)]
struct Document {
    timestamp_s: Option<f64>,
    timestamp_ms: Option<f64>,
    jobs: Option<Vec<Job>>,
    client_stats: Option<Vec<Job>>,
    disks: Vec<Disk>,
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DocumentVisitor)
    }
}

/// Takes disks as often as they are there, and everything else once.
struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document of fio")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Document, M::Error> {
        let mut document = Document::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "timestamp" => once(&mut map, &mut document.timestamp_s, "timestamp")?,
                "timestamp_ms" => once(&mut map, &mut document.timestamp_ms, "timestamp_ms")?,
                "jobs" => once(&mut map, &mut document.jobs, "jobs")?,
                "client_stats" => once(&mut map, &mut document.client_stats, "client_stats")?,
                "disk_util" => document.disks.extend(map.next_value::<Vec<Disk>>()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(document)
    }
}

fn once<'de, M: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut M,
    into: &mut Option<T>,
    name: &'static str,
) -> Result<(), M::Error> {
    if into.replace(map.next_value()?).is_some() {
        return Err(serde::de::Error::duplicate_field(name));
    }
    Ok(())
}

#[derive(Debug, Deserialize)]
struct Disk {
    name: String,
    hostname: Option<String>,
    /// Only of a disk that lies on others, which follow it.
    aggr_util: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Job {
    jobname: String,
    #[serde(default)]
    groupid: u64,
    #[serde(default)]
    error: i64,
    hostname: Option<String>,
    #[serde(rename = "job options")]
    options: Option<Options>,
    read: Option<Counted>,
    write: Option<Counted>,
    trim: Option<Counted>,
}

/// Options that make a job wait for others.
#[derive(Debug, Deserialize)]
struct Options {
    stonewall: Option<IgnoredAny>,
    wait_for: Option<IgnoredAny>,
}

/// One direction of a job. `bw` is in KiB/s; `bw_bytes` came with version 3.
#[derive(Debug, Deserialize)]
struct Counted {
    iops: Option<f64>,
    bw: Option<f64>,
    bw_bytes: Option<f64>,
    io_bytes: Option<f64>,
    total_ios: Option<f64>,
    runtime: Option<f64>,
    lat_ns: Option<Times>,
    clat_ns: Option<Times>,
    lat: Option<Times>,
    clat: Option<Times>,
}

#[derive(Debug, Deserialize)]
struct Times {
    mean: Option<f64>,
    percentile: Option<Percentiles>,
    /// Counts by the middle of their bin. Old versions put settings among them.
    bins: Option<BTreeMap<String, u64>>,
}

#[derive(Debug, Deserialize)]
struct Percentiles {
    #[serde(rename = "50.000000")]
    p50: Option<f64>,
    #[serde(rename = "99.000000")]
    p99: Option<f64>,
}

impl Document {
    fn entries(&self) -> impl Iterator<Item = &Job> {
        let all = self.jobs.iter().chain(&self.client_stats).flatten();
        all.filter(|job| job.jobname != SUM_OF_CLIENTS)
    }

    /// When it was printed and when its run began, in milliseconds.
    fn span_ms(&self) -> Option<(f64, f64)> {
        let printed = self.timestamp_ms.or(self.timestamp_s.map(|seconds| seconds * 1e3))?;
        let counted = self.entries().flat_map(|job| [&job.read, &job.write, &job.trim]).flatten();
        let longest = counted.filter_map(|counted| counted.runtime).fold(0.0, f64::max);
        Some((printed - longest, printed))
    }

    /// Whether `next` counts the same run on: the same jobs, which began when these did, and no less I/O.
    fn is_status_of(&self, next: &Self) -> bool {
        /// Time stamps may be whole seconds, and documents are printed a little after what they count.
        const GRAIN_MS: f64 = 1000.0;
        let (Some((begun, printed)), Some((next_begun, _))) = (self.span_ms(), next.span_ms()) else {
            return false;
        };
        let names = |document: &Self| document.entries().map(|job| job.jobname.clone()).collect::<Vec<_>>();
        // Runs in turn begin one after the other ended, so only one shorter than the grain could be taken for this.
        printed - begun >= GRAIN_MS / 2.0
            && (next_begun - begun).abs() < GRAIN_MS
            && next_begun < printed
            && self.ios() <= next.ios()
            && names(self) == names(next)
    }

    fn ios(&self) -> f64 {
        let counted = self.entries().flat_map(|job| [&job.read, &job.write, &job.trim]).flatten();
        counted.filter_map(|counted| counted.total_ios).sum()
    }

    /// Its runs: one a host.
    fn runs(&self, line: u64, notes: &mut Vec<String>) -> Result<Vec<FioRun>, ImportError> {
        let mut runs: Vec<FioRun> = Vec::new();
        for job in self.entries() {
            let name = printable(&job.jobname, 60);
            if job.error != 0 {
                let what =
                    format!("job {name} of the document that begins here failed with error {}", job.error);
                return Err(ImportError::at(line, what));
            }
            let place = runs.iter().position(|run| run.host == job.hostname).unwrap_or_else(|| {
                runs.push(FioRun {
                    line,
                    host: job.hostname.clone(),
                    disks: self.disks_of(job.hostname.as_deref()),
                    ..FioRun::default()
                });
                runs.len() - 1
            });
            let directions = [&job.read, &job.write, &job.trim].map(|counted| counted.as_ref()?.figures());
            let group = Group { name: job.jobname.clone(), id: job.groupid, line, directions };
            if !group.is_told() {
                notes.push(format!("line {line}: job {name} did no I/O and is left out"));
                continue;
            }
            let waits = job.options.as_ref().is_some_and(|o| o.stonewall.is_some() || o.wait_for.is_some());
            runs[place].in_turn |= waits;
            runs[place].add(group);
        }
        if runs.is_empty() {
            return Err(ImportError::at(line, "the document that begins here has no jobs: fio's has"));
        }
        Ok(runs)
    }

    fn disks_of(&self, host: Option<&str>) -> Vec<String> {
        let of_host = || self.disks.iter().filter(|disk| disk.hostname.as_deref() == host);
        let on_others = of_host().any(|disk| disk.aggr_util.is_some());
        let mut names: Vec<String> = of_host()
            .filter(|disk| !on_others || disk.aggr_util.is_some())
            .map(|disk| disk.name.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Counted {
    /// `None` where there was no such I/O: its figures are 0, and mean nothing.
    fn figures(&self) -> Option<Direction> {
        let done = self.total_ios.or(self.io_bytes).or(self.iops)?;
        if done <= 0.0 {
            return None;
        }
        const MIB: f64 = 1_048_576.0;
        let bandwidth = self.bw_bytes.map(|bytes| bytes / MIB).or(self.bw.map(|kib| kib / 1024.0));
        let times = |ns: &Option<Times>, us: &Option<Times>| match (ns, us) {
            (Some(times), _) => times.latency(1.0),
            (None, Some(times)) => times.latency(1e3),
            (None, None) => Latency::default(),
        };
        Some(Direction {
            ios: self.total_ios,
            iops: self.iops,
            bandwidth_mib_s: bandwidth,
            completion: times(&self.clat_ns, &self.clat),
            total: times(&self.lat_ns, &self.lat),
        })
    }
}

impl Times {
    /// In nanoseconds, of which its own unit is `unit_ns`. A time of 0 is what fio prints where it took none.
    fn latency(&self, unit_ns: f64) -> Latency {
        let taken = |time: Option<f64>| time.filter(|&time| time > 0.0).map(|time| time * unit_ns);
        let percentiles = self.percentile.as_ref();
        let mut bins = BTreeMap::new();
        // Before version 3 bins are numbered.
        if unit_ns == 1.0 {
            for (time, &count) in self.bins.iter().flatten() {
                if let (Ok(time_ns), true) = (time.parse(), count > 0) {
                    bins.insert(time_ns, count);
                }
            }
        }
        Latency {
            mean_ns: taken(self.mean),
            p50_ns: percentiles.and_then(|of| taken(of.p50)),
            p99_ns: percentiles.and_then(|of| taken(of.p99)),
            bins,
        }
    }
}
