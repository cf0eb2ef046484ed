//! One metric of both sides.

use super::judge::{Judgement, Question, judge, stddev_percent};
use crate::analysis::statistics::{Arm, Value, mean, median, modes, outliers, spread_change};
use crate::analysis::{Better, MetricComparison, Modes, Outlier, Side, Verdict};
use std::collections::BTreeSet;

/// One run's figure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figure<'a> {
    pub(super) id: &'a str,
    pub(super) device: Option<&'a str>,
    pub(super) boot: Option<&'a str>,
    /// When the run was made, in seconds after any moment.
    pub(super) at_s: Option<f64>,
    pub(super) value: f64,
}

/// The figures of both sides, and what they are.
#[derive(Debug)]
pub(super) struct Metric<'a> {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) better: Better,
    /// Its difference is what each operation takes more.
    pub(super) additive: bool,
    pub(super) base: Vec<Figure<'a>>,
    pub(super) new: Vec<Figure<'a>>,
    /// Values of the runs that were left out, of the base and of the new side.
    pub(super) left_out: [Vec<f64>; 2],
}

impl Metric<'_> {
    /// Compares the sides. `blocked` says why no verdict may be given.
    pub(super) fn compare(self, margin_percent: f64, blocked: Option<&str>) -> MetricComparison {
        let values: Vec<Value<'_>> =
            values_of(Arm::Base, &self.base).chain(values_of(Arm::New, &self.new)).collect();
        let judged = judge(&Question { values: &values, better: self.better, margin_percent, blocked });
        self.tell(judged)
    }

    fn tell(self, judged: Judgement) -> MetricComparison {
        let base = side(&self.base, judged.units[0]);
        let new = side(&self.new, judged.units[1]);
        let means = base.mean.zip(new.mean).filter(|_| base.n.min(new.n) >= super::MIN_RUNS);
        // Where there is a model its estimate is shown, since the interval is about it.
        let added = judged.effect.map(|effect| effect.added).or(means.map(|(base, new)| new - base));
        let change = |(base, new): (f64, f64)| (base > 0.0).then(|| (new / base - 1.0) * 100.0);
        let change_percent = match judged.effect {
            Some(effect) => effect.change_percent(),
            None => means.and_then(change),
        };
        let with_left_out = self.with_left_out(&base, &new).filter(|_| means.is_some()).and_then(change);
        let values = |side: &Side| side.values.clone();
        let mut reason = judged.reason;
        let spread = spread_change(&values(&base), &values(&new));
        for (side, name) in [(&base, "base"), (&new, "new side")] {
            if let Some(Modes { low_n, low_mean, high_n, high_mean }) = side.modes {
                let apart = (high_mean / low_mean - 1.0) * 100.0;
                reason.push_str(&format!(
                    "; the {name} is bimodal: {low_n} runs and {high_n} runs {apart:.1} % above them"
                ));
            }
        }
        if let Some(spread) = spread.filter(|spread| spread.changed && judged.verdict != Verdict::Invalid) {
            reason
                .push_str(&format!("; the spread of the runs is {:.1} times that of the base", spread.ratio));
        }
        MetricComparison {
            unit: self.unit,
            better: self.better,
            design: judged.design,
            change_percent,
            change_ci95_percent: judged.change_ci95_percent,
            added_us_per_op: added.filter(|_| self.additive).map(|added| added / 1e3),
            added_us_ci95: judged.added_ci95.filter(|_| self.additive).map(|ends| ends.map(|end| end / 1e3)),
            interval: judged.interval,
            p_value: judged.p_value,
            test: judged.test,
            verdict: judged.verdict,
            reason,
            smallest_visible_percent: judged.smallest_visible_percent,
            change_with_left_out_percent: with_left_out,
            drift_percent: judged.effect.and_then(|effect| effect.drift_percent),
            spread,
            resolution: None,
            explained: None,
            metric: self.name,
            base,
            new,
        }
    }

    /// Means of both sides with the runs that were left out, if there are any.
    fn with_left_out(&self, base: &Side, new: &Side) -> Option<(f64, f64)> {
        let [base_out, new_out] = &self.left_out;
        if base_out.is_empty() && new_out.is_empty() {
            return None;
        }
        let all = |side: &Side, out: &[f64]| mean(&[&side.values[..], out].concat());
        all(base, base_out).zip(all(new, new_out))
    }
}

fn values_of<'a>(arm: Arm, figures: &'a [Figure<'a>]) -> impl Iterator<Item = Value<'a>> {
    figures.iter().map(move |figure| Value {
        arm,
        device: figure.device,
        boot: figure.boot,
        at: figure.at_s,
        value: figure.value,
    })
}

fn side(figures: &[Figure<'_>], units: usize) -> Side {
    let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
    let boots: Option<BTreeSet<&str>> = figures.iter().map(|figure| figure.boot).collect();
    let mean = mean(&values);
    let far = outliers(&values).into_iter().filter_map(|(at, deviations)| {
        let figure = figures.get(at)?;
        Some(Outlier { id: figure.id.to_owned(), value: figure.value, deviations })
    });
    Side {
        n: values.len(),
        boots: boots.map(|boots| boots.len()),
        units,
        mean,
        median: median(&values),
        stddev_percent: stddev_percent(&values, mean),
        outliers: far.collect(),
        modes: modes(&values),
        values,
    }
}
