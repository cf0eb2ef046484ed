//! Devices whose true difference is known.

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg64Mcg;
use tophalf::analysis::statistics::{Arm, Value};

/// What makes the runs of a device differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Device {
    pub(crate) name: &'static str,
    /// Standard deviation of runs, in percent.
    run_percent: f64,
    /// Standard deviation of boots, in percent; every unit is a boot of [`RUNS_A_BOOT`] runs if it is not 0.
    boot_percent: f64,
    /// How much slower the last run is than the first, in percent.
    warming_percent: f64,
    /// Standard deviation of the step from each run to the next, summed up over all runs, in percent.
    wander_percent: f64,
    /// Every fourth run or so is slower by this much, in percent.
    second_mode_percent: f64,
    /// Both sides are measured in each of two boots, as with a knob.
    knob: bool,
}

/// Runs of a boot where boots differ.
const RUNS_A_BOOT: usize = 3;

const STEADY: Device = Device {
    name: "steady: runs 1 %",
    run_percent: 1.0,
    boot_percent: 0.0,
    warming_percent: 0.0,
    wander_percent: 0.0,
    second_mode_percent: 0.0,
    knob: false,
};

/// The devices on which false alarms and coverage are counted.
pub(crate) const DEVICES: [Device; 8] = [
    STEADY,
    Device { name: "noisy: runs 5 %", run_percent: 5.0, ..STEADY },
    Device { name: "wanders by 2 % from run to run", wander_percent: 2.0, ..STEADY },
    Device { name: "warms up by 5 %", warming_percent: 5.0, ..STEADY },
    Device { name: "two modes, 10 % apart", second_mode_percent: 10.0, ..STEADY },
    Device { name: "boots 3 %, runs 1 %", boot_percent: 3.0, ..STEADY },
    Device { name: "boots 3 %, warming by 5 %", boot_percent: 3.0, warming_percent: 5.0, ..STEADY },
    Device { name: "a knob in two boots 3 % apart", boot_percent: 3.0, knob: true, ..STEADY },
];

/// One run of a simulated device.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) arm: Arm,
    boot: String,
    at: f64,
    pub(crate) value: f64,
}

impl Run {
    pub(crate) fn as_value(&self) -> Value<'_> {
        Value { arm: self.arm, device: None, boot: Some(&self.boot), at: Some(self.at), value: self.value }
    }
}

/// In which order the sides are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// A, B, B, A, …
    Abba,
    /// All of one side, then all of the other.
    Aabb,
    /// Dealt out at random.
    Random,
}

impl Order {
    fn sides(self, units: usize, random: &mut Pcg64Mcg) -> Vec<Arm> {
        let abba = [Arm::Base, Arm::New, Arm::New, Arm::Base];
        let sequence = || (0..2 * units).map(|at| if at < units { Arm::Base } else { Arm::New }).collect();
        match self {
            Self::Abba => (0..2 * units).map(|at| abba[at % 4]).collect(),
            Self::Aabb => sequence(),
            Self::Random => {
                let mut sides: Vec<Arm> = sequence();
                sides.shuffle(random);
                sides
            }
        }
    }
}

pub(crate) fn random(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

/// A normal figure (Box and Muller 1958).
pub(crate) fn normal(random: &mut Pcg64Mcg) -> f64 {
    let (a, b): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

impl Device {
    /// Measures `units` units a side; the new side is slower by `change_percent`.
    pub(crate) fn measure(
        &self,
        units: usize,
        order: Order,
        change_percent: f64,
        random: &mut Pcg64Mcg,
    ) -> Vec<Run> {
        let sides = order.sides(units, random);
        let per_unit = if self.boot_percent > 0.0 && !self.knob { RUNS_A_BOOT } else { 1 };
        let last = (sides.len() * per_unit - 1) as f64;
        let mut wandered = 0.0;
        let mut boot_percent = 0.0;
        let mut runs = Vec::new();
        for (unit, arm) in sides.into_iter().enumerate() {
            let new_boot = if self.knob { unit == 0 || unit == units } else { true };
            if new_boot {
                boot_percent = self.boot_percent * normal(random);
            }
            let boot = if self.knob { unit / units } else { unit };
            for run in 0..per_unit {
                wandered += self.wander_percent * normal(random);
                let at = (unit * per_unit + run) as f64;
                let slow = if random.random_bool(0.25) { self.second_mode_percent } else { 0.0 };
                let percent = self.run_percent * normal(random)
                    + boot_percent
                    + wandered
                    + self.warming_percent * at / last
                    + slow;
                let change = if arm == Arm::New { 1.0 + change_percent / 100.0 } else { 1.0 };
                runs.push(Run {
                    arm,
                    boot: boot.to_string(),
                    at,
                    value: 50_000.0 * change * (1.0 + percent / 100.0),
                });
            }
        }
        runs
    }

    /// A knob's two boots need an even number of pairs in each.
    pub(crate) fn can(&self, units: usize) -> bool {
        !self.knob || units > 3
    }
}
