//! Can a run be trusted? Every check either passes, fails with its figures, or is listed as one that could
//! not be made.

mod state;

use super::deltas::{PassDeltas, counter_growth, line_growth};
use super::hops::HopsFound;
use super::latency::PassLatencies;
use super::per_op;
use super::{GateResult, Quality};
use crate::recording::{Recording, WindowRecord};
use std::collections::BTreeMap;
use std::fmt::Debug;
use tophalf_wire::{Outcome, Pass, Reading, RunJob, Window};

/// The device's own count may differ by this many percent: other programs do I/O too. (A tool that said 1,492,073
/// IOPS where the device counted 162,000 is axboe/fio#752.)
pub const DEVICE_COUNT_TOLERANCE_PERCENT: u128 = 1;

/// Latencies of a timed window follow one another without a gap, so that they add up to it; this part may be
/// missing.
pub const LATENCY_SUM_TOLERANCE: f64 = 0.001;

/// Below this part of the asked bytes that reached the block layer, the page cache has served the rest.
pub const DIRECT_AT_LEAST: f64 = 0.9;

/// What the checks found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checked {
    /// For [`super::RunSummary::quality`]. The last gate is the one that is being checked.
    pub quality: Quality,
    /// Checks that could not be made, and why.
    pub unavailable: BTreeMap<String, String>,
}

/// What is to be checked, already computed.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The run.
    pub recording: &'a Recording,
    /// Growth of counters in each pass that has windows.
    pub deltas: &'a [PassDeltas],
    /// Latencies of the timed pass.
    pub latencies: &'a PassLatencies,
    /// The hops pass.
    pub hops: &'a HopsFound,
}

impl Checked {
    /// What is found from here on belongs to the gate of this name.
    fn begin(&mut self, name: &str) {
        self.quality.gates.push(GateResult { name: name.to_owned(), passed: Some(true) });
    }

    fn fail(&mut self, sentence: impl Into<String>) {
        let mut sentence = sentence.into();
        if let Some(gate) = self.quality.gates.last_mut() {
            gate.passed = Some(false);
            sentence = format!("{}: {sentence}", gate.name);
        }
        self.quality.failed.push(sentence);
    }

    fn note(&mut self, sentence: impl Into<String>) {
        self.quality.notes.push(sentence.into());
    }

    fn unavailable(&mut self, name: &str, reason: impl ToString) {
        if let Some(gate) = self.quality.gates.last_mut().filter(|gate| gate.passed == Some(true)) {
            gate.passed = None;
        }
        self.unavailable.entry(name.to_owned()).or_insert_with(|| reason.to_string());
    }

    /// Fails once for all windows of which `fault` finds something.
    fn fail_windows(
        &mut self,
        recording: &Recording,
        fault: impl Fn(&WindowRecord, &Window) -> Option<String>,
    ) {
        let mut faults =
            finished(recording).filter_map(|(record, window)| Some((window.window, fault(record, window)?)));
        if let Some((window, first)) = faults.next() {
            let more = faults.count();
            let others = if more > 0 { format!(" (and {more} more windows)") } else { String::new() };
            self.fail(format!("window {window}: {first}{others}"));
        }
    }
}

fn finished(recording: &Recording) -> impl Iterator<Item = (&WindowRecord, &Window)> {
    recording.windows.iter().filter_map(|record| Some((record, record.window.as_ref()?)))
}

/// Makes every check.
pub fn check(subject: &Subject<'_>) -> Checked {
    let mut checked = Checked::default();
    let Subject { recording, deltas, latencies, hops } = *subject;
    checked.begin("stream");
    stream(&mut checked, recording);
    checked.begin("complete");
    completeness(&mut checked, recording, hops);
    checked.begin("io-errors");
    operations(&mut checked, recording);
    checked.begin("latencies");
    latency_blocks(&mut checked, recording, latencies);
    checked.begin("direct-io");
    let direct = direct_io(&mut checked, recording);
    for deltas in deltas {
        page_cache(&mut checked, recording.run_job(), deltas, direct);
    }
    checked.begin("other-io");
    for deltas in deltas {
        device_count(&mut checked, recording.run_job(), deltas, direct);
    }
    checked.begin("cpu-moved");
    placement(&mut checked, recording);
    checked.begin("counters");
    samples(&mut checked, recording);
    state::check(&mut checked, recording);
    checked.quality.valid = checked.quality.failed.is_empty();
    checked
}

fn stream(checked: &mut Checked, recording: &Recording) {
    let faults = &recording.faults;
    let counts: Vec<String> = [
        (faults.lost_frames, "frames are missing"),
        (faults.damaged_pieces, "pieces of the stream are damaged"),
        (faults.repeated_frames, "frames came twice"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    if !counts.is_empty() {
        checked.fail(format!("{}: {}", counts.join(", "), faults.described.join("; ")));
    }
    if faults.unknown_frames > 0 {
        checked.note(format!("{} frames are of kinds this version does not know", faults.unknown_frames));
    }
    for (missing, what) in [
        (recording.hello.is_none(), "its greeting"),
        (recording.plan.is_none(), "the plan it followed"),
        (recording.facts.is_none(), "facts of itself"),
        (recording.target.is_none(), "facts of the target"),
    ] {
        if missing {
            checked.fail(format!("the device did not send {what}"));
        }
    }
    match recording.end.as_ref().map(|end| &end.outcome) {
        None => checked.fail("the stream has no end: the link was cut or the agent was killed"),
        Some(Outcome::Done) => {}
        Some(Outcome::Stopped { reason }) => checked.fail(format!("the run was stopped early: {reason}")),
        Some(Outcome::Failed { message, .. }) => checked.fail(format!("the agent failed: {message}")),
    }
}

fn completeness(checked: &mut Checked, recording: &Recording, hops: &HopsFound) {
    let unfinished = recording.windows.iter().filter(|record| record.window.is_none()).count();
    if unfinished > 0 {
        checked.fail(format!("{unfinished} windows were begun and not finished, or their frames are lost"));
    }
    checked.fail_windows(recording, |record, _| {
        (record.before.is_none() || record.after.is_none())
            .then(|| "counters at its edges are missing".to_owned())
    });
    for problem in &hops.problems {
        checked.fail(problem.clone());
    }
    let Some(job) = recording.run_job() else { return };
    if job.timed_ns > 0 && recording.windows_of(Pass::Timed).next().is_none() {
        checked.fail("the timed pass was asked for and has no window");
    }
    if hops.ops < job.hops_ops.into() {
        checked.fail(format!("{} I/Os of the hops pass were asked for and {} came", job.hops_ops, hops.ops));
    }
}

fn operations(checked: &mut Checked, recording: &Recording) {
    let sum = |of: fn(&Window) -> u64| {
        finished(recording).map(|(_, window)| of(window)).fold(0, u64::saturating_add)
    };
    let errors = sum(|window| window.errors);
    if errors > 0 {
        let first = finished(recording).find_map(|(_, window)| window.first_error);
        let first = first.map(|(offset, errno)| format!(", the first at offset {offset} with errno {errno}"));
        checked.fail(format!("{errors} operations failed{}", first.unwrap_or_default()));
    }
    let short = sum(|window| window.short);
    if short > 0 {
        checked.fail(format!("{short} operations moved fewer bytes than asked"));
    }
    let taken = finished(recording).map(|(_, window)| u64::from(window.samples.0)).sum::<u64>();
    let missed = finished(recording).map(|(_, window)| u64::from(window.samples.1)).sum::<u64>();
    if missed > 0 {
        checked.note(format!("{missed} of {} samples were missed", taken + missed));
    }
}

fn latency_blocks(checked: &mut Checked, recording: &Recording, latencies: &PassLatencies) {
    for problem in &latencies.problems {
        checked.fail(problem.clone());
    }
    let found: BTreeMap<u32, _> = latencies.windows.iter().map(|window| (window.window, window)).collect();
    checked.fail_windows(recording, |_, window| {
        let found = found.get(&window.window)?;
        let ops = window.reads.saturating_add(window.writes);
        if found.count != ops {
            return Some(format!("{ops} operations and {} latencies", found.count));
        }
        let elapsed = window.end_ns.saturating_sub(window.begin_ns);
        let apart = found.sum_ns.abs_diff(elapsed.into());
        (apart as f64 > elapsed as f64 * LATENCY_SUM_TOLERANCE)
            .then(|| format!("latencies add up to {} ns in a window of {elapsed} ns", found.sum_ns))
    });
}

/// Whether I/O went past the page cache as asked. Says so where it did not.
fn direct_io(checked: &mut Checked, recording: &Recording) -> bool {
    let Some(target) = recording.target.as_ref().filter(|target| !target.direct) else { return true };
    if recording.run_job().is_some_and(|job| job.target.allow_buffered) {
        checked.note(format!("buffered: {} was used through the page cache, as was allowed", target.path));
    } else {
        checked.fail(format!("{} was used through the page cache, which was not allowed", target.path));
    }
    false
}

fn device_count(checked: &mut Checked, job: Option<&RunJob>, deltas: &PassDeltas, direct: bool) {
    let pass = pass_name(deltas.pass);
    if !direct {
        checked
            .unavailable("quality.device_count", "the page cache stands between operations and device I/Os");
        return;
    }
    let (Some(job), Ok(block)) = (job, &deltas.block) else {
        let reason =
            deltas.block.as_ref().err().map_or("the plan is missing".to_owned(), ToString::to_string);
        checked.unavailable("quality.device_count", reason);
        return;
    };
    let ios = block.reads.saturating_add(block.writes);
    let sectors = block.read_sectors.saturating_add(block.write_sectors);
    let asked_bytes = u128::from(deltas.ops) * u128::from(job.workload.block_bytes);
    let device_bytes = u128::from(sectors) * 512;
    let apart =
        |counted: u128, asked: u128| counted.abs_diff(asked) * 100 > asked * DEVICE_COUNT_TOLERANCE_PERCENT;
    if deltas.ops == 0 {
        return;
    }
    let per_op = per_op(ios, deltas.ops).unwrap_or(0.0);
    if apart(device_bytes, asked_bytes) {
        let hint =
            if device_bytes < asked_bytes { "something else served the rest" } else { "other I/O went on" };
        checked.fail(format!(
            "{pass} pass: {} operations asked for {asked_bytes} bytes and the device counted {device_bytes} in {ios} I/Os: {hint}",
            deltas.ops
        ));
    } else if apart(ios.into(), deltas.ops.into()) {
        // Large operations are split by the queue's limits: the bytes agree and the I/Os are a multiple.
        if per_op > 1.0 && job.workload.block_bytes > 4096 {
            checked
                .note(format!("{pass} pass: each operation takes {per_op:.2} device I/Os; the bytes agree"));
        } else {
            checked.fail(format!(
                "{pass} pass: {} operations and {ios} device I/Os of the same bytes",
                deltas.ops
            ));
        }
    }
}

fn page_cache(checked: &mut Checked, job: Option<&RunJob>, deltas: &PassDeltas, direct: bool) {
    let (Some(job), Ok(io)) = (job, &deltas.process_io) else {
        let reason =
            deltas.process_io.as_ref().err().map_or("the plan is missing".to_owned(), ToString::to_string);
        checked.unavailable("quality.page_cache", reason);
        return;
    };
    let block_bytes = u128::from(job.workload.block_bytes);
    for (what, ops, bytes) in
        [("read", deltas.reads, io.read_bytes), ("write", deltas.writes, io.write_bytes)]
    {
        let asked = u128::from(ops) * block_bytes;
        if direct && (bytes as f64) < asked as f64 * DIRECT_AT_LEAST {
            checked.fail(format!(
                "{} pass: silently buffered: {what} operations asked for {asked} bytes and {bytes} reached the block layer",
                pass_name(deltas.pass)
            ));
        }
    }
}

fn placement(checked: &mut Checked, recording: &Recording) {
    let asked = recording.run_job().and_then(|job| job.cpu);
    let first =
        finished(recording).find_map(|(record, _)| record.before.as_ref()).map(|edge| &edge.placement);
    let Some(first) = first else { return };
    for (name, reading) in [
        ("quality.migrations", first.migrations.as_ref().err()),
        ("quality.cpus_allowed", first.allowed.as_ref().err()),
        ("quality.cpus_online", first.online.as_ref().err()),
    ] {
        if let Some(reason) = reading {
            checked.unavailable(name, reason);
        }
    }
    checked.fail_windows(recording, |record, _| {
        let edges = [record.before.as_ref()?, record.after.as_ref()?];
        for placement in edges.map(|edge| &edge.placement) {
            if let Some(change) = changed("the CPUs that run", &first.online, &placement.online) {
                return Some(change);
            }
            let Some(cpu) = asked else { continue };
            if placement.cpu != cpu {
                return Some(format!("the I/O thread was on CPU{} and not on CPU{cpu}", placement.cpu));
            }
            if let Some(change) =
                changed("the CPUs the I/O thread may use", &first.allowed, &placement.allowed)
            {
                return Some(change);
            }
        }
        asked?;
        let [before, after] = edges.map(|edge| &edge.placement.migrations);
        changed("the number of times the I/O thread changed its CPU", before, after)
    });
}

/// Says if two readings differ.
fn changed<T: PartialEq + Debug>(what: &str, before: &Reading<T>, after: &Reading<T>) -> Option<String> {
    match (before, after) {
        (Ok(before), Ok(after)) if before != after => {
            Some(format!("{what} went from {before:?} to {after:?}"))
        }
        _ => None,
    }
}

/// Interrupts seen by the samples inside a window cannot be more than its edges saw.
fn samples(checked: &mut Checked, recording: &Recording) {
    checked.fail_windows(recording, |record, _| {
        let (before, after) = (record.before.as_ref()?, record.after.as_ref()?);
        let (before, after) = (before.interrupts.as_ref().ok()?, after.interrupts.as_ref().ok()?);
        record.samples.iter().find_map(|samples| {
            samples.irqs.iter().enumerate().find_map(|(at, irq)| {
                let label = irq.to_string();
                let edges = line_growth(before.get(&label)?, after.get(&label)?).ok()?;
                let mut counts = samples.samples.iter().filter_map(|sample| *sample.irq_counts.get(at)?);
                let first = counts.next()?;
                let inside = counter_growth(first, counts.next_back()?).ok()?;
                (edges.unknown_cpus.is_empty() && inside > edges.total()).then(|| {
                    format!(
                        "interrupt {irq}: {inside} inside the window by samples, {} by its edges",
                        edges.total()
                    )
                })
            })
        })
    });
}

/// The name of a pass in reports.
pub fn pass_name(pass: Pass) -> &'static str {
    match pass {
        Pass::Timed => "timed",
        Pass::Hops => "hops",
    }
}
