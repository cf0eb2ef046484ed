use super::*;
use crate::analysis::{Asked, Comparison, Verdict, compare_imported};
use crate::exchange::{benchfmt, junit};
use quick_junit::{NonSuccessKind, Report, TestCaseStatus};

fn comparison(text: &str, base: &str, new: &str) -> Comparison {
    let runs = whole(text).unwrap().runs;
    let of = |variant: &str| -> Vec<ImportedRun> {
        runs.iter().filter(|run| run.variant == variant).cloned().collect()
    };
    compare_imported(&of(base), &of(new), &Asked::default()).unwrap()
}

/// Checks a line against the grammar of <https://go.dev/design/14313-benchmark-format>. `benchstat` itself cannot be had
/// where these tests run.
fn is_benchmark_format(line: &str) -> bool {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    if let Some(name) = line.strip_prefix("Benchmark") {
        let begins = !name.starts_with(|c: char| c.is_lowercase());
        let pairs = fields.len() >= 4 && fields.len().is_multiple_of(2);
        let iterations = fields.get(1).is_some_and(|field| field.parse::<u64>().is_ok_and(|n| n > 0));
        let values = fields.iter().skip(2).step_by(2).all(|field| field.parse::<f64>().is_ok());
        return begins && pairs && iterations && values;
    }
    if let Some(rest) = line.strip_prefix("Unit ") {
        return rest.split_ascii_whitespace().skip(1).all(|pair| pair.contains('='));
    }
    let Some((key, value)) = line.split_once(':') else { return false };
    let key_is_one = key.starts_with(|c: char| c.is_lowercase())
        && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    key_is_one && (value.is_empty() || value.starts_with([' ', '\t']))
}

#[test]
fn the_checker_of_the_format_refuses() {
    for line in [
        "",
        "benchmark 1 2 x",
        "BenchmarkX 1 2",
        "BenchmarkX 0 2 x",
        "Benchmarkx 1 2 x",
        "BenchmarkX 1 a x",
        "Key: v",
        "key:v",
    ] {
        assert!(!is_benchmark_format(line), "{line}");
    }
    for line in [
        "BenchmarkX 1 2 x",
        "BenchmarkX/a=b-8 100 2.5 ns/op 3 IOPS",
        "key: v w",
        "key:",
        "Unit x better=lower",
    ] {
        assert!(is_benchmark_format(line), "{line}");
    }
}

#[test]
fn every_value_is_a_line_for_benchstat() {
    let comparison = comparison(UFS_REPORT, "5.15", "6.18");
    let text = benchfmt(&comparison);
    for line in text.lines() {
        assert!(is_benchmark_format(line), "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn names_with_spaces_and_one_label_on_both_sides() {
    let mut comparison = comparison(PIXEL_REPORT, "original", "threaded");
    comparison.new.variants = comparison.base.variants.clone();
    comparison.base.variants[0].push_str("\nBenchmark\u{1b}");
    comparison.new.variants = comparison.base.variants.clone();
    let text = benchfmt(&comparison);
    for line in text.lines() {
        assert!(is_benchmark_format(line), "{line}");
    }
    let variants: Vec<&str> = text.lines().filter(|line| line.starts_with("variant:")).collect();
    assert_eq!(variants.len(), 2);
    assert_ne!(variants[0], variants[1]);
    assert_eq!(text.lines().filter(|line| line.starts_with("Benchmark")).count(), 16);
}

#[test]
fn a_test_case_says_what_the_verdict_is() {
    let mut comparison = comparison(UFS_REPORT, "5.15", "6.18");
    let verdicts = [Verdict::Regression, Verdict::Invalid, Verdict::Inconclusive];
    for (metric, verdict) in comparison.metrics.iter_mut().zip(verdicts) {
        (metric.verdict, metric.reason) = (verdict, "a < b & \"c\"\u{1b}".to_owned());
    }
    let read = Report::deserialize_from_str(&junit(&comparison).unwrap()).unwrap();
    let kinds: Vec<_> = read.test_suites[0]
        .test_cases
        .iter()
        .map(|case| match &case.status {
            TestCaseStatus::Success { .. } => "passed",
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. } => "failed",
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. } => "error",
            TestCaseStatus::Skipped { .. } => "skipped",
        })
        .collect();
    assert_eq!(kinds, ["failed", "error", "skipped"]);
    for verdict in [Verdict::Improvement, Verdict::NoDifference] {
        comparison.metrics[0].verdict = verdict;
        let read = Report::deserialize_from_str(&junit(&comparison).unwrap()).unwrap();
        assert!(matches!(read.test_suites[0].test_cases[0].status, TestCaseStatus::Success { .. }));
    }
}

#[test]
fn a_comparison_of_nothing_is_an_error() {
    let mut comparison = comparison(UFS_REPORT, "5.15", "6.18");
    comparison.metrics.clear();
    let read = Report::deserialize_from_str(&junit(&comparison).unwrap()).unwrap();
    assert_eq!((read.test_suites[0].tests, read.test_suites[0].errors), (1, 1));
}

#[test]
fn the_ufs_report_as_junit() {
    let mut text = junit(&comparison(UFS_REPORT, "5.15", "6.18")).unwrap();
    // What the statistics say has its own tests.
    let figures = ["change_ci95", "p_value", "smallest_visible", "\"reason\"", "change_percent", "<skipped"];
    text = text
        .lines()
        .filter(|line| !figures.iter().any(|name| line.contains(name)))
        .collect::<Vec<_>>()
        .join("\n");
    insta::assert_snapshot!(text);
}
