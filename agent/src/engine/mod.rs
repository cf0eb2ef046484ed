//! The timed loop, and how a request is handed to the kernel.
//!
//! This is the instrument. Between two stamps there is the next offset, the I/O, one reading of the clock
//! and one store into memory that was touched before: no allocation, no lock, no other system call.

mod buffer;
mod psync;

pub use buffer::AlignedBuffer;
pub use psync::Psync;

use crate::clock::now_ns;
use crate::pattern::{Op, Operations};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// One way of handing a request to the kernel and waiting for it.
pub trait Engine {
    /// Does `op` and says how many bytes it moved.
    ///
    /// # Errors
    /// What the kernel answered.
    fn perform(&mut self, op: Op) -> io::Result<usize>;

    /// Bytes of one operation.
    fn block_bytes(&self) -> usize;
}

/// A latency in nanoseconds, and the operation's kind in the highest bit: one store an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    const WRITE: u64 = 1 << 63;

    /// What a slot holds before its first use. Not zero: memory full of it has really been written to, so
    /// that no page of it is touched for the first time inside a window.
    pub const UNUSED: Self = Self(u64::MAX);

    #[inline]
    fn new(latency_ns: u64, write: bool) -> Self {
        Self(latency_ns & !Self::WRITE | if write { Self::WRITE } else { 0 })
    }

    /// Nanoseconds.
    pub fn latency_ns(self) -> u64 {
        self.0 & !Self::WRITE
    }

    /// The operation was a write.
    pub fn write(self) -> bool {
        self.0 & Self::WRITE != 0
    }
}

/// A window as the loop saw it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timed {
    /// Clock before the first operation.
    pub begin_ns: u64,
    /// Clock after the last one.
    pub end_ns: u64,
    /// Operations done.
    pub ops: usize,
    /// What went wrong.
    pub faults: Faults,
}

/// Operations that did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// Operations the kernel refused.
    pub errors: u64,
    /// Operations that moved fewer bytes.
    pub short: u64,
    /// Offset and errno of the first error.
    pub first_error: Option<(u64, i32)>,
}

impl Faults {
    /// So many errors end a window: the target is gone, not hiccuping.
    pub const GIVE_UP: u64 = 64;

    /// Notes what `op` came to, unless it is all right.
    #[inline]
    pub fn check(&mut self, op: Op, moved: io::Result<usize>, asked: usize) {
        if !matches!(moved, Ok(bytes) if bytes == asked) {
            self.note(op, moved);
        }
    }

    #[cold]
    fn note(&mut self, op: Op, moved: io::Result<usize>) {
        match moved {
            Ok(_) => self.short += 1,
            Err(error) => {
                self.errors += 1;
                self.first_error.get_or_insert((op.offset, error.raw_os_error().unwrap_or(0)));
            }
        }
    }
}

/// When a window is over, whatever its pass: at `deadline_ns`, when told to stop, or when the target is gone.
#[derive(Debug)]
pub struct Limit<'a> {
    deadline_ns: u64,
    stop: &'a AtomicBool,
}

impl<'a> Limit<'a> {
    /// `length_ns` after `begin_ns`, or once `stop` is set.
    pub fn new(begin_ns: u64, length_ns: u64, stop: &'a AtomicBool) -> Self {
        Self { deadline_ns: begin_ns.saturating_add(length_ns), stop }
    }

    /// Whether the operation that ended at `now_ns` was the last.
    #[inline]
    pub fn reached(&self, now_ns: u64, faults: &Faults) -> bool {
        now_ns >= self.deadline_ns || self.stop.load(Ordering::Relaxed) || faults.errors >= Faults::GIVE_UP
    }
}

/// Does operations for `length_ns`, or until `slots` is full or `stop` is set, and stores each one's latency.
///
/// Each latency runs from the stamp that ended the operation before it, so that one reading of the clock an
/// operation is enough and the latencies add up to the window. What the loop itself takes is in each of
/// them; [`loop_ns`] measures it.
pub fn timed_window<E: Engine>(
    engine: &mut E,
    operations: &mut Operations,
    slots: &mut [Stamp],
    length_ns: u64,
    stop: &AtomicBool,
) -> Timed {
    let block_bytes = engine.block_bytes();
    let mut faults = Faults::default();
    let mut ops = 0;
    let begin_ns = now_ns();
    let limit = Limit::new(begin_ns, length_ns, stop);
    let mut last_ns = begin_ns;
    for slot in slots {
        let op = operations.next_op();
        let moved = engine.perform(op);
        let now = now_ns();
        *slot = Stamp::new(now - last_ns, op.write);
        last_ns = now;
        ops += 1;
        faults.check(op, moved, block_bytes);
        if limit.reached(now, &faults) {
            break;
        }
    }
    Timed { begin_ns, end_ns: last_ns, ops, faults }
}

/// What [`timed_window`] takes for an operation that costs nothing, in nanoseconds.
pub fn loop_ns(operations: &Operations, slots: &mut [Stamp]) -> u64 {
    struct Nothing(usize);
    impl Engine for Nothing {
        #[inline(never)]
        fn perform(&mut self, op: Op) -> io::Result<usize> {
            std::hint::black_box(op);
            Ok(self.0)
        }
        fn block_bytes(&self) -> usize {
            self.0
        }
    }
    const OPS: usize = 20_000;
    let some = slots.len().min(OPS);
    let never = AtomicBool::new(false);
    let timed = timed_window(&mut Nothing(1), &mut operations.clone(), &mut slots[..some], u64::MAX, &never);
    (timed.end_ns - timed.begin_ns) / (timed.ops as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tophalf_wire::{Engine as EngineKind, Pattern, Workload};

    struct Scripted {
        answers: std::vec::IntoIter<io::Result<usize>>,
        done: usize,
    }

    impl Engine for Scripted {
        fn perform(&mut self, _: Op) -> io::Result<usize> {
            self.done += 1;
            self.answers.next().unwrap_or(Ok(4096))
        }
        fn block_bytes(&self) -> usize {
            4096
        }
    }

    fn scripted(answers: Vec<io::Result<usize>>) -> Scripted {
        Scripted { answers: answers.into_iter(), done: 0 }
    }

    fn mixed() -> Operations {
        let workload = Workload {
            engine: EngineKind::Psync,
            pattern: Pattern::Random,
            read_percent: 50,
            block_bytes: 4096,
            seed: 1,
        };
        Operations::new(&workload, 1 << 30)
    }

    #[test]
    fn latencies_add_up_to_the_window() {
        let mut slots = vec![Stamp::UNUSED; 1000];
        let timed =
            timed_window(&mut scripted(vec![]), &mut mixed(), &mut slots, u64::MAX, &AtomicBool::new(false));
        assert_eq!(timed.ops, 1000);
        let sum: u64 = slots.iter().map(|stamp| stamp.latency_ns()).sum();
        assert_eq!(sum, timed.end_ns - timed.begin_ns);
        let mut again = mixed();
        assert!(slots.iter().all(|stamp| stamp.write() == again.next_op().write));
    }

    #[test]
    fn a_window_ends_when_told() {
        let mut slots = vec![Stamp::UNUSED; 1000];
        let mut run = |length_ns, stop| {
            timed_window(&mut scripted(vec![]), &mut mixed(), &mut slots, length_ns, &AtomicBool::new(stop))
                .ops
        };
        assert_eq!(run(0, false), 1);
        assert_eq!(run(u64::MAX, true), 1);
    }

    #[test]
    fn faults_are_counted_and_a_dead_target_is_given_up() {
        let eio = || Err(io::Error::from_raw_os_error(5));
        let mut slots = vec![Stamp::UNUSED; 1000];
        let mut once = scripted(vec![Ok(4096), eio(), Ok(512)]);
        let timed = timed_window(&mut once, &mut mixed(), &mut slots, u64::MAX, &AtomicBool::new(false));
        assert_eq!((timed.ops, timed.faults.errors, timed.faults.short), (1000, 1, 1));
        assert_eq!(timed.faults.first_error.map(|(_, errno)| errno), Some(5));

        let mut dead = scripted((0..1000).map(|_| eio()).collect());
        let timed = timed_window(&mut dead, &mut mixed(), &mut slots, u64::MAX, &AtomicBool::new(false));
        assert_eq!((timed.ops as u64, dead.done as u64), (Faults::GIVE_UP, Faults::GIVE_UP));
    }

    #[test]
    fn the_loop_itself_is_cheap_enough_to_be_measured() {
        assert!(loop_ns(&mixed(), &mut [Stamp::UNUSED; 1000]) < 100_000);
    }
}
