//! One run: its passes, window by window.
//!
//! This thread takes the counters at the edges and the samples in between; the submitter does the I/O.
//! Frames go out only between windows, since on a phone the link's own interrupts land on the same CPUs.

use crate::clock::{now_ns, thread_cpu_ns};
use crate::engine::{Faults, Psync, Stamp, Timed};
use crate::error::JobError;
use crate::hop_pass::{HopSlots, MOST_HOP_OPS};
use crate::observe::edge::EdgeReader;
use crate::observe::live::SchedstatReader;
use crate::observe::state::StateReader;
use crate::observe::tree::Tree;
use crate::pattern::Operations;
use crate::pin;
use crate::sampler::Sampler;
use crate::stop::Watch;
use crate::stream::Stream;
use crate::submitter::{Answer, Done, Order, Submitter};
use crate::target;
use crate::way;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;
use tophalf_wire::{
    Edge, EdgeSide, Facts, HopColumn, Hops, Latencies, LatencyBlock, MAX_BLOCK_VALUES, Message, Outcome,
    Pass, RunJob, Samples, State, TargetFacts, ThreadRole, Window,
};

/// Operations of the longest window: 4 MiB of stamps, which a device of half a million operations a second
/// fills in a second. A window ends early when they are full.
const MOST_WINDOW_OPS: usize = 512 << 10;
/// How often the reasons to stop are looked at while no sample is due.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Why a run ended before its end frame could say so.
#[derive(Debug)]
pub enum RunError {
    /// Nobody listens any more.
    Link(io::Error),
    /// The job cannot be done.
    Job(JobError),
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Link(error)
    }
}

impl From<JobError> for RunError {
    fn from(error: JobError) -> Self {
        Self::Job(error)
    }
}

/// What measuring itself cost, as far as the run knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// The loop without its I/O, in nanoseconds an operation.
    pub loop_ns: u64,
    /// CPU time of the sampling thread inside windows, in nanoseconds.
    pub sampler_cpu_ns: u64,
    /// Bytes of packed latencies.
    pub latency_bytes: u64,
}

/// Does the run.
///
/// # Errors
/// The link is gone, or the job cannot be done; windows that were finished have been sent by then.
pub fn run<W: Write>(
    job: &RunJob,
    facts: &Facts,
    tree: &Tree,
    watch: Watch,
    stream: &mut Stream<W>,
    cost: &mut Cost,
) -> Result<Outcome, RunError> {
    if let Some(cpu) = job.cpu {
        pin::check(cpu, facts)?;
    }
    let target = target::open(&job.target, &job.workload, facts, tree)?;
    stream.send(&Message::Target(target.facts.clone()))?;
    let operations = Operations::new(&job.workload, target.facts.span_bytes);
    let engine = Psync::new(target.file, job.workload.block_bytes as usize, job.workload.seed);
    let mut scratch = vec![Stamp::UNUSED; 1 << 14];
    thread::scope(|scope| {
        let submitter = Submitter::start(scope, engine, operations, job.cpu, &mut scratch)?;
        cost.loop_ns = submitter.loop_ns;
        let lines = way::lines(&target.facts.disk, facts);
        let interrupt_cpus = way::interrupt_cpus(&lines).unwrap_or_default();
        if let Some(cpu) = pin::sampler_cpu(job.cpu, &interrupt_cpus, facts) {
            pin::prefer_cpu(cpu);
        }
        let threads = way::threads(&lines, job.cpu, submitter.tid, facts);
        let irqs: Vec<u32> = lines.iter().map(|line| line.irq).collect();
        let mut passes = Passes {
            job,
            tree,
            watch,
            stream,
            cost,
            edges: EdgeReader::new(tree, target.facts.disk.clone(), threads.clone(), submitter.tid, now_ns),
            states: StateReader::new(irqs.clone(), way::ufs_controller(&target.facts.disk, facts)),
            sampler: Sampler::new(tree, &irqs, &threads, job.sample_ns),
            submitter,
            target: &target.facts,
            next_window: 0,
        };
        passes.all(threads)
    })
}

/// The passes of a run in progress.
struct Passes<'a, W> {
    job: &'a RunJob,
    tree: &'a Tree,
    watch: Watch,
    stream: &'a mut Stream<W>,
    cost: &'a mut Cost,
    edges: EdgeReader<'a>,
    states: StateReader,
    sampler: Sampler,
    submitter: Submitter,
    target: &'a TargetFacts,
    next_window: u32,
}

impl<W: Write> Passes<'_, W> {
    fn all(&mut self, threads: Vec<(ThreadRole, u32)>) -> Result<Outcome, RunError> {
        let mut slots = self.warm_up(vec![Stamp::UNUSED; MOST_WINDOW_OPS])?;
        let mut left_ns = self.job.timed_ns;
        while left_ns > 0 {
            if let Some(reason) = self.watch.reason() {
                return Ok(Outcome::Stopped { reason });
            }
            let length_ns = left_ns.min(self.job.window_ns.max(1));
            let timed;
            (timed, slots) = self.timed_window(length_ns, slots)?;
            left_ns = left_ns.saturating_sub((timed.end_ns - timed.begin_ns).max(1));
        }
        drop(slots);
        self.hops(threads)
    }

    /// I/O that nothing is counted of.
    fn warm_up(&mut self, mut slots: Vec<Stamp>) -> Result<Vec<Stamp>, RunError> {
        let end_ns = now_ns().saturating_add(self.job.warmup_ns);
        loop {
            let length_ns = end_ns.saturating_sub(now_ns());
            if length_ns == 0 || self.watch.reason().is_some() {
                return Ok(slots);
            }
            self.submitter.order(Order::Timed { length_ns, slots })?;
            let (done, _) = self.wait(None)?;
            let Answer::Timed(timed, back) = done.answer else { return Err(wrong_answer()) };
            slots = back;
            self.give_up_on_a_dead_target(&timed)?;
        }
    }

    fn timed_window(&mut self, length_ns: u64, slots: Vec<Stamp>) -> Result<(Timed, Vec<Stamp>), RunError> {
        let (answer, observed) = self.observe(Order::Timed { length_ns, slots })?;
        let Answer::Timed(timed, slots) = answer else { return Err(wrong_answer()) };
        let stamps = &slots[..timed.ops];
        let writes = stamps.iter().filter(|stamp| stamp.write()).count() as u64;
        self.send_window(Pass::Timed, &timed, writes, observed, |this, window| {
            for (number, block) in stamps.chunks(MAX_BLOCK_VALUES).enumerate() {
                let latencies = pack(window, number * MAX_BLOCK_VALUES, block);
                this.cost.latency_bytes +=
                    (latencies.block.packed_bytes() + latencies.write_bits.len()) as u64;
                this.stream.send(&Message::Latencies(latencies))?;
            }
            Ok(())
        })?;
        Ok((timed, slots))
    }

    fn hops(&mut self, threads: Vec<(ThreadRole, u32)>) -> Result<Outcome, RunError> {
        let mut left = self.job.hops_ops as usize;
        if left == 0 {
            return Ok(Outcome::Done);
        }
        let readers = threads.into_iter().map(|(role, tid)| (role, SchedstatReader::open(self.tree, tid)));
        let readable = readers.filter_map(|(role, reader)| Some((role, reader.ok()?))).collect();
        let mut slots = HopSlots::new(readable);
        while left > 0 {
            if let Some(reason) = self.watch.reason() {
                return Ok(Outcome::Stopped { reason });
            }
            let length_ns = self.job.window_ns.max(1);
            let order = Order::Hops { length_ns, most_ops: left.min(MOST_HOP_OPS), slots };
            let (answer, observed) = self.observe(order)?;
            let Answer::Hops(timed, back) = answer else { return Err(wrong_answer()) };
            slots = back;
            let hops = |window| Hops {
                window,
                first: 0,
                total_ns: LatencyBlock::pack(&slots.total_ns[..timed.ops]),
                threads: slots
                    .threads
                    .iter()
                    .map(|thread| HopColumn {
                        role: thread.role,
                        wait_ns: LatencyBlock::pack(&thread.wait_ns[..timed.ops]),
                        run_ns: LatencyBlock::pack(&thread.run_ns[..timed.ops]),
                        slices: LatencyBlock::pack(&thread.slices[..timed.ops]),
                    })
                    .collect(),
            };
            self.send_window(Pass::Hops, &timed, slots.writes, observed, |this, window| {
                this.stream.send(&Message::Hops(hops(window)))
            })?;
            if timed.ops == 0 {
                log::warn!("the hops pass ended: the statistics of a watched thread can no longer be read");
                break;
            }
            left = left.saturating_sub(timed.ops);
        }
        Ok(Outcome::Done)
    }

    /// Carries out an order between two edges.
    fn observe(&mut self, order: Order) -> Result<(Answer, Observed), RunError> {
        let window = self.next_window;
        let state_before = self.state(window, EdgeSide::Before)?;
        let mut before = self.edges.read(window, EdgeSide::Before, u16::MAX);
        let cpu_begin_ns = thread_cpu_ns();
        self.submitter.order(order)?;
        let (done, samples) = self.wait(Some(window))?;
        let sampler_cpu_ns = thread_cpu_ns() - cpu_begin_ns;
        let after = self.edges.read(window, EdgeSide::After, done.cpu_end);
        let states = [state_before, self.state(window, EdgeSide::After)?];
        // Only the submitter itself can tell, and it had not begun when this edge was read.
        before.placement.cpu = done.cpu_begin;
        self.cost.sampler_cpu_ns += sampler_cpu_ns;
        self.next_window += 1;
        Ok((done.answer, Observed { before, after, states, samples, sampler_cpu_ns }))
    }

    /// The state of the device at one end of a window, further away from it than the counters.
    fn state(&mut self, window: u32, side: EdgeSide) -> Result<State, RunError> {
        self.submitter.order(Order::Canary)?;
        let (done, _) = self.wait(None)?;
        let Answer::Canary(canary) = done.answer else { return Err(wrong_answer()) };
        Ok(self.states.read(self.tree, Some(window), side, Some(canary), now_ns))
    }

    /// Waits for the submitter, and takes samples meanwhile if the wait is for a `window` that is counted.
    fn wait(&mut self, window: Option<u32>) -> Result<(Done, Samples), RunError> {
        self.sampler.begin(window);
        loop {
            let timeout = self.sampler.until_due().map_or(LOOK_EVERY, |due| due.min(LOOK_EVERY));
            if let Some(done) = self.submitter.wait(timeout)? {
                return Ok((done, self.sampler.take()));
            }
            self.sampler.sample_if_due();
            // Sets the flag that ends the window; the reason is told after it.
            let _ = self.watch.reason();
        }
    }

    /// Sends a window and all that belongs to it.
    fn send_window(
        &mut self,
        pass: Pass,
        timed: &Timed,
        writes: u64,
        Observed { before, after, states, samples, sampler_cpu_ns }: Observed,
        body: impl FnOnce(&mut Self, u32) -> io::Result<()>,
    ) -> Result<(), RunError> {
        let window = before.window;
        let ops = timed.ops as u64;
        self.stream.send(&Message::Edge(before))?;
        self.stream.send(&Message::Window(Window {
            window,
            pass,
            begin_ns: timed.begin_ns,
            end_ns: timed.end_ns,
            reads: ops - writes,
            writes,
            errors: timed.faults.errors,
            short: timed.faults.short,
            first_error: timed.faults.first_error,
            sampler_cpu_ns,
            samples: (u32::try_from(samples.samples.len()).unwrap_or(u32::MAX), self.sampler.missed()),
        }))?;
        body(self, window)?;
        self.stream.send(&Message::Samples(samples))?;
        self.stream.send(&Message::Edge(after))?;
        for state in states {
            self.stream.send(&Message::State(state))?;
        }
        self.give_up_on_a_dead_target(timed)
    }

    fn give_up_on_a_dead_target(&self, timed: &Timed) -> Result<(), RunError> {
        if timed.faults.errors < Faults::GIVE_UP {
            return Ok(());
        }
        let (offset, errno) = timed.faults.first_error.unwrap_or_default();
        Err(RunError::Job(JobError::device(format!(
            "I/O on {} at byte {offset}: {}: {} of {} operations failed, the device is gone or broken; see `adb shell dmesg`",
            self.target.path,
            io::Error::from_raw_os_error(errno),
            timed.faults.errors,
            timed.ops
        ))))
    }
}

/// What was read around a window.
struct Observed {
    before: Edge,
    after: Edge,
    states: [State; 2],
    samples: Samples,
    sampler_cpu_ns: u64,
}

fn wrong_answer() -> RunError {
    RunError::Job(JobError::device("the I/O thread answered another order than was given: please report it"))
}

fn pack(window: u32, first: usize, stamps: &[Stamp]) -> Latencies {
    let values: Vec<u64> = stamps.iter().map(|stamp| stamp.latency_ns()).collect();
    let writes = stamps.iter().filter(|stamp| stamp.write()).count();
    let all_writes = writes == stamps.len();
    let write_bits = if writes == 0 || all_writes {
        Vec::new()
    } else {
        stamps
            .chunks(8)
            .map(|eight| eight.iter().rev().fold(0, |bits, stamp| bits << 1 | u8::from(stamp.write())))
            .collect()
    };
    let first = u32::try_from(first).unwrap_or(u32::MAX);
    Latencies { window, first, write_bits, all_writes, block: LatencyBlock::pack(&values) }
}
