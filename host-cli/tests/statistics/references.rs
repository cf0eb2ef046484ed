//! What SciPy gives for the same data (`tests/data/statistics/references.py`), to four digits and more.

use serde_json::Value as Json;
use tophalf::analysis::statistics::{
    Arm, Effect, Layout, Model, Value, mean, median, permutation_test, spread_change, stddev,
};
use tophalf::analysis::{Better, Question, judge};

fn references() -> Json {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/statistics/references.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(json: &Json) -> Vec<f64> {
    json.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn close(got: f64, json: &Json) {
    let expected = json.as_f64().unwrap_or_else(|| panic!("no number: {json}"));
    assert!((got - expected).abs() <= 1e-6 * expected.abs().max(1e-6), "{got}, expected {expected}");
}

fn values<'a>(base: &[f64], new: &[f64]) -> Vec<Value<'a>> {
    let of = |arm| move |value: &f64| Value { arm, device: None, boot: None, at: None, value: *value };
    base.iter().map(of(Arm::Base)).chain(new.iter().map(of(Arm::New))).collect()
}

#[test]
fn two_samples_as_scipy_has_them() {
    let references = references();
    for (name, reference) in references["two_samples"].as_object().unwrap() {
        let (base, new) = (numbers(&reference["base"]), numbers(&reference["new"]));
        close(mean(&base).unwrap(), &reference["base_mean"]);
        close(median(&base).unwrap(), &reference["base_median"]);
        close(median(&new).unwrap(), &reference["new_median"]);
        close(stddev(&base).unwrap(), &reference["base_stddev"]);
        let layout = Layout::of(&values(&base, &new));
        let effect = Effect::of(&layout).unwrap();
        assert_eq!(effect.model, Model::Welch, "{name}");
        close(effect.p_value().unwrap(), &reference["welch_p"]);
        for (got, expected) in [
            (effect.added_ci95().unwrap(), &reference["added_ci95"]),
            (effect.change_ci95_percent().unwrap(), &reference["change_ci95_percent"]),
        ] {
            close(got[0], &expected[0]);
            close(got[1], &expected[1]);
        }
        close(permutation_test(&layout, &effect).unwrap().p_value, &reference["permutation_p"]);
        if let Some(spread) = spread_change(&base, &new) {
            close(spread.p_value, &reference["spread_p"]);
        }
    }
}

#[test]
fn a_drift_taken_out_as_least_squares_have_it() {
    let reference = &references()["turns"];
    let sides = numbers(&reference["sides"]);
    let turns: Vec<Value<'_>> = numbers(&reference["values"])
        .into_iter()
        .zip(sides)
        .enumerate()
        .map(|(at, (value, side))| Value {
            arm: if side > 0.5 { Arm::New } else { Arm::Base },
            device: None,
            boot: None,
            // Any unit of time gives the same.
            at: Some(1e9 + 7.5 * at as f64),
            value,
        })
        .collect();
    let effect = Effect::of(&Layout::of(&turns)).unwrap();
    assert_eq!(effect.model, Model::Drift);
    close(effect.base, &reference["base"]);
    close(effect.added, &reference["added"]);
    close(effect.drift_percent.unwrap() / 100.0 * effect.base, &reference["drift"]);
    close(effect.p_value().unwrap(), &reference["p"]);
    let (added, change) = (effect.added_ci95().unwrap(), effect.change_ci95_percent().unwrap());
    for end in 0..2 {
        close(added[end], &reference["added_ci95"][end]);
        close(change[end], &reference["change_ci95_percent"][end]);
    }
}

/// catapult-project/catapult#3898: equal medians and a spread that doubled.
#[test]
fn a_spread_that_changed_is_said() {
    let base = [100.0, 100.2, 99.8, 100.1, 99.9, 100.05, 99.95, 100.15];
    let new: Vec<f64> = base.iter().map(|value| 100.0 + (value - 100.0) * 4.0).collect();
    let spread = spread_change(&base, &new).unwrap();
    assert!(spread.changed && (spread.ratio - 4.0).abs() < 0.01, "{spread:?}");
    assert!(!spread_change(&base, &base).unwrap().changed);
    // Slower by a factor is no wider.
    let slower = base.map(|value| value * 3.0);
    assert!((spread_change(&base, &slower).unwrap().ratio - 1.0).abs() < 1e-9);
}

/// The UFS report: the sides are apart, and three against three prove nothing.
#[test]
fn three_against_three_are_told_what_is_missing() {
    let judged = judge(&Question {
        values: &values(&[18604.0, 18314.0, 17732.0], &[13372.0, 13081.0, 13081.0]),
        better: Better::Higher,
        margin_percent: 1.0,
        blocked: None,
    });
    assert_eq!(judged.p_value, Some(0.1));
    assert_eq!(
        judged.reason,
        "the sides do not overlap, but 3 runs against 3 cannot reach p < 0.10 in a rank test; 4 per side can"
    );
}
