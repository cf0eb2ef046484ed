//! `/proc/PID/stat`, `status` and `sched`, and the kernel threads that completions pass through.

use super::{cpu, text, tree::Tree};
use tophalf_wire::{Reading, ThreadFacts, Unavailable};

/// What is used of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Field 1: its number.
    pub pid: u32,
    /// Field 2: its name, without the parentheses.
    pub comm: String,
    /// Field 3: `R` running, `S` sleeping, `D` waiting for a disk, …
    pub state: char,
    /// Field 4: its parent; 2 (kthreadd) is every kernel thread's.
    pub ppid: u32,
    /// Field 19: nice value.
    pub nice: i32,
    /// Field 39: CPU it ran on last.
    pub cpu: u16,
    /// Field 40: real-time priority, 0 for the others.
    pub rt_priority: u32,
    /// Field 41: scheduling policy by number.
    pub policy: u32,
}

/// Parses `/proc/PID/stat` (`do_task_stat`, fs/proc/array.c). The name may hold blanks and parentheses, so
/// that it ends at the last one:
///
/// ```text
/// 5768 (Plex New Transc) S 1264 5768 1264 0 -1 4194304 …
/// ```
pub fn parse_stat(bytes: &[u8]) -> Option<Stat> {
    let open = bytes.iter().position(|byte| *byte == b'(')?;
    let close = bytes.iter().rposition(|byte| *byte == b')')?;
    let comm = bytes.get(open + 1..close)?;
    let fields: Vec<&[u8]> = text::words(&bytes[close + 1..]).take(39).collect();
    // The first one after the name is field 3.
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Stat {
        pid: text::number(bytes[..open].trim_ascii())?,
        comm: text::lossy(comm),
        state: char::from(*field(3)?.first()?),
        ppid: text::number(field(4)?)?,
        nice: str::from_utf8(field(19)?).ok()?.parse().ok()?,
        cpu: text::number(field(39)?)?,
        rt_priority: text::number(field(40)?)?,
        policy: text::number(field(41)?)?,
    })
}

/// What is used of `/proc/PID/status`. What a kernel does not print is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// Effective user.
    pub uid: Option<u32>,
    /// CPUs it may run on.
    pub cpus_allowed: Option<Vec<u16>>,
    /// Times it gave its CPU up.
    pub voluntary_switches: Option<u64>,
    /// Times its CPU was taken from it.
    pub nonvoluntary_switches: Option<u64>,
}

impl Status {
    /// Times it was switched away from, for either reason.
    pub fn switches(&self) -> Option<u64> {
        self.voluntary_switches?.checked_add(self.nonvoluntary_switches?)
    }

    /// CPUs it may run on, or that they are not told.
    pub fn into_cpus_allowed(self) -> Reading<Vec<u16>> {
        self.cpus_allowed
            .ok_or_else(|| Unavailable::new("read /proc/PID/status: no Cpus_allowed_list that is understood"))
    }
}

/// Parses `/proc/PID/status` (`proc_pid_status`, fs/proc/array.c), passing over lines it does not know:
///
/// ```text
/// Uid:    0       0       0       0
/// Cpus_allowed_list:      0-3,6
/// voluntary_ctxt_switches:        716
/// nonvoluntary_ctxt_switches:     0
/// ```
pub fn parse_status(bytes: &[u8]) -> Status {
    let count = |key| text::count(text::value(bytes, key)?);
    Status {
        // Real, effective, saved, file system.
        uid: text::value(bytes, "Uid").and_then(|uids| text::number(text::words(uids).nth(1)?)),
        cpus_allowed: text::value(bytes, "Cpus_allowed_list").and_then(cpu::parse_list),
        voluntary_switches: count("voluntary_ctxt_switches"),
        nonvoluntary_switches: count("nonvoluntary_ctxt_switches"),
    }
}

/// Times a thread moved to another CPU, from `/proc/TID/sched` (`proc_sched_show_task`,
/// kernel/sched/debug.c):
///
/// ```text
/// se.nr_migrations                             :                    4
/// ```
pub fn parse_migrations(bytes: &[u8]) -> Option<u64> {
    text::count(text::value(bytes, "se.nr_migrations")?)
}

/// Reads `/proc/TID/status`.
pub fn read_status(tree: &Tree, tid: u32) -> Reading<Status> {
    tree.read(&format!("/proc/{tid}/status")).map(|bytes| parse_status(&bytes))
}

/// CPUs a thread may run on.
pub fn read_cpus_allowed(tree: &Tree, tid: u32) -> Reading<Vec<u16>> {
    read_status(tree, tid)?.into_cpus_allowed()
}

/// Times a thread moved to another CPU.
pub fn read_migrations(tree: &Tree, tid: u32) -> Reading<u64> {
    tree.parse(&format!("/proc/{tid}/sched"), parse_migrations)
}

/// The line that an interrupt thread serves, from its name (`setup_irq_thread`, kernel/irq/manage.c), and
/// whether it is the line's second thread:
///
/// ```text
/// irq/205-20200000.ufs    205, first
/// irq/205-s-ufshcd        205, second
/// ```
///
/// Older kernels cut names to 15 characters, so that nothing is concluded from their ends.
pub fn irq_of_thread(comm: &str) -> Option<(u32, bool)> {
    let (irq, name) = comm.strip_prefix("irq/")?.split_once('-')?;
    Some((text::number(irq.as_bytes())?, name.starts_with("s-")))
}

/// The CPU of a `ksoftirqd/N`.
pub fn cpu_of_ksoftirqd(comm: &str) -> Option<u16> {
    text::number(comm.strip_prefix("ksoftirqd/")?.as_bytes())
}

/// The kernel threads that completions pass through, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelThreads {
    /// Every interrupt thread.
    pub irq: Vec<ThreadFacts>,
    /// `ksoftirqd`, one a CPU.
    pub ksoftirqd: Vec<ThreadFacts>,
}

/// Finds them among all of `/proc`. Other processes are looked at, to know that they are others, but never
/// become part of a recording.
pub fn read_kernel_threads(tree: &Tree) -> Reading<KernelThreads> {
    const KTHREADD: u32 = 2;
    let mut pids: Vec<u32> =
        tree.list("/proc")?.iter().filter_map(|name| text::number(name.as_bytes())).collect();
    pids.sort_unstable();
    let mut found = KernelThreads::default();
    for pid in pids {
        let path = format!("/proc/{pid}/stat");
        // One that ended meanwhile is none of those looked for.
        let Some(stat) = tree.peek(&path).ok().and_then(|bytes| parse_stat(&bytes)) else {
            continue;
        };
        if stat.ppid != KTHREADD {
            continue;
        }
        let irq = irq_of_thread(&stat.comm);
        let list = if irq.is_some() {
            &mut found.irq
        } else if cpu_of_ksoftirqd(&stat.comm).is_some() {
            &mut found.ksoftirqd
        } else {
            continue;
        };
        let Ok(stat) = tree.parse(&path, parse_stat) else { continue };
        list.push(ThreadFacts {
            pid,
            comm: stat.comm,
            policy: stat.policy,
            rt_priority: stat.rt_priority,
            nice: stat.nice,
            cpu: stat.cpu,
            cpus_allowed: read_cpus_allowed(tree, pid),
            secondary: irq.is_some_and(|(_, secondary)| secondary),
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
