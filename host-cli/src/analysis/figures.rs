//! The figures of one run: what [`super::summarize`] computes, reports print and scripts read. The JSON names
//! are a contract, documented in `docs/json.md`. A figure that could not be computed is `null` and has an
//! entry in [`RunSummary::unavailable`]; it is never zero.

use super::Conditions;
use super::name::{Name, known_name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that is said of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run's name, and the stem of its file's.
    pub id: String,
    /// The device as the transport names it.
    pub device: String,
    /// A label, never evidence.
    pub variant: String,
    /// Runs of the same boot belong together.
    pub boot_id: Option<String>,
    /// The name of the workload.
    pub workload: String,
    /// When it was begun, nanoseconds since 1970 (UTC).
    pub begun_unix_ns: i64,
    /// What it ran on.
    pub system: SystemSummary,
    /// What was read or written.
    pub target: TargetSummary,
    /// How; `None` when the plan is lost.
    pub load: Option<LoadSummary>,
    /// Operations of the timed pass: system calls, not device I/Os.
    pub ops: Option<u64>,
    /// Operations of the timed pass that failed.
    pub errors: Option<u64>,
    /// Operations of the timed pass that moved fewer bytes than asked.
    pub short: Option<u64>,
    /// Time of the timed pass's windows together.
    pub elapsed_ns: Option<u64>,
    /// Operations a second.
    pub iops: Option<f64>,
    /// Every operation of the timed pass.
    pub latency_ns: Option<LatencySummary>,
    /// Its reads, where there are writes too.
    pub latency_read_ns: Option<LatencySummary>,
    /// Its writes, where there are reads too.
    pub latency_write_ns: Option<LatencySummary>,
    /// I/Os the disk itself counted during [`RunSummary::ops`].
    pub device_ios: Option<u64>,
    /// Bytes the disk itself counted.
    pub device_bytes: Option<u64>,
    /// How completions were delivered.
    pub completion: Completion,
    /// What each operation cost in interrupts and context switches.
    pub per_op: PerOp,
    /// The same by CPU.
    pub per_cpu: Vec<PerCpu>,
    /// Parts of an operation of the hops pass.
    pub hops: Vec<Hop>,
    /// Mean of what an operation of the hops pass spent outside the hops: device, submission, interrupt.
    pub hops_outside_ns: Option<f64>,
    /// What must be known to read [`RunSummary::hops`].
    pub hops_notes: Vec<String>,
    /// What it was made in.
    pub conditions: Conditions,
    /// Each window.
    pub windows: Vec<WindowSummary>,
    /// Whether the run can be trusted.
    pub quality: Quality,
    /// What measuring cost.
    pub overhead: Option<OverheadSummary>,
    /// Name of a figure that is not there, and why.
    pub unavailable: BTreeMap<String, String>,
}

/// What a run ran on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemSummary {
    /// `uname -r`.
    pub kernel_release: Option<String>,
    /// `uname -v`.
    pub kernel_version: Option<String>,
    /// Device tree model or DMI product.
    pub model: Option<String>,
    /// An emulated machine: its times are instruction counts at best.
    pub emulated: Option<bool>,
    /// Grain of the clock, in nanoseconds.
    pub clock_grain_ns: Option<u64>,
    /// Version and build of the agent.
    pub agent: Option<String>,
    /// Version of the host.
    pub host: String,
}

/// What was read or written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetSummary {
    /// As asked.
    pub path: Option<String>,
    /// After links.
    pub real_path: Option<String>,
    /// A block device; otherwise a regular file.
    pub block_device: Option<bool>,
    /// The disk beneath, by its name under `/sys/block`.
    pub disk: Option<String>,
    /// Direct I/O was in force.
    pub direct: Option<bool>,
    /// Bytes that were used.
    pub span_bytes: Option<u64>,
    /// The disk's smallest unit, in bytes.
    pub logical_block_bytes: Option<u32>,
}

/// How the target was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadSummary {
    /// `psync`.
    #[serde(deserialize_with = "known_name")]
    pub engine: Name,
    /// `random` or `sequential`.
    #[serde(deserialize_with = "known_name")]
    pub pattern: Name,
    /// Reads among 100 operations.
    pub read_percent: u8,
    /// Bytes of one operation.
    pub block_bytes: u32,
    /// What offsets and mix follow from.
    pub seed: u64,
    /// The CPU the I/O thread was bound to; `None` if it was left free.
    pub cpu: Option<u16>,
    /// I/O before anything was counted, in nanoseconds.
    pub warmup_ns: u64,
}

/// A distribution of latencies, in nanoseconds. Percentiles are values that occurred (nearest rank).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub min: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Half are not longer.
    pub p50: u64,
    /// 90 % are not longer.
    pub p90: u64,
    /// 99 % are not longer.
    pub p99: u64,
    /// 99.9 % are not longer.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

/// How completions get from the interrupt to whoever waits for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompletionPath {
    /// In the hard interrupt handler.
    Hard,
    /// In a thread the driver asked for.
    Threaded,
    /// In a thread because the whole system threads its handlers.
    ForcedThreaded,
    /// Some interrupts woke the thread, others did not.
    Mixed,
    /// In the hard handlers of a UFS controller's per-queue interrupts.
    McqEsi,
    /// By polling. Reserved: nothing measures it yet.
    Polled,
    /// In the submitting call itself, without an interrupt.
    Inline,
    /// The evidence does not decide.
    Unknown,
}

/// The verdict on the completion path and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The verdict.
    pub path: CompletionPath,
    /// The interrupt line that completions arrived on; the busiest one if several.
    pub irq: Option<u32>,
    /// The thread of that line, used or not.
    pub thread: Option<ThreadSummary>,
    /// Hardware queues of the disk.
    pub hardware_queues: Option<u64>,
    /// Sentences with the figures that decided, or what is missing for a decision.
    pub evidence: Vec<String>,
}

/// An interrupt thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSummary {
    /// Its process number.
    pub pid: u32,
    /// Its name.
    pub comm: String,
    /// `SCHED_FIFO` and so on.
    pub policy: String,
    /// Real-time priority; 0 for ordinary threads.
    pub priority: u32,
    /// CPU it was last seen on.
    pub cpu: u16,
}

/// Interrupts and context switches per operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PerOp {
    /// Interrupts of the disk's controller. Below 1 is legal: one handler run may collect several.
    pub interrupts: Option<f64>,
    /// Times an interrupt thread of the controller was put on a CPU.
    pub irq_thread_switches: Option<f64>,
    /// Times `ksoftirqd` of the CPU that took the interrupts was put on it.
    pub ksoftirqd_switches: Option<f64>,
    /// `BLOCK` softirqs, all CPUs.
    pub block_softirqs: Option<f64>,
    /// Interrupts by which one CPU asks another to run a function, all CPUs.
    pub function_call_interrupts: Option<f64>,
}

/// Counts of one CPU over all windows of the pass that [`PerOp`] is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerCpu {
    /// Its number.
    pub cpu: u16,
    /// Interrupts of the disk's controller.
    pub interrupts: Option<u64>,
    /// `BLOCK` softirqs.
    pub block_softirqs: Option<u64>,
    /// Times its `ksoftirqd` was put on it, where that was watched.
    pub ksoftirqd_switches: Option<u64>,
    /// Function call interrupts.
    pub function_call_interrupts: Option<u64>,
}

/// One part of an operation of the hops pass. Only means add up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// `irq-thread-wake`, `irq-thread-run`, `ksoftirqd-wake`, `ksoftirqd-run`, `submitter-wake` or `total`.
    #[serde(deserialize_with = "known_name")]
    pub name: Name,
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// Longest, in nanoseconds.
    pub max_ns: u64,
    /// Times the thread was put on a CPU, per operation; `None` for `total`.
    pub slices_per_op: Option<f64>,
}

impl Hop {
    /// The whole operation.
    pub const TOTAL: &'static str = "total";

    /// Every name, in the order in which an operation passes through them.
    pub const NAMES: [&'static str; 6] = [
        "irq-thread-wake",
        "irq-thread-run",
        "ksoftirqd-wake",
        "ksoftirqd-run",
        "submitter-wake",
        Self::TOTAL,
    ];
}

impl CompletionPath {
    /// Its name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hard => "hard",
            Self::Threaded => "threaded",
            Self::ForcedThreaded => "forced-threaded",
            Self::Mixed => "mixed",
            Self::McqEsi => "mcq-esi",
            Self::Polled => "polled",
            Self::Inline => "inline",
            Self::Unknown => "unknown",
        }
    }
}

/// One window of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowSummary {
    /// Its number.
    pub window: u32,
    /// `timed` or `hops`.
    #[serde(deserialize_with = "known_name")]
    pub pass: Name,
    /// Its beginning, nanoseconds of `CLOCK_MONOTONIC`.
    pub begin_ns: u64,
    /// Its length, in nanoseconds.
    pub elapsed_ns: u64,
    /// Its operations.
    pub ops: u64,
    /// Operations a second.
    pub iops: Option<f64>,
    /// CPU the I/O thread was on, as it looked at the end.
    pub cpu: Option<u16>,
    /// Frequency of that CPU before and after, in kHz.
    pub frequency_khz: Option<[u64; 2]>,
}

/// Whether a run can be trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// No check failed.
    pub valid: bool,
    /// Checks that failed, as sentences with their figures.
    pub failed: Vec<String>,
    /// What a reader must know and what does not make the run invalid.
    pub notes: Vec<String>,
    /// Every check by its name.
    #[serde(default)]
    pub gates: Vec<GateResult>,
}

/// One check of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    /// Its name, with which its sentences in [`Quality::failed`] begin.
    pub name: String,
    /// `None`: it could not be made; the reason is in [`RunSummary::unavailable`] under `quality.…`.
    pub passed: Option<bool>,
}

/// What measuring cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OverheadSummary {
    /// The loop without its I/O, per operation, in nanoseconds. Part of every latency.
    pub loop_ns: u64,
    /// CPU time of the sampling thread inside the windows, in nanoseconds.
    pub sampler_cpu_ns: u64,
    /// CPU time of packing and sending, between windows, in nanoseconds.
    pub stream_cpu_ns: u64,
    /// Bytes sent.
    pub stream_bytes: u64,
    /// Bytes of packed latencies per operation of the timed pass.
    pub latency_bytes_per_op: Option<f64>,
    /// Largest resident size of the agent, in bytes.
    pub peak_rss_bytes: u64,
}
