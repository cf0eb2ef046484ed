//! Interrupts wake a thread: did the driver ask for it, or does the system thread every handler?

use super::{Evidence, Forcing, Line};
use crate::analysis::{CompletionPath, per_op};
use std::collections::BTreeMap;

/// From this many runs of `ksoftirqd` per `BLOCK` softirq on, each softirq is taken to have waked it. Measured:
/// 1.00 where the driver asked for the thread, 0.16 where it was forced.
const KSOFTIRQD_EACH: f64 = 0.8;

/// With every handler threaded, whatever softirq an interrupt raises wakes `ksoftirqd` too: it must have run
/// this much more often than the most frequent other softirq alone accounts for.
const BEYOND_OTHERS: f64 = 1.2;

/// At least this part of the operations must have had their softirq on the interrupt's CPU for `ksoftirqd` of
/// that CPU to say anything.
const MOSTLY_LOCAL: f64 = 0.5;

/// Who ran the `BLOCK` softirqs that the thread raised.
enum SoftirqRunner {
    /// `ksoftirqd`, waked once for each.
    Ksoftirqd,
    /// The thread itself.
    Thread,
    /// Another CPU, asked by an interrupt.
    OtherCpu,
    /// Nobody: there was no such softirq, or it cannot be seen.
    NotSeen,
}

/// `threaded` or `forced-threaded`, and why.
pub(super) fn threaded(evidence: &Evidence, lines: &[Line], said: &mut Vec<String>) -> CompletionPath {
    let runner = softirq_runner(evidence, lines, said);
    match (&evidence.forcing, runner) {
        (Forcing::Off, _) => {
            said.push(
                "nothing threads handlers by force: no threadirqs on the command line, no PREEMPT_RT"
                    .to_owned(),
            );
            CompletionPath::Threaded
        }
        (Forcing::On(why), SoftirqRunner::Ksoftirqd) => {
            said.push(format!("{why}, but a handler threaded by force runs its softirqs itself: the driver asked for this thread"));
            CompletionPath::Threaded
        }
        (Forcing::On(why), SoftirqRunner::Thread) => {
            said.push(format!("{why}, and {} other handlers have threads", evidence.other_threads));
            CompletionPath::ForcedThreaded
        }
        (Forcing::On(why), SoftirqRunner::OtherCpu | SoftirqRunner::NotSeen) => {
            said.push(format!(
                "{why}, and {} other handlers have threads; whether the driver would have asked for one anyway does not show here",
                evidence.other_threads
            ));
            CompletionPath::ForcedThreaded
        }
        // A kernel that forces threads never hands completions to another CPU (blk_mq_complete_need_ipi).
        (Forcing::NotKnown(why), SoftirqRunner::Thread) if evidence.other_threads > 0 => {
            said.push(format!("{why}; but only a handler threaded by force runs its softirqs itself"));
            CompletionPath::ForcedThreaded
        }
        (Forcing::NotKnown(why), _) => {
            said.push(format!("whether handlers are threaded by force is not known: {why}"));
            CompletionPath::Threaded
        }
    }
}

fn softirq_runner(evidence: &Evidence, lines: &[Line], said: &mut Vec<String>) -> SoftirqRunner {
    let Some(cpu) = busiest_cpu(lines) else { return SoftirqRunner::NotSeen };
    let Ok(block) = &evidence.block else { return SoftirqRunner::NotSeen };
    let local = block.get(&cpu).copied().unwrap_or(0);
    let all: u64 = block.values().sum();
    let share = |count: u64| per_op(count, evidence.ops).unwrap_or(0.0);
    if share(local) < MOSTLY_LOCAL {
        if share(all) < MOSTLY_LOCAL {
            said.push(format!(
                "BLOCK softirqs ran {:.2} times per I/O: the thread completes requests itself",
                share(all)
            ));
            return SoftirqRunner::NotSeen;
        }
        said.push(format!(
            "BLOCK softirqs ran {:.2} times per I/O, {:.2} of them away from CPU{cpu}: the thread hands completions to another CPU",
            share(all),
            share(all - local)
        ));
        return SoftirqRunner::OtherCpu;
    }
    let Some(Ok(ksoftirqd)) = evidence.ksoftirqd.get(&cpu) else {
        said.push(format!(
            "BLOCK softirqs ran {:.2} times per I/O on CPU{cpu}; ksoftirqd/{cpu} could not be watched",
            share(local)
        ));
        return SoftirqRunner::NotSeen;
    };
    let others = evidence.busiest_other_softirq.get(&cpu).copied().unwrap_or(0);
    let figures = format!(
        "BLOCK softirqs ran {:.2} times per I/O on CPU{cpu} and ksoftirqd/{cpu} {:.2} times",
        share(local),
        share(*ksoftirqd)
    );
    let each = per_op(*ksoftirqd, local).unwrap_or(0.0) >= KSOFTIRQD_EACH;
    if each && *ksoftirqd as f64 >= BEYOND_OTHERS * others as f64 {
        said.push(format!("{figures}: a second thread completes the request"));
        return SoftirqRunner::Ksoftirqd;
    }
    let rest =
        if each { format!(", no more than {others} other softirqs there explain") } else { String::new() };
    said.push(format!("{figures}{rest}: the interrupt thread runs them itself"));
    SoftirqRunner::Thread
}

/// The CPU that took most of the interrupts.
pub(in crate::analysis) fn busiest_cpu(lines: &[Line]) -> Option<u16> {
    let mut by_cpu = BTreeMap::<u16, u64>::new();
    for (&cpu, &count) in lines.iter().flat_map(|line| &line.per_cpu) {
        *by_cpu.entry(cpu).or_default() += count;
    }
    by_cpu.into_iter().filter(|(_, count)| *count > 0).max_by_key(|(_, count)| *count).map(|(cpu, _)| cpu)
}
