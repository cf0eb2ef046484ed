//! How often two equal sides are called different, and how often an interval holds the truth.
//!
//! `make calibration` prints the tables with many more replicates.

use crate::simulated::{DEVICES, Device, Order, normal, random};
use tophalf::analysis::statistics::{Arm, Value, mean};
use tophalf::analysis::{Better, Judgement, Question, Verdict, judge};

const UNITS: [usize; 4] = [3, 5, 10, 20];

fn replicates() -> usize {
    std::env::var("TOPHALF_REPLICATES").ok().and_then(|count| count.parse().ok()).unwrap_or(400)
}

fn judged(device: &Device, units: usize, order: Order, change: f64, seed: u64) -> Vec<Judgement> {
    let mut random = random(seed);
    (0..replicates())
        .map(|_| {
            let runs = device.measure(units, order, change, &mut random);
            let values: Vec<Value<'_>> = runs.iter().map(|run| run.as_value()).collect();
            judge(&Question { values: &values, better: Better::Lower, margin_percent: 1.0, blocked: None })
        })
        .collect()
}

fn part(judgements: &[Judgement], of: impl Fn(&Judgement) -> bool) -> f64 {
    judgements.iter().filter(|judgement| of(judgement)).count() as f64 / judgements.len() as f64
}

fn alarm(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::Regression | Verdict::Improvement)
}

/// What chance alone may add to a rate of so many replicates: three standard errors.
fn slack(rate: f64) -> f64 {
    3.0 * (rate * (1.0 - rate) / replicates() as f64).sqrt()
}

#[test]
fn two_equal_sides_are_hardly_ever_called_different() {
    println!("false alarms, and power at +5 %, {} replicates", replicates());
    println!("{:<36}{:>14}{:>14}{:>14}{:>14}", "n =", 3, 5, 10, 20);
    for (at, device) in DEVICES.iter().enumerate() {
        let mut row = format!("{:<36}", device.name);
        for units in UNITS {
            if !device.can(units) {
                row.push_str(&format!("{:>14}", "-"));
                continue;
            }
            let same = judged(device, units, Order::Abba, 0.0, at as u64);
            let slower = judged(device, units, Order::Abba, 5.0, at as u64);
            let (alarms, power) = (part(&same, alarm), part(&slower, alarm));
            row.push_str(&format!("{:>8.1} %{:>2.0} %", alarms * 100.0, power * 100.0));
            assert!(alarms <= 0.05 + slack(0.05), "{}, {units} a side: {alarms}", device.name);
            if units == 3 {
                assert_eq!(alarms + power, 0.0, "3 a side allow no verdict");
            }
        }
        println!("{row}");
    }
}

#[test]
fn intervals_hold_the_truth_nineteen_times_of_twenty() {
    println!("coverage of the 95 % interval of the change, true change +5 %, {} replicates", replicates());
    println!("{:<36}{:>9}{:>9}{:>9}{:>9}", "n =", 3, 5, 10, 20);
    for (at, device) in DEVICES.iter().enumerate() {
        let mut row = format!("{:<36}", device.name);
        for units in UNITS {
            if !device.can(units) {
                row.push_str(&format!("{:>9}", "-"));
                continue;
            }
            let judgements = judged(device, units, Order::Abba, 5.0, 100 + at as u64);
            let covered = part(&judgements, |judgement| {
                judgement.change_ci95_percent.is_some_and(|[low, high]| low <= 5.0 && 5.0 <= high)
            });
            row.push_str(&format!("{:>7.1} %", covered * 100.0));
            assert!(
                covered >= 0.93 - slack(0.07) && covered <= 0.97 + slack(0.03),
                "{}, {units} a side: {covered}",
                device.name
            );
        }
        println!("{row}");
    }
}

/// From 20 units a side that do not alternate on, intervals come from resampling.
#[test]
fn intervals_by_resampling_hold_the_truth_as_often() {
    println!("coverage by resampling, sides in random order, {} replicates", replicates());
    for device in [&DEVICES[4], &DEVICES[5]] {
        let units = 20;
        let judgements = judged(device, units, Order::Random, 5.0, 200);
        let resampled = part(&judgements, |judgement| {
            judgement.interval.as_ref().is_some_and(|interval| interval.starts_with("bootstrap"))
        });
        assert!(resampled > 0.9, "{}: {resampled}", device.name);
        let covered = part(&judgements, |judgement| {
            judgement.change_ci95_percent.is_some_and(|[low, high]| low <= 5.0 && 5.0 <= high)
        });
        println!("{:<36}{units:>4}{:>7.1} %", device.name, covered * 100.0);
        assert!(covered >= 0.93 - slack(0.07) && covered <= 0.97 + slack(0.03), "{}: {covered}", device.name);
    }
}

/// What others do with the same runs: a z-test over all I/Os, and calling it a regression when the new mean is beyond
/// every run of the base.
#[test]
fn tests_over_single_ios_and_ranges_raise_false_alarms() {
    // 10,000 I/Os a run with a standard deviation of 30 %, runs that differ by 1 %.
    let (ios, io_percent) = (10_000.0_f64, 30.0);
    let mut random = random(7);
    println!("false alarms of other rules on the steady device");
    for units in UNITS {
        let (mut z_alarms, mut range_alarms) = (0, 0);
        for _ in 0..replicates() {
            let runs = DEVICES[0].measure(units, Order::Abba, 0.0, &mut random);
            let side = |arm, random: &mut _| -> Vec<f64> {
                let of_arm = runs.iter().filter(|run| run.arm == arm);
                of_arm
                    .map(|run| run.value * (1.0 + io_percent / 100.0 * normal(random) / ios.sqrt()))
                    .collect()
            };
            let (base, new) = (side(Arm::Base, &mut random), side(Arm::New, &mut random));
            let (base_mean, new_mean) = (mean(&base).unwrap(), mean(&new).unwrap());
            let error = base_mean * io_percent / 100.0 * (2.0 / (ios * units as f64)).sqrt();
            z_alarms += u32::from(((new_mean - base_mean) / error).abs() > 1.96);
            range_alarms += u32::from(base.iter().all(|run| new_mean > *run));
        }
        let percent = |alarms: u32| f64::from(alarms) / replicates() as f64 * 100.0;
        println!(
            "n = {units}: z over I/Os {:.0} %, beyond the range {:.0} %",
            percent(z_alarms),
            percent(range_alarms)
        );
        assert!(percent(z_alarms) > 50.0);
        if units == 3 {
            assert!(percent(range_alarms) > 15.0);
        }
    }
}

/// orieg/php-judy#87, chrishayuk/larql#370, mapequation/infomap#943, kent-tokyo/chematic#59: a device that warms up,
/// measured one side after the other, looks like a regression.
#[test]
fn warming_is_no_regression_in_turns_and_none_is_claimed_in_sequence() {
    let warming = &DEVICES[3];
    for (order, units) in [(Order::Abba, 5), (Order::Abba, 10), (Order::Aabb, 5), (Order::Aabb, 10)] {
        let judgements = judged(warming, units, order, 0.0, 55);
        let alarms = part(&judgements, alarm);
        println!("{order:?}, {units} a side: {:.1} % false alarms", alarms * 100.0);
        assert!(alarms <= 0.05 + slack(0.05), "{order:?} {units}: {alarms}");
    }
}
