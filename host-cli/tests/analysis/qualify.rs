//! A device against itself.

use crate::scene::Scene;
use tophalf::analysis::{MetricQualification, NotComparable, RunSummary, qualify};

/// Runs of one boot whose latencies are the scene's times these factors, a minute apart.
fn runs(factors: &[f64]) -> Vec<RunSummary> {
    let run = |(at, factor): (usize, &f64)| {
        let mut run = Scene::hard().summary(&format!("run-{at}"), "a");
        run.begun_unix_ns += i64::try_from(at).unwrap() * 60_000_000_000;
        run.latency_ns.as_mut().unwrap().mean *= factor;
        run
    };
    factors.iter().enumerate().map(run).collect()
}

fn latency(runs: &[RunSummary]) -> MetricQualification {
    let qualification = qualify(runs, 1.0).unwrap();
    qualification.metrics.into_iter().find(|metric| metric.metric == "latency_mean_ns").unwrap()
}

/// Factors that vary by about a percent without any pattern.
fn noise(count: u32) -> Vec<f64> {
    (0..count).map(|at| 1.0 + f64::from(at.wrapping_mul(2_654_435_761) >> 16 & 0xff) / 25_600.0).collect()
}

#[test]
fn a_steady_device_is_qualified_and_its_figures_fit_together() {
    let metric = latency(&runs(&noise(24)));
    assert!(metric.qualified);
    assert_eq!((metric.n, metric.boots, metric.boot_deviation_percent), (24, Some(1), None));
    let deviation = metric.run_deviation_percent.unwrap();
    assert!((0.1..0.6).contains(&deviation), "{deviation}");
    let of_runs: Vec<u32> = metric.false_alarms.iter().map(|alarms| alarms.units).collect();
    assert_eq!(of_runs, [4, 5, 10]);
    let turns = &metric.false_alarms[0];
    assert_eq!((turns.in_turns, turns.at_random), (17, 17 * 12));
    // More runs show less, and a difference as large as they show takes as many of them.
    let visible: Vec<f64> =
        metric.smallest_visible.iter().map(|visible| visible.runs_of_a_boot_percent.unwrap()).collect();
    assert!(visible.is_sorted_by(|a, b| a > b), "{visible:?}");
    assert!(metric.needed[0].runs_of_a_boot >= metric.needed[1].runs_of_a_boot);
    assert_eq!(metric.needed[2].boots, None);
}

#[test]
fn a_device_that_warms_up_is_told_its_drift() {
    let warming: Vec<f64> =
        noise(20).iter().enumerate().map(|(at, noise)| noise + 0.01 * at as f64).collect();
    let drift = latency(&runs(&warming)).drift.unwrap();
    // A percent a minute of a mean that is about ten percent higher.
    assert!((50.0..60.0).contains(&drift.percent_per_hour), "{drift:?}");
    assert!(drift.ci95[0] > 0.0);
}

/// Every other pair of runs is slower: in turns that looks like a difference each time.
#[test]
fn a_device_whose_runs_follow_the_order_is_not_qualified() {
    let turns = [1.0, 1.1, 1.1, 1.0];
    let factors: Vec<f64> = noise(64).iter().enumerate().map(|(at, noise)| noise * turns[at % 4]).collect();
    assert!(!latency(&runs(&factors)).qualified);
}

#[test]
fn what_cannot_be_qualified_is_refused() {
    assert_eq!(qualify(&[], 1.0), Err(NotComparable::NoValidRun));
    let mut two = runs(&noise(8));
    two[3].device = "other".to_owned();
    assert!(matches!(qualify(&two, 1.0), Err(NotComparable::Differ(_))));
    // Few runs have values, and nothing is replayed.
    let few = latency(&runs(&noise(3)));
    assert!(few.false_alarms.is_empty() && few.run_deviation_percent.is_some());
}
