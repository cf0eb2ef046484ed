//! The counters at both ends of a window.

use super::{block, cpu, interrupts, process_io, schedstat, softirqs, task, tree::Tree};
use tophalf_wire::{
    BlockStat, CpuReading, Edge, EdgeSide, InterruptTable, Placement, ProcessIo, Reading, SoftirqTable,
    ThreadReading, ThreadRole,
};

/// Reads one [`Edge`] after the other.
#[derive(Debug)]
pub struct EdgeReader<'tree> {
    tree: &'tree Tree,
    disk: Reading<String>,
    threads: Vec<(ThreadRole, u32)>,
    submitter: u32,
    clock: fn() -> u64,
    /// The table that whoever has received every edge so far knows.
    sent: Option<InterruptTable>,
}

impl<'tree> EdgeReader<'tree> {
    /// Watches `disk`, by its name under `/sys/block`, the given threads, and the CPUs of the thread that does
    /// the I/O. `clock` tells the time in nanoseconds.
    pub fn new(
        tree: &'tree Tree,
        disk: Reading<String>,
        threads: Vec<(ThreadRole, u32)>,
        submitter: u32,
        clock: fn() -> u64,
    ) -> Self {
        Self { tree, disk, threads, submitter, clock, sent: None }
    }

    /// Reads everything now. `cpu` is where the I/O thread is, which only that thread itself can see.
    ///
    /// What counts events is read next to the window; what describes the state is read further away from it.
    pub fn read(&mut self, window: u32, side: EdgeSide, cpu: u16) -> Edge {
        let begin_ns = (self.clock)();
        let (state, counters) = match side {
            EdgeSide::Before => {
                let state = self.read_state(cpu);
                (state, self.read_counters())
            }
            EdgeSide::After => {
                let counters = self.read_counters();
                (self.read_state(cpu), counters)
            }
        };
        let end_ns = (self.clock)();
        let interrupts = counters.interrupts.map(|now| {
            let changed = self.sent.as_ref().map(|then| interrupts::changes(then, &now));
            let changed = changed.unwrap_or_else(|| now.clone());
            self.sent = Some(now);
            changed
        });
        Edge {
            window,
            side,
            begin_ns,
            end_ns,
            interrupts,
            softirqs: counters.softirqs,
            threads: counters.threads,
            block: counters.block,
            process_io: counters.process_io,
            cpus: state.cpus,
            placement: state.placement,
        }
    }

    fn read_counters(&self) -> Counters {
        let tree = self.tree;
        Counters {
            process_io: tree.parse("/proc/self/io", process_io::parse),
            block: self.disk.clone().and_then(|disk| block::read_stat(tree, &disk)),
            softirqs: tree.parse("/proc/softirqs", softirqs::parse),
            interrupts: tree.parse("/proc/interrupts", interrupts::parse),
            threads: self
                .threads
                .iter()
                .map(|(role, tid)| ThreadReading {
                    role: *role,
                    tid: *tid,
                    schedstat: schedstat::read(tree, *tid),
                })
                .collect(),
        }
    }

    fn read_state(&self, cpu: u16) -> State {
        let online = cpu::read_online(self.tree);
        State {
            cpus: cpu::read_frequencies(self.tree, online.as_deref().unwrap_or_default()),
            placement: Placement {
                cpu,
                allowed: task::read_cpus_allowed(self.tree, self.submitter),
                online,
                migrations: task::read_migrations(self.tree, self.submitter),
            },
        }
    }
}

/// What counts events.
struct Counters {
    interrupts: Reading<InterruptTable>,
    softirqs: Reading<SoftirqTable>,
    threads: Vec<ThreadReading>,
    block: Reading<BlockStat>,
    process_io: Reading<ProcessIo>,
}

/// What describes the state.
struct State {
    cpus: Vec<CpuReading>,
    placement: Placement,
}
