//! On which CPU a thread runs.

use crate::error::JobError;
use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use tophalf_wire::{Facts, Reading};

/// The CPU the calling thread is on, or `u16::MAX` where the kernel does not say.
pub fn current_cpu() -> u16 {
    sched_getcpu().ok().and_then(|cpu| u16::try_from(cpu).ok()).unwrap_or(u16::MAX)
}

/// Makes sure that `cpu` can be had, before anything is started.
///
/// # Errors
/// The CPU is offline or outside the cpuset.
pub fn check(cpu: u16, facts: &Facts) -> Result<(), JobError> {
    let (online, allowed) = (&facts.system.cpus_online, &facts.system.cpus_allowed);
    let missing = |cpus: &Reading<Vec<u16>>| matches!(cpus, Ok(cpus) if !cpus.contains(&cpu));
    let why = if missing(online) {
        "is not online"
    } else if missing(allowed) {
        "is outside this process's cpuset"
    } else {
        return Ok(());
    };
    Err(JobError::usage(format!(
        "CPU {cpu} {why}: online CPUs are {}, allowed ones (Cpus_allowed_list) {}; choose --cpu among both",
        show(online),
        show(allowed)
    )))
}

/// Binds the calling thread to `cpu` and makes sure that it is there.
///
/// # Errors
/// The kernel refused, or put the thread elsewhere.
pub fn bind_this_thread(cpu: u16) -> Result<(), JobError> {
    set_affinity(cpu).map_err(|errno| {
        JobError::usage(format!(
            "bind the I/O thread to CPU {cpu}: {errno}: it is offline or outside the cpuset"
        ))
    })?;
    std::thread::yield_now();
    match current_cpu() {
        now if now == cpu => Ok(()),
        now => Err(JobError::device(format!(
            "the I/O thread was bound to CPU {cpu} and runs on CPU {now}: another program moves threads; stop it"
        ))),
    }
}

fn set_affinity(cpu: u16) -> nix::Result<()> {
    let mut set = CpuSet::new();
    set.set(usize::from(cpu))?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

/// A CPU for the sampling thread, away from the I/O and, if it can be, from `interrupt_cpus` as well.
pub fn sampler_cpu(io_cpu: Option<u16>, interrupt_cpus: &[u16], facts: &Facts) -> Option<u16> {
    let usable: Vec<u16> = match (&facts.system.cpus_online, &facts.system.cpus_allowed) {
        (Ok(online), Ok(allowed)) => online.iter().filter(|cpu| allowed.contains(cpu)).copied().collect(),
        _ => return None,
    };
    let away_from_io = || usable.iter().rev().copied().filter(|&cpu| Some(cpu) != io_cpu);
    away_from_io().find(|cpu| !interrupt_cpus.contains(cpu)).or_else(|| away_from_io().next())
}

/// Binds the calling thread to `cpu` if the kernel lets it: the sampler's place is a wish.
pub fn prefer_cpu(cpu: u16) {
    if let Err(errno) = set_affinity(cpu) {
        log::warn!("the sampling thread stays where it is: CPU {cpu}: {errno}");
    }
}

fn show(cpus: &Reading<Vec<u16>>) -> String {
    match cpus {
        Ok(cpus) => crate::observe::cpu::format_list(cpus),
        Err(why) => format!("unknown ({why})"),
    }
}
