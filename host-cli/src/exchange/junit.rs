//! JUnit XML for CI: a test case a metric.
//!
//! A regression is a failure, an invalid metric an error, and an inconclusive one is skipped with the reason: what
//! these runs do not decide is not passed.

use crate::analysis::{Comparison, MetricComparison, Side, Verdict};
use anyhow::Context;
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

/// A comparison as one suite. A comparison without a metric is an error too: there is nothing to be green about.
///
/// # Errors
/// The document cannot be written.
pub fn junit(comparison: &Comparison) -> anyhow::Result<String> {
    let sides = [&comparison.base, &comparison.new].map(|side| side.variants.join(", "));
    let mut suite = TestSuite::new(format!("{} against {}", sides[1], sides[0]));
    for (side, variants) in [("base", &sides[0]), ("new", &sides[1])] {
        suite.add_property(Property::new(format!("{side}.variants"), variants.as_str()));
    }
    for (name, value) in &comparison.key {
        suite.add_property(Property::new(name.as_str(), value.as_str()));
    }
    suite.add_property(Property::new("emulated", comparison.emulated.to_string()));
    for gate in &comparison.gates {
        suite.add_property(Property::new(format!("gate.{}", gate.name), gate.sentence.as_str()));
    }
    suite.add_test_cases(comparison.metrics.iter().map(case));
    if comparison.metrics.is_empty() {
        let mut case =
            TestCase::new("any metric", failed(NonSuccessKind::Error, "invalid", "no metric was compared"));
        case.set_classname(CLASS);
        suite.add_test_case(case);
    }
    let mut report = Report::new("tophalf compare");
    report.add_test_suite(suite);
    report.to_string().context("cannot write JUnit XML")
}

/// Where a test case has its class.
const CLASS: &str = "tophalf";

fn case(metric: &MetricComparison) -> TestCase {
    let verdict = metric.verdict.name();
    let status = match metric.verdict {
        Verdict::Regression => failed(NonSuccessKind::Failure, verdict, &metric.reason),
        Verdict::Invalid => failed(NonSuccessKind::Error, verdict, &metric.reason),
        Verdict::Inconclusive => {
            let mut status = TestCaseStatus::skipped();
            status.set_type(verdict).set_message(metric.reason.as_str());
            status
        }
        Verdict::Improvement | Verdict::NoDifference => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(metric.metric.as_str(), status);
    case.set_classname(CLASS);
    let mut add = |name: &str, value: String| {
        case.add_property(Property::new(name, value));
    };
    add("verdict", verdict.to_owned());
    add("reason", metric.reason.clone());
    add("unit", metric.unit.clone());
    for (name, side) in [("base", &metric.base), ("new", &metric.new)] {
        add(&format!("{name}.n"), side.n.to_string());
        add(&format!("{name}.values"), values(side));
    }
    let interval = metric.change_ci95_percent;
    for (name, figure) in [
        ("change_percent", metric.change_percent),
        ("change_ci95_percent.low", interval.map(|[low, _]| low)),
        ("change_ci95_percent.high", interval.map(|[_, high]| high)),
        ("p_value", metric.p_value),
        ("smallest_visible_percent", metric.smallest_visible_percent),
    ] {
        // What is not known has no property.
        if let Some(figure) = figure {
            add(name, figure.to_string());
        }
    }
    case
}

fn failed(kind: NonSuccessKind, verdict: &str, reason: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(verdict).set_message(reason);
    status
}

fn values(side: &Side) -> String {
    side.values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}
