//! From runs to independent units.

use crate::analysis::Design;
use std::collections::BTreeMap;

/// A side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arm {
    /// The first side.
    Base,
    /// The second.
    New,
}

/// A figure of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value<'a> {
    /// Its side.
    pub arm: Arm,
    /// The device it was made on, if known.
    pub device: Option<&'a str>,
    /// The boot it was made in, if known.
    pub boot: Option<&'a str>,
    /// When it was made, in any unit, if known.
    pub at: Option<f64>,
    /// The figure.
    pub value: f64,
}

/// One independent figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Its side.
    pub arm: Arm,
    /// Units are only ever compared with those of the same block.
    pub block: usize,
    /// When it was made, if that is known of all units.
    pub at: Option<f64>,
    /// The figure.
    pub value: f64,
}

/// The units of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// How the runs lie in boots.
    pub design: Design,
    /// The units; those of a block follow one another.
    pub units: Vec<Unit>,
    /// How many blocks there are.
    pub blocks: usize,
    /// The blocks are pairs of neighbours in time, one of each side.
    pub paired: bool,
}

/// From so many units a side on, neighbours in time are compared with one another where the sides alternate: what
/// wanders slowly then cancels. With fewer, the degrees of freedom are worth more.
const FEWEST_PAIRS: usize = 10;

impl Layout {
    /// Finds the units.
    ///
    /// - Each boot holds runs of both sides: the runs are the units, and each boot is a block, so that what a boot
    ///   changes cancels.
    /// - Otherwise the mean of a boot's runs of one side is a unit: what a boot changes is part of the noise.
    /// - Boots are not known of all runs: the runs are the units.
    ///
    /// In the last two, each device is a block where each has runs of both sides.
    pub fn of(values: &[Value<'_>]) -> Self {
        let times_known = values.iter().all(|value| value.at.is_some());
        if values.iter().any(|value| value.boot.is_none()) {
            let cells = values.iter().map(|value| vec![value]).collect();
            return Self::in_devices(Design::UnknownBoots, cells, times_known);
        }
        let boots = grouped(values, |value| value.boot.unwrap_or_default());
        if boots.iter().all(|runs| has_both(runs)) {
            let units = boots.iter().enumerate();
            let units =
                units.flat_map(|(block, runs)| runs.iter().map(move |run| unit(&[run], block, times_known)));
            return Self {
                design: Design::WithinBoots,
                units: units.collect(),
                blocks: boots.len(),
                paired: false,
            }
            .in_pairs();
        }
        let cells = boots.iter().flat_map(|runs| {
            let of_arm = |arm| runs.iter().copied().filter(|run| run.arm == arm).collect::<Vec<_>>();
            [of_arm(Arm::Base), of_arm(Arm::New)].into_iter().filter(|runs| !runs.is_empty())
        });
        Self::in_devices(Design::AcrossBoots, cells.collect(), times_known)
    }

    fn in_devices(design: Design, cells: Vec<Vec<&Value<'_>>>, times_known: bool) -> Self {
        let known = cells.iter().flatten().all(|run| run.device.is_some());
        let device =
            |runs: &[&Value<'_>]| runs.first().and_then(|run| run.device).unwrap_or_default().to_owned();
        let devices = grouped(&cells, |runs| device(runs));
        let both = |cells: &Vec<&Vec<&Value<'_>>>| {
            has_both(&cells.iter().flat_map(|runs| runs.iter().copied()).collect::<Vec<_>>())
        };
        if known && devices.iter().all(both) {
            let units = devices.iter().enumerate();
            let units =
                units.flat_map(|(block, cells)| cells.iter().map(move |runs| unit(runs, block, times_known)));
            return Self { design, units: units.collect(), blocks: devices.len(), paired: false }.in_pairs();
        }
        let units = cells.iter().map(|runs| unit(runs, 0, times_known));
        Self { design, units: units.collect(), blocks: 1, paired: false }.in_pairs()
    }

    /// Makes each pair of neighbours in time a block, if there are enough and every pair of every block holds both
    /// sides, as with ABBA and BAAB.
    fn in_pairs(mut self) -> Self {
        if self.fewest() < FEWEST_PAIRS || self.units.iter().any(|unit| unit.at.is_none()) {
            return self;
        }
        self.units.sort_by(|a, b| {
            a.block.cmp(&b.block).then(a.at.unwrap_or_default().total_cmp(&b.at.unwrap_or_default()))
        });
        let pairs = self.units.chunks(2);
        let is_pair = |pair: &[Unit]| matches!(pair, [a, b] if a.block == b.block && a.arm != b.arm);
        if !pairs.clone().all(is_pair) {
            return self;
        }
        self.blocks = pairs.len();
        for (block, pair) in self.units.chunks_mut(2).enumerate() {
            pair.iter_mut().for_each(|unit| unit.block = block);
        }
        self.paired = true;
        self
    }

    /// How many units a side has.
    pub fn count(&self, arm: Arm) -> usize {
        self.units.iter().filter(|unit| unit.arm == arm).count()
    }

    /// How many units the smaller side has.
    pub fn fewest(&self) -> usize {
        self.count(Arm::Base).min(self.count(Arm::New))
    }

    /// What a unit is called.
    pub fn unit_name(&self) -> &'static str {
        match self.design {
            Design::AcrossBoots => "boot",
            Design::WithinBoots | Design::UnknownBoots => "run",
        }
    }
}

/// Groups in the order of their keys.
fn grouped<T, K: Ord>(values: &[T], key: impl Fn(&T) -> K) -> Vec<Vec<&T>> {
    let mut groups: BTreeMap<K, Vec<&T>> = BTreeMap::new();
    for value in values {
        groups.entry(key(value)).or_default().push(value);
    }
    groups.into_values().collect()
}

fn has_both(runs: &[&Value<'_>]) -> bool {
    [Arm::Base, Arm::New].iter().all(|arm| runs.iter().any(|run| run.arm == *arm))
}

/// The mean of runs of one side.
fn unit(runs: &[&Value<'_>], block: usize, times_known: bool) -> Unit {
    let mean = |of: fn(&Value<'_>) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / runs.len() as f64;
    Unit {
        arm: runs.first().map_or(Arm::Base, |run| run.arm),
        block,
        at: times_known.then(|| mean(|run| run.at.unwrap_or_default())),
        value: mean(|run| run.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(arm: Arm, boot: Option<&str>, value: f64) -> Value<'_> {
        Value { arm, device: None, boot, at: Some(value), value }
    }

    #[test]
    fn devices_with_both_sides_are_blocks() {
        let on = |device, run: Value<'static>| Value { device: Some(device), ..run };
        let runs = [
            on("x", value(Arm::Base, Some("a"), 1.0)),
            on("x", value(Arm::New, Some("b"), 2.0)),
            on("y", value(Arm::Base, Some("c"), 3.0)),
            on("y", value(Arm::New, Some("d"), 4.0)),
        ];
        let layout = Layout::of(&runs);
        assert_eq!((layout.design, layout.blocks), (Design::AcrossBoots, 2));
        // A device of one side only gives no block of its own.
        assert_eq!(Layout::of(&runs[..3]).blocks, 1);
    }

    #[test]
    fn boots_of_one_side_each_are_the_units() {
        let layout = Layout::of(&[
            value(Arm::Base, Some("a"), 1.0),
            value(Arm::Base, Some("a"), 3.0),
            value(Arm::New, Some("b"), 5.0),
        ]);
        assert_eq!(layout.design, Design::AcrossBoots);
        assert_eq!(layout.units.iter().map(|unit| unit.value).collect::<Vec<_>>(), [2.0, 5.0]);
        assert_eq!(layout.units[0].at, Some(2.0));
        assert_eq!((layout.count(Arm::Base), layout.fewest()), (1, 1));
    }

    #[test]
    fn boots_of_both_sides_are_blocks_of_runs() {
        let layout = Layout::of(&[
            value(Arm::Base, Some("a"), 1.0),
            value(Arm::New, Some("a"), 2.0),
            value(Arm::New, Some("b"), 3.0),
            value(Arm::Base, Some("b"), 4.0),
        ]);
        assert_eq!((layout.design, layout.blocks, layout.units.len()), (Design::WithinBoots, 2, 4));
    }

    /// A boot that both sides share among others that they do not is no block: its two means are units.
    #[test]
    fn a_boot_of_both_sides_among_others_gives_two_units() {
        let layout = Layout::of(&[
            value(Arm::Base, Some("a"), 1.0),
            value(Arm::New, Some("a"), 2.0),
            value(Arm::New, Some("b"), 3.0),
        ]);
        assert_eq!((layout.design, layout.units.len()), (Design::AcrossBoots, 3));
    }

    #[test]
    fn neighbours_in_time_are_pairs_where_the_sides_alternate() {
        let boots: Vec<String> = (0..20).map(|boot| boot.to_string()).collect();
        let abba = [Arm::Base, Arm::New, Arm::New, Arm::Base];
        let runs = |arm: &dyn Fn(usize) -> Arm| -> Layout {
            let runs = boots.iter().enumerate();
            Layout::of(&runs.map(|(at, boot)| value(arm(at), Some(boot), at as f64)).collect::<Vec<_>>())
        };
        let turns = runs(&|at| abba[at % 4]);
        assert!(turns.paired && turns.blocks == 10 && turns.units[2].block == 1 && turns.units[3].block == 1);
        let sequence = runs(&|at| if at < 10 { Arm::Base } else { Arm::New });
        assert!(!sequence.paired && sequence.blocks == 1);
    }

    #[test]
    fn without_boots_and_times_each_run_stands_for_itself() {
        let mut values = [value(Arm::Base, None, 1.0), value(Arm::New, Some("b"), 2.0)];
        values[0].at = None;
        let layout = Layout::of(&values);
        assert_eq!((layout.design, layout.units.len()), (Design::UnknownBoots, 2));
        assert!(layout.units.iter().all(|unit| unit.at.is_none()));
    }
}
