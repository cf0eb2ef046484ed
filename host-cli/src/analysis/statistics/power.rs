//! How small a difference can be seen.

use super::{ALPHA, Effect, t_quantile};

/// A difference of the smallest visible size is shown by so many of all such comparisons.
const POWER: f64 = 0.8;
/// No more units than this are ever proposed.
const MOST_UNITS: u32 = 10_000;

/// The smallest difference that a comparison with this error shows four times of five, in percent of the base.
pub fn smallest_visible(effect: &Effect) -> Option<f64> {
    let reach = reach(effect.freedom)?;
    (effect.base > 0.0).then(|| reach * effect.standard_error() / effect.base * 100.0)
}

/// Standard errors that a difference must have to be shown four times of five.
fn reach(freedom: f64) -> Option<f64> {
    Some(t_quantile(1.0 - ALPHA / 2.0, freedom)? + t_quantile(POWER, freedom)?)
}

/// How many units each side needs, so that a difference of `percent` is shown four times of five, where units vary by
/// `deviation_percent` (standard deviation). At least [`fewest_units`] of one block; `None` if it is more than can be asked for.
pub fn units_to_show(percent: f64, deviation_percent: f64) -> Option<u32> {
    (fewest_units(1)..=MOST_UNITS)
        .find(|&units| visible_with(units, deviation_percent).is_some_and(|visible| visible <= percent))
}

/// The smallest difference that `units` a side show four times of five, where units vary by `deviation_percent`. `None`
/// with fewer than two a side.
pub fn visible_with(units: u32, deviation_percent: f64) -> Option<f64> {
    let units = f64::from(units);
    Some(reach(2.0 * units - 2.0)? * deviation_percent * (2.0 / units).sqrt())
}

/// The fewest units a side, in each of `blocks` blocks, with which an exact test can fall to [`ALPHA`]: with `n` against
/// `n` units of one block no outcome is less likely than 2 in C(2n, n), which is 0.10 for 3 and 0.029 for 4.
pub fn fewest_units(blocks: usize) -> u32 {
    let mut arrangements = 1.0_f64;
    let mut units = 0;
    while 2.0 / arrangements.powf(blocks as f64) > ALPHA {
        units += 1;
        let n = f64::from(units);
        arrangements *= (4.0 * n - 2.0) / n;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_a_side_are_the_fewest() {
        assert_eq!((fewest_units(1), fewest_units(2), fewest_units(6)), (4, 3, 1));
    }

    #[test]
    fn smaller_differences_need_more_units() {
        let needed: Vec<u32> = [5.0, 2.0, 1.0].iter().filter_map(|&p| units_to_show(p, 1.0)).collect();
        assert_eq!(needed, [4, 6, 17]);
        assert_eq!(units_to_show(0.001, 1.0), None);
    }
}
