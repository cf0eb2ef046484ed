//! What is read while a run goes on. Every reading carries the two times between which it was taken, since
//! reading `/proc` is not instant. Times are `CLOCK_MONOTONIC`, in nanoseconds.

use crate::{LatencyBlock, Reading};
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// A pass of a run. Passes are never mixed in one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Pass {
    /// Nothing but the I/O is timed or done in the loop.
    Timed,
    /// Scheduler statistics are read around each I/O, outside its timed part.
    Hops,
}

/// Which end of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeSide {
    /// Just before its first I/O.
    Before,
    /// Just after its last I/O.
    After,
}

/// The counters at one end of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The window it belongs to.
    pub window: u32,
    /// Which end.
    pub side: EdgeSide,
    /// Before the first counter was read.
    pub begin_ns: u64,
    /// After the last one was.
    pub end_ns: u64,
    /// `/proc/interrupts`: rows that differ from the edge sent before this one; all rows at the first.
    pub interrupts: Reading<InterruptTable>,
    /// `/proc/softirqs`, whole.
    pub softirqs: Reading<SoftirqTable>,
    /// Scheduler statistics of the watched threads.
    pub threads: Vec<ThreadReading>,
    /// `/sys/block/X/stat` of the disk beneath the target.
    pub block: Reading<BlockStat>,
    /// `/proc/self/io`.
    pub process_io: Reading<ProcessIo>,
    /// Frequency of each online CPU that tells it.
    pub cpus: Vec<CpuReading>,
    /// Where the I/O thread was, and may be.
    pub placement: Placement,
}

/// Rows of `/proc/interrupts`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InterruptTable {
    /// CPU numbers of the columns; only online CPUs have one.
    pub cpus: Vec<u16>,
    /// The rows.
    pub rows: Vec<InterruptRow>,
}

/// One row of `/proc/interrupts`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptRow {
    /// What stands before the colon: a number or a name such as `IPI1`.
    pub label: String,
    /// One count a column (some architecture rows have only one in all).
    pub counts: Vec<u64>,
    /// What stands after the counts, unparsed. Sent with the first edge, empty afterwards.
    pub text: String,
}

/// Rows of `/proc/softirqs`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SoftirqTable {
    /// CPU numbers of the columns: every possible CPU.
    pub cpus: Vec<u16>,
    /// Name (`BLOCK`, `TIMER`, …) and one count a column.
    pub rows: Vec<(String, Vec<u64>)>,
}

/// What a watched thread is to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ThreadRole {
    /// The thread of an interrupt line.
    IrqThread {
        /// Its line.
        irq: u32,
    },
    /// `ksoftirqd` of a CPU.
    Ksoftirqd {
        /// Its CPU.
        cpu: u16,
    },
    /// The agent's thread that does the I/O.
    Submitter,
    /// The agent's thread that takes the samples.
    Sampler,
}

/// Scheduler statistics of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadReading {
    /// Who it is.
    pub role: ThreadRole,
    /// Its thread number.
    pub tid: u32,
    /// `/proc/TID/schedstat`.
    pub schedstat: Reading<SchedStat>,
}

/// `/proc/PID/schedstat`: sums since the thread began (`proc_pid_schedstat`, fs/proc/base.c).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SchedStat {
    /// Time on a CPU, in nanoseconds.
    pub run_ns: u64,
    /// Time runnable but not running, in nanoseconds.
    pub wait_ns: u64,
    /// Times it was put on a CPU.
    pub slices: u64,
}

/// `/sys/block/X/stat` (Documentation/block/stat.rst). Sums since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BlockStat {
    /// Reads completed.
    pub reads: u64,
    /// Reads merged into a neighbour.
    pub read_merges: u64,
    /// 512-byte units read.
    pub read_sectors: u64,
    /// Writes completed.
    pub writes: u64,
    /// Writes merged into a neighbour.
    pub write_merges: u64,
    /// 512-byte units written.
    pub write_sectors: u64,
    /// Requests in flight now.
    pub in_flight: u64,
}

/// `/proc/self/io`: bytes that passed the system call against bytes that reached the block layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessIo {
    /// Bytes the program asked for.
    pub rchar: u64,
    /// Bytes the program wrote.
    pub wchar: u64,
    /// Bytes fetched from storage for it.
    pub read_bytes: u64,
    /// Bytes it caused to be sent to storage.
    pub write_bytes: u64,
}

/// One CPU's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuReading {
    /// Its number.
    pub cpu: u16,
    /// `cpufreq/scaling_cur_freq`, in kHz.
    pub frequency_khz: Reading<u64>,
}

/// Where the I/O thread was, and may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// CPU the I/O thread was on as it looked itself.
    pub cpu: u16,
    /// `Cpus_allowed_list` of the I/O thread.
    pub allowed: Reading<Vec<u16>>,
    /// CPUs that run.
    pub online: Reading<Vec<u16>>,
    /// `se.nr_migrations` of `/proc/TID/sched`: equal at both edges, the thread never left its CPU.
    pub migrations: Reading<u64>,
}

/// One window, after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Counts from 0 over the whole run.
    pub window: u32,
    /// The pass it belongs to.
    pub pass: Pass,
    /// Clock before its first I/O.
    pub begin_ns: u64,
    /// Clock after its last.
    pub end_ns: u64,
    /// Reads done.
    pub reads: u64,
    /// Writes done.
    pub writes: u64,
    /// Operations that failed; each is also among the latencies.
    pub errors: u64,
    /// Operations that moved fewer bytes than asked; each is also among the latencies.
    pub short: u64,
    /// The first error: its offset and errno.
    pub first_error: Option<(u64, i32)>,
    /// CPU time the sampling thread used during the window, in nanoseconds.
    pub sampler_cpu_ns: u64,
    /// Samples taken, and those that were due but missed.
    pub samples: (u32, u32),
}

/// Latencies of consecutive operations of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// The window.
    pub window: u32,
    /// Place of the first one in its window.
    pub first: u32,
    /// One bit an operation, lowest first: 1 is a write. Empty when all are of one kind.
    pub write_bits: Vec<u8>,
    /// All are writes; says nothing when `write_bits` is not empty.
    pub all_writes: bool,
    /// Nanoseconds, in order. In the timed pass each runs from the stamp that ended the one before it, so
    /// that they add up to the window.
    pub block: LatencyBlock,
}

/// Cheap counters inside a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// The window.
    pub window: u32,
    /// Numbers of the sampled interrupt lines; the order of [`Sample::irq_counts`].
    pub irqs: Vec<u32>,
    /// Where the counts come from: `per_cpu_count` or `/proc/interrupts`.
    pub irq_source: Reading<String>,
    /// Sampled threads; the order of [`Sample::threads`].
    pub threads: Vec<ThreadRole>,
    /// In the order of time.
    pub samples: Vec<Sample>,
}

/// One reading of the cheap counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Before the first counter was read.
    pub begin_ns: u64,
    /// After the last one was.
    pub end_ns: u64,
    /// Interrupts of each line, all CPUs together; `None` where it could not be read.
    pub irq_counts: Vec<Option<u64>>,
    /// Scheduler statistics of each thread; `None` where they could not be read.
    pub threads: Vec<Option<SchedStat>>,
}

/// Consecutive operations of the hops pass, column by column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hops {
    /// The window.
    pub window: u32,
    /// Place of the first one in its window.
    pub first: u32,
    /// Nanoseconds of the operation itself.
    pub total_ns: LatencyBlock,
    /// What each watched thread did for it.
    pub threads: Vec<HopColumn>,
}

/// What one thread did for each operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopColumn {
    /// The thread.
    pub role: ThreadRole,
    /// Growth of [`SchedStat::wait_ns`].
    pub wait_ns: LatencyBlock,
    /// Growth of [`SchedStat::run_ns`].
    pub run_ns: LatencyBlock,
    /// Growth of [`SchedStat::slices`].
    pub slices: LatencyBlock,
}

/// The state of the device at one end of a window, or once for a probe: what changes by itself and changes
/// latencies with it. Read further away from the window than [`Edge`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The window it belongs to; `None` in a probe.
    pub window: Option<u32>,
    /// Which end.
    pub side: EdgeSide,
    /// Before the first of it was read.
    pub begin_ns: u64,
    /// After the last of it was.
    pub end_ns: u64,
    /// `/sys/class/thermal/thermal_zone*`.
    pub zones: Reading<Vec<ThermalZone>>,
    /// `/sys/class/thermal/cooling_device*`: what the kernel does against heat now.
    pub cooling: Reading<Vec<CoolingDevice>>,
    /// `cpufreq/policy*/stats/time_in_state`.
    pub time_in_state: Reading<Vec<PolicyTimes>>,
    /// `/proc/irq/N/effective_affinity_list` of the lines that completions may arrive on.
    pub irq_cpus: Vec<(u32, Reading<Vec<u16>>)>,
    /// Attributes and counters of the disk's controller (name, text), as in
    /// [`crate::ControllerFacts::attributes`], and its error counters where they can be read.
    pub controller: Vec<(String, Reading<String>)>,
    /// Several clocks, read one right after the other.
    pub clocks: Clocks,
    /// How long a fixed piece of work took; `None` in a probe.
    pub canary: Option<Canary>,
}

/// One thermal zone (Documentation/driver-api/thermal/sysfs-api.rst).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThermalZone {
    /// Its number.
    pub zone: u16,
    /// `type`, such as `soc-thmzone`.
    pub kind: String,
    /// `temp`, in thousandths of a degree Celsius.
    pub millidegrees: Reading<i32>,
}

/// One cooling device: a limit that the kernel may set against heat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoolingDevice {
    /// Its number.
    pub device: u16,
    /// `type`, such as `cpufreq-cpu0`.
    pub kind: String,
    /// `cur_state`: 0 is no limit.
    pub state: Reading<u32>,
}

/// How long the CPUs of a frequency policy have run at each frequency, since boot
/// (Documentation/cpu-freq/cpufreq-stats.rst).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyTimes {
    /// The policy's number: that of its first CPU.
    pub policy: u16,
    /// `affected_cpus`.
    pub cpus: Reading<Vec<u16>>,
    /// Frequency in kHz, time in units of 10 ms.
    pub times: Vec<(u64, u64)>,
}

/// Readings of several clocks, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Clocks {
    /// `CLOCK_MONOTONIC`, which everything here is timed by.
    pub monotonic_ns: u64,
    /// `CLOCK_MONOTONIC_RAW`: the same hardware, never adjusted.
    pub raw_ns: u64,
    /// `CLOCK_BOOTTIME`: goes on while the device sleeps.
    pub boottime_ns: u64,
}

/// A fixed piece of work that touches no memory, done on the I/O thread's CPU by that thread. It takes longer
/// when the CPU is slowed down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Canary {
    /// CPU it ran on.
    pub cpu: u16,
    /// Time of the fastest of several repetitions, in nanoseconds.
    pub best_ns: u64,
}

/// `/proc/config.gz`: how the kernel was built (`CONFIG_IKCONFIG_PROC`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelConfig {
    /// The file as it is, compressed.
    pub gzip: Reading<Vec<u8>>,
}
