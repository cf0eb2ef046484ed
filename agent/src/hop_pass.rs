//! The hops pass: what each thread on a completion's way did for each single operation, without root and
//! without tracing.
//!
//! At depth one, every thread that the completion waits for has run exactly once between two operations, so
//! the growth of its `schedstat` is that one operation's: how long the thread waited for its CPU, and how
//! long it ran. The statistics are read between operations, outside their timed part; the figures of this
//! pass are never mixed with those of the timed one.

use crate::clock::now_ns;
use crate::engine::{Engine, Faults, Limit, Timed};
use crate::observe::live::SchedstatReader;
use crate::pattern::Operations;
use std::sync::atomic::AtomicBool;
use tophalf_wire::{SchedStat, ThreadRole};

/// Operations of one window at most.
pub const MOST_HOP_OPS: usize = 4096;

/// The watched threads, and room for what they do.
#[derive(Debug)]
pub struct HopSlots {
    /// Nanoseconds of each operation.
    pub total_ns: Vec<u64>,
    /// Writes among the operations of the last window.
    pub writes: u64,
    /// What each thread did.
    pub threads: Vec<HopThread>,
}

/// One watched thread.
#[derive(Debug)]
pub struct HopThread {
    /// Who it is.
    pub role: ThreadRole,
    reader: SchedstatReader,
    last: SchedStat,
    /// Growth of its time runnable but not running, an operation.
    pub wait_ns: Vec<u64>,
    /// Growth of its time on a CPU, an operation.
    pub run_ns: Vec<u64>,
    /// Times it was put on a CPU, an operation.
    pub slices: Vec<u64>,
}

impl HopSlots {
    /// Room for [`MOST_HOP_OPS`] operations, and the readers of `threads`. Those that cannot be read are left
    /// out; what says so is in every edge.
    pub fn new(threads: Vec<(ThreadRole, SchedstatReader)>) -> Self {
        let room = || vec![0; MOST_HOP_OPS];
        let watch = |(role, mut reader): (ThreadRole, SchedstatReader)| {
            let last = reader.read()?;
            Some(HopThread { role, reader, last, wait_ns: room(), run_ns: room(), slices: room() })
        };
        Self { total_ns: room(), writes: 0, threads: threads.into_iter().filter_map(watch).collect() }
    }
}

impl HopThread {
    /// Reads the statistics and stores their growth at `slot`; without one, only takes the new start.
    #[inline]
    fn advance(&mut self, slot: Option<usize>) -> bool {
        let Some(now) = self.reader.read() else { return false };
        if let Some(slot) = slot {
            self.wait_ns[slot] = now.wait_ns.saturating_sub(self.last.wait_ns);
            self.run_ns[slot] = now.run_ns.saturating_sub(self.last.run_ns);
            self.slices[slot] = now.slices.saturating_sub(self.last.slices);
        }
        self.last = now;
        true
    }
}

/// Does at most `most_ops` operations, for `length_ns` at most, and stores what each thread did for each.
/// It also ends when a thread can no longer be read: what it did is then unknown, and never zero.
pub fn hop_window<E: Engine>(
    engine: &mut E,
    operations: &mut Operations,
    slots: &mut HopSlots,
    most_ops: usize,
    length_ns: u64,
    stop: &AtomicBool,
) -> Timed {
    let block_bytes = engine.block_bytes();
    let mut faults = Faults::default();
    let mut ops = 0;
    let begin_ns = now_ns();
    let limit = Limit::new(begin_ns, length_ns, stop);
    let mut end_ns = begin_ns;
    slots.writes = 0;
    let mut readable = slots.threads.iter_mut().all(|thread| thread.advance(None));
    while readable && ops < most_ops.min(MOST_HOP_OPS) {
        let op = operations.next_op();
        let start_ns = now_ns();
        let moved = engine.perform(op);
        end_ns = now_ns();
        readable = slots.threads.iter_mut().all(|thread| thread.advance(Some(ops)));
        if !readable {
            break;
        }
        slots.total_ns[ops] = end_ns - start_ns;
        slots.writes += u64::from(op.write);
        ops += 1;
        faults.check(op, moved, block_bytes);
        if limit.reached(end_ns, &faults) {
            break;
        }
    }
    Timed { begin_ns, end_ns, ops, faults }
}
