//! Which way completions took, from what was counted while they came in.
//!
//! The rules, in order. Counts are of the controller's interrupt lines over the same windows as the
//! operations. A kernel version, the name of a variant or the mere existence of a thread decides nothing.
//!
//! | what is seen | verdict |
//! | --- | --- |
//! | fewer than [`MIN_OPS`] operations, or a count that the rules need is missing | `unknown` |
//! | no controller, and no interrupt moved with the operations | `inline` |
//! | hardly any interrupt on the controller's lines | `unknown` |
//! | nearly every interrupt woke the thread ([`NEARLY_ALL`]) | `threaded` or `forced-threaded` |
//! | hardly any did ([`HARDLY_ANY`]), UFS, several queues and lines, and [`MOST`] came on queue lines | `mcq-esi` |
//! | hardly any did | `hard` |
//! | some did | `mixed`; on a line shared with another device `unknown` |
//!
//! Whether a thread was asked for by the driver or forced by the system shows in who runs the `BLOCK` softirq
//! it raises. A handler that asked for its thread runs with softirqs enabled (`irq_thread_fn`,
//! kernel/irq/manage.c), so raising one wakes `ksoftirqd`, once a completion. A forced one runs with them
//! disabled and works them off itself when it is done (`irq_forced_thread_fn`), so `ksoftirqd` runs for other
//! work only.

mod evidence;
mod threading;

pub(super) use evidence::disk_of;
pub use evidence::{
    Controller, Evidence, Forcing, Line, LineThread, action_of_thread, irq_of_thread, is_ufs,
};
pub(super) use threading::busiest_cpu;

use super::{Completion, CompletionPath, ThreadSummary, per_op};
use tophalf_wire::{ControllerKind, Reading, Unavailable};

/// Fewest operations that a verdict rests on: a background of some interrupts or wake-ups a second is then
/// well below [`HARDLY_ANY`].
pub const MIN_OPS: u64 = 200;

/// From this part of the interrupts on that woke a thread, all are taken to have done so. The rest is what
/// the controller has to say besides completions, such as the end of a power mode change.
pub const NEARLY_ALL: f64 = 0.9;

/// Up to this part, none is taken to have done so. The rest is such other work, or a thread that is waked by
/// a reset of its affinity.
pub const HARDLY_ANY: f64 = 0.1;

/// Fewer interrupts per operation than this do not carry the completions. One for several operations is
/// legal, since a handler that is still running collects the next completion too: 0.28 has been seen at
/// depth one.
pub const MIN_INTERRUPTS: f64 = 0.05;

/// An interrupt that moves less often than this per operation does not move with the operations: timer ticks
/// against the completions of a disk that needs none.
pub const UNRELATED: f64 = 0.2;

/// A UFS controller whose queues have lines of their own gets more than this part of its interrupts there; the
/// rest is what its first line has to say besides completions.
pub const MOST: f64 = 0.5;

/// The verdict on `evidence`.
pub fn decide(evidence: &Evidence) -> Completion {
    let mut said = Vec::new();
    let path = verdict(evidence, &mut said).unwrap_or_else(|missing| {
        said.push(missing.reason);
        CompletionPath::Unknown
    });
    let busiest = evidence.lines.iter().flatten().max_by_key(|line| line.total());
    let thread = evidence
        .threads
        .iter()
        .flatten()
        .max_by_key(|thread| (!is_foreign(thread, evidence), thread.slices.clone().unwrap_or(0)));
    Completion {
        path,
        irq: busiest.map(|line| line.irq),
        thread: thread.map(|thread| ThreadSummary {
            pid: thread.facts.pid,
            comm: thread.facts.comm.clone(),
            policy: policy_name(thread.facts.policy),
            priority: thread.facts.rt_priority,
            cpu: thread.facts.cpu,
        }),
        hardware_queues: evidence.hardware_queues.clone().ok(),
        evidence: said,
    }
}

fn verdict(evidence: &Evidence, said: &mut Vec<String>) -> Reading<CompletionPath> {
    let ops = evidence.ops;
    if ops < MIN_OPS {
        return Err(Unavailable::new(format!("{ops} I/Os were counted; a verdict needs at least {MIN_OPS}")));
    }
    let lines = evidence.lines.as_ref().map_err(|missing| {
        Unavailable::new(format!("interrupts of the disk's controller are not known: {missing}"))
    })?;
    if let Controller::None { disk } = &evidence.controller {
        return without_controller(evidence, disk, said);
    }
    if let Controller::Unseen(reason) = &evidence.controller {
        said.push(format!(
            "the disk's controller cannot be seen ({reason}): lines named after UFS are taken for its lines"
        ));
    }
    let interrupts: u64 = lines.iter().map(Line::total).sum();
    let per_interrupt = |count: u64| per_op(count, interrupts).unwrap_or(0.0);
    let interrupts_per_op = per_op(interrupts, ops).unwrap_or(0.0);
    said.extend(lines.iter().filter(|line| line.total() > 0).map(|line| line_sentence(line, ops)));
    if interrupts_per_op < MIN_INTERRUPTS {
        return Err(Unavailable::new(format!(
            "{interrupts} interrupts of the controller for {ops} I/Os: completions do not arrive by them"
        )));
    }
    let woken = thread_slices(evidence, said)?;
    let woken_per_op = per_op(woken, ops).unwrap_or(0.0);
    let shared = lines.iter().any(|line| line.total() > 0 && line.actions.len() > 1);
    // On a shared line the other device's interrupts say nothing; then operations are what counts.
    if per_interrupt(woken) >= NEARLY_ALL || (shared && woken_per_op >= NEARLY_ALL) {
        return Ok(threading::threaded(evidence, lines, said));
    }
    if woken_per_op <= HARDLY_ANY && (shared || per_interrupt(woken) <= HARDLY_ANY) {
        softirq_sentence(evidence, said);
        return Ok(if on_queue_lines(evidence, lines, said) {
            CompletionPath::McqEsi
        } else {
            CompletionPath::Hard
        });
    }
    if shared {
        return Err(Unavailable::new(
            "the line is shared with another device, and the thread ran for some of its interrupts: they cannot be told apart",
        ));
    }
    said.push(format!(
        "{:.0} % of the interrupts woke the thread, the others were handled without it",
        per_interrupt(woken) * 100.0
    ));
    Ok(CompletionPath::Mixed)
}

/// A disk with nothing above it: zram and the like.
fn without_controller(evidence: &Evidence, disk: &str, said: &mut Vec<String>) -> Reading<CompletionPath> {
    said.push(format!("{disk} has no controller above it"));
    let (row, count) = evidence.busiest_other.clone().unwrap_or_default();
    let per_op = per_op(count, evidence.ops).unwrap_or(0.0);
    if per_op >= UNRELATED {
        return Err(Unavailable::new(format!("yet interrupt {row} came {per_op:.2} times per I/O")));
    }
    said.push(if row.is_empty() {
        "no interrupt moved".to_owned()
    } else {
        format!("no interrupt moved with the I/Os: the busiest, {row}, came {per_op:.2} times per I/O")
    });
    Ok(CompletionPath::Inline)
}

/// Times the controller's interrupt threads ran.
fn thread_slices(evidence: &Evidence, said: &mut Vec<String>) -> Reading<u64> {
    let threads = evidence.threads.as_ref().map_err(Clone::clone)?;
    if threads.is_empty() {
        said.push("no thread exists for these lines".to_owned());
    }
    let mut sum: u64 = 0;
    for thread in threads.iter().filter(|thread| is_foreign(thread, evidence)) {
        said.push(format!("{} belongs to another device on the line", thread.facts.comm));
    }
    for thread in own_threads(evidence, threads) {
        let slices = thread.slices.as_ref().map_err(|missing| {
            Unavailable::new(format!("how often {} ran is not known: {missing}", thread.facts.comm))
        })?;
        sum = sum.saturating_add(*slices);
        // Of dozens of per-queue threads only those that ran, or the only one, are worth a line.
        if *slices > 0 || threads.len() == 1 {
            said.push(format!(
                "{} (pid {}, {} {}) ran {:.2} times per I/O",
                thread.facts.comm,
                thread.facts.pid,
                policy_name(thread.facts.policy),
                thread.facts.rt_priority,
                per_op(*slices, evidence.ops).unwrap_or(0.0),
            ));
        }
    }
    Ok(sum)
}

/// Those of `threads` that work for the disk's controller.
pub(super) fn own_threads<'a>(
    evidence: &'a Evidence,
    threads: &'a [LineThread],
) -> impl Iterator<Item = &'a LineThread> {
    threads.iter().filter(|thread| !is_foreign(thread, evidence))
}

/// A thread of a shared line that is named after another handler of that line.
fn is_foreign(thread: &LineThread, evidence: &Evidence) -> bool {
    let Some(line) = evidence.lines.iter().flatten().find(|line| line.irq == thread.irq) else {
        return false;
    };
    let Some(name) = action_of_thread(&thread.facts.comm).filter(|name| !name.is_empty()) else {
        return false;
    };
    let named_after = |action: &&String| action.starts_with(name);
    let (ours, theirs): (Vec<&String>, Vec<&String>) = line.actions.iter().partition(|action| is_ufs(action));
    !ours.is_empty() && !ours.iter().any(named_after) && theirs.iter().any(named_after)
}

fn line_sentence(line: &Line, ops: u64) -> String {
    let cpus: Vec<String> = line
        .per_cpu
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(cpu, count)| format!("{count} on CPU{cpu}"))
        .collect();
    let mut sentence = format!(
        "interrupt {} ({}) came {:.2} times per I/O: {}",
        line.irq,
        line.actions.join(", "),
        per_op(line.total(), ops).unwrap_or(0.0),
        cpus.join(", "),
    );
    if line.actions.len() > 1 {
        sentence.push_str("; the line is shared");
    }
    if line.unknown_cpus > 0 {
        sentence.push_str(&format!(
            "; {} CPUs went off-line or came back, their counts are not known",
            line.unknown_cpus
        ));
    }
    sentence
}

/// Where the block softirq ran, if anywhere.
fn softirq_sentence(evidence: &Evidence, said: &mut Vec<String>) {
    let Ok(block) = &evidence.block else { return };
    let total: u64 = block.values().sum();
    let busiest = block.iter().max_by_key(|(_, count)| **count);
    said.push(match (per_op(total, evidence.ops), busiest) {
        (Some(per_op), Some((cpu, _))) if total > 0 => {
            format!("BLOCK softirqs ran {per_op:.2} times per I/O, most of them on CPU{cpu}")
        }
        _ => "no BLOCK softirq ran: requests are completed where the interrupt is handled".to_owned(),
    });
}

/// Whether a UFS controller in multi-queue mode signalled on lines of its queues. The main line is asked for
/// when the driver starts and those of the queues later, so it is the lowest.
fn on_queue_lines(evidence: &Evidence, lines: &[Line], said: &mut Vec<String>) -> bool {
    let ufs = match evidence.controller {
        Controller::Known(kind) => kind == ControllerKind::Ufs,
        Controller::Unseen(_) => true,
        Controller::None { .. } => false,
    };
    let several_queues = !matches!(evidence.hardware_queues, Ok(0..=1));
    let main = lines.iter().map(|line| line.irq).min();
    let total: u64 = lines.iter().map(Line::total).sum();
    let on_queues: u64 = lines.iter().filter(|line| Some(line.irq) != main).map(Line::total).sum();
    let share = per_op(on_queues, total).unwrap_or(0.0);
    if !(ufs && several_queues && lines.len() > 1 && share > MOST) {
        return false;
    }
    said.push(format!(
        "{:.0} % of the interrupts came on lines other than the controller's first, of {} in all: each queue has its own",
        share * 100.0,
        lines.len()
    ));
    true
}

/// A scheduling policy by its name (include/uapi/linux/sched.h).
pub fn policy_name(policy: u32) -> String {
    match policy {
        0 => "SCHED_OTHER".to_owned(),
        1 => "SCHED_FIFO".to_owned(),
        2 => "SCHED_RR".to_owned(),
        3 => "SCHED_BATCH".to_owned(),
        5 => "SCHED_IDLE".to_owned(),
        6 => "SCHED_DEADLINE".to_owned(),
        other => format!("policy {other}"),
    }
}
