//! Distributions of latencies, from every single value: nothing is binned, so no figure is coarser than the
//! device's clock.

use super::LatencySummary;
use crate::recording::{Recording, WindowRecord};
use tophalf_wire::{Latencies, Pass};

/// Most operations of one pass that are analysed; 1 GiB of latencies.
pub const MAX_OPERATIONS: usize = 1 << 27;

/// A part of a whole as an exact fraction. Percentiles as floating point choose the wrong rank now and then:
/// `0.9995 * 44000` is not 43,978.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    parts: u64,
    of: u64,
}

impl Quantile {
    /// The median.
    pub const P50: Self = Self::new(50, 100);
    /// 90 %.
    pub const P90: Self = Self::new(90, 100);
    /// 99 %.
    pub const P99: Self = Self::new(99, 100);
    /// 99.9 %.
    pub const P999: Self = Self::new(999, 1000);

    /// `parts` out of `of`: 9995 out of 10,000 is the 99.95th percentile.
    ///
    /// # Panics
    /// `of` is 0, or `parts` is more than `of`.
    pub const fn new(parts: u64, of: u64) -> Self {
        assert!(of > 0 && parts <= of, "a quantile is a part of a whole");
        Self { parts, of }
    }

    /// The value of nearest rank, which is one that occurred: the `ceil(p * n)`-th smallest, and the smallest
    /// for `p` = 0. (Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996, definition 1.)
    pub fn of_sorted(self, sorted: &[u64]) -> Option<u64> {
        let rank = (sorted.len() as u128 * u128::from(self.parts)).div_ceil(u128::from(self.of));
        let index = usize::try_from(rank.saturating_sub(1)).ok()?;
        sorted.get(index).copied()
    }
}

/// The distribution of `sorted` values; `None` if there are none.
pub fn summarize_sorted(sorted: &[u64]) -> Option<LatencySummary> {
    let quantile = |quantile: Quantile| quantile.of_sorted(sorted);
    Some(LatencySummary {
        count: sorted.len() as u64,
        min: *sorted.first()?,
        mean: mean(sorted)?,
        p50: quantile(Quantile::P50)?,
        p90: quantile(Quantile::P90)?,
        p99: quantile(Quantile::P99)?,
        p999: quantile(Quantile::P999)?,
        max: *sorted.last()?,
    })
}

/// The arithmetic mean, from an exact sum.
pub fn mean(values: &[u64]) -> Option<f64> {
    let sum: u128 = values.iter().copied().map(u128::from).sum();
    (!values.is_empty()).then(|| sum as f64 / values.len() as f64)
}

/// The latencies of one pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PassLatencies {
    /// Every operation.
    pub all: Option<LatencySummary>,
    /// Reads.
    pub reads: Option<LatencySummary>,
    /// Writes.
    pub writes: Option<LatencySummary>,
    /// Each window's count and sum.
    pub windows: Vec<WindowLatencies>,
    /// What is wrong with the blocks themselves, as sentences.
    pub problems: Vec<String>,
}

/// Count and sum of a window's latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowLatencies {
    /// The window.
    pub window: u32,
    /// How many.
    pub count: u64,
    /// Their sum, in nanoseconds.
    pub sum_ns: u128,
}

/// Unpacks and sorts the latencies of a pass's finished windows.
pub fn of_pass(recording: &Recording, pass: Pass) -> PassLatencies {
    let mut reads = Vec::new();
    let mut writes = Vec::new();
    let mut result = PassLatencies::default();
    for (record, window) in recording.windows_of(pass) {
        let before = (reads.len(), writes.len());
        if let Err(problem) = unpack_window(record, &mut reads, &mut writes) {
            result.problems.push(format!("window {}: {problem}", window.window));
        }
        let new = reads[before.0..].iter().chain(&writes[before.1..]);
        result.windows.push(WindowLatencies {
            window: window.window,
            count: (reads.len() - before.0 + writes.len() - before.1) as u64,
            sum_ns: new.copied().map(u128::from).sum(),
        });
    }
    reads.sort_unstable();
    writes.sort_unstable();
    result.reads = summarize_sorted(&reads);
    result.writes = summarize_sorted(&writes);
    reads.append(&mut writes);
    // Two sorted runs: the stable sort merges them in linear time.
    reads.sort();
    result.all = summarize_sorted(&reads);
    result
}

fn unpack_window(
    record: &WindowRecord,
    reads: &mut Vec<u64>,
    writes: &mut Vec<u64>,
) -> Result<(), &'static str> {
    let mut next: u64 = 0;
    for latencies in &record.latencies {
        if u64::from(latencies.first) != next {
            return Err("latencies are missing, came twice or are out of order");
        }
        if reads.len() + writes.len() + latencies.block.count() > MAX_OPERATIONS {
            return Err("more operations than are analysed");
        }
        let values = latencies.block.unpack().map_err(|_| "a block of latencies is malformed")?;
        next += values.len() as u64;
        let is_write = kinds(latencies, values.len())?;
        for (at, value) in values.into_iter().enumerate() {
            if is_write(at) { writes.push(value) } else { reads.push(value) }
        }
    }
    Ok(())
}

/// Whether the operation at a place of the block is a write.
fn kinds(latencies: &Latencies, count: usize) -> Result<impl Fn(usize) -> bool + '_, &'static str> {
    let bits = &latencies.write_bits;
    if !bits.is_empty() && bits.len() != count.div_ceil(8) {
        return Err("the kinds of operations do not fit their latencies");
    }
    Ok(move |at: usize| match bits.get(at / 8) {
        Some(byte) => byte >> (at % 8) & 1 == 1,
        None => latencies.all_writes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one_to(n: u64) -> Vec<u64> {
        (1..=n).collect()
    }

    // axboe/fio#1005: 44,000 samples, 99.95th percentile.
    #[test]
    fn the_rank_is_exact() {
        assert_eq!(Quantile::new(9995, 10_000).of_sorted(&one_to(44_000)), Some(43_978));
        assert_eq!(Quantile::P999.of_sorted(&one_to(100_000)), Some(99_900));
        assert_eq!(Quantile::new(9999, 10_000).of_sorted(&one_to(100_000)), Some(99_990));
    }

    // HdrHistogram/HdrHistogram_py#14 and HdrHistogram_rust#58.
    #[test]
    fn few_values_have_the_percentiles_of_nearest_rank() {
        assert_eq!(Quantile::new(25, 100).of_sorted(&[1, 2, 2, 2, 2]), Some(2));
        assert_eq!(Quantile::P50.of_sorted(&[1, 2]), Some(1));
        assert_eq!(Quantile::new(5_000_000_000_000_001, 10_000_000_000_000_000).of_sorted(&[1, 2]), Some(2));
        assert_eq!(Quantile::new(0, 1).of_sorted(&[7, 8]), Some(7));
        assert_eq!(Quantile::new(1, 1).of_sorted(&[7, 8]), Some(8));
        assert_eq!(Quantile::P50.of_sorted(&[]), None);
    }

    // A logarithmic histogram puts both means of the Pixel 6 report, 182.2 and 236.6 µs, into [128, 256).
    #[test]
    fn no_value_is_rounded() {
        let summary = summarize_sorted(&[182_200, 236_600]).unwrap();
        assert_eq!((summary.p50, summary.max), (182_200, 236_600));
        assert_eq!(summary.mean, 209_400.0);
    }

    #[test]
    fn the_mean_of_huge_values_does_not_overflow() {
        assert_eq!(mean(&[u64::MAX, u64::MAX]), Some(u64::MAX as f64));
    }

    proptest! {
        // The naive oracle: the smallest value that is not exceeded by at least the wanted part of all.
        #[test]
        fn percentiles_agree_with_the_definition(
            mut values in prop::collection::vec(0..50u64, 1..200),
            parts in 0..=1000u64,
        ) {
            values.sort_unstable();
            let wanted = |value: u64| {
                values.iter().filter(|&&other| other <= value).count() as u64 * 1000
                    >= parts * values.len() as u64
            };
            let expected = values.iter().copied().find(|&value| wanted(value));
            prop_assert_eq!(Quantile::new(parts, 1000).of_sorted(&values), expected);
        }
    }
}
