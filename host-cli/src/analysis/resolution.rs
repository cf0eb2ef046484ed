//! Whether figures come in steps: a score that is made of a coarse figure, such as whole milliseconds, has few values,
//! and a difference of one step is no evidence of anything.

/// A step of which all figures are multiples, within the rounding of their last digit.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantum {
    /// The step, in the figures' unit.
    pub step: f64,
    /// How many steps each figure is, in the order given.
    pub multiples: Vec<u64>,
}

/// Bound on the probability that figures without a step seem to have one.
const CHANCE: f64 = 2e-3;
/// Fewest different figures: any two have a common step.
const MIN_DISTINCT: usize = 3;
/// A step is this many times what the last digit stands for, or more.
const MIN_GRAINS: f64 = 3.0;
/// Most steps of the largest figure. A finer step, below 0.01 %, matters to nobody.
const MAX_MULTIPLE: u32 = 10_000;
/// Decimal places that are looked at.
const MAX_DECIMALS: i32 = 9;

/// The largest step of which all of `values` are multiples. `None` where there is none, or where chance would give one as
/// large with a probability of more than 0.002: all whole numbers are multiples of 1, and of many numbers nearly so.
///
/// Of `m` different figures, the largest `v`, each rounded to `g`: as a step `q` falls, the figure `w` comes to be a
/// multiple of it `v/q·(w/v)` times, and each time the others are too with `(g/q)^(m-1)` by chance. Over all figures and
/// all steps down to `q` that is at most `(v/g)·(g/q)^m` times.
pub fn quantum(values: &[f64]) -> Option<Quantum> {
    if values.iter().any(|value| !value.is_finite() || *value < 0.0) {
        return None;
    }
    let mut distinct: Vec<f64> = values.iter().copied().filter(|&value| value > 0.0).collect();
    distinct.sort_by(|a, b| b.total_cmp(a));
    distinct.dedup();
    let largest = *distinct.first()?;
    if distinct.len() < MIN_DISTINCT {
        return None;
    }
    let grain = grain(&distinct, largest);
    let smallest_step = smallest_step(distinct.len(), largest, grain);
    let step = (1..=MAX_MULTIPLE)
        .map(|multiple| (multiple, largest / f64::from(multiple)))
        .take_while(|&(_, step)| step >= smallest_step)
        .find_map(|(multiple, _)| common_step(&distinct, multiple, grain / 2.0))?;
    let multiples = values.iter().map(|value| whole(value / step)).collect();
    Some(Quantum { step, multiples })
}

/// What the last digit of the figures stands for; of figures with more digits than that, what floating point leaves.
fn grain(values: &[f64], largest: f64) -> f64 {
    let fits = |decimals: &i32| {
        let power = 10_f64.powi(*decimals);
        values.iter().all(|value| {
            let scaled = value * power;
            scaled < 1e15 && (scaled - scaled.round()).abs() <= 1e-9 * scaled.max(1.0)
        })
    };
    (0..=MAX_DECIMALS).find(fits).map_or(largest * 1e-12, |decimals| 10_f64.powi(-decimals))
}

/// The smallest step that chance would not give.
fn smallest_step(distinct: usize, largest: f64, grain: f64) -> f64 {
    let m = distinct as f64;
    // By logarithms: the power of many figures is out of range.
    let grains = ((largest / grain).ln() - CHANCE.ln()) / m;
    grain * grains.exp().max(MIN_GRAINS)
}

/// The step with which the first, largest figure is `multiple` steps and each other one a smaller number of them, all
/// within `rounding`.
fn common_step(falling: &[f64], multiple: u32, rounding: f64) -> Option<f64> {
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    let mut above = u64::MAX;
    let mut step = falling.first()? / f64::from(multiple);
    // Floating point must not tell apart what ends at the same half of a grain.
    let rounding = rounding * (1.0 + 1e-9);
    for value in falling {
        let steps = whole(value / step);
        // Two different figures are not the same number of steps, rounded.
        if steps == 0 || steps >= above {
            return None;
        }
        above = steps;
        low = low.max((value - rounding) / steps as f64);
        high = high.min((value + rounding) / steps as f64);
        if low > high {
            return None;
        }
        step = f64::midpoint(low, high);
    }
    Some(step)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "quotients of a positive figure, at most 10,001"
)]
fn whole(quotient: f64) -> u64 {
    quotient.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use std::ops::RangeInclusive;

    #[test]
    fn the_scores_of_the_ufs_report_come_in_steps() {
        let found = quantum(&[18604.0, 18314.0, 17732.0, 13372.0, 13081.0, 13081.0]).unwrap();
        assert_eq!(found.multiples, [64, 63, 61, 46, 45, 45]);
        assert!((found.step - 290.69).abs() < 0.01, "{found:?}");
        // 13255 lies between: the step is a fifth.
        let found = quantum(&[13372.0, 13081.0, 13081.0, 14244.0, 13372.0, 13255.0]).unwrap();
        assert_eq!(found.multiples, [230, 225, 225, 245, 230, 228]);
    }

    #[test]
    fn whole_numbers_alone_are_no_steps() {
        assert_eq!(quantum(&[20906.0, 20508.0, 21362.0, 20164.0, 21107.0, 21077.0]), None);
        assert_eq!(quantum(&[4670.0, 4701.0, 4457.0, 4311.0, 4697.0, 4471.0]), None);
        for few in [&[][..], &[5.0], &[5.0, 5.0, 5.0], &[100.0, 200.0], &[1.0, -2.0, 3.0], &[0.0, 0.0, 0.0]] {
            assert_eq!(quantum(few), None, "{few:?}");
        }
        assert_eq!(quantum(&[f64::NAN, 1.0, 2.0, 3.0]), None);
        assert_eq!(quantum(&[f64::INFINITY, 1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn steps_below_one_and_figures_of_many_digits() {
        let found = quantum(&[0.25, 0.5, 1.75, 0.0, 2.5, 3.25, 4.0]).unwrap();
        assert_eq!((found.step, found.multiples.as_slice()), (0.25, &[1, 2, 7, 0, 10, 13, 16][..]));
        let third = |steps: f64| steps / 3.0;
        let found = quantum(&[third(100.0), third(101.0), third(107.0)]).unwrap();
        assert_eq!(found.multiples, [100, 101, 107]);
        assert_eq!(quantum(&[f64::MAX, f64::MAX / 2.0, f64::MIN_POSITIVE]), None);
    }

    /// Rounded figures around a mean, as a score without steps has them.
    fn rounded(random: &mut Pcg64Mcg, n: RangeInclusive<usize>) -> Vec<f64> {
        let n = random.random_range(n);
        let mean = 10_f64.powf(random.random_range(2.0..6.0));
        let spread = random.random_range(0.005..0.4);
        (0..n).map(|_| (mean * (1.0 + spread * random.random_range(-1.0..1.0))).round()).collect()
    }

    #[test]
    fn one_in_five_hundred_sets_without_steps_seems_to_have_one_at_most() {
        let mut random = Pcg64Mcg::seed_from_u64(11);
        const SETS: usize = 8_000;
        for n in [3..=3, 4..=4, 5..=6, 7..=12] {
            let alarms = (0..SETS).filter(|_| quantum(&rounded(&mut random, n.clone())).is_some()).count();
            println!("{n:?} figures: {alarms} of {SETS} sets seem to have steps");
            assert!(alarms * 500 <= SETS, "{n:?}: {alarms}");
        }
    }

    #[test]
    fn steps_are_found_nineteen_times_of_twenty() {
        let mut random = Pcg64Mcg::seed_from_u64(12);
        const SETS: usize = 5_000;
        let found = (0..SETS).filter(|_| {
            let step = random.random_range(50.0..500.0);
            let n = random.random_range(6..=12);
            let steps: Vec<u64> = (0..n).map(|_| random.random_range(40..70)).collect();
            let values: Vec<f64> = steps.iter().map(|&steps| (steps as f64 * step).round()).collect();
            // All of them even, say, and the step is the double one.
            let divisor = steps.iter().fold(0, |a, &b| gcd(a, b));
            let expected: Vec<u64> = steps.iter().map(|steps| steps / divisor).collect();
            quantum(&values).is_some_and(|found| found.multiples == expected)
        });
        let found = found.count();
        println!("{found} of {SETS}");
        assert!(found * 20 >= SETS * 19, "{found}");
    }

    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
}
