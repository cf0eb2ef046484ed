//! `pread(2)` and `pwrite(2)`, one at a time.

use super::{AlignedBuffer, Engine};
use crate::pattern::{Op, fill_incompressible};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// One request in flight, and the thread asleep until it is done.
#[derive(Debug)]
pub struct Psync {
    file: File,
    buffer: AlignedBuffer,
}

impl Psync {
    /// Requests of `block_bytes` on `file`. What is written are bytes that no device compresses.
    pub fn new(file: File, block_bytes: usize, seed: u64) -> Self {
        let mut buffer = AlignedBuffer::new(block_bytes);
        fill_incompressible(&mut buffer, seed);
        Self { file, buffer }
    }
}

impl Engine for Psync {
    #[inline]
    fn perform(&mut self, op: Op) -> io::Result<usize> {
        if op.write {
            self.file.write_at(&self.buffer, op.offset)
        } else {
            self.file.read_at(&mut self.buffer, op.offset)
        }
    }

    fn block_bytes(&self) -> usize {
        self.buffer.len()
    }
}
