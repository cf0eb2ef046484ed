//! Which interrupt lines and threads a completion on the target can go through.

use tophalf_wire::{ControllerKind, Facts, IrqFacts, Reading, ThreadRole};

/// The lines of the controller above `disk`. Where the disk cannot be known, as for a phone's shell, those of
/// UFS, which are the only ones a probe then finds; none for a disk without a controller, such as zram.
pub fn lines<'facts>(disk: &Reading<String>, facts: &'facts Facts) -> Vec<&'facts IrqFacts> {
    let all = facts.irqs.iter().flatten();
    let Ok(disk) = disk else { return all.collect() };
    let controller = facts.disk(disk).and_then(|disk| facts.controller_of(disk));
    all.filter(|line| controller.is_some_and(|controller| controller.irqs.contains(&line.irq))).collect()
}

/// The folder of the UFS controller above `disk`, if there is one.
pub fn ufs_controller(disk: &Reading<String>, facts: &Facts) -> Option<String> {
    let controller = facts.controller_of(facts.disk(disk.as_ref().ok()?)?)?;
    (controller.kind == ControllerKind::Ufs).then(|| controller.sys_path.clone())
}

/// CPUs that `lines` interrupt; `None` where the kernel does not say of one of them.
pub fn interrupt_cpus(lines: &[&IrqFacts]) -> Option<Vec<u16>> {
    let each: Option<Vec<&Vec<u16>>> =
        lines.iter().map(|line| line.effective_affinity.as_ref().ok()).collect();
    Some(each?.into_iter().flatten().copied().collect())
}

/// Threads whose scheduling a completion may wait for: those of the lines, `ksoftirqd` on the CPUs that take
/// the interrupt or do the I/O (on all of them, where either is unknown), and the submitter itself.
pub fn threads(
    lines: &[&IrqFacts],
    io_cpu: Option<u16>,
    submitter_tid: u32,
    facts: &Facts,
) -> Vec<(ThreadRole, u32)> {
    let near: Option<Vec<u16>> =
        io_cpu.zip(interrupt_cpus(lines)).map(|(io_cpu, cpus)| cpus.into_iter().chain([io_cpu]).collect());
    let irq_threads = lines.iter().flat_map(|line| {
        line.threads.iter().map(|thread| (ThreadRole::IrqThread { irq: line.irq }, thread.pid))
    });
    let softirqds = facts.ksoftirqd.iter().filter_map(|thread| {
        let cpu: u16 = thread.comm.strip_prefix("ksoftirqd/")?.parse().ok()?;
        let watched = near.as_ref().is_none_or(|near| near.contains(&cpu));
        watched.then_some((ThreadRole::Ksoftirqd { cpu }, thread.pid))
    });
    irq_threads.chain(softirqds).chain([(ThreadRole::Submitter, submitter_tid)]).collect()
}
