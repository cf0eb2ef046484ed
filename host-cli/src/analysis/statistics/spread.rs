//! Did the spread of the runs change, where the middle did not?

use super::{ALPHA, mean, median, stddev, t_two_sided};
use crate::analysis::SpreadChange;

/// With fewer runs a side nothing is said of spread.
const FEWEST_RUNS: usize = 4;

/// The test of Brown and Forsythe (1974) for the spread of two sides, each in parts of its own median, so that a side
/// that is slower by a factor is not called wider. `None` with fewer than four runs a side, or without any spread.
pub fn spread_change(base: &[f64], new: &[f64]) -> Option<SpreadChange> {
    if base.len().min(new.len()) < FEWEST_RUNS {
        return None;
    }
    let relative = |values: &[f64]| {
        let centre = median(values).filter(|centre| *centre > 0.0)?;
        Some(values.iter().map(|value| value / centre).collect::<Vec<f64>>())
    };
    let (base, new) = (relative(base)?, relative(new)?);
    let distances = |values: &[f64]| values.iter().map(|value| (value - 1.0).abs()).collect::<Vec<f64>>();
    let (base_distances, new_distances) = (distances(&base), distances(&new));
    let freedom = (base.len() + new.len() - 2) as f64;
    let squares =
        |values: &[f64]| stddev(values).map(|deviation| deviation.powi(2) * (values.len() - 1) as f64);
    let pooled = (squares(&base_distances)? + squares(&new_distances)?) / freedom;
    let error = (pooled * (1.0 / base.len() as f64 + 1.0 / new.len() as f64)).sqrt();
    let difference = mean(&new_distances)? - mean(&base_distances)?;
    let base_deviation = stddev(&base)? / mean(&base)?;
    if error <= 0.0 || base_deviation <= 0.0 {
        return None;
    }
    let p_value = t_two_sided(difference / error, freedom)?;
    let ratio = stddev(&new)? / mean(&new)? / base_deviation;
    Some(SpreadChange { ratio, p_value, changed: p_value <= ALPHA })
}
