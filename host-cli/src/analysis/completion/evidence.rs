//! What is known about the completions of a run, put together for the verdict.

use crate::analysis::deltas::{PassDeltas, PerCpuCounts};
use crate::recording::Recording;
use std::collections::BTreeMap;
use tophalf_wire::{
    ControllerFacts, ControllerKind, DiskFacts, Facts, IrqFacts, Reading, ThreadFacts, ThreadRole,
    Unavailable,
};

/// Everything the verdict rests on. Counts are growth over the windows of one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Operations.
    pub ops: u64,
    /// What stands between the disk and the interrupt.
    pub controller: Controller,
    /// Interrupt lines of that controller.
    pub lines: Reading<Vec<Line>>,
    /// The interrupt outside those lines that moved most: its row and how often.
    pub busiest_other: Option<(String, u64)>,
    /// Interrupt threads of those lines, used or not.
    pub threads: Reading<Vec<LineThread>>,
    /// Interrupt threads of other lines.
    pub other_threads: usize,
    /// Times `ksoftirqd` of each watched CPU ran.
    pub ksoftirqd: BTreeMap<u16, Reading<u64>>,
    /// `BLOCK` softirqs by CPU.
    pub block: Reading<PerCpuCounts>,
    /// The most frequent softirq other than `BLOCK` on each CPU.
    pub busiest_other_softirq: PerCpuCounts,
    /// Hardware queues of the disk.
    pub hardware_queues: Reading<u64>,
    /// Whether the kernel threads all handlers.
    pub forcing: Forcing,
}

/// What stands between the disk and the interrupt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Controller {
    /// The disk is known and has no controller above it.
    None {
        /// The disk.
        disk: String,
    },
    /// It is known.
    Known(ControllerKind),
    /// It cannot be seen; lines that are named after UFS are taken for its lines.
    Unseen(String),
}

/// An interrupt line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// Its number.
    pub irq: u32,
    /// Names of its handlers.
    pub actions: Vec<String>,
    /// Interrupts by CPU.
    pub per_cpu: PerCpuCounts,
    /// CPUs that came or went, whose counts are not known.
    pub unknown_cpus: usize,
}

/// An interrupt thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineThread {
    /// Its line.
    pub irq: u32,
    /// Who it is.
    pub facts: ThreadFacts,
    /// Times it was put on a CPU.
    pub slices: Reading<u64>,
}

/// Whether the kernel threads all ordinary handlers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forcing {
    /// It does.
    On(String),
    /// It does not.
    Off,
    /// It cannot be seen.
    NotKnown(String),
}

impl Line {
    /// Interrupts, all CPUs together.
    pub fn total(&self) -> u64 {
        self.per_cpu.values().sum()
    }
}

impl Evidence {
    /// Puts together what a recording and the growth of its counters show.
    pub fn gather(recording: &Recording, deltas: &PassDeltas) -> Self {
        let facts = recording.facts.as_ref();
        let disk = disk_of(recording);
        let controller_facts = disk.as_ref().ok().and_then(|disk| facts?.controller_of(disk));
        let controller = match (&disk, controller_facts) {
            (_, Some(controller)) => Controller::Known(controller.kind),
            (Ok(disk), None) if disk.controller.is_none() => Controller::None { disk: disk.name.clone() },
            (Ok(disk), None) => {
                Controller::Unseen(format!("nothing is known of the controller of {}", disk.name))
            }
            (Err(reason), None) => Controller::Unseen(reason.reason.clone()),
        };
        let irq_facts = irqs_of(facts, &controller, controller_facts);
        // A disk without lines needs the table too: that no interrupt moved must have been seen.
        let table = deltas.interrupts.as_ref().map(|_| ()).map_err(Clone::clone);
        let lines = table.and_then(|()| {
            let irqs = irq_facts.as_ref().map_err(Clone::clone)?;
            irqs.iter().map(|irq| line(irq, deltas)).collect::<Reading<Vec<Line>>>()
        });
        let numbers: Vec<u32> = irq_facts.iter().flatten().map(|irq| irq.irq).collect();
        Self {
            ops: deltas.ops,
            busiest_other: busiest_other(deltas, &numbers),
            threads: threads_of(facts, irq_facts.as_deref().unwrap_or_default(), deltas),
            other_threads: facts.map_or(0, |facts| {
                facts
                    .irq_threads
                    .iter()
                    .filter(|thread| irq_of_thread(&thread.comm).is_some_and(|irq| !numbers.contains(&irq)))
                    .count()
            }),
            ksoftirqd: deltas
                .threads
                .iter()
                .filter_map(|thread| match thread.role {
                    ThreadRole::Ksoftirqd { cpu } => {
                        Some((cpu, thread.grown.clone().map(|grown| grown.slices)))
                    }
                    _ => None,
                })
                .collect(),
            block: deltas.block_softirqs().cloned(),
            busiest_other_softirq: busiest_other_softirq(deltas),
            hardware_queues: disk
                .and_then(|disk| disk.hardware_queues.clone())
                .map(|queues| queues.len() as u64),
            forcing: forcing(facts),
            controller,
            lines,
        }
    }
}

/// The line that an interrupt thread's name tells, `irq/205-ufshcd` or `irq/205-s-ufshcd`. Older kernels cut
/// names after 15 characters, which leaves the number whole.
pub fn irq_of_thread(comm: &str) -> Option<u32> {
    comm.strip_prefix("irq/")?.split_once('-')?.0.parse().ok()
}

/// The part of an interrupt thread's name that is its handler's, perhaps cut short.
pub fn action_of_thread(comm: &str) -> Option<&str> {
    let action = comm.strip_prefix("irq/")?.split_once('-')?.1;
    Some(action.strip_prefix("s-").unwrap_or(action))
}

/// The facts of the disk beneath the target.
pub(in crate::analysis) fn disk_of(recording: &Recording) -> Reading<&DiskFacts> {
    let missing = |what: &str| Unavailable::new(format!("the device sent no {what}"));
    let target = recording.target.as_ref().ok_or_else(|| missing("facts of the target"))?;
    let facts = recording.facts.as_ref().ok_or_else(|| missing("facts of itself"))?;
    let name = target.disk.as_ref().map_err(Clone::clone)?;
    facts.disks.as_ref().map_err(Clone::clone)?;
    facts
        .disk(name)
        .ok_or_else(|| Unavailable::new(format!("{name} is not among the disks the device found")))
}

/// Lines of the controller; where it cannot be seen, all lines the device took for UFS.
fn irqs_of<'a>(
    facts: Option<&'a Facts>,
    controller: &Controller,
    controller_facts: Option<&ControllerFacts>,
) -> Reading<Vec<&'a IrqFacts>> {
    let facts = facts.ok_or_else(|| Unavailable::new("the device sent no facts of itself"))?;
    if matches!(controller, Controller::None { .. }) {
        return Ok(Vec::new());
    }
    let irqs = facts.irqs.as_ref().map_err(Clone::clone)?;
    let found: Vec<&IrqFacts> = match controller_facts {
        Some(controller) => irqs.iter().filter(|irq| controller.irqs.contains(&irq.irq)).collect(),
        None => irqs.iter().filter(|irq| irq.actions.iter().any(|action| is_ufs(action))).collect(),
    };
    if found.is_empty() {
        return Err(Unavailable::new("no interrupt line of the disk's controller was found"));
    }
    Ok(found)
}

/// A handler that is named after UFS: `ufshcd`, `qcom-mcq-esi`, or like the driver on older vendor kernels.
pub fn is_ufs(action: &str) -> bool {
    let action = action.to_ascii_lowercase();
    action.contains("ufs") || action.contains("mcq-esi")
}

fn line(irq: &IrqFacts, deltas: &PassDeltas) -> Reading<Line> {
    let rows = deltas.interrupts.as_ref().map_err(Clone::clone)?;
    let row = rows.get(&irq.irq.to_string()).ok_or_else(|| {
        Unavailable::new(format!("/proc/interrupts has no row {} at both edges of a window", irq.irq))
    })?;
    Ok(Line {
        irq: irq.irq,
        actions: irq.actions.clone(),
        per_cpu: row.per_cpu.clone(),
        unknown_cpus: row.unknown_cpus.len(),
    })
}

fn busiest_other(deltas: &PassDeltas, own: &[u32]) -> Option<(String, u64)> {
    deltas
        .interrupts
        .as_ref()
        .ok()?
        .iter()
        .filter(|(label, _)| label.parse().is_ok_and(|irq: u32| !own.contains(&irq)))
        .map(|(label, row)| (format!("{label} ({})", row.text.trim()), row.total()))
        .max_by_key(|(_, total)| *total)
}

fn busiest_other_softirq(deltas: &PassDeltas) -> PerCpuCounts {
    let mut busiest = PerCpuCounts::new();
    for (name, row) in deltas.softirqs.iter().flatten() {
        for (&cpu, &count) in row.iter().filter(|_| name != "BLOCK") {
            let most = busiest.entry(cpu).or_default();
            *most = count.max(*most);
        }
    }
    busiest
}

fn threads_of(facts: Option<&Facts>, irqs: &[&IrqFacts], deltas: &PassDeltas) -> Reading<Vec<LineThread>> {
    let facts = facts.ok_or_else(|| Unavailable::new("the device sent no facts of itself"))?;
    let mut found: BTreeMap<u32, (u32, &ThreadFacts)> = BTreeMap::new();
    for irq in irqs {
        found.extend(irq.threads.iter().map(|thread| (thread.pid, (irq.irq, thread))));
        for thread in facts.irq_threads.iter().filter(|thread| irq_of_thread(&thread.comm) == Some(irq.irq)) {
            found.entry(thread.pid).or_insert((irq.irq, thread));
        }
    }
    // That there is none can be said only where kernel threads are shown at all.
    if found.is_empty() && facts.irq_threads.is_empty() && facts.ksoftirqd.is_empty() {
        return Err(Unavailable::new("no kernel thread can be seen in /proc (hidepid)"));
    }
    let slices = |pid: u32| {
        deltas
            .threads_where(|role| matches!(role, ThreadRole::IrqThread { .. }))
            .find(|thread| thread.tid == pid)
            .map_or_else(
                || Err(Unavailable::new(format!("the interrupt thread {pid} was not watched"))),
                |thread| thread.grown.clone().map(|grown| grown.slices),
            )
    };
    Ok(found
        .into_iter()
        .map(|(pid, (irq, facts))| LineThread { irq, facts: facts.clone(), slices: slices(pid) })
        .collect())
}

fn forcing(facts: Option<&Facts>) -> Forcing {
    let Some(facts) = facts else {
        return Forcing::NotKnown("the device sent no facts of itself".to_owned());
    };
    if facts.system.kernel_version.split_whitespace().any(|word| word == "PREEMPT_RT") {
        return Forcing::On("uname -v has PREEMPT_RT".to_owned());
    }
    match &facts.system.cmdline {
        Ok(cmdline) if cmdline.split_whitespace().any(|word| word == "threadirqs") => {
            Forcing::On("the kernel command line has threadirqs".to_owned())
        }
        Ok(_) => Forcing::Off,
        Err(reason) => Forcing::NotKnown(format!("the kernel command line cannot be read: {reason}")),
    }
}
