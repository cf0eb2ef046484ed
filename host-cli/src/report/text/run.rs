//! One run.

use super::{Page, bytes, or_dash, us, whole_us};
use crate::analysis::{Completion, CompletionPath, Hop, LatencySummary, PerOp, RunSummary};
use crate::report::EMULATED;

/// From so many runs of `ksoftirqd` per operation on, it is named as a part of the way.
const PART_OF_THE_WAY: f64 = 0.8;

/// One run: the verdict and why, then what an I/O takes, then whether to believe it.
pub fn run(run: &RunSummary) -> String {
    let mut page = Page::default();
    page.line(&answer(run));
    run.completion.evidence.iter().for_each(|sentence| page.item(sentence));
    page.blank();
    if !run.quality.valid {
        page.list("INVALID, do not use these figures:", &run.quality.failed);
        page.blank();
    }
    if run.system.emulated == Some(true) {
        page.line(EMULATED);
    }
    what_was_run(&mut page, run);
    page.blank();
    latencies(&mut page, run);
    page.line(&per_io(&run.per_op));
    windows(&mut page, run);
    if !run.hops.is_empty() {
        page.blank();
        hops(&mut page, run);
    }
    page.blank();
    if run.quality.valid {
        page.line("quality: valid");
    }
    page.list("notes:", &run.quality.notes);
    if let Some(overhead) = &run.overhead {
        page.line(&format!(
            "overhead: the loop itself {} ns per I/O, sampling {} ms of another CPU's time",
            overhead.loop_ns,
            or_dash(Some(overhead.sampler_cpu_ns as f64 / 1e6), 1)
        ));
    }
    page.list("unavailable:", &unavailable(run));
    page.finish()
}

/// What is not there and why; what is missing for one reason stands together.
fn unavailable(run: &RunSummary) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in &run.unavailable {
        match by_reason.iter_mut().find(|(told, _)| told == reason) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((reason, vec![name])),
        }
    }
    by_reason.into_iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))).collect()
}

/// `completion: threaded (irq/18-ufshcd, SCHED_FIFO 50, then ksoftirqd/0)`
fn answer(run: &RunSummary) -> String {
    let Completion { path, thread, irq, .. } = &run.completion;
    let mut way = Vec::new();
    match path {
        CompletionPath::Threaded | CompletionPath::ForcedThreaded | CompletionPath::Mixed => {
            if let Some(thread) = thread {
                way.push(format!("{}, {} {}", thread.comm, thread.policy, thread.priority));
            }
            if run.per_op.ksoftirqd_switches.is_some_and(|switches| switches >= PART_OF_THE_WAY) {
                let busiest = run.per_cpu.iter().max_by_key(|cpu| cpu.interrupts);
                way.extend(busiest.map(|cpu| format!("then ksoftirqd/{}", cpu.cpu)));
            }
        }
        CompletionPath::Hard | CompletionPath::McqEsi => {
            way.extend(irq.map(|irq| format!("in interrupt {irq}")))
        }
        CompletionPath::Inline => way.push("no interrupt".to_owned()),
        CompletionPath::Polled | CompletionPath::Unknown => {}
    }
    let way = if way.is_empty() { String::new() } else { format!(" ({})", way.join(", ")) };
    let trust = if run.quality.valid { "" } else { "; INVALID RUN, see below" };
    format!("completion: {}{way}{trust}", path.name())
}

fn what_was_run(page: &mut Page, run: &RunSummary) {
    let unknown = "unknown".to_owned();
    page.line(&format!("run {} of {}, variant {}", run.id, run.device, run.variant));
    page.line(&format!(
        "kernel {} on {}, boot {}",
        run.system.kernel_release.as_ref().unwrap_or(&unknown),
        run.system.model.as_ref().unwrap_or(&unknown),
        run.boot_id.as_ref().unwrap_or(&unknown)
    ));
    let path = run.target.path.as_ref().unwrap_or(&unknown);
    let span = run.target.span_bytes.map_or_else(|| unknown.clone(), bytes);
    let buffered = if run.target.direct == Some(false) { " through the page cache" } else { "" };
    page.line(&match &run.load {
        Some(load) => format!(
            "{}: {} {}, {} % reads of {} in {span} of {path}{buffered}, {}",
            run.workload,
            load.engine,
            load.pattern,
            load.read_percent,
            bytes(load.block_bytes.into()),
            load.cpu.map_or("on any CPU".to_owned(), |cpu| format!("on CPU{cpu}"))
        ),
        None => format!("{}: {span} of {path}{buffered}", run.workload),
    });
}

fn latencies(page: &mut Page, run: &RunSummary) {
    let (Some(ops), Some(elapsed_ns)) = (run.ops, run.elapsed_ns) else { return };
    page.line(&format!("{ops} I/Os in {:.2} s: {} IOPS", elapsed_ns as f64 / 1e9, or_dash(run.iops, 0)));
    let row = |name: &str, latency: &LatencySummary| {
        vec![
            name.to_owned(),
            whole_us(latency.min),
            us(latency.mean),
            whole_us(latency.p50),
            whole_us(latency.p90),
            whole_us(latency.p99),
            whole_us(latency.p999),
            whole_us(latency.max),
        ]
    };
    let kinds =
        [("all", &run.latency_ns), ("reads", &run.latency_read_ns), ("writes", &run.latency_write_ns)];
    let rows: Vec<Vec<String>> =
        kinds.iter().filter_map(|(name, latency)| Some(row(name, latency.as_ref()?))).collect();
    if !rows.is_empty() {
        page.table(&["µs per I/O", "min", "mean", "p50", "p90", "p99", "p99.9", "max"], rows);
    }
}

fn per_io(per_op: &PerOp) -> String {
    format!(
        "per I/O: interrupts {}, irq thread {}, ksoftirqd {}, BLOCK softirqs {}",
        or_dash(per_op.interrupts, 2),
        or_dash(per_op.irq_thread_switches, 2),
        or_dash(per_op.ksoftirqd_switches, 2),
        or_dash(per_op.block_softirqs, 2)
    )
}

/// The spread of the timed windows, which shows a run that sagged, and of the CPU's frequency.
fn windows(page: &mut Page, run: &RunSummary) {
    let timed = || run.windows.iter().filter(|window| window.pass == "timed");
    let iops: Vec<f64> = timed().filter_map(|window| window.iops).collect();
    let lowest = iops.iter().copied().reduce(f64::min);
    let highest = iops.iter().copied().reduce(f64::max);
    if iops.len() > 1 {
        page.line(&format!("{} windows: {} to {} IOPS", iops.len(), or_dash(lowest, 0), or_dash(highest, 0)));
    }
    let khz = || timed().filter_map(|window| window.frequency_khz).flatten();
    if let (Some(lowest), Some(highest)) = (khz().min(), khz().max()) {
        page.line(&format!("frequency of its CPU: {} to {} MHz", lowest / 1000, highest / 1000));
    }
}

fn hops(page: &mut Page, run: &RunSummary) {
    let row = |hop: &Hop| {
        vec![
            hop.name.to_owned(),
            us(hop.mean_ns),
            whole_us(hop.p50_ns),
            whole_us(hop.p99_ns),
            whole_us(hop.max_ns),
            or_dash(hop.slices_per_op, 2),
        ]
    };
    let mut rows: Vec<Vec<String>> = run.hops.iter().map(row).collect();
    if let Some(outside_ns) = run.hops_outside_ns {
        let dash = || "-".to_owned();
        let at = rows.len() - 1;
        rows.insert(at, vec!["outside these".to_owned(), us(outside_ns), dash(), dash(), dash(), dash()]);
    }
    page.table(&["hops, µs per I/O", "mean", "p50", "p99", "max", "runs per I/O"], rows);
    if run.hops_outside_ns.is_some() {
        page.item("only means add up; outside these are the device, submission and the interrupt itself");
    }
    run.hops_notes.iter().for_each(|note| page.item(note));
}
