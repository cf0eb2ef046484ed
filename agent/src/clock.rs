//! Time, by the clock that kernel traces can also use.
//!
//! Read through rustix, which finds the vDSO's function itself. musl's own `clock_gettime` looks it up by
//! `DT_HASH` alone; newer arm64 kernels' vDSO only has `DT_GNU_HASH`, so that there each reading would be a
//! system call, on the new kernel of a comparison and not on the old one.

use rustix::time::{ClockId, clock_gettime};
use tophalf_wire::Clocks;

/// `CLOCK_MONOTONIC`, in nanoseconds, without a system call where the kernel has a vDSO.
#[inline]
pub fn now_ns() -> u64 {
    read_ns(ClockId::Monotonic)
}

/// CPU time the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::ThreadCPUTime)
}

/// Several clocks, one right after the other.
pub fn clocks() -> Clocks {
    Clocks {
        monotonic_ns: now_ns(),
        raw_ns: read_ns(ClockId::MonotonicRaw),
        boottime_ns: read_ns(ClockId::Boottime),
    }
}

#[inline]
fn read_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // None of these clocks is ever negative.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The smallest step seen between two readings of [`now_ns`] in a row, in nanoseconds: the clock's grain, or
/// the time of one reading where that is longer.
pub fn grain_ns() -> u64 {
    const READINGS: u32 = 4000;
    let mut last = now_ns();
    let mut grain = u64::MAX;
    let mut readings = 0;
    // A coarse clock may stand still for longer than that.
    while readings < READINGS || grain == u64::MAX {
        let now = now_ns();
        if now > last {
            grain = grain.min(now - last);
        }
        last = now;
        readings = readings.saturating_add(1);
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
        let all = clocks();
        assert!(all.monotonic_ns >= before && all.raw_ns > 0 && all.boottime_ns >= before);
    }
}
