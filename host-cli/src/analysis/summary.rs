//! One run's figures.

use super::completion::{self, Evidence, busiest_cpu, disk_of};
use super::conditions;
use super::deltas::PassDeltas;
use super::hops::{self, HopsFound};
use super::latency::{self, PassLatencies};
use super::quality::{self, Checked, Subject, pass_name};
use super::{
    LoadSummary, OverheadSummary, PerCpu, PerOp, RunSummary, SystemSummary, TargetSummary, WindowSummary,
    per_op,
};
use crate::recording::{EdgeRecord, Recording, WindowRecord};
use crate::run_header::RunHeader;
use std::collections::{BTreeMap, BTreeSet};
use tophalf_wire::{Engine, Pass, Pattern, Reading, ThreadRole, Unavailable, Window};

/// The figures of a run: a pure function of its file.
pub fn summarize(header: &RunHeader, recording: &Recording) -> RunSummary {
    let mut missing = Missing::default();
    let passes: Vec<PassDeltas> = [Pass::Timed, Pass::Hops]
        .into_iter()
        .filter(|&pass| recording.windows_of(pass).next().is_some())
        .map(|pass| PassDeltas::of_pass(recording, pass))
        .collect();
    // What an I/O costs is told by the pass in which nothing else was done, if there is one.
    let counted = passes.first().cloned().unwrap_or_else(|| PassDeltas::of_pass(recording, Pass::Timed));
    let evidence = Evidence::gather(recording, &counted);
    let latencies = latency::of_pass(recording, Pass::Timed);
    let hops = hops::of_recording(recording);
    let Checked { quality, unavailable } =
        quality::check(&Subject { recording, deltas: &passes, latencies: &latencies, hops: &hops });
    missing.0.extend(unavailable);
    let timed = timed_totals(recording, &mut missing);
    let timed_deltas = passes.iter().find(|deltas| deltas.pass == Pass::Timed);
    let block = timed_deltas
        .map_or_else(|| Err(Unavailable::new("there is no timed pass")), |deltas| deltas.block.clone());
    let block = missing.unless("device_ios", block);
    if block.is_none() {
        missing.copy("device_ios", "device_bytes");
    }
    say_missing_distributions(recording, &latencies, &hops, &mut missing);
    missing.unless("completion.hardware_queues", evidence.hardware_queues.clone());
    let windows: Vec<WindowSummary> = recording.windows.iter().filter_map(window_summary).collect();
    if windows.iter().any(|window| window.frequency_khz.is_none()) {
        missing.say("windows.frequency_khz", no_frequency(recording));
    }
    RunSummary {
        id: header.id.clone(),
        device: header.device.clone(),
        variant: header.variant.clone(),
        boot_id: boot_id(recording, &mut missing),
        workload: header.workload_name.clone(),
        begun_unix_ns: header.begun_unix_ns,
        system: system(header, recording, &mut missing),
        target: target(recording, &mut missing),
        load: load(recording, &mut missing),
        ops: timed.map(|timed| timed.ops),
        errors: timed.map(|timed| timed.errors),
        short: timed.map(|timed| timed.short),
        elapsed_ns: timed.map(|timed| timed.elapsed_ns),
        iops: timed.and_then(|timed| rate(timed.ops, timed.elapsed_ns)),
        latency_ns: latencies.all,
        latency_read_ns: latencies.reads.filter(|_| latencies.writes.is_some()),
        latency_write_ns: latencies.writes.filter(|_| latencies.reads.is_some()),
        device_ios: block.map(|block| block.reads.saturating_add(block.writes)),
        device_bytes: block
            .map(|block| block.read_sectors.saturating_add(block.write_sectors).saturating_mul(512)),
        completion: completion::decide(&evidence),
        per_op: per_operation(&evidence, &counted, &mut missing),
        per_cpu: per_cpu(&evidence, &counted),
        hops: hops.hops,
        hops_outside_ns: hops.outside_ns,
        hops_notes: hops.notes,
        conditions: conditions::of_recording(recording, &mut |name, reason| missing.say(name, reason)),
        windows,
        quality,
        overhead: overhead(recording, timed, &mut missing),
        unavailable: missing.0,
    }
}

/// Names of figures that are not there, and why.
#[derive(Debug, Default)]
struct Missing(BTreeMap<String, String>);

impl Missing {
    fn say(&mut self, name: &str, reason: impl ToString) {
        self.0.entry(name.to_owned()).or_insert_with(|| reason.to_string());
    }

    fn unless<T>(&mut self, name: &str, reading: Reading<T>) -> Option<T> {
        reading.map_err(|reason| self.say(name, reason)).ok()
    }

    fn copy(&mut self, from: &str, to: &str) {
        if let Some(reason) = self.0.get(from).cloned() {
            self.say(to, reason);
        }
    }
}

/// Sums over the windows of the timed pass.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    ops: u64,
    errors: u64,
    short: u64,
    elapsed_ns: u64,
}

fn ops_of(window: &Window) -> u64 {
    window.reads.saturating_add(window.writes)
}

fn rate(ops: u64, elapsed_ns: u64) -> Option<f64> {
    (elapsed_ns > 0).then(|| ops as f64 * 1e9 / elapsed_ns as f64)
}

fn timed_totals(recording: &Recording, missing: &mut Missing) -> Option<Totals> {
    let totals = recording.windows_of(Pass::Timed).map(|(_, window)| Totals {
        ops: ops_of(window),
        errors: window.errors,
        short: window.short,
        elapsed_ns: window.end_ns.saturating_sub(window.begin_ns),
    });
    let totals = totals.reduce(|sum, window| Totals {
        ops: sum.ops.saturating_add(window.ops),
        errors: sum.errors.saturating_add(window.errors),
        short: sum.short.saturating_add(window.short),
        elapsed_ns: sum.elapsed_ns.saturating_add(window.elapsed_ns),
    });
    if totals.is_none() {
        for name in ["ops", "errors", "short", "elapsed_ns", "iops"] {
            missing.say(name, no_pass(recording, Pass::Timed));
        }
    }
    totals
}

fn no_pass(recording: &Recording, pass: Pass) -> &'static str {
    let asked = recording.run_job().map(|job| match pass {
        Pass::Timed => job.timed_ns > 0,
        Pass::Hops => job.hops_ops > 0,
    });
    match asked {
        Some(false) => "this pass was not asked for",
        _ => "no window of this pass was finished",
    }
}

fn say_missing_distributions(
    recording: &Recording,
    latencies: &PassLatencies,
    hops: &HopsFound,
    missing: &mut Missing,
) {
    if latencies.all.is_none() {
        missing.say("latency_ns", no_pass(recording, Pass::Timed));
    }
    if hops.hops.is_empty() {
        missing.say("hops", no_pass(recording, Pass::Hops));
    }
}

fn boot_id(recording: &Recording, missing: &mut Missing) -> Option<String> {
    let facts =
        recording.facts.as_ref().ok_or_else(|| Unavailable::new("the device sent no facts of itself"));
    missing.unless("boot_id", facts.and_then(|facts| facts.system.boot_id.clone()))
}

fn system(header: &RunHeader, recording: &Recording, missing: &mut Missing) -> SystemSummary {
    let system = recording.facts.as_ref().map(|facts| &facts.system);
    if system.is_none() {
        missing.say("system", "the device sent no facts of itself");
    }
    SystemSummary {
        kernel_release: system.map(|system| system.kernel_release.clone()),
        kernel_version: system.map(|system| system.kernel_version.clone()),
        model: system.and_then(|system| missing.unless("system.model", system.model.clone())),
        emulated: system.map(|system| system.emulated),
        clock_grain_ns: system.map(|system| system.clock_grain_ns),
        agent: recording.hello.as_ref().map(|hello| format!("{} {}", hello.agent_version, hello.build)),
        host: header.host_version.clone(),
    }
}

fn target(recording: &Recording, missing: &mut Missing) -> TargetSummary {
    let disk = disk_of(recording);
    let block_bytes = disk.and_then(|disk| disk.logical_block_bytes.clone());
    let logical_block_bytes = missing.unless("target.logical_block_bytes", block_bytes);
    let Some(target) = &recording.target else {
        missing.say("target", "the device sent no facts of the target");
        return TargetSummary::default();
    };
    TargetSummary {
        path: Some(target.path.clone()),
        real_path: Some(target.real_path.clone()),
        block_device: Some(target.block_device),
        disk: missing.unless("target.disk", target.disk.clone()),
        direct: Some(target.direct),
        span_bytes: Some(target.span_bytes),
        logical_block_bytes,
    }
}

fn load(recording: &Recording, missing: &mut Missing) -> Option<LoadSummary> {
    let Some(job) = recording.run_job() else {
        missing.say("load", "the device did not send the plan it followed");
        return None;
    };
    Some(LoadSummary {
        engine: match job.workload.engine {
            Engine::Psync => "psync",
        },
        pattern: match job.workload.pattern {
            Pattern::Sequential => "sequential",
            Pattern::Random => "random",
        },
        read_percent: job.workload.read_percent,
        block_bytes: job.workload.block_bytes,
        seed: job.workload.seed,
        cpu: job.cpu,
        warmup_ns: job.warmup_ns,
    })
}

fn per_operation(evidence: &Evidence, counted: &PassDeltas, missing: &mut Missing) -> PerOp {
    let mut figure = |name: &str, count: Reading<u64>| {
        let figure = count.and_then(|count| {
            per_op(count, counted.ops).ok_or_else(|| Unavailable::new("no operation was counted"))
        });
        missing.unless(&format!("per_op.{name}"), figure)
    };
    let sum = |counts: Reading<&BTreeMap<u16, u64>>| counts.map(|counts| counts.values().sum());
    let irq_threads = evidence.threads.as_ref().map_err(Clone::clone).and_then(|threads| {
        let slices = completion::own_threads(evidence, threads).map(|thread| thread.slices.clone());
        slices.sum::<Reading<u64>>()
    });
    // A completion may have to wait for `ksoftirqd` of the CPU that takes the interrupts.
    let ksoftirqd = busiest_cpu(evidence.lines.as_deref().unwrap_or_default())
        .ok_or_else(|| Unavailable::new("it is not known which CPU takes the interrupts"))
        .and_then(|cpu| {
            evidence
                .ksoftirqd
                .get(&cpu)
                .cloned()
                .unwrap_or_else(|| Err(Unavailable::new(format!("ksoftirqd/{cpu} was not watched"))))
        });
    let interrupts = evidence.lines.as_ref().map_err(Clone::clone);
    PerOp {
        interrupts: figure(
            "interrupts",
            interrupts.map(|lines| lines.iter().map(completion::Line::total).sum()),
        ),
        irq_thread_switches: figure("irq_thread_switches", irq_threads),
        ksoftirqd_switches: figure("ksoftirqd_switches", ksoftirqd),
        block_softirqs: figure("block_softirqs", sum(counted.block_softirqs())),
        function_call_interrupts: figure("function_call_interrupts", sum(counted.function_calls())),
    }
}

fn per_cpu(evidence: &Evidence, counted: &PassDeltas) -> Vec<PerCpu> {
    let lines = evidence.lines.as_ref().ok();
    let block = counted.block_softirqs().ok();
    let calls = counted.function_calls().ok();
    let mut cpus: BTreeSet<u16> =
        lines.into_iter().flatten().flat_map(|line| line.per_cpu.keys().copied()).collect();
    cpus.extend(block.into_iter().flat_map(BTreeMap::keys));
    let ksoftirqd = |cpu| {
        let thread = counted.threads_where(|role| role == ThreadRole::Ksoftirqd { cpu }).next()?;
        Some(thread.grown.as_ref().ok()?.slices)
    };
    cpus.into_iter()
        .map(|cpu| PerCpu {
            cpu,
            interrupts: lines.and_then(|lines| interrupts_on(cpu, lines)),
            block_softirqs: block.and_then(|counts| counts.get(&cpu).copied()),
            ksoftirqd_switches: ksoftirqd(cpu),
            function_call_interrupts: calls.and_then(|counts| counts.get(&cpu).copied()),
        })
        .collect()
}

/// `None` where no line has a count of this CPU: one that is off-line has no column in `/proc/interrupts`.
fn interrupts_on(cpu: u16, lines: &[completion::Line]) -> Option<u64> {
    let counts = lines.iter().filter_map(|line| line.per_cpu.get(&cpu).copied());
    counts.reduce(u64::saturating_add)
}

fn window_summary(record: &WindowRecord) -> Option<WindowSummary> {
    let window = record.window.as_ref()?;
    let elapsed_ns = window.end_ns.saturating_sub(window.begin_ns);
    let cpu = record.after.as_ref().map(|edge| edge.placement.cpu);
    let frequency = |edge: &Option<EdgeRecord>| {
        let edge = edge.as_ref()?;
        let reading = edge.cpus.iter().find(|reading| Some(reading.cpu) == cpu)?;
        reading.frequency_khz.clone().ok()
    };
    Some(WindowSummary {
        window: window.window,
        pass: pass_name(window.pass),
        begin_ns: window.begin_ns,
        elapsed_ns,
        ops: ops_of(window),
        iops: rate(ops_of(window), elapsed_ns),
        cpu,
        frequency_khz: frequency(&record.before)
            .zip(frequency(&record.after))
            .map(|(before, after)| [before, after]),
    })
}

/// Why a CPU's frequency is not known.
fn no_frequency(recording: &Recording) -> String {
    let edges = recording.windows.iter().flat_map(|record| [&record.before, &record.after]).flatten();
    let reason = edges.flat_map(|edge| &edge.cpus).find_map(|reading| reading.frequency_khz.as_ref().err());
    reason.map_or_else(|| "no CPU tells its frequency".to_owned(), ToString::to_string)
}

fn overhead(recording: &Recording, timed: Option<Totals>, missing: &mut Missing) -> Option<OverheadSummary> {
    let Some(end) = &recording.end else {
        missing.say("overhead", "it comes with the end of the stream, which is missing");
        return None;
    };
    let overhead = end.overhead;
    Some(OverheadSummary {
        loop_ns: overhead.loop_ns,
        sampler_cpu_ns: overhead.sampler_cpu_ns,
        stream_cpu_ns: overhead.stream_cpu_ns,
        stream_bytes: overhead.stream_bytes,
        latency_bytes_per_op: timed.and_then(|timed| per_op(overhead.latency_bytes, timed.ops)),
        peak_rss_bytes: overhead.peak_rss_bytes,
    })
}
