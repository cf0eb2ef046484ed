//! The exact permutation test: of all ways in which the sides could have been dealt out to the units, how many give
//! a difference at least as large?

use super::effect::Centred;
use super::{Arm, Effect, Layout, Model};

/// Most arrangements that are counted one by one: 9 against 9 are 48,620. Beyond, the t distribution is as good.
pub const MOST_ARRANGEMENTS: u64 = 50_000;

/// What the test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permutation {
    /// Arrangements in all.
    pub arrangements: u64,
    /// Probability of a difference at least this large, two-sided.
    pub p_value: f64,
    /// The smallest probability that any outcome could have.
    pub smallest_p: f64,
}

/// Deals the sides out to the units of each block in every possible way. Where `effect` took a drift out, it is taken
/// out of the values first, and the difference of each arrangement is weighed by how well it can be told from the
/// drift (Freedman and Lane 1983). `None` if there are more than [`MOST_ARRANGEMENTS`].
pub fn permutation_test(layout: &Layout, effect: &Effect) -> Option<Permutation> {
    let blocks = blocks(layout, effect);
    let arrangements = count(&blocks).filter(|&count| count <= MOST_ARRANGEMENTS)?;
    let side_side: f64 = blocks.iter().map(Block::side_side).sum();
    let time_time: f64 = blocks.iter().flat_map(|block| &block.units).map(|unit| unit.time * unit.time).sum();
    // The part of an arrangement's variance that is not the drift's, and its difference in units of it.
    let weigh = |sums: Sums| {
        let own = side_side - if time_time > 0.0 { sums.time * sums.time / time_time } else { 0.0 };
        if own > 1e-9 * side_side { sums.value.abs() / own.sqrt() } else { 0.0 }
    };
    let observed = weigh(blocks.iter().map(Block::observed).fold(Sums::default(), Sums::plus));
    // Sums of the same numbers in another order differ in their last digits.
    let enough = observed * (1.0 - 1e-9);
    let mut as_large = 0;
    each_arrangement(&blocks, Sums::default(), &mut |sums| as_large += u64::from(weigh(sums) >= enough));
    // Exchanging the sides gives a difference as large the other way, where the sides are of one size.
    let mirrored = blocks.iter().all(|block| 2 * block.new == block.units.len());
    Some(Permutation {
        arrangements,
        p_value: as_large as f64 / arrangements as f64,
        smallest_p: if mirrored { 2.0 } else { 1.0 } / arrangements as f64,
    })
}

/// What one unit adds to an arrangement that has it on the new side.
#[derive(Debug, Clone, Copy)]
struct Weight {
    value: f64,
    time: f64,
    new: bool,
}

/// The units among which sides are dealt out.
#[derive(Debug)]
struct Block {
    units: Vec<Weight>,
    new: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    value: f64,
    time: f64,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self { value: self.value + other.value, time: self.time + other.time }
    }
}

impl Block {
    /// Sum of squares of the side about its mean.
    fn side_side(&self) -> f64 {
        let (all, new) = (self.units.len() as f64, self.new as f64);
        new * (all - new) / all
    }

    fn observed(&self) -> Sums {
        let new = self.units.iter().filter(|unit| unit.new);
        new.fold(Sums::default(), |sums, unit| sums.plus(Sums { value: unit.value, time: unit.time }))
    }
}

fn blocks(layout: &Layout, effect: &Effect) -> Vec<Block> {
    let centred = Centred::of(layout);
    // The drift of the values as if there were no sides.
    let drift = if effect.model == Model::Drift { centred.drift_alone() } else { 0.0 };
    let mut blocks: Vec<Block> = (0..layout.blocks).map(|_| Block { units: Vec::new(), new: 0 }).collect();
    for (unit, [_, time, value]) in layout.units.iter().zip(centred.rows) {
        let new = unit.arm == Arm::New;
        let time = if effect.model == Model::Drift { time } else { 0.0 };
        let block = &mut blocks[unit.block];
        block.units.push(Weight { value: value - drift * time, time, new });
        block.new += usize::from(new);
    }
    blocks
}

/// How many arrangements there are; `None` beyond all bounds.
fn count(blocks: &[Block]) -> Option<u64> {
    blocks.iter().try_fold(1_u64, |product, block| {
        let mut ways = 1_u64;
        for at in 0..block.new as u64 {
            ways = ways.checked_mul(block.units.len() as u64 - at)? / (at + 1);
        }
        product.checked_mul(ways)
    })
}

fn each_arrangement(blocks: &[Block], sums: Sums, visit: &mut impl FnMut(Sums)) {
    match blocks.split_first() {
        None => visit(sums),
        Some((block, others)) => choose(&block.units, block.new, others, sums, visit),
    }
}

/// Chooses `left` of `units` for the new side in every way, then goes on with the other blocks.
fn choose(units: &[Weight], left: usize, others: &[Block], sums: Sums, visit: &mut dyn FnMut(Sums)) {
    if left == 0 {
        return each_arrangement(others, sums, &mut |sums| visit(sums));
    }
    for at in 0..=units.len() - left {
        let chosen = Sums { value: units[at].value, time: units[at].time };
        choose(&units[at + 1..], left - 1, others, sums.plus(chosen), visit);
    }
}
