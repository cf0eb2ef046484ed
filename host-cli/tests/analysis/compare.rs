//! Two sides.

use crate::scene::Scene;
use tophalf::analysis::{Asked, MetricComparison, NotComparable, RunSummary, Verdict, compare};

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
    assert!(latency.change_ci95_percent.is_none() && latency.p_value.is_none());
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
    let mut span = base.clone();
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
