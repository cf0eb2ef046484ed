//! Did the device stay as it was: speed, heat, interrupts, link, clock?

use super::Checked;
use crate::analysis::conditions::{ERRORS, canaries, states};
use crate::recording::Recording;
use tophalf_wire::{Reading, State};

/// The canary may be slower by this part in the later half of a run. (The androidx benchmark library calls a run
/// throttled from 10 % on.)
const THROTTLED: f64 = 1.05;
/// Clocks that one hardware counter drives may part by this much: NTP slews by at most 500 ppm.
const MOST_PPM: f64 = 1000.0;
/// With less time between two readings their grain is more than that.
const FEWEST_NS_FOR_PPM: u64 = 100_000_000;
/// Readings of two clocks are this far apart at most.
const READING_APART_NS: u64 = 1_000_000;
/// A rise that is told, in degrees Celsius.
const WARMER_C: f64 = 5.0;
/// Attributes of the link: one that changes has been trained anew, or recovered from an error.
const LINK: [&str; 4] = ["power_info/gear", "power_info/lane", "power_info/mode", "power_info/rate"];

/// Makes the checks of the device's state.
pub(super) fn check(checked: &mut Checked, recording: &Recording) {
    let states: Vec<&State> = states(recording).collect();
    let gates: [(&str, fn(&mut Checked, &Recording, &[&State])); 5] = [
        ("throttled", throttled),
        ("irq-moved", irq_moved),
        ("ufs-errors", ufs_errors),
        ("link-changed", link_changed),
        ("clock", clock),
    ];
    for (name, gate) in gates {
        checked.begin(name);
        if states.is_empty() {
            checked.unavailable(
                &format!("quality.{name}"),
                "the agent of this run did not look at the device's state",
            );
        } else {
            gate(checked, recording, &states);
        }
    }
}

fn throttled(checked: &mut Checked, recording: &Recording, states: &[&State]) {
    for (at, device) in states[0].cooling.iter().flatten().enumerate() {
        let state = |state: &&State| state.cooling.as_ref().ok()?.get(at)?.state.clone().ok();
        let mut limits = states.iter().filter_map(state);
        let Some(first) = limits.next() else { continue };
        if let Some(highest) = limits.max().filter(|highest| *highest > first) {
            checked
                .fail(format!("the kernel limits {} against heat: from {first} to {highest}", device.kind));
        }
    }
    let canaries = canaries(recording);
    if canaries.len() < 2 {
        if canaries.is_empty() {
            checked.unavailable("quality.throttled", "no canary ran after a timed window");
        }
        return warmer(checked, states);
    }
    let (earlier, later) = canaries.split_at(canaries.len() / 2);
    let best = |half: &[(u32, u64)]| half.iter().map(|(_, ns)| *ns).min().unwrap_or(0) as f64;
    let (before, after) = (best(earlier), best(later));
    if after > before * THROTTLED {
        let window = later.first().map_or(0, |(window, _)| *window);
        let sentence = format!(
            "from window {window} on, the same work took {:.1} % longer than before ({:.1} and {:.1} µs)",
            (after / before - 1.0) * 100.0,
            after / 1e3,
            before / 1e3
        );
        // An emulator shares its host's CPUs: that it was slower says nothing of the phone.
        if recording.facts.as_ref().is_some_and(|facts| facts.system.emulated) {
            checked.note(format!("the emulator's host was slower: {sentence}"));
        } else {
            checked.fail(sentence);
        }
    }
    warmer(checked, states);
}

fn warmer(checked: &mut Checked, states: &[&State]) {
    let (Some(first), Some(last)) = (states.first(), states.last()) else { return };
    for zone in first.zones.iter().flatten() {
        let same = last.zones.iter().flatten().find(|other| other.zone == zone.zone);
        let readings =
            (zone.millidegrees.as_ref().ok(), same.and_then(|zone| zone.millidegrees.as_ref().ok()));
        let (Some(before), Some(after)) = readings else { continue };
        let rise_c = (f64::from(*after) - f64::from(*before)) / 1e3;
        if rise_c > WARMER_C {
            checked.note(format!("{} became {rise_c:.1} degrees warmer", zone.kind));
        }
    }
}

fn irq_moved(checked: &mut Checked, _: &Recording, states: &[&State]) {
    for (at, (irq, first)) in states[0].irq_cpus.iter().enumerate() {
        let Ok(first) = first else {
            let reason = first.as_ref().err().map_or_else(String::new, ToString::to_string);
            checked.unavailable("quality.irq-moved", reason);
            continue;
        };
        let cpus = |state: &&State| state.irq_cpus.get(at)?.1.clone().ok();
        if let Some(other) = states.iter().filter_map(cpus).find(|cpus| cpus != first) {
            checked.fail(format!(
                "interrupt {irq} was delivered to CPU {first:?} and then to CPU {other:?}: hold irqbalance and the like"
            ));
        }
    }
}

/// The entries of a controller that `choose` takes, first and last.
fn moved(states: &[&State], choose: impl Fn(&str) -> bool) -> Vec<(String, String, String)> {
    let (Some(first), Some(last)) = (states.first(), states.last()) else { return Vec::new() };
    let value = |reading: &Reading<String>| reading.as_ref().ok().map(|text| text.trim().to_owned());
    let chosen = first.controller.iter().filter(|(name, _)| choose(name));
    chosen
        .filter_map(|(name, before)| {
            let after = last.controller.iter().find(|(other, _)| other == name)?;
            let (before, after) = (value(before)?, value(&after.1)?);
            (before != after).then(|| (name.clone(), before, after))
        })
        .collect()
}

fn ufs_errors(checked: &mut Checked, _: &Recording, states: &[&State]) {
    if !states[0].controller.iter().any(|(name, reading)| name.starts_with(ERRORS) && reading.is_ok()) {
        let why = states[0].controller.iter().find_map(|(name, reading)| {
            reading.as_ref().err().filter(|_| name.starts_with(ERRORS)).map(ToString::to_string)
        });
        let why = why.unwrap_or_else(|| "the driver's error counters (debugfs) are not there".to_owned());
        return checked.unavailable("quality.ufs-errors", why);
    }
    for (name, before, after) in moved(states, |name| name.starts_with(ERRORS)) {
        let name = name.trim_start_matches(ERRORS);
        checked
            .fail(format!("the UFS driver counted errors during the run: {name} from {before} to {after}"));
    }
}

fn link_changed(checked: &mut Checked, _: &Recording, states: &[&State]) {
    if !states[0].controller.iter().any(|(name, reading)| LINK.contains(&name.as_str()) && reading.is_ok()) {
        return checked
            .unavailable("quality.link-changed", "the controller does not tell the state of its link");
    }
    for (name, before, after) in moved(states, |name| LINK.contains(&name)) {
        checked.fail(format!("{name} went from {before} to {after}"));
    }
    for (name, before, after) in moved(states, |name| !LINK.contains(&name) && !name.starts_with(ERRORS)) {
        checked.note(format!("{name} went from {before} to {after}"));
    }
}

fn clock(checked: &mut Checked, _: &Recording, states: &[&State]) {
    for pair in states.windows(2) {
        let (before, after) = (&pair[0].clocks, &pair[1].clocks);
        let grown = |of: fn(&tophalf_wire::Clocks) -> u64| of(after).checked_sub(of(before));
        let (Some(monotonic), Some(raw), Some(boottime)) =
            (grown(|c| c.monotonic_ns), grown(|c| c.raw_ns), grown(|c| c.boottime_ns))
        else {
            return checked.fail("a clock of the device went back");
        };
        let ppm = (monotonic as f64 / raw.max(1) as f64 - 1.0) * 1e6;
        if raw >= FEWEST_NS_FOR_PPM && ppm.abs() > MOST_PPM {
            return checked
                .fail(format!("CLOCK_MONOTONIC runs {ppm:+.0} ppm against the hardware it is made from"));
        }
        let slept = boottime.saturating_sub(monotonic);
        if slept > READING_APART_NS {
            return checked.fail(format!("the device slept for {} ms during the run", slept / 1_000_000));
        }
    }
}
