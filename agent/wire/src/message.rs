//! What the device sends: one kind of frame a message.

use crate::{
    Edge, Facts, Hops, KernelConfig, Latencies, PROTOCOL, Plan, Samples, State, TargetFacts, Window,
};
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// Declares the messages, each with the number it travels under. Numbers are never used again.
macro_rules! messages {
    ($($(#[$doc:meta])* $kind:literal => $name:ident($body:ty),)*) => {
        /// A message from the device.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Message { $($(#[$doc])* $name($body),)* }

        impl Message {
            /// The number this kind travels under.
            pub fn kind(&self) -> u8 {
                match self { $(Self::$name(_) => $kind,)* }
            }

            pub(crate) fn encode_body(&self, into: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
                match self { $(Self::$name(body) => Body::encode(body, into),)* }
            }

            pub(crate) fn decode_body(kind: u8, bytes: &[u8]) -> Result<Option<Self>, BodyError> {
                match kind {
                    $($kind => <$body as Body>::decode(bytes).map(|body| Some(Self::$name(body))),)*
                    _ => Ok(None),
                }
            }
        }

        $(messages!(@body $name $body);)*
    };
    (@body Hello $body:ty) => {};
    (@body $name:ident $body:ty) => {
        impl Body for $body {
            fn encode(&self, into: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
                postcard::to_extend(self, into)
            }
            fn decode(bytes: &[u8]) -> Result<Self, BodyError> {
                match postcard::take_from_bytes(bytes) {
                    Ok((body, [])) => Ok(body),
                    _ => Err(BodyError::Malformed),
                }
            }
        }
    };
}

trait Body: Sized {
    fn encode(&self, into: Vec<u8>) -> Result<Vec<u8>, postcard::Error>;
    fn decode(bytes: &[u8]) -> Result<Self, BodyError>;
}

/// Why a frame that arrived whole could not be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    /// The sender speaks another version.
    OtherProtocol {
        /// The version it speaks.
        theirs: u16,
    },
    /// The bytes are not what this kind of frame holds.
    Malformed,
}

messages! {
    /// The first frame of a stream.
    0 => Hello(Hello),
    /// The plan as the device understood it.
    1 => Plan(Plan),
    /// What the device is.
    2 => Facts(Facts),
    /// What the target turned out to be.
    3 => Target(TargetFacts),
    /// Counters at one end of a window.
    4 => Edge(Edge),
    /// A window, after it.
    5 => Window(Window),
    /// Latencies of a window.
    6 => Latencies(Latencies),
    /// Cheap counters inside a window.
    7 => Samples(Samples),
    /// Operations of the hops pass.
    8 => Hops(Hops),
    /// A line for people.
    9 => Log(LogLine),
    /// A file that a probe read.
    10 => Recorded(Recorded),
    /// The last frame of a stream. Without it, the run failed.
    11 => End(End),
    /// The state of the device at one end of a window, or once for a probe.
    12 => State(State),
    /// How the kernel was built.
    13 => KernelConfig(KernelConfig),
}

/// The first frame. Its body begins with fixed bytes that every version can read of every other:
///
/// ```text
/// "TPHF"  protocol:u16le  bytes 0x00..=0xff  postcard(agent_version, build)
/// ```
///
/// All 256 byte values travel in it, so that a link that changes any of them is found out at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// [`PROTOCOL`] of the sender.
    pub protocol: u16,
    /// Version of the program.
    pub agent_version: String,
    /// What it was built for and how, such as `aarch64-linux-musl`.
    pub build: String,
}

impl Hello {
    const MAGIC: [u8; 4] = *b"TPHF";
    const FIXED_BYTES: usize = 4 + 2 + 256;

    /// A greeting from this version of the protocol.
    pub fn new(agent_version: impl Into<String>, build: impl Into<String>) -> Self {
        Self { protocol: PROTOCOL, agent_version: agent_version.into(), build: build.into() }
    }
}

impl Body for Hello {
    fn encode(&self, mut into: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
        into.extend(Self::MAGIC);
        into.extend(self.protocol.to_le_bytes());
        into.extend(0..=u8::MAX);
        postcard::to_extend(&(&self.agent_version, &self.build), into)
    }

    fn decode(bytes: &[u8]) -> Result<Self, BodyError> {
        let (fixed, rest) = bytes.split_at_checked(Self::FIXED_BYTES).ok_or(BodyError::Malformed)?;
        let (magic, fixed) = fixed.split_at(4);
        if magic != Self::MAGIC {
            return Err(BodyError::Malformed);
        }
        let protocol = u16::from_le_bytes([fixed[0], fixed[1]]);
        if protocol != PROTOCOL {
            return Err(BodyError::OtherProtocol { theirs: protocol });
        }
        if !fixed[2..].iter().copied().eq(0..=u8::MAX) {
            return Err(BodyError::Malformed);
        }
        match postcard::take_from_bytes(rest) {
            Ok(((agent_version, build), [])) => Ok(Self { protocol, agent_version, build }),
            _ => Err(BodyError::Malformed),
        }
    }
}

/// How grave a log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// Something failed.
    Error,
    /// Something is not as it should be, and the run goes on.
    Warn,
    /// Worth knowing.
    Info,
}

/// A line for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// How grave it is.
    pub level: Level,
    /// The line, without its end.
    pub text: String,
}

/// A file, link or folder that a probe read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Absolute path.
    pub path: String,
    /// What was there.
    pub content: RecordedContent,
}

/// What a probe found at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordedContent {
    /// A file's bytes, at most 1 MiB of them.
    File(Vec<u8>),
    /// Where a link points.
    Link(String),
    /// A folder.
    Folder,
}

/// The last frame of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How it ended.
    pub outcome: Outcome,
    /// Frames sent before this one.
    pub frames: u32,
    /// What measuring itself cost.
    pub overhead: Overhead,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// All of the plan was done.
    Done,
    /// It was stopped early; what was sent before counts.
    Stopped {
        /// By what: a signal, or the end of standard input.
        reason: String,
    },
    /// It could not be done.
    Failed {
        /// Who has to mend it.
        fault: Fault,
        /// What was tried, on what, what the system answered, what to do next.
        message: String,
    },
}

/// Who has to mend a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// The plan asks for something that cannot be: the user.
    Usage,
    /// The device did not do what it should.
    Device,
}

/// What measuring itself cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Overhead {
    /// The loop without its I/O (offset, clock, store), measured before the run, per operation. It is part
    /// of every latency of the timed pass.
    pub loop_ns: u64,
    /// CPU time of the sampling thread inside the windows.
    pub sampler_cpu_ns: u64,
    /// CPU time of packing and sending, between windows.
    pub stream_cpu_ns: u64,
    /// Bytes sent.
    pub stream_bytes: u64,
    /// Bytes of latencies as packed.
    pub latency_bytes: u64,
    /// Largest resident size of the process, in bytes.
    pub peak_rss_bytes: u64,
}
