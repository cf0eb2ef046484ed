//! Confidence intervals by resampling whole boots: what boots have in common is kept, and no distribution is
//! assumed.

use super::effect::Centred;
use super::{ALPHA, Arm, Effect, Layout, Model, mean, t_quantile};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{ContinuousCDF, Normal};

/// With fewer independent units a side the interval would be too narrow, and that of the linear model is used.
const FEWEST_UNITS: usize = 20;
/// With more, resampling tells nothing that the linear model does not, and takes long.
const MOST_UNITS: usize = 1000;
const RESAMPLES: usize = 2000;
/// The same runs give the same interval.
const SEED: u128 = 0x0074_6f70_6861_6c66;

/// 95 % intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals {
    /// Of the difference.
    pub added: [f64; 2],
    /// Of the difference in percent of the base.
    pub change_percent: [f64; 2],
}

/// Resamples the units of each side, whole (a boot's runs stay together: Davison and Hinkley 1997, section 3.8), less
/// the drift that `effect` took out, and takes percentiles that are spread to make up for small samples (the
/// expanded percentile interval, Hesterberg 2015). `None` outside of 20 to 1000 units a side, where
/// units are compared within blocks, or where the base may be 0.
pub fn bootstrap(layout: &Layout, effect: &Effect) -> Option<Intervals> {
    if layout.blocks != 1 || layout.fewest() < FEWEST_UNITS || layout.units.len() > 2 * MOST_UNITS {
        return None;
    }
    let overall = mean(&layout.units.iter().map(|unit| unit.value).collect::<Vec<f64>>())?;
    let centred = Centred::of(layout);
    let drift = if effect.model == Model::Drift { centred.both().1 } else { 0.0 };
    let values = centred.rows.iter().map(|[_, time, value]| overall + value - drift * time);
    let (base, new): (Vec<_>, Vec<_>) =
        layout.units.iter().zip(values).partition(|(unit, _)| unit.arm == Arm::Base);
    let plain = |side: Vec<(_, f64)>| side.into_iter().map(|(_, value)| value).collect::<Vec<f64>>();
    let (base, new) = (plain(base), plain(new));
    let mut random = Pcg64Mcg::new(SEED);
    let mut added = Vec::with_capacity(RESAMPLES);
    let mut change = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let base = resampled_mean(&base, &mut random);
        let new = resampled_mean(&new, &mut random);
        if base <= 0.0 {
            return None;
        }
        added.push(new - base);
        change.push((new - base) / base * 100.0);
    }
    let tail = tail(layout.fewest() as f64)?;
    Some(Intervals { added: between(&mut added, tail), change_percent: between(&mut change, tail) })
}

fn resampled_mean(values: &[f64], random: &mut Pcg64Mcg) -> f64 {
    let sum: f64 = (0..values.len()).map(|_| values[random.random_range(0..values.len())]).sum();
    sum / values.len() as f64
}

/// The part of the resamples to leave out at either end, for samples of `count`.
fn tail(count: f64) -> Option<f64> {
    let reach = (count / (count - 1.0)).sqrt() * t_quantile(1.0 - ALPHA / 2.0, 2.0 * (count - 1.0))?;
    Some(Normal::standard().cdf(-reach))
}

/// The resamples that leave `tail` of them out at either end.
fn between(values: &mut [f64], tail: f64) -> [f64; 2] {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len() - 1;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of the number of resamples"
    )]
    let left_out = (tail * last as f64).round() as usize;
    [values[left_out.min(last)], values[last - left_out.min(last)]]
}
