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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cadvisor_1872_the_three_numbers() {
        let stat = parse(b"798573 1349626 3\n").unwrap();
        assert_eq!(stat, SchedStat { run_ns: 798_573, wait_ns: 1_349_626, slices: 3 });
        // 449.9 microseconds of waiting each time it ran.
        assert_eq!(stat.wait_ns / stat.slices, 449_875);
    }

    #[test]
    fn procfs_111_and_dynolog_545_zeros_of_a_thread_that_ran_are_unavailable() {
        let error = believe(SchedStat::default(), 716).unwrap_err();
        assert!(error.reason.contains("716 times"), "{error}");
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn mytools_1_a_thread_that_never_ran_has_no_mean() {
        let stat = believe(parse(b"0 0 0\n").unwrap(), 0).unwrap();
        assert_eq!(stat.wait_ns.checked_div(stat.slices), None);
    }

    #[test]
    fn what_is_not_three_counts_is_refused() {
        for text in ["1 2", "1 2 x", "-1 2 3", "18446744073709551615 0 1", "99999999999999999999999 0 1"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
