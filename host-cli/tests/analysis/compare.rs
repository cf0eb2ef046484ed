//! Two sides.

use crate::scene::Scene;
use tophalf::analysis::{Asked, Design, MetricComparison, NotComparable, RunSummary, Verdict, compare};

fn runs(scene: &Scene, variant: &str, count: usize) -> Vec<RunSummary> {
    (0..count).map(|number| scene.summary(&format!("{variant}-{number}"), variant)).collect()
}

fn with_hops(scene: Scene) -> Scene {
    Scene { hops: Some(100), ..scene }
}

fn metric<'a>(comparison: &'a tophalf::analysis::Comparison, name: &str) -> &'a MetricComparison {
    comparison.metrics.iter().find(|metric| metric.metric == name).unwrap()
}

#[test]
fn microseconds_and_percent_between_two_sides() {
    let base = runs(&with_hops(Scene::hard()), "6.12", 2);
    let new = runs(&with_hops(Scene::threaded()), "6.18", 3);
    let comparison = compare(&base, &new, &Asked::default()).unwrap();
    let latency = metric(&comparison, "latency_mean_ns");
    assert_eq!((latency.base.n, latency.new.n, latency.base.boots), (2, 3, Some(1)));
    assert!((latency.added_us_per_op.unwrap() - 23.024).abs() < 1e-9, "{latency:?}");
    assert!((latency.change_percent.unwrap() - 66.6).abs() < 0.1);
    assert_eq!(latency.verdict, Verdict::Inconclusive);
    // Two of one boot each cannot exclude chance, however large the difference is.
    assert!(latency.p_value.is_some_and(|p| p >= 0.1), "{latency:#?}");
    assert_eq!(latency.smallest_visible_percent, None);
    assert!(latency.reason.ends_with("4 per side can"), "{}", latency.reason);
    let iops = metric(&comparison, "iops");
    assert!(iops.change_percent.unwrap() < -39.0 && iops.added_us_per_op.is_none());
    let explained = latency.explained.unwrap();
    // Hops of the threaded side: 3 + 4 + 2.5 + 3.5 + 1.5; of the other: 2 % of ksoftirqd, 1.5.
    assert!((explained.by_hops_us - (14.5 - 1.62)).abs() < 1e-9, "{explained:?}");
    assert!((explained.of_us - 23.024).abs() < 1e-9);
    assert!(comparison.emulated);
}

// davidrsch/rrlmgraph-bench#19 and intel/lkp-tests#54: one run a side has values and nothing else.
#[test]
fn a_single_run_is_a_value_only() {
    let comparison = compare(
        &runs(&with_hops(Scene::hard()), "a", 1),
        &runs(&with_hops(Scene::threaded()), "b", 1),
        &Asked::default(),
    )
    .unwrap();
    assert!(comparison.hops.iter().all(|hop| hop.added_us.is_none() && hop.new_us.is_some()));
    for metric in &comparison.metrics {
        assert!(metric.base.mean.is_some() && metric.new.mean.is_some());
        assert!(
            metric.change_percent.is_none() && metric.added_us_per_op.is_none() && metric.explained.is_none()
        );
        assert_eq!(metric.verdict, Verdict::Inconclusive);
        assert!(metric.reason.contains("at least two runs a side"));
    }
}

#[test]
fn runs_that_are_not_valid_are_left_out_and_named() {
    let mut base = runs(&Scene::hard(), "a", 2);
    base.extend(runs(&Scene { device_ios: 0.1, device_bytes: 0.1, ..Scene::hard() }, "bad", 1));
    let new = runs(&Scene::threaded(), "b", 2);
    let comparison = compare(&base, &new, &Asked::default()).unwrap();
    assert_eq!(metric(&comparison, "iops").base.n, 2);
    assert_eq!(comparison.left_out.len(), 1);
    assert_eq!(comparison.left_out[0].id, "bad-0");
    assert!(!comparison.left_out[0].reasons.is_empty());
    let comparison = compare(&base[2..], &new, &Asked::default()).unwrap();
    assert_eq!(metric(&comparison, "iops").verdict, Verdict::Invalid);
    assert_eq!(metric(&comparison, "iops").base.mean, None);
}

// koct9i/ioping#31: 1 MiB of span against the whole device.
#[test]
fn different_work_is_refused() {
    let base = runs(&Scene::hard(), "a", 2);
    let mut span = runs(&Scene::hard(), "b", 2);
    span[1].target.span_bytes = Some(1 << 20);
    let Err(NotComparable::Differ(differ)) = compare(&base, &span, &Asked::default()) else {
        panic!("compared")
    };
    assert_eq!(differ, ["span: 1048576 bytes against 1073741824 bytes"]);
    let other_cpu = runs(&Scene { io_cpu: 1, ..Scene::hard() }, "b", 2);
    let Err(refused) = compare(&base, &other_cpu, &Asked::default()) else { panic!("compared") };
    assert!(refused.to_string().ends_with("placement: CPU0 against CPU1"), "{refused}");
    let larger = runs(&Scene { block_bytes: 8192, ..Scene::hard() }, "b", 2);
    assert!(matches!(compare(&base, &larger, &Asked::default()), Err(NotComparable::Differ(_))));
    let real = runs(&Scene { emulated: false, ..Scene::hard() }, "b", 2);
    assert!(matches!(compare(&base, &real, &Asked::default()), Err(NotComparable::Differ(_))));
}

#[test]
fn nothing_is_not_compared() {
    let runs = runs(&Scene::hard(), "a", 1);
    assert_eq!(compare(&runs, &[], &Asked::default()), Err(NotComparable::NoRuns("new")));
    assert_eq!(compare(&[], &runs, &Asked::default()), Err(NotComparable::NoRuns("base")));
}

#[test]
fn boots_are_counted_and_the_median_is_not_the_mean() {
    let mut base = runs(&Scene::hard(), "a", 3);
    base[1].boot_id = Some("b-2".to_owned());
    base[2].iops = Some(1.0);
    let comparison = compare(&base, &runs(&Scene::hard(), "b", 2), &Asked::default()).unwrap();
    let side = &metric(&comparison, "iops").base;
    assert_eq!(side.boots, Some(2));
    assert!(side.median.unwrap() > 28_000.0 && side.mean.unwrap() < 20_000.0);
    base[0].boot_id = None;
    let comparison = compare(&base, &runs(&Scene::hard(), "b", 2), &Asked::default()).unwrap();
    assert_eq!(metric(&comparison, "iops").base.boots, None);
}

/// Runs of boots of their own, in turns: base, new, new, base, … with `percent` between the sides.
fn boots_in_turns(boots: usize, percent: f64) -> [Vec<RunSummary>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    for boot in 0..2 * boots {
        let side = [0, 1, 1, 0][boot % 4];
        let mut run = Scene::hard().summary(&format!("boot-{boot}"), ["a", "b"][side]);
        run.boot_id = Some(boot.to_string());
        run.begun_unix_ns += i64::try_from(boot).unwrap() * 60_000_000_000;
        let factor = [1.0, 1.0 + percent / 100.0][side] * (1.0 + [0.001, -0.001, 0.0005, -0.002][boot % 4]);
        run.latency_ns.as_mut().unwrap().mean *= factor;
        run.iops = run.iops.map(|iops| iops / factor);
        sides[side].push(run);
    }
    sides
}

#[test]
fn boots_in_turns_give_a_verdict_with_its_interval() {
    let [base, new] = boots_in_turns(4, 10.0);
    let slower = compare(&base, &new, &Asked::default()).unwrap();
    for name in ["latency_mean_ns", "iops"] {
        let metric = metric(&slower, name);
        assert_eq!(metric.verdict, Verdict::Regression, "{metric:#?}");
        assert_eq!((metric.design, metric.base.units), (Design::AcrossBoots, 4));
        assert!(metric.p_value.is_some_and(|p| p < 0.05));
    }
    let latency = metric(&slower, "latency_mean_ns");
    let [low, high] = latency.change_ci95_percent.unwrap();
    assert!(low > 9.0 && high < 11.0 && low < latency.change_percent.unwrap(), "{latency:#?}");
    let [low_us, high_us] = latency.added_us_ci95.unwrap();
    assert!(low_us < latency.added_us_per_op.unwrap() && latency.added_us_per_op.unwrap() < high_us);
    // The other way round it is an improvement.
    let faster = compare(&new, &base, &Asked::default()).unwrap();
    assert_eq!(metric(&faster, "latency_mean_ns").verdict, Verdict::Improvement);
}

#[test]
fn no_difference_is_only_said_where_one_would_have_been_seen() {
    let [base, new] = boots_in_turns(6, 0.0);
    let same = compare(&base, &new, &Asked::default()).unwrap();
    let latency = metric(&same, "latency_mean_ns");
    assert_eq!(latency.verdict, Verdict::NoDifference, "{latency:#?}");
    assert!(latency.smallest_visible_percent.is_some_and(|visible| visible < 1.0));
    let fine = Asked { margin_percent: 0.01, ..Asked::default() };
    let finer = compare(&base, &new, &fine).unwrap();
    let latency = metric(&finer, "latency_mean_ns");
    assert_eq!(latency.verdict, Verdict::Inconclusive);
    assert!(latency.reason.contains("0.01 % were asked for"), "{}", latency.reason);
}

/// An old baseline and a new kernel: a drift in between cannot be told from the kernels.
#[test]
fn sides_that_were_not_measured_in_turns_are_told_so() {
    let [mut base, mut new] = boots_in_turns(4, 0.0);
    for (place, run) in base.iter_mut().chain(&mut new).enumerate() {
        run.begun_unix_ns = i64::try_from(place).unwrap() * 60_000_000_000;
        run.latency_ns.as_mut().unwrap().mean *= 1.0 + 0.01 * place as f64;
    }
    let warmed = compare(&base, &new, &Asked::default()).unwrap();
    let latency = metric(&warmed, "latency_mean_ns");
    assert_eq!(latency.verdict, Verdict::Inconclusive, "{latency:#?}");
    assert!(latency.reason.contains("not measured in turns"), "{}", latency.reason);
}

#[test]
fn sides_of_two_devices_get_no_verdict() {
    let [base, mut new] = boots_in_turns(4, 10.0);
    new.iter_mut().for_each(|run| run.device = "other".to_owned());
    let comparison = compare(&base, &new, &Asked::default()).unwrap();
    assert_eq!(
        comparison.gates.iter().find(|gate| gate.blocks).map(|gate| gate.name.as_str()),
        Some("device")
    );
    assert!(comparison.metrics.iter().all(|metric| metric.verdict == Verdict::Inconclusive));
}

#[test]
fn a_run_on_both_sides_is_refused() {
    let runs = runs(&Scene::hard(), "a", 2);
    assert_eq!(compare(&runs, &runs[1..], &Asked::default()), Err(NotComparable::Twice("a-1".to_owned())));
}

/// The androidx canary: a run that was slowed down is left out and named, and what it would have changed is said.
#[test]
fn what_left_out_runs_would_have_changed_is_said() {
    let [base, mut new] = boots_in_turns(4, 0.0);
    new[3].latency_ns.as_mut().unwrap().mean *= 1.12;
    new[3].quality.valid = false;
    new[3].quality.failed = vec!["throttled".to_owned()];
    let comparison = compare(&base, &new, &Asked::default()).unwrap();
    let latency = metric(&comparison, "latency_mean_ns");
    assert_eq!((latency.new.n, comparison.left_out.len()), (3, 1));
    let (without, with) = (latency.change_percent.unwrap(), latency.change_with_left_out_percent.unwrap());
    assert!(without.abs() < 0.5 && (2.5..3.5).contains(&with), "{without} {with}");
}
