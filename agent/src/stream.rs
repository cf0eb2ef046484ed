//! Frames out. Only ever called between windows.

use crate::clock::thread_cpu_ns;
use crate::log::take_waiting;
use std::io::{self, Write};
use tophalf_wire::{FrameWriter, Message};

/// Where the frames go.
pub struct Stream<W> {
    frames: FrameWriter,
    out: W,
    bytes: u64,
    cpu_ns: u64,
}

impl<W: Write> Stream<W> {
    /// The stream of `session`, on `out`.
    pub fn new(session: u32, out: W) -> Self {
        Self { frames: FrameWriter::new(session), out, bytes: 0, cpu_ns: 0 }
    }

    /// Sends the log lines that wait, then `message`. Blocks while the link is slow; nothing is dropped.
    ///
    /// # Errors
    /// The link is gone.
    pub fn send(&mut self, message: &Message) -> io::Result<()> {
        let begin_ns = thread_cpu_ns();
        for line in take_waiting() {
            self.write(&Message::Log(line))?;
        }
        let sent = self.write(message);
        self.cpu_ns += thread_cpu_ns() - begin_ns;
        sent
    }

    fn write(&mut self, message: &Message) -> io::Result<()> {
        let frame = self.frames.frame(message).map_err(io::Error::other)?;
        let mut rest = &frame[..];
        while !rest.is_empty() {
            match self.out.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => rest = &rest[written..],
                // A signal asks for an end, which is sent as a frame after this one. A link that is gone
                // answers EPIPE.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes += frame.len() as u64;
        self.out.flush()
    }

    /// Frames sent.
    pub fn frames(&self) -> u32 {
        self.frames.frames()
    }

    /// Bytes sent.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// CPU time of packing and sending, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tophalf_wire::{Event, FrameReader, Hello};

    /// Takes a few bytes at a time, as a slow link does.
    struct Slow(Vec<u8>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let some = bytes.len().min(3);
            self.0.extend(&bytes[..some]);
            Ok(some)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_slow_link_gets_every_byte() {
        let mut stream = Stream::new(5, Slow(Vec::new()));
        let hello = Message::Hello(Hello::new("0", "test"));
        stream.send(&hello).unwrap();
        assert_eq!((stream.frames(), stream.bytes()), (1, stream.out.0.len() as u64));
        let mut reader = FrameReader::new(Some(5));
        reader.feed(&stream.out.0);
        assert_eq!(reader.next_event(), Some(Event::Message { seq: 0, lost: 0, message: Box::new(hello) }));
    }

    #[test]
    fn a_link_that_is_gone_is_an_error() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = Stream::new(5, Gone).send(&Message::Hello(Hello::new("0", "test"))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
