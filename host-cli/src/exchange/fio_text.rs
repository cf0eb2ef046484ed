//! What fio prints for people (fio's stat.c, `show_thread_status_normal`), whole or as quoted in a mail:
//!
//! ```text
//! Linux 6.14.0-32-generic #32-Ubuntu SMP … x86_64
//! job1: (groupid=0, jobs=8): err= 0: pid=18197: Wed Sep  3 22:12:26 2025
//!   read: IOPS=786k, BW=3070MiB/s (3219MB/s)(120GiB/40001msec)
//!     clat (usec): min=33, max=3866, avg=83.30, stdev=239.85
//!      | 50.00th=[   63], 60.00th=[   69], …
//! Run status group 0 (all jobs):
//!    READ: bw=3070MiB/s (3219MB/s), …
//! Disk stats (read/write):
//!   nvme1n1: ios=31385500/0, …
//! ```
//!
//! A file may hold several outputs, each of which is a run; a `uname` before one tells its kernel. With `--client` each
//! client has one, below its name, and `All clients` is the sum of them. Lines may be left
//! out, wrapped, or quoted with `>`. Where the line of a job's bandwidth is left out, the one below `Run status group`
//! stands in if the group has no other job. Rates are rounded to three digits by fio itself.

use super::fio::{DIRECTIONS, Direction, FioRun, Group, Latency, SUM_OF_CLIENTS};
use super::{Foreign, ImportError};
use crate::printable::printable;

/// Reads every output in a file.
///
/// # Errors
/// A job failed, a figure is none, or there is no figure at all; with the line.
pub(super) fn parse(text: &str) -> Result<Foreign, ImportError> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        reader.line(index as u64 + 1, unquoted(line))?;
    }
    reader.end_output();
    if reader.runs.is_empty() {
        return Err(ImportError::File("has no figures of fio: was it cut off?".to_owned()));
    }
    let runs = reader.runs.into_iter().filter_map(FioRun::finish).collect();
    Ok((runs, reader.notes))
}

/// A line without the marks of a quotation.
fn unquoted(line: &str) -> &str {
    let mut line = line;
    while let Some(quoted) = line.strip_prefix('>') {
        line = quoted.strip_prefix(' ').unwrap_or(quoted);
    }
    line
}

/// Where a line belongs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Part {
    /// Outside of what is read.
    #[default]
    Other,
    /// The job of this place.
    Job { group: usize, direction: Option<usize>, percentiles: Option<(Kind, f64)> },
    /// The sum of a group.
    Status { id: u64 },
    /// The disks.
    Disks,
}

/// Which of fio's two latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Completion,
    Total,
}

/// Takes a text line by line.
#[derive(Debug, Default)]
struct Reader {
    runs: Vec<FioRun>,
    notes: Vec<String>,
    /// Of the last `uname` and the commands below it.
    kernel: Option<String>,
    in_turn: bool,
    /// The client whose output comes.
    host: Option<String>,
    run: FioRun,
    part: Part,
    /// Disks that lie on others, which follow them.
    on_others: Vec<String>,
    /// The sums of the output have begun: another job belongs to another output.
    summed: bool,
}

impl Reader {
    fn line(&mut self, number: u64, line: &str) -> Result<(), ImportError> {
        let text = line.trim();
        if let Some(release) = kernel(line) {
            self.end_output();
            self.kernel = Some(release.to_owned());
        } else if begins_output(text) {
            self.end_output();
            self.in_turn |= text.contains("--stonewall");
        } else if let Some(host) = client(text) {
            self.end_output();
            self.host = Some(host.to_owned());
        } else if let Some(head) = job_head(line) {
            self.job(number, head)?;
        } else if let Some(id) = text.strip_prefix("Run status group ") {
            let digits = id.split(' ').next().unwrap_or_default();
            let wrong = || ImportError::at(number, format!("group {:?} is no number", printable(digits, 40)));
            self.part = Part::Status { id: digits.parse().map_err(|_| wrong())? };
            self.summed = true;
        } else if text.starts_with("Disk stats (read/write):") {
            self.part = Part::Disks;
            self.summed = true;
        } else {
            self.in_turn |= text.contains("--stonewall");
            match self.part {
                Part::Other => {}
                Part::Job { .. } => self.job_line(number, text)?,
                Part::Status { id } => self.status_line(number, id, text)?,
                Part::Disks => self.disk_line(text),
            }
        }
        Ok(())
    }

    /// Keeps the output that was read so far, if it is one.
    fn end_output(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        let on_others = std::mem::take(&mut self.on_others);
        self.part = Part::Other;
        self.summed = false;
        if !run.groups.is_empty() {
            run.kernel.clone_from(&self.kernel);
            run.host = self.host.take();
            run.in_turn = std::mem::take(&mut self.in_turn);
            run.disks.retain(|disk| on_others.is_empty() || on_others.contains(disk));
            run.disks.sort_by_key(|name| by_number(name));
            run.disks.dedup();
            for group in run.groups.iter().filter(|group| !group.is_told()) {
                let name = printable(&group.name, 60);
                self.notes
                    .push(format!("line {}: job {name} has no figures, and there is no sum", group.line));
            }
            let groups = std::mem::take(&mut run.groups);
            groups.into_iter().for_each(|group| run.add(group));
            if run.groups.iter().any(Group::is_told) {
                self.runs.push(run);
            }
        }
    }

    fn job(&mut self, number: u64, head: Head<'_>) -> Result<(), ImportError> {
        if self.summed {
            self.end_output();
        }
        if head.name == SUM_OF_CLIENTS {
            self.end_output();
            return Ok(());
        }
        if head.error != 0 {
            let what = format!("job {} failed with error {}", printable(head.name, 60), head.error);
            return Err(ImportError::at(number, what));
        }
        if self.run.groups.is_empty() {
            self.run.line = number;
        }
        self.run.groups.push(Group {
            name: head.name.to_owned(),
            id: head.group,
            line: number,
            ..Group::default()
        });
        self.part = Part::Job { group: self.run.groups.len() - 1, direction: None, percentiles: None };
        Ok(())
    }

    fn job_line(&mut self, number: u64, text: &str) -> Result<(), ImportError> {
        let Part::Job { group, direction, percentiles } = &mut self.part else { return Ok(()) };
        let Some(group) = self.run.groups.get_mut(*group) else { return Ok(()) };
        let name = text.split([':', ' ']).next().unwrap_or_default();
        if let Some(index) = DIRECTIONS.iter().position(|known| *known == name) {
            let figures = rates(text).map_err(|what| ImportError::at(number, what))?;
            (*direction, *percentiles) = (figures.is_some().then_some(index), None);
            group.directions[index] = figures;
            return Ok(());
        }
        let Some(figures) = direction.and_then(|index| group.directions[index].as_mut()) else {
            return Ok(());
        };
        let wrong = |what| ImportError::at(number, what);
        if let (Some((kind, unit_ns)), Some(row)) = (*percentiles, text.strip_prefix('|')) {
            let latency = figures.latency(kind);
            for (percent, into) in [("50.00th=[", &mut latency.p50_ns), ("99.00th=[", &mut latency.p99_ns)] {
                if let Some((_, rest)) = row.split_once(percent) {
                    let value = number_before(rest.trim_start(), ']').map_err(wrong)?;
                    *into = Some(value * unit_ns).filter(|&ns| ns > 0.0);
                }
            }
        } else if let Some((kind, unit_ns, rest)) = times(text) {
            // Without an average it is the histogram of all directions.
            let heads_percentiles = text.contains("percentiles");
            *percentiles = heads_percentiles.then_some((kind, unit_ns));
            if let (false, Some((_, rest))) = (heads_percentiles, rest.split_once("avg=")) {
                let mean = number_before(rest.trim_start(), ',').map_err(wrong)?;
                figures.latency(kind).mean_ns = Some(mean * unit_ns).filter(|&ns| ns > 0.0);
            }
        }
        Ok(())
    }

    /// The bandwidth of a whole group, for the job whose own line is not there.
    fn status_line(&mut self, number: u64, id: u64, text: &str) -> Result<(), ImportError> {
        let name = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let Some(index) = DIRECTIONS.iter().position(|known| *known == name) else { return Ok(()) };
        let Some((_, rest)) = text.split_once("bw=") else { return Ok(()) };
        let bandwidth = bandwidth(rest).map_err(|what| ImportError::at(number, what))?;
        let mut of_group = self.run.groups.iter_mut().filter(|group| group.id == id);
        if let (Some(only), None) = (of_group.next(), of_group.next()) {
            let told = only.directions[index].get_or_insert_default();
            told.bandwidth_mib_s = told.bandwidth_mib_s.or(bandwidth);
        }
        Ok(())
    }

    fn disk_line(&mut self, text: &str) {
        if let Some((name, figures)) = text.split_once(": ios=") {
            self.run.disks.push(name.to_owned());
            if figures.contains("aggrios=") {
                self.on_others.push(name.to_owned());
            }
        }
    }
}

impl Direction {
    fn latency(&mut self, kind: Kind) -> &mut Latency {
        match kind {
            Kind::Completion => &mut self.completion,
            Kind::Total => &mut self.total,
        }
    }
}

/// `nvme2n1` before `nvme10n1`.
fn by_number(name: &str) -> (usize, String) {
    (name.len(), name.to_owned())
}

/// The release in a line of `uname -srv` or `uname -a`: `Linux 6.14.0-32-generic #32-Ubuntu …`.
fn kernel(line: &str) -> Option<&str> {
    let words = line.strip_prefix("Linux ")?.split_whitespace();
    // `uname -a` has the machine's name before it.
    words.take(2).find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
}

/// A command line, or the first line of fio itself: `fio-3.33`.
fn begins_output(text: &str) -> bool {
    let command = text.trim_start_matches(['$', '#', ' ']);
    let command = command.strip_prefix("sudo ").unwrap_or(command);
    let version = text
        .strip_prefix("fio-")
        .is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' '));
    version || command.starts_with("fio --")
}

/// The client in the line before its output, `<vm> `, to which a line of progress may be stuck.
fn client(text: &str) -> Option<&str> {
    let (before, host) = text.strip_suffix('>')?.rsplit_once('<')?;
    let alone = before.is_empty() || before.starts_with("Jobs: ");
    (alone && !host.is_empty() && !host.contains(' ')).then_some(host)
}

struct Head<'a> {
    name: &'a str,
    group: u64,
    error: i64,
}

/// `job1: (groupid=0, jobs=8): err= 0: pid=12326: Wed Sep  3 15:12:38 2025`
fn job_head(line: &str) -> Option<Head<'_>> {
    let (name, rest) = line.split_once(": (groupid=")?;
    let (group, rest) = rest.split_once(',')?;
    let (_, rest) = rest.split_once("err=")?;
    let (error, _) = rest.split_once(':')?;
    Some(Head { name: name.trim(), group: group.trim().parse().ok()?, error: leading_number(error)? })
}

/// `2`, or `5 (file:io_u.c:1896, func=io_u error, error=Input/output error)`
fn leading_number(text: &str) -> Option<i64> {
    text.split_whitespace().next()?.parse().ok()
}

/// `read: IOPS=787k, BW=3073MiB/s (3222MB/s)(120GiB/40001msec)`. Before version 3 it is
/// `read : io=10240KB, bw=1234.5KB/s, iops=308, runtime=…`, whose `KB` depends on a setting and is not read.
/// `None` where there was no such I/O.
fn rates(text: &str) -> Result<Option<Direction>, String> {
    let after = |name: &str| text.split_once(name).map(|(_, rest)| rest);
    let iops = after("IOPS=").or_else(|| after("iops="));
    let iops = iops.map(|rest| number_before(rest, ',')).transpose()?;
    let bandwidth_mib_s = after("BW=").map_or(Ok(None), bandwidth)?;
    if iops.is_none() && bandwidth_mib_s.is_none()
        || iops == Some(0.0) && bandwidth_mib_s.unwrap_or(0.0) == 0.0
    {
        return Ok(None);
    }
    Ok(Some(Direction { iops, bandwidth_mib_s, ..Direction::default() }))
}

/// `clat (usec): …`, ` lat (nsec): …` or `clat percentiles (usec):`: which, its unit in nanoseconds, and the rest.
fn times(text: &str) -> Option<(Kind, f64, &str)> {
    let (kind, rest) = match text.strip_prefix("clat ") {
        Some(rest) => (Kind::Completion, rest),
        None => (Kind::Total, text.strip_prefix("lat ")?),
    };
    let rest = rest.strip_prefix("percentiles ").unwrap_or(rest).strip_prefix('(')?;
    let (unit, rest) = rest.split_once(')')?;
    let unit_ns = match unit {
        "nsec" => 1.0,
        "usec" => 1e3,
        "msec" => 1e6,
        _ => return None,
    };
    Some((kind, unit_ns, rest))
}

/// `3073MiB/s (…`, in MiB/s. `None` in units that are none of bytes.
fn bandwidth(text: &str) -> Result<Option<f64>, String> {
    let (value, rest) = leading_figure(text)?;
    let unit = rest.split([' ', ',', '(']).next().unwrap_or_default();
    let bytes = match unit {
        "B/s" => 1.0,
        "KiB/s" => 1024.0,
        "MiB/s" => 1024.0 * 1024.0,
        "GiB/s" => 1024.0 * 1024.0 * 1024.0,
        "TiB/s" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "kB/s" => 1e3,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        "TB/s" => 1e12,
        _ => return Ok(None),
    };
    Ok(Some(value * (bytes / (1024.0 * 1024.0))))
}

/// `787k` as 787,000: fio counts in powers of 1000 here. Ends at `end` or a space.
fn number_before(text: &str, end: char) -> Result<f64, String> {
    let (value, rest) = leading_figure(text)?;
    let power = match rest.split([end, ' ']).next().unwrap_or_default() {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        other => return Err(format!("{value}{} is no figure of fio", printable(other, 20))),
    };
    Ok(value * power)
}

fn leading_figure(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let value = digits.parse::<f64>().ok().filter(|value| value.is_finite());
    value.map(|value| (value, rest)).ok_or_else(|| format!("{:?} is no figure of fio", printable(text, 20)))
}
