//! `/proc/TID/schedstat`.

use super::{task, text, tree::Tree};
use tophalf_wire::{Reading, SchedStat, Unavailable};

/// Parses a thread's schedstat (`proc_pid_schedstat`, fs/proc/base.c): nanoseconds on a CPU, nanoseconds
/// runnable without one, and times it was given one.
///
/// ```text
/// 798573 1349626 3
/// ```
pub fn parse(bytes: &[u8]) -> Option<SchedStat> {
    let mut fields = text::words(bytes).map(text::count);
    Some(SchedStat { run_ns: fields.next()??, wait_ns: fields.next()??, slices: fields.next()?? })
}

/// Reads the schedstat of one thread. A folder under `/proc` that is named after a thread is that thread's
/// own, also where it is not the first of its process.
///
/// A kernel without `CONFIG_SCHED_INFO` has no such file or prints zeros; zeros are believed only of a thread
/// that was never switched.
pub fn read(tree: &Tree, tid: u32) -> Reading<SchedStat> {
    let path = format!("/proc/{tid}/schedstat");
    let stat = tree.parse(&path, parse)?;
    if stat == SchedStat::default() {
        let switches = task::read_status(tree, tid)?.switches().unwrap_or(0);
        return believe(stat, switches).map_err(|error| Unavailable::new(format!("read {path}: {error}")));
    }
    Ok(stat)
}

/// Refuses zeros of a thread that has been switched `switches` times.
pub fn believe(stat: SchedStat, switches: u64) -> Reading<SchedStat> {
    if stat == SchedStat::default() && switches > 0 {
        return Err(Unavailable::new(format!(
            "all zero although the thread was switched {switches} times (kernel without CONFIG_SCHED_INFO)"
        )));
    }
    Ok(stat)
}
