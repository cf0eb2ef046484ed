//! Comparisons of runs of the same thing, as they would have been made.

use super::FalseAlarms;
use crate::analysis::compare::{Question, judge};
use crate::analysis::statistics::{ALPHA, Arm, Value, mean};
use crate::analysis::{Better, Verdict};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{Binomial, DiscreteCDF};

/// Random orders tried in all, spread over the places of the sequences.
const ORDERS: usize = 200;
/// Most of them at one place.
const MOST_ORDERS_A_PLACE: usize = 20;
/// The same runs give the same orders.
const SEED: u128 = 1;
/// Alarms less likely than this, if one in twenty were right, are not chance.
const NOT_CHANCE: f64 = 0.01;

/// Times and values that were measured one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence<'a> {
    pub(super) values: &'a [(f64, f64)],
    pub(super) within_a_boot: bool,
}

/// Compares `units` against `units` at every place, in turns and dealt out at random. `None` where no sequence is long
/// enough. With it, whether as many alarms can be chance.
pub(super) fn replay(
    of: &'static str,
    units: u32,
    sequences: &[Sequence<'_>],
    better: Better,
    margin_percent: f64,
) -> Option<(FalseAlarms, bool)> {
    let abba = [Arm::Base, Arm::New, Arm::New, Arm::Base];
    let length = 2 * units as usize;
    let turns: Vec<Arm> = (0..length).map(|at| abba[at % 4]).collect();
    let mut random = Pcg64Mcg::new(SEED);
    let mut found = FalseAlarms {
        of,
        units,
        in_turns: 0,
        alarms_in_turns: 0,
        at_random: 0,
        alarms_at_random: 0,
        beyond_range: 0,
    };
    let (mut apart, mut alarms_apart) = (0_u64, 0_u64);
    let places: usize = sequences.iter().map(|sequence| sequence.values.windows(length).count()).sum();
    let orders = ORDERS.div_ceil(places.max(1)).min(MOST_ORDERS_A_PLACE);
    for sequence in sequences {
        for (place, window) in sequence.values.windows(length).enumerate() {
            let alarm =
                |order: &[Arm]| is_alarm(window, order, sequence.within_a_boot, better, margin_percent);
            let in_turns = alarm(&turns);
            found.in_turns += 1;
            found.alarms_in_turns += usize::from(in_turns);
            found.beyond_range += usize::from(beyond_range(window, &turns));
            if place % length == 0 {
                apart += 1;
                alarms_apart += u64::from(in_turns);
            }
            let mut order = turns.clone();
            for _ in 0..orders {
                order.shuffle(&mut random);
                found.at_random += 1;
                found.alarms_at_random += usize::from(alarm(&order));
            }
        }
    }
    // Windows that overlap are no trials of their own.
    let chance = Binomial::new(ALPHA, apart).ok()?;
    let as_many = if alarms_apart == 0 { 1.0 } else { chance.sf(alarms_apart - 1) };
    (found.in_turns > 0).then_some((found, as_many >= NOT_CHANCE))
}

fn is_alarm(
    window: &[(f64, f64)],
    order: &[Arm],
    within_a_boot: bool,
    better: Better,
    margin_percent: f64,
) -> bool {
    // A boot of its own for each, or one for all.
    let names: Vec<String> = (0..window.len()).map(|at| at.to_string()).collect();
    let values: Vec<Value<'_>> = window
        .iter()
        .zip(order)
        .zip(&names)
        .map(|(((at, value), arm), name)| Value {
            arm: *arm,
            device: None,
            boot: Some(if within_a_boot { "one" } else { name }),
            at: Some(*at),
            value: *value,
        })
        .collect();
    let judged = judge(&Question { values: &values, better, margin_percent, blocked: None });
    matches!(judged.verdict, Verdict::Regression | Verdict::Improvement)
}

fn beyond_range(window: &[(f64, f64)], order: &[Arm]) -> bool {
    let side = |arm: Arm| -> Vec<f64> {
        window.iter().zip(order).filter(|(_, of)| **of == arm).map(|((_, value), _)| *value).collect()
    };
    let (base, new) = (side(Arm::Base), side(Arm::New));
    mean(&new).is_some_and(|new| base.iter().all(|run| new > *run) || base.iter().all(|run| new < *run))
}
