//! The difference between two sides and how well it is known.
//!
//! A linear model of the units: a level for each block, the side, and, where the sides were interleaved, the
//! time, so that a linear drift of the device is taken out of the difference and out of its error.

use super::{ALPHA, Arm, Layout, Unit, mean, stddev, t_quantile, t_two_sided};

/// Interleaved means that taking the time out inflates the variance of the difference by less than this (variance
/// inflation factor). ABBA has 1, AABB 5.
const MOST_INFLATION: f64 = 1.5;
/// Fewest degrees of freedom that are left when the time is taken out.
const FEWEST_FREEDOM: f64 = 3.0;
/// Below this a drift within the sides is taken for real where the sides were not interleaved.
const DRIFT_ALPHA: f64 = 0.1;

/// How the difference was estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Two means, each with its own variance (Welch 1947).
    Welch,
    /// Sides within blocks, one variance.
    Blocks,
    /// Sides within blocks and a common linear drift, one variance (analysis of covariance).
    Drift,
}

/// An estimated difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Level of the base.
    pub base: f64,
    /// What the new side has more.
    pub added: f64,
    /// Variance of the base's level.
    pub base_variance: f64,
    /// Variance of the difference.
    pub added_variance: f64,
    /// Covariance of the two.
    pub covariance: f64,
    /// Degrees of freedom of the variances.
    pub freedom: f64,
    /// How it was estimated.
    pub model: Model,
    /// The values drift by this much, in percent of the base's level, from the first unit to the last. `None` where
    /// the drift was not estimated.
    pub drift_percent: Option<f64>,
    /// Where the sides were not interleaved: what a drift could have done.
    pub sequence: Option<Sequence>,
}

/// What a drift could have done to sides that were not measured in turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sequence {
    /// Probability of a difference at least this large by chance and a linear drift together.
    pub p_value: f64,
    /// The values do drift within the sides.
    pub drifts: bool,
}

/// Sums of squares and products of side, time and value, each less its block's mean.
pub(super) struct Centred {
    /// Side (1 is new), time and value of each unit.
    pub(super) rows: Vec<[f64; 3]>,
    side_side: f64,
    side_time: f64,
    pub(super) time_time: f64,
    side_value: f64,
    time_value: f64,
}

impl Centred {
    pub(super) fn of(layout: &Layout) -> Self {
        let times: Vec<f64> = layout.units.iter().filter_map(|unit| unit.at).collect();
        let first = times.iter().copied().fold(f64::INFINITY, f64::min);
        let span = times.iter().copied().fold(f64::NEG_INFINITY, f64::max) - first;
        let row = |unit: &Unit| {
            let at = unit.at.filter(|_| span > 0.0).map_or(0.0, |at| (at - first) / span);
            [if unit.arm == Arm::New { 1.0 } else { 0.0 }, at, unit.value]
        };
        let mut rows: Vec<[f64; 3]> = layout.units.iter().map(row).collect();
        let mut sums = vec![[0.0; 4]; layout.blocks];
        for (unit, row) in layout.units.iter().zip(&rows) {
            let sum = &mut sums[unit.block];
            (0..3).for_each(|column| sum[column] += row[column]);
            sum[3] += 1.0;
        }
        for (unit, row) in layout.units.iter().zip(&mut rows) {
            let sum = &sums[unit.block];
            (0..3).for_each(|column| row[column] -= sum[column] / sum[3]);
        }
        let product = |a: usize, b: usize| rows.iter().map(|row| row[a] * row[b]).sum::<f64>();
        Self {
            side_side: product(0, 0),
            side_time: product(0, 1),
            time_time: product(1, 1),
            side_value: product(0, 2),
            time_value: product(1, 2),
            rows,
        }
    }

    /// What the variance of the side's coefficient is inflated by when the time is in the model too. `None` where
    /// time cannot be told from side, or is not known.
    pub(super) fn inflation(&self) -> Option<f64> {
        let determinant = self.side_side * self.time_time - self.side_time * self.side_time;
        (determinant > 1e-9 * self.side_side * self.time_time)
            .then(|| self.side_side * self.time_time / determinant)
    }

    /// Coefficients of side and time together.
    pub(super) fn both(&self) -> (f64, f64) {
        let determinant = self.side_side * self.time_time - self.side_time * self.side_time;
        (
            (self.side_value * self.time_time - self.side_time * self.time_value) / determinant,
            (self.time_value * self.side_side - self.side_time * self.side_value) / determinant,
        )
    }

    /// Coefficient of the time when the side is not in the model.
    pub(super) fn drift_alone(&self) -> f64 {
        if self.time_time > 0.0 { self.time_value / self.time_time } else { 0.0 }
    }

    fn residual_squares(&self, side: f64, time: f64) -> f64 {
        self.rows.iter().map(|row| (row[2] - side * row[0] - time * row[1]).powi(2)).sum()
    }
}

impl Effect {
    /// Estimates the difference. `None` where a side has fewer than two units, or no variance can be estimated.
    pub fn of(layout: &Layout) -> Option<Self> {
        if layout.fewest() < 2 {
            return None;
        }
        let sums = Centred::of(layout);
        let units = layout.units.len() as f64;
        let freedom = units - layout.blocks as f64 - 1.0;
        let inflation = sums.inflation();
        let interleaved = inflation.is_some_and(|inflation| inflation <= MOST_INFLATION);
        if interleaved && freedom - 1.0 >= FEWEST_FREEDOM {
            let (added, drift) = sums.both();
            let variance = sums.residual_squares(added, drift) / (freedom - 1.0);
            let added_variance = variance * inflation? / sums.side_side;
            let model = Self::one_variance(layout, added, variance, added_variance, freedom - 1.0);
            return Some(Self { model: Model::Drift, drift_percent: percent(drift, model.base), ..model });
        }
        let plain = if layout.blocks == 1 {
            Self::welch(layout)?
        } else {
            if freedom < 1.0 || sums.side_side <= 0.0 {
                return None;
            }
            let added = sums.side_value / sums.side_side;
            let variance = sums.residual_squares(added, 0.0) / freedom;
            Self::one_variance(layout, added, variance, variance / sums.side_side, freedom)
        };
        let sequence = if interleaved { None } else { sequence(layout, freedom - 1.0) };
        let drift_percent = sequence.and_then(|(_, drift)| percent(drift, plain.base));
        Some(Self { drift_percent, sequence: sequence.map(|(sequence, _)| sequence), ..plain })
    }

    fn one_variance(layout: &Layout, added: f64, variance: f64, added_variance: f64, freedom: f64) -> Self {
        let units = layout.units.len() as f64;
        let new_share = layout.count(Arm::New) as f64 / units;
        let overall = layout.units.iter().map(|unit| unit.value).sum::<f64>() / units;
        Self {
            base: overall - added * new_share,
            added,
            base_variance: variance / units + new_share * new_share * added_variance,
            added_variance,
            covariance: -new_share * added_variance,
            freedom,
            model: Model::Blocks,
            drift_percent: None,
            sequence: None,
        }
    }

    fn welch(layout: &Layout) -> Option<Self> {
        let side = |arm| {
            let values: Vec<f64> =
                layout.units.iter().filter(|unit| unit.arm == arm).map(|unit| unit.value).collect();
            let count = values.len() as f64;
            Some((mean(&values)?, stddev(&values)?.powi(2) / count, count - 1.0))
        };
        let (base, base_variance, base_freedom) = side(Arm::Base)?;
        let (new, new_variance, new_freedom) = side(Arm::New)?;
        let sum = base_variance + new_variance;
        let weights = base_variance.powi(2) / base_freedom + new_variance.powi(2) / new_freedom;
        Some(Self {
            base,
            added: new - base,
            base_variance,
            added_variance: sum,
            covariance: -base_variance,
            // Without any variance every number of degrees gives the same answer.
            freedom: if weights > 0.0 { sum * sum / weights } else { base_freedom + new_freedom },
            model: Model::Welch,
            drift_percent: None,
            sequence: None,
        })
    }

    /// Standard error of the difference.
    pub fn standard_error(&self) -> f64 {
        self.added_variance.max(0.0).sqrt()
    }

    /// 95 % confidence interval of the difference.
    pub fn added_ci95(&self) -> Option<[f64; 2]> {
        let reach = t_quantile(1.0 - ALPHA / 2.0, self.freedom)? * self.standard_error();
        Some([self.added - reach, self.added + reach])
    }

    /// The difference in percent of the base. `None` where the base is not positive.
    pub fn change_percent(&self) -> Option<f64> {
        percent(self.added, self.base)
    }

    /// 95 % confidence interval of the difference in percent of the base (Fieller 1954). It excludes 0 exactly where
    /// [`Effect::added_ci95`] does. `None` where the base itself may be 0.
    pub fn change_ci95_percent(&self) -> Option<[f64; 2]> {
        let t = t_quantile(1.0 - ALPHA / 2.0, self.freedom)?;
        let square = self.base * self.base - t * t * self.base_variance;
        let linear = self.base * self.added - t * t * self.covariance;
        let constant = self.added * self.added - t * t * self.added_variance;
        let root = (linear * linear - square * constant).max(0.0).sqrt();
        (self.base > 0.0 && square > 0.0)
            .then(|| [(linear - root) / square * 100.0, (linear + root) / square * 100.0])
    }

    /// Probability of a difference at least this large by chance, by the t distribution.
    pub fn p_value(&self) -> Option<f64> {
        let error = self.standard_error();
        if error > 0.0 {
            t_two_sided(self.added / error, self.freedom)
        } else {
            Some(if self.added == 0.0 { 1.0 } else { 0.0 })
        }
    }
}

fn percent(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole * 100.0)
}

/// The model with the drift for sides that were not interleaved, and the drift from the first unit to the last. Time
/// counts by places, so that the night between two sides is no longer than the minute between two runs. `None` where
/// the times are not known, or too few units are left to estimate it from.
fn sequence(layout: &Layout, freedom: f64) -> Option<(Sequence, f64)> {
    let mut by_time: Vec<(usize, f64)> =
        layout.units.iter().enumerate().map(|(at, unit)| Some((at, unit.at?))).collect::<Option<_>>()?;
    by_time.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut in_places = layout.clone();
    for (place, (at, _)) in by_time.into_iter().enumerate() {
        in_places.units[at].at = Some(place as f64);
    }
    let sums = Centred::of(&in_places);
    let inflation = sums.inflation().filter(|_| freedom >= 1.0)?;
    let (side, drift) = sums.both();
    let variance = sums.residual_squares(side, drift) / freedom;
    let p = |coefficient: f64, squares: f64| {
        let error = (variance * inflation / squares).sqrt();
        if error > 0.0 { t_two_sided(coefficient / error, freedom).unwrap_or(1.0) } else { 0.0 }
    };
    let sequence = Sequence {
        p_value: p(side, sums.side_side),
        drifts: drift != 0.0 && p(drift, sums.time_time) < DRIFT_ALPHA,
    };
    Some((sequence, drift))
}
