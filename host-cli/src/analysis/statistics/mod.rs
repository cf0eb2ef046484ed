//! What a set of runs says about a difference between two sides.
//!
//! The unit is never the single I/O: a run has hundreds of thousands of them, all of which share the run's state, so
//! that a test over I/Os calls two equal kernels different more often than not. The unit is the run, and where
//! boots hold runs of one side only, the boot ([`Layout`]). Time is a covariate where the sides were
//! interleaved ([`Effect`]), so that a device that warms up widens nothing and shifts nothing.
//!
//! Distributions come from `statrs`. `tests/statistics` holds the values that SciPy gives for the same data, and
//! the false alarms and the coverage on simulated devices.

mod bootstrap;
mod describe;
mod effect;
mod layout;
mod permutation;
mod power;
mod spread;

pub use bootstrap::{Intervals, bootstrap};
pub use describe::{OUTLIER_DEVIATIONS, mean, median, modes, outliers, stddev};
pub use effect::{Effect, Model, Sequence};
pub use layout::{Arm, Layout, Unit, Value};
pub use permutation::{MOST_ARRANGEMENTS, Permutation, permutation_test};
pub use power::{fewest_units, smallest_visible, units_to_show, visible_with};
pub use spread::spread_change;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Chance of a false alarm that is accepted, and one less the confidence of every interval.
pub const ALPHA: f64 = 0.05;

/// The value that a t distributed figure stays below with probability `p`. `None` without degrees of freedom.
pub fn t_quantile(p: f64, freedom: f64) -> Option<f64> {
    StudentsT::new(0.0, 1.0, freedom).ok().map(|t| t.inverse_cdf(p))
}

/// Probability that a t distributed figure is at least this far from 0, on either side.
fn t_two_sided(t: f64, freedom: f64) -> Option<f64> {
    StudentsT::new(0.0, 1.0, freedom).ok().map(|distribution| 2.0 * distribution.sf(t.abs()))
}
