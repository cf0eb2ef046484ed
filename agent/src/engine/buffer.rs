//! Memory that direct I/O accepts.

/// Bytes at an address that is a multiple of [`AlignedBuffer::ALIGN_BYTES`].
#[derive(Debug)]
pub struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
    bytes: usize,
}

impl AlignedBuffer {
    /// The largest page a phone has: enough for any device's own demand.
    pub const ALIGN_BYTES: usize = 16 << 10;

    /// `bytes` zeroes.
    pub fn new(bytes: usize) -> Self {
        let memory = vec![0; bytes + Self::ALIGN_BYTES];
        let start = memory.as_ptr().align_offset(Self::ALIGN_BYTES);
        Self { memory, start, bytes }
    }
}

impl std::ops::Deref for AlignedBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.start..][..self.bytes]
    }
}

impl std::ops::DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..][..self.bytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_aligned_and_as_long_as_asked() {
        for bytes in [512, 4096, 8192, 1 << 20] {
            let buffer = AlignedBuffer::new(bytes);
            assert_eq!(buffer.len(), bytes);
            assert!(buffer.as_ptr().addr().is_multiple_of(AlignedBuffer::ALIGN_BYTES));
        }
    }
}
