//! The hops pass: what each thread between the interrupt and the submitter added to each operation.
//!
//! Around each operation the scheduler statistics of the interrupt thread, of `ksoftirqd` and of the I/O
//! thread itself are read, outside the timed part. At depth one each of them runs exactly once for it, so the
//! growth is that operation's own wait and run time. Only means add up: the slowest percent of one hop and
//! that of another are different operations. And the sum is an upper bound: a thread counts as waiting from
//! the moment it is woken, while the one that woke it still runs, so on one CPU the end of that run is in both.

use super::latency::{Quantile, mean};
use super::{Hop, per_op};
use crate::recording::{Recording, WindowRecord};
use tophalf_wire::{HopColumn, Hops, LatencyBlock, Pass, ThreadRole};

/// Below this part of the operations for which a thread ran exactly once, its figures are said to be per
/// operation and not per wake-up.
const MOSTLY: f64 = 0.9;

/// A thread that ran less often than this per operation is not on the way of completions, which its
/// [`Hop::slices_per_op`] says well enough.
const RARELY: f64 = 0.1;

/// What the hops pass found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HopsFound {
    /// Each part, then `total`. Empty if there was no such pass.
    pub hops: Vec<Hop>,
    /// Operations.
    pub ops: u64,
    /// `total` less the sum of the means of the others, in nanoseconds: device, submission, interrupt.
    pub outside_ns: Option<f64>,
    /// What must be known to read them.
    pub notes: Vec<String>,
    /// What is wrong with the columns themselves, as sentences.
    pub problems: Vec<String>,
}

#[derive(Debug, Default)]
struct Column {
    seen: bool,
    wait_ns: Vec<u64>,
    run_ns: Vec<u64>,
    slices: Vec<u64>,
}

#[derive(Debug, Default)]
struct Columns {
    total_ns: Vec<u64>,
    irq_thread: Column,
    ksoftirqd: Column,
    submitter: Column,
}

/// The parts of an operation.
pub fn of_recording(recording: &Recording) -> HopsFound {
    let mut columns = Columns::default();
    let mut found = HopsFound::default();
    for (record, _) in recording.windows_of(Pass::Hops) {
        if let Err(problem) = columns.take_window(record) {
            found.problems.push(format!("window {}: {problem}", record.index));
        }
    }
    let Columns { total_ns, irq_thread, ksoftirqd, submitter } = columns;
    found.ops = total_ns.len() as u64;
    let parts = [
        (&irq_thread, &irq_thread.wait_ns),
        (&irq_thread, &irq_thread.run_ns),
        (&ksoftirqd, &ksoftirqd.wait_ns),
        (&ksoftirqd, &ksoftirqd.run_ns),
        (&submitter, &submitter.wait_ns),
    ];
    for (name, (column, values)) in Hop::NAMES.into_iter().zip(parts) {
        let slices = column.slices.iter().copied().fold(0, u64::saturating_add);
        if column.seen {
            found.hops.extend(hop(name, values, per_op(slices, found.ops)));
        }
    }
    let total = hop(Hop::TOTAL, &total_ns, None);
    let in_hops: f64 = found.hops.iter().map(|hop| hop.mean_ns).sum();
    found.outside_ns = total.as_ref().filter(|_| !found.hops.is_empty()).map(|total| total.mean_ns - in_hops);
    found.hops.extend(total);
    for (name, column) in
        [("the interrupt thread", &irq_thread), ("ksoftirqd", &ksoftirqd), ("the I/O thread", &submitter)]
    {
        found.notes.extend(once_note(name, column));
    }
    found
}

fn hop(name: &'static str, values: &[u64], slices_per_op: Option<f64>) -> Option<Hop> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    Some(Hop {
        name,
        mean_ns: mean(&sorted)?,
        p50_ns: Quantile::P50.of_sorted(&sorted)?,
        p99_ns: Quantile::P99.of_sorted(&sorted)?,
        max_ns: *sorted.last()?,
        slices_per_op,
    })
}

/// A thread that ran, but not once for (nearly) each operation.
fn once_note(name: &str, column: &Column) -> Option<String> {
    let ops = column.slices.len() as u64;
    let once = column.slices.iter().filter(|&&slices| slices == 1).count() as u64;
    let share = per_op(once, ops)?;
    let ran = per_op(column.slices.iter().copied().fold(0, u64::saturating_add), ops)?;
    (ran >= RARELY && share < MOSTLY).then(|| {
        format!(
            "{name} ran exactly once for only {:.0} % of the I/Os: its figures are per I/O, not per wake-up",
            share * 100.0
        )
    })
}

impl Columns {
    fn take_window(&mut self, record: &WindowRecord) -> Result<(), &'static str> {
        let mut next: u64 = 0;
        for hops in &record.hops {
            if u64::from(hops.first) != next {
                return Err("operations of the hops pass are missing, came twice or are out of order");
            }
            if self.total_ns.len() + hops.total_ns.count() > super::latency::MAX_OPERATIONS {
                return Err("more operations of the hops pass than are analysed");
            }
            next += self.take_block(hops)?;
        }
        Ok(())
    }

    /// Takes in one block whole or not at all.
    fn take_block(&mut self, hops: &Hops) -> Result<u64, &'static str> {
        let total = unpack(&hops.total_ns, hops.total_ns.count())?;
        let count = total.len();
        let sum_of = |role: fn(ThreadRole) -> bool| -> Result<Column, &'static str> {
            let mut sum = Column {
                seen: false,
                wait_ns: vec![0; count],
                run_ns: vec![0; count],
                slices: vec![0; count],
            };
            // Only one of several interrupt threads works for an operation; which one need not be known.
            for column in hops.threads.iter().filter(|column| role(column.role)) {
                sum.add(column, count)?;
            }
            Ok(sum)
        };
        let irq_thread = sum_of(|role| matches!(role, ThreadRole::IrqThread { .. }))?;
        let ksoftirqd = sum_of(|role| matches!(role, ThreadRole::Ksoftirqd { .. }))?;
        let submitter = sum_of(|role| matches!(role, ThreadRole::Submitter))?;
        self.total_ns.extend(total);
        self.irq_thread.append(irq_thread);
        self.ksoftirqd.append(ksoftirqd);
        self.submitter.append(submitter);
        Ok(count as u64)
    }
}

impl Column {
    fn add(&mut self, column: &HopColumn, count: usize) -> Result<(), &'static str> {
        self.seen = true;
        for (into, block) in [
            (&mut self.wait_ns, &column.wait_ns),
            (&mut self.run_ns, &column.run_ns),
            (&mut self.slices, &column.slices),
        ] {
            for (sum, value) in into.iter_mut().zip(unpack(block, count)?) {
                *sum = sum.saturating_add(value);
            }
        }
        Ok(())
    }

    fn append(&mut self, mut other: Self) {
        self.seen |= other.seen;
        self.wait_ns.append(&mut other.wait_ns);
        self.run_ns.append(&mut other.run_ns);
        self.slices.append(&mut other.slices);
    }
}

fn unpack(block: &LatencyBlock, count: usize) -> Result<Vec<u64>, &'static str> {
    let values = block.unpack().map_err(|_| "a column of the hops pass is malformed")?;
    if values.len() == count { Ok(values) } else { Err("columns of the hops pass differ in length") }
}
