//! Cheap counters at a low rate while a window is open, from another CPU than the I/O's.

use crate::clock::now_ns;
use crate::observe::live::{IrqCountReader, SchedstatReader};
use crate::observe::tree::Tree;
use std::time::Duration;
use tophalf_wire::{Sample, Samples, ThreadRole};

/// Samples of one window at most: a bound, not a goal.
const MOST_SAMPLES: usize = 4096;

/// The open files, and the samples of the window that is open.
#[derive(Debug)]
pub struct Sampler {
    irqs: IrqCountReader,
    threads: Vec<(ThreadRole, SchedstatReader)>,
    every_ns: u64,
    due_ns: Option<u64>,
    missed: u32,
    window: u32,
    samples: Vec<Sample>,
}

impl Sampler {
    /// A sampler of the lines `irqs` and of `threads`, every `every_ns` (0: never). Threads that cannot be
    /// read are left out.
    pub fn new(tree: &Tree, irqs: &[u32], threads: &[(ThreadRole, u32)], every_ns: u64) -> Self {
        Self {
            irqs: IrqCountReader::open(tree, irqs),
            threads: threads
                .iter()
                .filter_map(|&(role, tid)| Some((role, SchedstatReader::open(tree, tid).ok()?)))
                .collect(),
            every_ns,
            due_ns: None,
            missed: 0,
            window: 0,
            samples: Vec::new(),
        }
    }

    /// A window opens; without one, nothing is sampled.
    pub fn begin(&mut self, window: Option<u32>) {
        self.missed = 0;
        self.samples.clear();
        self.window = window.unwrap_or(0);
        self.due_ns = window.filter(|_| self.every_ns > 0).map(|_| now_ns() + self.every_ns);
    }

    /// Time until the next sample is due, if one is.
    pub fn until_due(&self) -> Option<Duration> {
        self.due_ns.map(|due_ns| Duration::from_nanos(due_ns.saturating_sub(now_ns())))
    }

    /// Takes a sample if one is due. Those whose time has passed meanwhile are counted as missed.
    pub fn sample_if_due(&mut self) {
        let Some(due_ns) = self.due_ns.filter(|&due_ns| due_ns <= now_ns()) else { return };
        let begin_ns = now_ns();
        let mut irq_counts = vec![None; self.irqs.irqs().len()];
        self.irqs.read(&mut irq_counts);
        let threads = self.threads.iter_mut().map(|(_, reader)| reader.read()).collect();
        if self.samples.len() < MOST_SAMPLES {
            self.samples.push(Sample { begin_ns, end_ns: now_ns(), irq_counts, threads });
        } else {
            self.missed += 1;
        }
        let late = now_ns().saturating_sub(due_ns) / self.every_ns;
        self.missed = self.missed.saturating_add(u32::try_from(late).unwrap_or(u32::MAX));
        self.due_ns = Some(due_ns + (late + 1) * self.every_ns);
    }

    /// Samples that were due in this window and not taken.
    pub fn missed(&self) -> u32 {
        self.missed
    }

    /// The window's samples.
    pub fn take(&mut self) -> Samples {
        Samples {
            window: self.window,
            irqs: self.irqs.irqs().to_vec(),
            irq_source: self.irqs.source().map(str::to_owned),
            threads: self.threads.iter().map(|&(role, _)| role).collect(),
            samples: std::mem::take(&mut self.samples),
        }
    }
}
