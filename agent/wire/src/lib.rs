//! What travels between tophalf's two sides: the [`Plan`] that goes to the device, the [`Message`]s that
//! come back, and how both are put into bytes. Plain data and its encoding, nothing else: no files, no
//! clocks, no operating system.
//!
//! # The stream
//!
//! A stream is a run of frames, each ended by a zero byte:
//!
//! ```text
//! frame  = COBS( kind:u8  session:u32le  seq:u32le  body  crc32:u32le )  0x00
//! ```
//!
//! COBS keeps zero out of everything but the end of a frame, so after damage of any length a reader is in
//! step again at the next zero. `session` is the number the plan gave, so that two devices' frames can never
//! be mistaken for one another's. `seq` counts from 0 and shows what was lost. The CRC (CRC-32/ISO-HDLC)
//! covers everything before it. `body` is postcard, except that the first frame's begins with fixed bytes
//! (see [`Hello`]), which any two versions can read of each other.
//!
//! # Versions
//!
//! | protocol | tophalf | what changed |
//! | --- | --- | --- |
//! | 1 | 0.1 | the first |
//!
//! postcard is positional: a body with a field more or less is another format. Therefore any change to a
//! body, however small, is a new [`PROTOCOL`]; a new *kind* of frame is not, since readers pass over kinds
//! they do not know.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod facts;
mod frame;
mod latency;
mod message;
mod observation;
mod plan;

pub use facts::*;
pub use frame::*;
pub use latency::*;
pub use message::*;
pub use observation::*;
pub use plan::*;

/// The version of everything in this crate that is put into bytes.
pub const PROTOCOL: u16 = 1;

/// Why a figure is not there, in words for the person who reads the report.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Unavailable {
    /// One sentence: what was read, and what the system answered.
    pub reason: alloc::string::String,
}

impl Unavailable {
    /// A figure that is missing for `reason`.
    pub fn new(reason: impl Into<alloc::string::String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl core::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl core::error::Error for Unavailable {}

/// A figure, or the reason why there is none. What could not be read is never a zero.
pub type Reading<T> = Result<T, Unavailable>;
