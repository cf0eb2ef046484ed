//! Messages into frames and back, through any damage in between.

use crate::{BodyError, Message, PROTOCOL, Plan};
use alloc::{boxed::Box, format, string::String, vec, vec::Vec};
use core::fmt;

/// The longest frame that is sent or accepted, in bytes as encoded. Bounds what a stream can make a reader
/// hold.
pub const MAX_FRAME_BYTES: usize = 2 << 20;

const HEADER_BYTES: usize = 1 + 4 + 4;
const CRC_BYTES: usize = 4;

/// Numbers messages and puts them into frames.
#[derive(Debug, Clone)]
pub struct FrameWriter {
    session: u32,
    next_seq: u32,
}

impl FrameWriter {
    /// A stream of `session`, from its beginning.
    pub fn new(session: u32) -> Self {
        Self { session, next_seq: 0 }
    }

    /// Frames made so far.
    pub fn frames(&self) -> u32 {
        self.next_seq
    }

    /// The next frame, its final zero included. The first one also begins with a zero, which parts it from
    /// whatever the link printed before.
    ///
    /// # Errors
    /// The message is longer than [`MAX_FRAME_BYTES`]; its number is not used up.
    pub fn frame(&mut self, message: &Message) -> Result<Vec<u8>, FrameTooLong> {
        let mut plain = Vec::with_capacity(256);
        plain.push(message.kind());
        plain.extend(self.session.to_le_bytes());
        plain.extend(self.next_seq.to_le_bytes());
        // Growing a Vec is the only thing postcard could fail at here.
        let mut plain = message.encode_body(plain).map_err(|_| FrameTooLong)?;
        plain.extend(crc32fast::hash(&plain).to_le_bytes());
        let start = usize::from(self.next_seq == 0);
        let mut frame = vec![0; start + cobs::max_encoding_length(plain.len()) + 1];
        if frame.len() > MAX_FRAME_BYTES {
            return Err(FrameTooLong);
        }
        let encoded = cobs::encode(&plain, &mut frame[start..]);
        // The encoder may have left a code byte behind the end, where a run of 254 ends the frame.
        frame.truncate(start + encoded);
        frame.push(0);
        self.next_seq = self.next_seq.wrapping_add(1);
        Ok(frame)
    }
}

/// A message does not fit in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameTooLong;

impl fmt::Display for FrameTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a message does not fit in {MAX_FRAME_BYTES} bytes")
    }
}

impl core::error::Error for FrameTooLong {}

/// What a reader found next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A whole frame.
    Message {
        /// Its number.
        seq: u32,
        /// Frames lost just before it, by the numbers.
        lost: u32,
        /// What it holds.
        message: Box<Message>,
    },
    /// A whole frame of a kind this version does not know.
    UnknownKind {
        /// Its number.
        seq: u32,
        /// The kind.
        kind: u8,
    },
    /// Bytes that are no frame of this stream.
    Damaged {
        /// How many, without the zero that ended them.
        bytes: usize,
        /// What is wrong with them.
        damage: Damage,
    },
}

/// What is wrong with bytes that are no frame of this stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    /// Something printed before the first frame: banners, warnings. Its beginning, made printable.
    LeadingText(String),
    /// The link turned line feeds into carriage return and line feed, as a terminal does.
    PtyTranslation,
    /// The bytes are not a frame, or the check sum is wrong.
    BadFrame,
    /// More than [`MAX_FRAME_BYTES`] without an end.
    TooLong,
    /// A frame of another stream.
    OtherSession {
        /// Its session.
        theirs: u32,
    },
    /// The sender speaks another version.
    OtherProtocol {
        /// The version it speaks.
        theirs: u16,
    },
    /// The check sum is right, the content is not what this kind of frame holds.
    Malformed {
        /// The kind.
        kind: u8,
    },
}

/// Takes a byte stream apart, in pieces of any size.
#[derive(Debug, Clone)]
pub struct FrameReader {
    session: Option<u32>,
    next_seq: u32,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that are already known to hold no zero.
    searched: usize,
    /// Bytes dropped of a segment that grew too long.
    dropped: usize,
    seen_frame: bool,
}

impl FrameReader {
    /// A reader of the stream of `session`, or of any one stream (a stored file) if that is `None`.
    pub fn new(session: Option<u32>) -> Self {
        Self { session, next_seq: 0, buffer: Vec::new(), searched: 0, dropped: 0, seen_frame: false }
    }

    /// Takes in more bytes. They are held until [`FrameReader::next_event`] has passed them.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next event, or `None` until more bytes are fed.
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            let Some(at) = self.buffer[self.searched..].iter().position(|&byte| byte == 0) else {
                self.searched = self.buffer.len();
                if self.searched > MAX_FRAME_BYTES {
                    self.dropped += self.searched;
                    self.buffer.clear();
                    self.searched = 0;
                }
                return None;
            };
            let end = self.searched + at;
            let segment: Vec<u8> = self.buffer.drain(..=end).collect();
            self.searched = 0;
            if self.dropped > 0 {
                let bytes = core::mem::take(&mut self.dropped) + end;
                return Some(Event::Damaged { bytes, damage: Damage::TooLong });
            }
            if end > 0 {
                return Some(self.segment(&segment[..end]));
            }
        }
    }

    /// What is left when the stream is over: bytes after the last zero, cut off in mid-frame.
    pub fn finish(self) -> Option<Event> {
        let bytes = self.dropped + self.buffer.len();
        let damage = if self.seen_frame { Damage::BadFrame } else { leading_text(&self.buffer) };
        (bytes > 0).then_some(Event::Damaged { bytes, damage })
    }

    fn segment(&mut self, encoded: &[u8]) -> Event {
        let bytes = encoded.len();
        let damaged = |damage| Event::Damaged { bytes, damage };
        let Some(plain) = unpack(encoded) else {
            return damaged(if unpack(&without_pty_translation(encoded)).is_some() {
                Damage::PtyTranslation
            } else if self.seen_frame {
                Damage::BadFrame
            } else {
                leading_text(encoded)
            });
        };
        let (header, body) = plain.split_at(HEADER_BYTES);
        let kind = header[0];
        let session = u32::from_le_bytes([header[1], header[2], header[3], header[4]]);
        let seq = u32::from_le_bytes([header[5], header[6], header[7], header[8]]);
        let body = Message::decode_body(kind, body);
        if let Err(BodyError::OtherProtocol { theirs }) = body {
            // Before the session, which a sender that could not read the plan does not know.
            return damaged(Damage::OtherProtocol { theirs });
        }
        if *self.session.get_or_insert(session) != session {
            return damaged(Damage::OtherSession { theirs: session });
        }
        self.seen_frame = true;
        let lost = seq.saturating_sub(self.next_seq);
        self.next_seq = seq.saturating_add(1);
        match body {
            Ok(Some(message)) => Event::Message { seq, lost, message: Box::new(message) },
            Ok(None) => Event::UnknownKind { seq, kind },
            Err(_) => damaged(Damage::Malformed { kind }),
        }
    }
}

/// Header and body of a segment whose check sum is right.
fn unpack(encoded: &[u8]) -> Option<Vec<u8>> {
    let mut plain = cobs::decode_vec(encoded).ok()?;
    if plain.len() < HEADER_BYTES + CRC_BYTES {
        return None;
    }
    let crc = plain.split_off(plain.len() - CRC_BYTES);
    (crc32fast::hash(&plain).to_le_bytes() == crc[..]).then_some(plain)
}

/// Takes back what a terminal's ONLCR did: one carriage return before each line feed.
fn without_pty_translation(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if byte == b'\n' && out.last() == Some(&b'\r') {
            out.pop();
        }
        out.push(byte);
    }
    out
}

fn leading_text(bytes: &[u8]) -> Damage {
    const SHOWN_CHARS: usize = 400;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN_CHARS)]);
    let printable = |c: char| if c.is_control() && c != '\n' { '\u{fffd}' } else { c };
    Damage::LeadingText(text.trim().chars().take(SHOWN_CHARS).map(printable).collect())
}

/// Why a plan could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanError {
    /// The host speaks another version.
    OtherProtocol {
        /// The version it speaks.
        theirs: u16,
    },
    /// It is no plan, or a damaged one.
    Malformed,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherProtocol { theirs } => write!(
                f,
                "the host speaks protocol {theirs} and this agent {PROTOCOL}: use the agent that came with that tophalf"
            ),
            Self::Malformed => f.write_str("the plan is damaged or no plan: give it as the host printed it"),
        }
    }
}

impl core::error::Error for PlanError {}

const PLAN_PREFIX: &str = "tophalf-plan-";

impl Plan {
    /// The plan as one word of letters, digits, `-` and `:`, which passes any shell unquoted.
    ///
    /// # Errors
    /// The plan is longer than a frame may be.
    pub fn to_word(&self) -> Result<String, FrameTooLong> {
        let frame = FrameWriter::new(self.session).frame(&Message::Plan(self.clone()))?;
        let mut word = format!("{PLAN_PREFIX}{PROTOCOL}:");
        for byte in frame {
            word.push(char::from(b"0123456789abcdef"[usize::from(byte >> 4)]));
            word.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
        }
        Ok(word)
    }

    /// Reads what [`Plan::to_word`] wrote.
    ///
    /// # Errors
    /// The word was written by another version, or is not a plan.
    pub fn from_word(word: &str) -> Result<Self, PlanError> {
        let (version, hex) = word
            .strip_prefix(PLAN_PREFIX)
            .and_then(|rest| rest.split_once(':'))
            .ok_or(PlanError::Malformed)?;
        let theirs: u16 = version.parse().map_err(|_| PlanError::Malformed)?;
        if theirs != PROTOCOL {
            return Err(PlanError::OtherProtocol { theirs });
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let bytes: Option<Vec<u8>> = hex
            .as_bytes()
            .chunks(2)
            .map(|pair| match *pair {
                [high, low] => Some((digit(high)? << 4) | digit(low)?),
                _ => None,
            })
            .collect();
        let mut reader = FrameReader::new(None);
        reader.feed(&bytes.ok_or(PlanError::Malformed)?);
        match reader.next_event() {
            Some(Event::Message { message, .. }) => match *message {
                Message::Plan(plan) => Ok(plan),
                _ => Err(PlanError::Malformed),
            },
            _ => Err(PlanError::Malformed),
        }
    }
}
