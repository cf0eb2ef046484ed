//! The verdict on one metric: from the figures of runs alone.

use crate::analysis::statistics::{
    ALPHA, Arm, Effect, Intervals, Layout, Model, Permutation, Sequence, Value, bootstrap, fewest_units,
    permutation_test, smallest_visible, stddev, units_to_show,
};
use crate::analysis::{Better, Design, Verdict};

/// What is asked of one metric.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The runs of both sides.
    pub values: &'a [Value<'a>],
    /// Which way is better.
    pub better: Better,
    /// Differences smaller than this, in percent, do not matter.
    pub margin_percent: f64,
    /// Why no verdict may be given, if so.
    pub blocked: Option<&'a str>,
}

/// What the runs say about one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// How the runs lie in boots.
    pub design: Design,
    /// Independent units of the base and of the new side.
    pub units: [usize; 2],
    /// The difference; `None` with fewer than two units a side.
    pub effect: Option<Effect>,
    /// 95 % interval of the difference, in the metric's unit.
    pub added_ci95: Option<[f64; 2]>,
    /// The same in percent of the base.
    pub change_ci95_percent: Option<[f64; 2]>,
    /// The method of the intervals.
    pub interval: Option<String>,
    /// Probability of a difference at least this large by chance.
    pub p_value: Option<f64>,
    /// The test that gave it.
    pub test: Option<String>,
    /// In percent of the base; `None` where no difference of any size could be shown.
    pub smallest_visible_percent: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
}

/// Fewest runs a side from which a difference is made: from one run each, only the values are shown.
pub const MIN_RUNS: usize = 2;

/// Judges one metric.
pub fn judge(question: &Question<'_>) -> Judgement {
    let layout = Layout::of(question.values);
    let mut judgement = Judgement {
        design: layout.design,
        units: [layout.count(Arm::Base), layout.count(Arm::New)],
        effect: None,
        added_ci95: None,
        change_ci95_percent: None,
        interval: None,
        p_value: None,
        test: None,
        smallest_visible_percent: None,
        verdict: Verdict::Inconclusive,
        reason: String::new(),
    };
    let runs = |arm| question.values.iter().filter(|value| value.arm == arm).count();
    let fewest_runs = runs(Arm::Base).min(runs(Arm::New));
    if fewest_runs == 0 {
        judgement.verdict = Verdict::Invalid;
        judgement.reason = "a side has no run that can be trusted".to_owned();
    } else if fewest_runs < MIN_RUNS {
        judgement.reason =
            "a single run on a side gives its value only: at least two runs a side make a difference"
                .to_owned();
    } else if let Some(effect) = Effect::of(&layout) {
        let permutation = permutation_test(&layout, &effect);
        fill(&mut judgement, &layout, &effect, permutation);
        (judgement.verdict, judgement.reason) = decide(question, &judgement, &layout, &effect, permutation);
    } else {
        judgement.reason = too_few(&layout, None);
    }
    judgement
}

fn fill(judgement: &mut Judgement, layout: &Layout, effect: &Effect, permutation: Option<Permutation>) {
    let resampled = bootstrap(layout, effect);
    (judgement.added_ci95, judgement.change_ci95_percent) = match resampled {
        Some(Intervals { added, change_percent }) => (Some(added), Some(change_percent)),
        None => (effect.added_ci95(), effect.change_ci95_percent()),
    };
    let unit = layout.unit_name();
    let drift = if effect.model == Model::Drift { ", less a linear drift" } else { "" };
    judgement.interval = Some(match (resampled, effect.model) {
        (Some(_), _) => format!("bootstrap over {unit}s{drift}"),
        (None, Model::Welch) => format!("t over {unit}s (Welch), percent by Fieller"),
        (None, _) => format!("t over {unit}s{}{drift}, percent by Fieller", within(layout)),
    });
    match permutation {
        Some(Permutation { arrangements, p_value, .. }) => {
            judgement.p_value = Some(p_value);
            judgement.test = Some(format!(
                "exact permutation of {unit}s{}{drift}, {arrangements} arrangements",
                within(layout)
            ));
        }
        None => {
            judgement.p_value = effect.p_value();
            judgement.test = Some(format!("t over {unit}s{}{drift}", within(layout)));
        }
    }
    if permutation.is_none_or(|permutation| permutation.smallest_p <= ALPHA) {
        judgement.smallest_visible_percent = smallest_visible(effect);
    }
    judgement.effect = Some(*effect);
}

/// What units are compared within.
fn within(layout: &Layout) -> &'static str {
    match layout.design {
        _ if layout.paired => " in pairs of neighbours",
        Design::WithinBoots => " within boots",
        Design::AcrossBoots | Design::UnknownBoots if layout.blocks > 1 => " within devices",
        Design::AcrossBoots | Design::UnknownBoots => "",
    }
}

fn decide(
    question: &Question<'_>,
    judgement: &Judgement,
    layout: &Layout,
    effect: &Effect,
    permutation: Option<Permutation>,
) -> (Verdict, String) {
    let margin = question.margin_percent;
    if let Some(why) = question.blocked {
        return (Verdict::Inconclusive, why.to_owned());
    }
    if permutation.is_some_and(|permutation| permutation.smallest_p > ALPHA) {
        return (Verdict::Inconclusive, too_few(layout, permutation));
    }
    let (Some(p_value), Some(interval)) = (judgement.p_value, judgement.change_ci95_percent) else {
        return (Verdict::Inconclusive, "the base is too near to 0 for a change in percent".to_owned());
    };
    let excludes_zero = interval[0] > 0.0 || interval[1] < 0.0;
    let inside_margin = -margin < interval[0] && interval[1] < margin;
    if p_value <= ALPHA && excludes_zero {
        if let Some(sequence) = effect.sequence.filter(|sequence| sequence.p_value > ALPHA) {
            return (Verdict::Inconclusive, not_in_turns(effect, sequence, p_value));
        }
        if inside_margin {
            return (
                Verdict::NoDifference,
                format!("what difference there is is smaller than the {margin} % that were asked for"),
            );
        }
        let worse = (effect.added > 0.0) == (question.better == Better::Lower);
        let verdict = if worse { Verdict::Regression } else { Verdict::Improvement };
        return (verdict, format!("p = {}", shown_p(p_value)));
    }
    let visible = judgement.smallest_visible_percent;
    let small_enough = visible.is_some_and(|visible| visible <= margin);
    let drifts = effect.sequence.is_some_and(|sequence| sequence.drifts);
    if p_value > ALPHA && small_enough && inside_margin && !drifts {
        return (
            Verdict::NoDifference,
            format!(
                "p = {}, and a difference of {:.1} % would have been seen",
                shown_p(p_value),
                visible.unwrap_or_default()
            ),
        );
    }
    (Verdict::Inconclusive, not_decided(question, judgement, layout, effect, p_value))
}

/// Says that a drift may be all there is.
fn not_in_turns(effect: &Effect, sequence: Sequence, p_value: f64) -> String {
    let drift = effect.drift_percent.unwrap_or_default();
    format!(
        "p = {} by itself, but the sides were not measured in turns, and with a drift of {drift:+.1} % over the runs, which \
         looks like a difference, it is {}: measure them in turns (tophalf campaign)",
        shown_p(p_value),
        shown_p(sequence.p_value)
    )
}

/// Why there is neither a difference nor none.
fn not_decided(
    question: &Question<'_>,
    judgement: &Judgement,
    layout: &Layout,
    effect: &Effect,
    p_value: f64,
) -> String {
    let margin = question.margin_percent;
    let mut reason = if p_value <= ALPHA {
        format!("p = {} by the test, but the interval holds 0", shown_p(p_value))
    } else {
        format!("p = {}: no evidence of a difference", shown_p(p_value))
    };
    let Some(visible) = judgement.smallest_visible_percent else { return reason };
    if visible <= margin {
        reason.push_str(&format!(", and none that it is smaller than {margin} %"));
        return reason;
    }
    reason.push_str(&format!(
        ", but one smaller than {visible:.1} % would not have been seen, and {margin} % were asked for"
    ));
    let deviation = deviation_percent(layout, effect);
    if let Some(needed) = deviation.and_then(|deviation| units_to_show(margin, deviation)) {
        reason.push_str(&format!(": about {needed} {}s a side would show it", layout.unit_name()));
    }
    reason
}

/// Standard deviation of a unit in percent of the base, as far as the difference's error comes from it.
fn deviation_percent(layout: &Layout, effect: &Effect) -> Option<f64> {
    let [base, new] = [layout.count(Arm::Base) as f64, layout.count(Arm::New) as f64];
    let per_unit = effect.standard_error() / (1.0 / base + 1.0 / new).sqrt();
    (effect.base > 0.0).then(|| per_unit / effect.base * 100.0)
}

/// Says that there are too few units for any outcome to be significant.
fn too_few(layout: &Layout, permutation: Option<Permutation>) -> String {
    let [base, new] = [layout.count(Arm::Base), layout.count(Arm::New)];
    let unit = layout.unit_name();
    let needed = fewest_units(layout.blocks);
    let each = if layout.blocks > 1 {
        within(layout).replace(" within ", " and ").trim_end_matches('s').to_owned()
    } else {
        String::new()
    };
    match permutation {
        Some(permutation) => {
            let so_far = if permutation.p_value <= permutation.smallest_p {
                "the sides do not overlap, but".to_owned()
            } else {
                format!("p = {}: no evidence of a difference, and", shown_p(permutation.p_value))
            };
            format!(
                "{so_far} {base} {unit}s against {new} cannot reach p < {:.2} in a rank test; {needed} per side{each} can",
                permutation.smallest_p
            )
        }
        None if layout.design == Design::AcrossBoots => format!(
            "{base} {} against {new}: what differs from boot to boot cannot be told from what differs between the sides; \
             {needed} boots per side can",
            if base == 1 { "boot" } else { "boots" }
        ),
        None => format!("{base} {unit}s against {new} are too few; {needed} per side{each} are enough"),
    }
}

/// A probability with two digits that count.
fn shown_p(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else if p < 0.1 {
        format!("{p:.3}")
    } else {
        format!("{p:.2}")
    }
}

/// Standard deviation of values in percent of their mean.
pub(super) fn stddev_percent(values: &[f64], mean: Option<f64>) -> Option<f64> {
    let mean = mean.filter(|mean| *mean > 0.0)?;
    Some(stddev(values)? / mean * 100.0)
}
