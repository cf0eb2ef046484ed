//! What the host asks of the device.

use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Everything the device side is told. It has no other configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// A number the host drew for this stream; every frame that answers carries it.
    pub session: u32,
    /// Stop when standard input ends: the link, or the host, is gone. Off where the transport gives no
    /// usable standard input.
    pub watch_stdin: bool,
    /// What to do.
    pub job: Job,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Job {
    /// Say what is there, and what can be measured.
    Probe(ProbeJob),
    /// Load a target and observe its completions.
    Run(RunJob),
}

/// A look at the device that changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeJob {
    /// Also send each file that was read ([`crate::Message::Recorded`]), so that the device becomes a test case.
    pub record: bool,
}

/// One run: a workload on a target, in one or more passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunJob {
    /// What is read or written.
    pub target: TargetSpec,
    /// How.
    pub workload: Workload,
    /// The CPU that the I/O thread is bound to; `None` leaves it where the scheduler puts it.
    pub cpu: Option<u16>,
    /// Time of I/O before anything is counted, in nanoseconds.
    pub warmup_ns: u64,
    /// Time of I/O that is counted, summed over the windows, in nanoseconds; 0 leaves the timed pass out.
    pub timed_ns: u64,
    /// Length of one window, in nanoseconds. Nothing is sent while a window is open.
    pub window_ns: u64,
    /// Time between two samples inside a window, in nanoseconds; 0 takes none.
    pub sample_ns: u64,
    /// I/Os of the hops pass; 0 leaves it out.
    pub hops_ops: u32,
}

/// What is read or written, and what is allowed on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetSpec {
    /// A block device or a file, as the device names it.
    pub path: String,
    /// Bytes from the start of the target that are used; `None` is all of it.
    pub span_bytes: Option<u64>,
    /// Make the file at `path`, fully written with incompressible bytes and `span_bytes` long, and remove it
    /// afterwards.
    pub make_file: bool,
    /// Writing to what was there before is allowed on exactly this path (`--destroy-data-on`).
    pub destroy_data_on: Option<String>,
    /// Go on through the page cache if direct I/O is refused. Marked in every output.
    pub allow_buffered: bool,
}

/// How the target is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// How requests are handed to the kernel.
    pub engine: Engine,
    /// The order of the offsets.
    pub pattern: Pattern,
    /// Reads among 100 operations: 100 only reads, 0 only writes.
    pub read_percent: u8,
    /// Bytes of one operation.
    pub block_bytes: u32,
    /// What the offsets and the mix follow from. The same seed and span give the same operations.
    pub seed: u64,
}

impl Workload {
    /// Most bytes of one operation.
    pub const MAX_BLOCK_BYTES: u32 = 1 << 20;
}

/// How requests are handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    /// `pread(2)` and `pwrite(2)`, one at a time.
    Psync,
}

/// The order of the offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// One block after the other, from the start again at the end.
    Sequential,
    /// Uniform over the span, by the seed.
    Random,
}
