//! Which block comes next, and whether it is read or written: a pure function of the seed.

use tophalf_wire::{Pattern, Workload};

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// Where it begins, in bytes from the start of the target.
    pub offset: u64,
    /// It writes.
    pub write: bool,
}

/// The endless list of operations of a workload.
#[derive(Debug, Clone)]
pub struct Operations {
    random: SplitMix64,
    blocks: u64,
    block_bytes: u64,
    next_block: u64,
    pattern: Pattern,
    read_percent: u64,
}

impl Operations {
    /// The operations of `workload` on the first `span_bytes` of a target. The span must hold a block.
    pub fn new(workload: &Workload, span_bytes: u64) -> Self {
        let block_bytes = u64::from(workload.block_bytes);
        Self {
            random: SplitMix64(workload.seed),
            blocks: (span_bytes / block_bytes.max(1)).max(1),
            block_bytes,
            next_block: 0,
            pattern: workload.pattern,
            read_percent: u64::from(workload.read_percent),
        }
    }

    /// The next operation.
    #[inline]
    pub fn next_op(&mut self) -> Op {
        let block = match self.pattern {
            Pattern::Random => self.random.below(self.blocks),
            Pattern::Sequential => {
                let block = self.next_block;
                self.next_block = if block + 1 == self.blocks { 0 } else { block + 1 };
                block
            }
        };
        let write = match self.read_percent {
            100 => false,
            0 => true,
            percent => self.random.below(100) >= percent,
        };
        Op { offset: block * self.block_bytes, write }
    }
}

/// Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. Written out here
/// because the list that a seed gives is part of what was measured and must never change with a crate.
#[derive(Debug, Clone)]
struct SplitMix64(u64);

impl SplitMix64 {
    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound`, to one part in 2^64 / bound.
    #[inline]
    fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(bound);
        (product >> 64) as u64
    }
}

/// Bytes that no device compresses, the same for the same seed.
pub fn fill_incompressible(buffer: &mut [u8], seed: u64) {
    let mut random = SplitMix64(seed);
    for chunk in buffer.chunks_mut(8) {
        let bytes = random.next().to_le_bytes();
        chunk.copy_from_slice(&bytes[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tophalf_wire::Engine;

    fn workload(pattern: Pattern, read_percent: u8, seed: u64) -> Workload {
        Workload { engine: Engine::Psync, pattern, read_percent, block_bytes: 4096, seed }
    }

    fn list(workload: &Workload, span_bytes: u64, ops: usize) -> Vec<Op> {
        let mut operations = Operations::new(workload, span_bytes);
        (0..ops).map(|_| operations.next_op()).collect()
    }

    /// Vigna's splitmix64.c with state 1234567.
    #[test]
    fn splitmix64_gives_the_published_numbers() {
        let mut random = SplitMix64(1_234_567);
        let got: Vec<u64> = (0..5).map(|_| random.next()).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(got, published);
    }

    /// fio#1502, fio#99, CeTune#12.
    #[test]
    fn a_seed_is_its_list() {
        let one = list(&workload(Pattern::Random, 100, 1), 1 << 30, 1000);
        assert_eq!(one, list(&workload(Pattern::Random, 100, 1), 1 << 30, 1000));
        assert_ne!(one, list(&workload(Pattern::Random, 100, 2), 1 << 30, 1000));
    }

    /// fio#658: the low bits of the block numbers are uniform. 63 degrees of freedom; the quantile for
    /// p = 0.001 is 103.44 (scipy.stats.chi2.isf(0.001, 63)).
    #[test]
    fn low_bits_of_a_million_offsets_are_uniform() {
        const OPS: u32 = 1_000_000;
        let mut bins = [0u32; 64];
        for op in list(&workload(Pattern::Random, 100, 42), 1 << 40, OPS as usize) {
            bins[usize::try_from(op.offset / 4096 % 64).unwrap()] += 1;
        }
        let expected = f64::from(OPS) / 64.0;
        let chi2: f64 = bins.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        assert!(chi2 < 103.44, "chi2 {chi2}");
    }

    #[test]
    fn offsets_stay_on_blocks_inside_the_span() {
        for pattern in [Pattern::Random, Pattern::Sequential] {
            for op in list(&workload(pattern, 100, 3), 10 * 4096 + 17, 1000) {
                assert!(op.offset % 4096 == 0 && op.offset < 10 * 4096, "{op:?}");
            }
        }
    }

    #[test]
    fn sequential_goes_round() {
        let offsets: Vec<u64> =
            list(&workload(Pattern::Sequential, 100, 0), 3 * 4096, 5).iter().map(|op| op.offset).collect();
        assert_eq!(offsets, [0, 4096, 8192, 0, 4096]);
    }

    #[test]
    fn the_mix_is_what_was_asked() {
        for (percent, expected) in [(100, 0), (0, 100_000), (70, 30_000), (50, 50_000)] {
            let ops = list(&workload(Pattern::Random, percent, 9), 1 << 30, 100_000);
            let writes = ops.iter().filter(|op| op.write).count();
            assert!(writes.abs_diff(expected) < 700, "{percent}% reads: {writes} writes");
        }
    }
}
