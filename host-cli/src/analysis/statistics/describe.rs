//! One side's runs, described.

use crate::analysis::Modes;

/// A run further than this from the median, in standard deviations as estimated from the median absolute deviation,
/// is an outlier (Iglewicz and Hoaglin 1993).
pub const OUTLIER_DEVIATIONS: f64 = 3.5;
/// With fewer runs none can be called far from the others.
const FEWEST_FOR_OUTLIERS: usize = 5;

/// Arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The middle value, or the mean of the two in the middle; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted.get(middle).copied()
    } else {
        mean(sorted.get(middle.checked_sub(1)?..=middle)?)
    }
}

/// Standard deviation of a sample (n − 1); `None` with fewer than two values.
pub fn stddev(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// Places of the values far from the others, and their distance from the median in standard deviations.
pub fn outliers(values: &[f64]) -> Vec<(usize, f64)> {
    if values.len() < FEWEST_FOR_OUTLIERS {
        return Vec::new();
    }
    let Some(centre) = median(values) else { return Vec::new() };
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    // Where more than half of the values are equal, the mean distance takes the median distance's place.
    let scale = match median(&distances) {
        Some(distance) if distance > 0.0 => distance * 1.4826,
        _ => mean(&distances).unwrap_or(0.0) * 1.253_314,
    };
    if scale <= 0.0 {
        return Vec::new();
    }
    let far = values.iter().enumerate().map(|(at, value)| (at, (value - centre) / scale));
    far.filter(|(_, deviations)| deviations.abs() > OUTLIER_DEVIATIONS).collect()
}

/// For each number of values from 6 on: of normal samples that large, two in a thousand have no more than this part
/// of their sum of squares left within two groups that are split as well as can be, each of at least two values.
/// Found by simulation (`tests/data/statistics/two_groups.py`); what lies between two rows takes the upper one.
const TWO_GROUPS: [(usize, f64); 9] = [
    (6, 0.0147),
    (7, 0.0258),
    (8, 0.0372),
    (10, 0.0621),
    (12, 0.0827),
    (15, 0.1080),
    (20, 0.1397),
    (30, 0.1796),
    (50, 0.2202),
];

/// The two groups that values fall into, if they do: the split that leaves the least sum of squares within the
/// groups (two means in one dimension, Fisher 1958) leaves less than chance would.
pub fn modes(values: &[f64]) -> Option<Modes> {
    let (_, most) = TWO_GROUPS.iter().rev().find(|(count, _)| *count <= values.len())?;
    let centre = mean(values)?;
    let mut sorted: Vec<f64> = values.iter().map(|value| value - centre).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let all: f64 = sorted.iter().map(|value| value * value).sum();
    // With the mean taken off, what a split takes out of the sum of squares follows from the sum below it alone.
    let count = sorted.len() as f64;
    let mut below = 0.0;
    let mut best = (0, 0.0);
    for (at, value) in sorted.iter().enumerate().take(sorted.len() - 2) {
        below += value;
        let low = (at + 1) as f64;
        let between = below * below * count / (low * (count - low));
        if at >= 1 && between > best.1 {
            best = (at + 1, between);
        }
    }
    let (split, between) = best;
    if !(split > 0 && all - between < most * all) {
        return None;
    }
    let (low, high) = sorted.split_at(split);
    Some(Modes {
        low_n: low.len(),
        low_mean: mean(low)? + centre,
        high_n: high.len(),
        high_mean: mean(high)? + centre,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_run_is_listed_and_the_median_stays() {
        let values = [50.1, 50.0, 49.9, 50.05, 75.0];
        assert_eq!(median(&values), Some(50.05));
        let far = outliers(&values);
        assert_eq!(far.len(), 1);
        assert_eq!(far[0].0, 4);
        assert!(outliers(&[1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]).iter().map(|far| far.0).eq([4]));
        assert!(outliers(&[1.0; 9]).is_empty() && outliers(&[1.0, 2.0, 90.0]).is_empty());
    }

    #[test]
    fn two_groups_are_seen_and_one_is_not() {
        let two = modes(&[50.1, 55.2, 50.0, 49.9, 55.0, 50.2, 55.1, 50.0]).unwrap();
        assert_eq!((two.low_n, two.high_n), (5, 3));
        assert!((two.low_mean - 50.04).abs() < 1e-9 && (two.high_mean - 55.1).abs() < 1e-9);
        assert_eq!(modes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), None);
        assert_eq!(modes(&[1.0; 8]), None);
        assert_eq!(modes(&[1.0, 1.0, 5.0, 5.0]), None);
        // One run far from the others is an outlier, and no group.
        assert_eq!(modes(&[1.0, 1.1, 0.9, 1.0, 1.05, 9.0]), None);
    }

    #[test]
    fn nothing_and_one_value() {
        assert_eq!((mean(&[]), median(&[]), stddev(&[1.0])), (None, None, None));
        assert_eq!(median(&[3.0, 1.0]), Some(2.0));
    }
}
