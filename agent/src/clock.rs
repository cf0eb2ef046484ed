//! Time, by the clock that kernel traces can also use.

use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC`, in nanoseconds. Answered by the vDSO, without a system call, on every kernel of note.
#[inline]
pub fn now_ns() -> u64 {
    read_ns(ClockId::CLOCK_MONOTONIC)
}

/// CPU time the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn read_ns(clock: ClockId) -> u64 {
    // Both clocks are there on every Linux, and never negative; nothing else can fail.
    let Ok(time) = clock_gettime(clock) else { return 0 };
    let (seconds, nanoseconds) = (time.tv_sec().cast_unsigned(), time.tv_nsec().cast_unsigned());
    seconds * 1_000_000_000 + nanoseconds
}

/// The smallest step seen between two readings of [`now_ns`] in a row, in nanoseconds: the clock's grain, or
/// the time of one reading where that is longer.
pub fn grain_ns() -> u64 {
    const READINGS: u32 = 4000;
    let mut last = now_ns();
    let mut grain = u64::MAX;
    for _ in 0..READINGS {
        let now = now_ns();
        if now > last {
            grain = grain.min(now - last);
        }
        last = now;
    }
    grain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_and_its_grain_is_under_a_millisecond() {
        let before = now_ns();
        assert!((1..1_000_000).contains(&grain_ns()));
        assert!(now_ns() > before);
        assert!(thread_cpu_ns() > 0);
    }
}
