//! How much runs of the same thing vary: within a boot, from boot to boot, and by drifting.

use super::DriftRate;
use crate::analysis::statistics::{mean, t_quantile};

/// Parts of the variation, in percent of the mean.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Variation {
    /// Standard deviation of the runs of a boot about their common drift.
    pub(super) run_percent: Option<f64>,
    /// Standard deviation from boot to boot, less what the runs give to the means of boots.
    pub(super) boot_percent: Option<f64>,
    /// Standard deviation of the mean of a boot's runs: what counts where boots are the units.
    pub(super) boot_unit_percent: Option<f64>,
    /// The common drift.
    pub(super) drift: Option<DriftRate>,
}

/// Analyses the variance of times in seconds and values, by boot (one-way, random boots, a common slope within boots).
pub(super) fn variation(boots: &[Vec<(f64, f64)>], overall: f64) -> Variation {
    let count: usize = boots.iter().map(Vec::len).sum();
    let centred: Vec<(f64, f64)> = boots.iter().flat_map(|boot| centred(boot)).collect();
    let time_time: f64 = centred.iter().map(|(time, _)| time * time).sum();
    let slope = if time_time > 0.0 {
        centred.iter().map(|(time, value)| time * value).sum::<f64>() / time_time
    } else {
        0.0
    };
    let squares: f64 = centred.iter().map(|(time, value)| (value - slope * time).powi(2)).sum();
    let freedom = count.saturating_sub(boots.len() + usize::from(time_time > 0.0)) as f64;
    let run_variance = (freedom >= 1.0).then(|| squares / freedom);
    let percent = |value: f64| value / overall * 100.0;
    let drift = run_variance.filter(|_| time_time > 0.0).and_then(|variance| {
        let per_hour = |slope: f64| percent(slope * 3600.0);
        let reach = t_quantile(0.975, freedom)? * (variance / time_time).sqrt();
        Some(DriftRate {
            percent_per_hour: per_hour(slope),
            ci95: [per_hour(slope - reach), per_hour(slope + reach)],
        })
    });
    let means: Vec<f64> = boots
        .iter()
        .filter_map(|boot| mean(&boot.iter().map(|(_, value)| *value).collect::<Vec<_>>()))
        .collect();
    let of_means = crate::analysis::statistics::stddev(&means);
    let boot_percent = of_means.zip(run_variance).map(|(deviation, run_variance)| {
        // The mean of a boot has its share of the runs' variance in it.
        let share: f64 = boots.iter().map(|boot| 1.0 / boot.len() as f64).sum::<f64>() / boots.len() as f64;
        percent((deviation.powi(2) - run_variance * share).max(0.0).sqrt())
    });
    Variation {
        run_percent: run_variance.map(|variance| percent(variance.sqrt())),
        boot_percent,
        boot_unit_percent: of_means.map(percent),
        drift,
    }
}

fn centred(boot: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let count = boot.len() as f64;
    let (times, values) = boot.iter().fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    boot.iter().map(|(time, value)| (time - times / count, value - values / count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        // Two boots 10 apart, runs 1 about their mean, no drift.
        let boot =
            |level: f64| vec![(0.0, level - 1.0), (1.0, level + 1.0), (2.0, level + 1.0), (3.0, level - 1.0)];
        let found = variation(&[boot(95.0), boot(105.0)], 100.0);
        assert!((found.run_percent.unwrap() - (8.0_f64 / 5.0).sqrt()).abs() < 1e-9);
        assert!((found.boot_unit_percent.unwrap() - 50.0_f64.sqrt()).abs() < 1e-9);
        assert!((found.boot_percent.unwrap() - (50.0_f64 - 0.4).sqrt()).abs() < 1e-9);
        assert!(found.drift.unwrap().percent_per_hour.abs() < 1e-9);
    }

    #[test]
    fn a_drift_is_no_variation() {
        let warming: Vec<(f64, f64)> =
            (0..10).map(|at| (f64::from(at) * 60.0, 100.0 + f64::from(at))).collect();
        let found = variation(&[warming], 100.0);
        assert!(found.run_percent.unwrap() < 1e-6);
        assert!((found.drift.unwrap().percent_per_hour - 60.0).abs() < 1e-6);
        assert_eq!(found.boot_percent, None);
    }

    #[test]
    fn one_run_says_nothing() {
        assert_eq!(variation(&[vec![(0.0, 1.0)]], 1.0), Variation::default());
    }
}
