//! Mail and Markdown.

use crate::scene::Scene;
use tophalf::analysis::{
    Asked, Better, Comparison, ImportSource, ImportedMetric, ImportedRun, LatencySummary, Outlier,
    RunSummary, Verdict, compare, compare_imported,
};
use tophalf::report::fio_command::fio_command;
use tophalf::report::{mail, markdown};

/// Runs of a real machine, each in a boot of its own.
fn runs(scene: &Scene, variant: &str, kernel: &str, means_us: &[f64]) -> Vec<RunSummary> {
    let run = |(number, mean_us): (usize, &f64)| {
        let mut run = scene.summary(&format!("{variant}-{number}"), variant);
        run.system.emulated = Some(false);
        run.system.kernel_release = Some(kernel.to_owned());
        run.boot_id = Some(format!("{variant}-boot-{number}"));
        let mean = mean_us * 1e3;
        run.iops = Some(1e9 / mean);
        run.latency_ns = run.latency_ns.map(|latency| LatencySummary { mean, ..latency });
        run
    };
    means_us.iter().enumerate().map(run).collect()
}

const BASE_US: [f64; 6] = [96.1, 96.8, 97.0, 96.4, 96.9, 96.5];

fn measured(new_us: &[f64], scenes: [Scene; 2], kernel: &str) -> Comparison {
    let [hard, threaded] = scenes;
    let base = runs(&hard, "6.12", "6.12.30-arm64", &BASE_US);
    compare(&base, &runs(&threaded, "6.18", kernel, new_us), &Asked::default()).unwrap()
}

fn regression() -> Comparison {
    let new = [140.2, 139.8, 140.9, 140.0, 141.1, 139.9];
    measured(&new, [with_hops(Scene::hard()), with_hops(Scene::threaded())], "6.18.2-arm64")
}

fn with_hops(scene: Scene) -> Scene {
    Scene { hops: Some(100), ..scene }
}

fn score(variant: &str, workload: &str, at: usize, value: f64) -> ImportedRun {
    ImportedRun {
        id: format!("{workload}-{variant}-{at}"),
        variant: variant.to_owned(),
        workload: workload.to_owned(),
        device: Some("T615".to_owned()),
        boot: None,
        kernel: None,
        order: None,
        metrics: vec![ImportedMetric {
            name: "score".to_owned(),
            unit: "score".to_owned(),
            better: Better::Higher,
            value,
        }],
        source: ImportSource {
            format: "csv".to_owned(),
            file: "ufs-report.csv".to_owned(),
            crc32: "00000000".to_owned(),
            line: None,
        },
    }
}

/// Of the public UFS report, as it is kept with the tests.
fn ufs_report() -> Comparison {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/reports/ufs-report.csv"));
    let side = |wanted: &str| -> Vec<ImportedRun> {
        let lines = text.as_ref().unwrap().lines().enumerate().skip(1);
        lines
            .filter_map(|(at, line)| {
                let cells: Vec<&str> = line.split(',').collect();
                (cells[2] == wanted).then(|| score(wanted, cells[0], at, cells[4].parse().unwrap()))
            })
            .collect()
    };
    compare_imported(&side("5.15"), &side("6.18"), &Asked::default()).unwrap()
}

#[track_caller]
fn fits(text: &str) {
    let mut in_table = false;
    for line in text.lines() {
        in_table = (in_table || line.starts_with("=====")) && !(in_table && line.starts_with("Every run"));
        let width = line.chars().count();
        assert!(in_table || width <= 72, "{width} columns: {line}");
        assert!(line.chars().all(|c| c.is_ascii() || c == '±'), "{line}");
    }
}

fn paste(comparison: &Comparison) -> String {
    let fio = fio_command(&Scene::threaded().summary("r", "6.18"));
    let text = mail(comparison, fio.as_deref(), &["6.12-0.tophalf, CRC-32 12345678".to_owned()]);
    fits(&text);
    text
}

#[test]
fn a_regression_between_releases() {
    let comparison = regression();
    let text = paste(&comparison);
    assert!(text.contains("#regzbot introduced: v6.12.30..v6.18.2\n"), "{text}");
    insta::assert_snapshot!(text);
    insta::assert_snapshot!(markdown(&comparison));
}

// Documentation/admin-guide/reporting-regressions.rst
#[test]
fn four_percent_in_a_micro_benchmark_are_below_the_guide() {
    let new = BASE_US.map(|us| us * 1.04);
    let text = paste(&measured(&new, [Scene::hard(), Scene::threaded()], "6.18.2-arm64"));
    assert!(text.starts_with("Slower, below the documented 5 % guide: 6.18 against 6.12"), "{text}");
    assert!(!text.contains("egression:") && !text.contains("regzbot"), "{text}");
}

#[test]
fn of_one_kernel_or_an_emulated_one_nothing_is_proposed_to_the_tracker() {
    let same = measured(&BASE_US.map(|us| us * 1.5), [Scene::hard(), Scene::threaded()], "6.12.30-arm64");
    assert!(paste(&same).starts_with("Regression: ") && !paste(&same).contains("regzbot"));
    let emulated = Comparison { emulated: true, ..regression() };
    let text = paste(&emulated);
    assert!(text.starts_with("emulated: ") && !text.contains("regzbot"), "{text}");
}

#[test]
fn too_few_runs_are_said_to_be() {
    let new = [140.2, 139.8];
    let base = runs(&Scene::hard(), "6.12", "6.12.30", &BASE_US[..2]);
    let new = runs(&Scene::threaded(), "6.18", "6.18.2", &new);
    insta::assert_snapshot!(paste(&compare(&base, &new, &Asked::default()).unwrap()));
}

#[test]
fn a_single_run_is_a_value_only() {
    let base = runs(&Scene::hard(), "6.12", "6.12.30", &BASE_US[..1]);
    let new = runs(&Scene::threaded(), "6.18", "6.18.2", &[140.0]);
    let text = paste(&compare(&base, &new, &Asked::default()).unwrap());
    let row = text.lines().find(|line| line.ends_with("  tophalf.latency_mean_us")).unwrap();
    assert_eq!(row, "     96.10                      140.00        tophalf.latency_mean_us");
}

#[test]
fn what_is_invalid_is_said_first() {
    let mut comparison = regression();
    for metric in &mut comparison.metrics {
        metric.verdict = Verdict::Invalid;
        metric.reason = "the IRQ moved".to_owned();
    }
    let text = paste(&comparison);
    assert!(text.starts_with("Invalid: 6.18 against 6.12"), "{text}");
    assert!(text.contains("the IRQ moved") && !text.contains("regzbot"), "{text}");
}

#[test]
fn the_ufs_report() {
    let comparison = ufs_report();
    let text = mail(&comparison, None, &[]);
    fits(&text);
    insta::assert_snapshot!(text);
    insta::assert_snapshot!(markdown(&comparison));
}

#[test]
fn outliers_are_marked_and_long_or_foreign_names_keep_the_width() {
    let mut comparison = regression();
    comparison.new.variants = vec!["ядро-".repeat(60)];
    comparison.notes.push("n".repeat(300));
    comparison.metrics[0].new.outliers =
        vec![Outlier { id: "6.18-4".to_owned(), value: 141_100.0, deviations: 4.0 }];
    let text = paste(&comparison);
    assert!(text.contains(" 141.1*"), "{text}");
}
