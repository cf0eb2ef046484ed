//! Latencies, packed without loss.
//!
//! Latencies of one workload lie close together, on the grain of the device's clock. A block therefore
//! holds their greatest common divisor (the grain, where the clock has one), the middle value, and each
//! value's distance from it as an adaptive Golomb-Rice code: a folded difference `d` is `d >> k` ones, a
//! zero and the low `k` bits, with the `k` that makes the block shortest. A distance too far for that costs
//! one fixed escape instead, so that one stall of a second does not cost a million bits.
//!
//! (Rice, "Some Practical Universal Noiseless Coding Techniques", JPL 79-22, 1979.)

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A quotient of this many ones is the escape: 6 bits of width less one, and the folded difference in that
/// many bits.
const ESCAPE_ONES: u32 = 16;
const WIDTH_BITS: u32 = 6;
const MAX_RICE_BITS: u32 = 40;

/// Most values of one block.
pub const MAX_BLOCK_VALUES: usize = 8192;

/// Up to [`MAX_BLOCK_VALUES`] values of 64 bits, in order, packed without loss.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LatencyBlock {
    count: u32,
    unit: u64,
    middle: u64,
    rice_bits: u8,
    bits: Vec<u8>,
}

/// A block that no packer could have made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedBlock;

impl core::fmt::Display for MalformedBlock {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a block of latencies is malformed")
    }
}

impl core::error::Error for MalformedBlock {}

impl LatencyBlock {
    /// Packs `values`, of which there may be at most [`MAX_BLOCK_VALUES`]; more are left out.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "MAX_BLOCK_VALUES and MAX_RICE_BITS bound both casts"
    )]
    pub fn pack(values: &[u64]) -> Self {
        let values = &values[..values.len().min(MAX_BLOCK_VALUES)];
        let unit = values.iter().copied().fold(0, gcd).max(1);
        let mut scaled: Vec<u64> = values.iter().map(|value| value / unit).collect();
        let middle = match scaled.len() {
            0 => 0,
            len => *scaled.select_nth_unstable(len / 2).1,
        };
        let folded: Vec<u64> = values.iter().map(|value| fold(value / unit, middle)).collect();
        let size_with = |k: u32| folded.iter().map(|&d| u64::from(coded_bits(d, k))).sum::<u64>();
        let k = (0..=MAX_RICE_BITS).min_by_key(|&k| size_with(k)).unwrap_or(0);
        let mut writer = BitWriter::default();
        for &d in &folded {
            if let Some(quotient) = short_quotient(d, k) {
                writer.put((1 << (quotient + 1)) - 2, quotient + 1);
                writer.put(d, k);
            } else {
                let width = 64 - d.leading_zeros();
                writer.put((1 << ESCAPE_ONES) - 1, ESCAPE_ONES);
                writer.put(u64::from(width - 1), WIDTH_BITS);
                writer.put(d, width);
            }
        }
        Self { count: folded.len() as u32, unit, middle, rice_bits: k as u8, bits: writer.finish() }
    }

    /// How many values the block says it holds.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Bytes of the packed values.
    pub fn packed_bytes(&self) -> usize {
        self.bits.len()
    }

    /// The values, in order.
    ///
    /// # Errors
    /// The block is not one that [`LatencyBlock::pack`] makes. It is then not used in part.
    pub fn unpack(&self) -> Result<Vec<u64>, MalformedBlock> {
        let k = u32::from(self.rice_bits);
        // Each value takes one bit at least, so that a small block cannot ask for a large buffer.
        if self.count() > MAX_BLOCK_VALUES || k > MAX_RICE_BITS || self.count() > self.bits.len() * 8 {
            return Err(MalformedBlock);
        }
        let mut reader = BitReader { bytes: &self.bits, at: 0 };
        (0..self.count)
            .map(|_| {
                let mut quotient = 0;
                while quotient < ESCAPE_ONES && reader.take(1)? == 1 {
                    quotient += 1;
                }
                let folded = if quotient < ESCAPE_ONES {
                    (u64::from(quotient) << k) | reader.take(k)?
                } else {
                    let width = u32::try_from(reader.take(WIDTH_BITS)?).ok()? + 1;
                    reader.take(width)?
                };
                unfold(folded, self.middle).checked_mul(self.unit)
            })
            .collect::<Option<_>>()
            .ok_or(MalformedBlock)
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The distance from the middle as one unsigned number: near ones of either sign become small. Where one
/// side has no more room, the value's distance from the far end needs no sign.
fn fold(value: u64, middle: u64) -> u64 {
    let room = middle.min(u64::MAX - middle);
    if value.abs_diff(middle) > room {
        if room == middle { value } else { u64::MAX - value }
    } else if value >= middle {
        (value - middle) * 2
    } else {
        (middle - value) * 2 - 1
    }
}

/// Takes back [`fold`].
fn unfold(folded: u64, middle: u64) -> u64 {
    let room = middle.min(u64::MAX - middle);
    if folded > room * 2 {
        if room == middle { folded } else { u64::MAX - folded }
    } else if folded.is_multiple_of(2) {
        middle + folded / 2
    } else {
        middle - folded.div_ceil(2)
    }
}

/// The quotient, if it is written in ones.
fn short_quotient(folded: u64, k: u32) -> Option<u32> {
    u32::try_from(folded >> k).ok().filter(|&quotient| quotient < ESCAPE_ONES)
}

fn coded_bits(folded: u64, k: u32) -> u32 {
    match short_quotient(folded, k) {
        Some(quotient) => quotient + 1 + k,
        None => ESCAPE_ONES + WIDTH_BITS + 64 - folded.leading_zeros(),
    }
}

/// Bits into bytes, the lowest bit of a byte last: the first bit written is a byte's highest.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    pending: u128,
    pending_bits: u32,
}

impl BitWriter {
    /// Appends the low `bits` (at most 64) of `value`.
    fn put(&mut self, value: u64, bits: u32) {
        let value = u128::from(value) & ((1 << bits) - 1);
        self.pending = (self.pending << bits) | value;
        self.pending_bits += bits;
        while self.pending_bits >= 8 {
            self.pending_bits -= 8;
            self.bytes.extend_from_slice(&(self.pending >> self.pending_bits).to_le_bytes()[..1]);
        }
        self.pending &= (1 << self.pending_bits) - 1;
    }

    fn finish(mut self) -> Vec<u8> {
        if self.pending_bits > 0 {
            self.put(0, 8 - self.pending_bits);
        }
        self.bytes
    }
}

struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl BitReader<'_> {
    fn take(&mut self, bits: u32) -> Option<u64> {
        let mut value = 0;
        for _ in 0..bits {
            let byte = self.bytes.get(self.at / 8)?;
            value = (value << 1) | u64::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_values_survive(values in prop::collection::vec(any::<u64>(), 0..300)) {
            prop_assert_eq!(LatencyBlock::pack(&values).unpack(), Ok(values));
        }

        #[test]
        fn values_on_a_grain_survive(
            grain in 1..1000u64,
            values in prop::collection::vec(0..5_000u64, 0..300),
            stall in prop::option::of(0..u64::MAX / 1000),
        ) {
            let mut values: Vec<u64> = values.into_iter().chain(stall).map(|v| v * grain).collect();
            values.rotate_left(stall.is_some().into());
            prop_assert_eq!(LatencyBlock::pack(&values).unpack(), Ok(values));
        }

        #[test]
        fn any_block_is_read_or_refused(
            count in 0..100_000u32, unit: u64, middle: u64, rice_bits: u8,
            bits in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let block = LatencyBlock { count, unit, middle, rice_bits, bits };
            if let Ok(values) = block.unpack() {
                prop_assert_eq!(values.len(), block.count());
            }
        }
    }

    #[test]
    fn equal_values_cost_a_bit_each() {
        let block = LatencyBlock::pack(&[33_216; 8000]);
        assert_eq!(block.packed_bytes(), 1000);
        assert_eq!(block.unpack(), Ok(vec![33_216; 8000]));
    }

    #[test]
    fn a_stall_costs_an_escape_and_not_its_length() {
        let mut values = vec![50_000; 4096];
        let without = LatencyBlock::pack(&values).packed_bytes();
        values[7] = 30_000_000_000;
        assert!(LatencyBlock::pack(&values).packed_bytes() <= without + 12);
    }

    #[test]
    fn more_than_a_block_holds_is_left_out() {
        assert_eq!(LatencyBlock::pack(&vec![1; MAX_BLOCK_VALUES + 1]).count(), MAX_BLOCK_VALUES);
    }
}
