//! Did the device stay as it was: speed, heat, interrupts, link, clock?

use super::Checked;
use crate::analysis::conditions::{ERRORS, canaries, states};
use crate::recording::Recording;
use std::collections::BTreeSet;
use tophalf_wire::{Clocks, State};

/// The canary may be slower than the fastest of the run by this part: more is throttling.
const THROTTLED: f64 = 1.05;
/// One slow window of so many is passed over unless another follows it: the canary shared its CPU once.
const WINDOWS_FOR_ONE_SLOW: usize = 4;
/// Clocks that one hardware counter drives may part by this much: NTP slews by at most 500 ppm.
const MOST_PPM: f64 = 1000.0;
/// With less time between two readings their grain is more than that.
const FEWEST_NS_FOR_PPM: u64 = 100_000_000;
/// The reading thread may lose its CPU between two clocks for this long. A sleep takes more.
const READING_APART_NS: u64 = 10_000_000;
/// A rise that is told, in degrees Celsius.
const WARMER_C: f64 = 5.0;
/// Attributes of the link: one that changes has been trained anew, or recovered from an error.
const LINK: [&str; 4] = ["power_info/gear", "power_info/lane", "power_info/mode", "power_info/rate"];
/// Whether the link is up. `ACTIVE` and `HIBERN8` take turns as the disk idles between windows; in any other state
/// (`ufshcd_uic_link_state_to_string`, drivers/ufs/core/ufs-sysfs.c) it was lost.
const LINK_STATE: &str = "power_info/link_state";
/// Attributes that change by themselves as the disk idles between windows.
const IDLE: [&str; 2] = [LINK_STATE, "power_info/dev_pm"];

/// One check, of a run whose device told at least one state.
type Check = fn(&mut Checked, &Recording, &[&State]);

/// Makes the checks of the device's state.
pub(super) fn check(checked: &mut Checked, recording: &Recording) {
    let states: Vec<&State> = states(recording).collect();
    let gates: [(&str, Check); 5] = [
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
    for device in states[0].cooling.iter().flatten() {
        let limit = |state: &&State| {
            let mut devices = state.cooling.as_ref().ok()?.iter();
            devices.find(|other| other.device == device.device)?.state.clone().ok()
        };
        let mut limits = states.iter().filter_map(limit);
        let Some(first) = limits.next() else { continue };
        if let Some(highest) = limits.max().filter(|highest| *highest > first) {
            checked
                .fail(format!("the kernel limits {} against heat: from {first} to {highest}", device.kind));
        }
    }
    canary(checked, recording);
    warmer(checked, states);
}

/// The same work must take as long after each window.
fn canary(checked: &mut Checked, recording: &Recording) {
    let canaries = canaries(recording);
    let Some(fastest) = canaries.iter().min_by_key(|canary| canary.best_ns).copied() else {
        return checked.unavailable("quality.throttled", "no canary ran after a timed window");
    };
    if canaries.iter().any(|canary| canary.cpu != fastest.cpu) {
        let reason = "the I/O thread changed its CPU, and CPUs are not equally fast";
        return checked.unavailable("quality.throttled", reason);
    }
    let limit_ns = fastest.best_ns as f64 * THROTTLED;
    let slow: Vec<bool> = canaries.iter().map(|canary| canary.best_ns as f64 > limit_ns).collect();
    let windows: Vec<String> =
        canaries.iter().zip(&slow).filter(|(_, slow)| **slow).map(|(at, _)| at.window.to_string()).collect();
    let Some(slowest) = canaries.iter().max_by_key(|canary| canary.best_ns).filter(|_| !windows.is_empty())
    else {
        return;
    };
    let sentence = format!(
        "after {} {} of {} the same work took up to {:.1} % longer than after window {} ({:.1} and {:.1} µs)",
        if windows.len() == 1 { "window" } else { "windows" },
        windows.join(", "),
        canaries.len(),
        (slowest.best_ns as f64 / fastest.best_ns as f64 - 1.0) * 100.0,
        fastest.window,
        slowest.best_ns as f64 / 1e3,
        fastest.best_ns as f64 / 1e3
    );
    let lasted = slow.windows(2).any(|pair| pair == [true, true])
        || windows.len() * WINDOWS_FOR_ONE_SLOW >= canaries.len();
    // An emulator shares its host's CPUs: that it was slower says nothing of the phone.
    if recording.facts.as_ref().is_some_and(|facts| facts.system.emulated) {
        checked.note(format!("the emulator's host was slower: {sentence}"));
    } else if let Some(governor) = scaling_governor(recording, fastest.cpu) {
        // A disk waits most of the time, so that the frequency follows the load and not the heat.
        checked.unavailable(
            "quality.throttled",
            format!("governor {governor} changes the frequency by load, which looks the same: {sentence}"),
        );
    } else if lasted {
        checked.fail(sentence);
    } else {
        checked.note(format!("once slower: {sentence}"));
    }
}

/// The governor of a CPU, if it may choose among frequencies by load.
fn scaling_governor(recording: &Recording, cpu: u16) -> Option<&str> {
    const STEADY: [&str; 3] = ["performance", "powersave", "userspace"];
    let facts = recording.facts.as_ref()?.system.cpus.iter().find(|facts| facts.cpu == cpu)?;
    let held = facts.frequency_range_khz.as_ref().is_ok_and(|(lowest, highest)| lowest == highest);
    let governor = facts.governor.as_ref().ok()?;
    (!held && !STEADY.contains(&governor.as_str())).then_some(governor)
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
    for (irq, first) in &states[0].irq_cpus {
        let Ok(first) = first else {
            let reason = first.as_ref().err().map_or_else(String::new, ToString::to_string);
            checked.unavailable("quality.irq-moved", reason);
            continue;
        };
        let cpus = |state: &&State| state.irq_cpus.iter().find(|(other, _)| other == irq)?.1.clone().ok();
        if let Some(other) = states.iter().filter_map(cpus).find(|cpus| cpus != first) {
            checked.fail(format!(
                "interrupt {irq} was delivered to CPU {first:?} and then to CPU {other:?}: hold irqbalance and the like"
            ));
        }
    }
}

/// The entries of a controller that `choose` takes and that were not always the same: name, value at first, and the first
/// other one. One that came back to what it was has moved too.
fn moved(states: &[&State], choose: impl Fn(&str) -> bool) -> Vec<(String, String, String)> {
    fn value<'a>(state: &'a State, name: &str) -> Option<&'a str> {
        let (_, text) = state.controller.iter().find(|(other, _)| other == name)?;
        text.as_ref().ok().map(|text| text.trim())
    }
    let names = states.iter().flat_map(|state| &state.controller).map(|(name, _)| name.as_str());
    let names: BTreeSet<&str> = names.filter(|name| choose(name)).collect();
    let moved = names.into_iter().filter_map(|name| {
        let mut values = states.iter().filter_map(|state| value(state, name));
        let first = values.next()?;
        let other = values.find(|other| *other != first)?;
        Some((name.to_owned(), first.to_owned(), other.to_owned()))
    });
    moved.collect()
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
    let of_link = states.iter().flat_map(|state| &state.controller).filter(|(name, _)| name == LINK_STATE);
    let up = |state: &&String| ["ACTIVE", "HIBERN8"].contains(&state.trim());
    if let Some(state) = of_link.filter_map(|(_, state)| state.as_ref().ok()).find(|state| !up(state)) {
        checked.fail(format!("{LINK_STATE} was {state}"));
    }
    let knob = |name: &str| !LINK.contains(&name) && !IDLE.contains(&name) && !name.starts_with(ERRORS);
    for (name, before, after) in moved(states, knob) {
        checked.note(format!("{name} went from {before} to {after}"));
    }
}

fn clock(checked: &mut Checked, recording: &Recording, states: &[&State]) {
    let grown =
        |pair: [&State; 2], of: fn(&Clocks) -> u64| of(&pair[1].clocks).checked_sub(of(&pair[0].clocks));
    let all = |pair| {
        Some((
            grown(pair, |clocks| clocks.monotonic_ns)?,
            grown(pair, |clocks| clocks.raw_ns)?,
            grown(pair, |clocks| clocks.boottime_ns)?,
        ))
    };
    let mut slept_ns: u64 = 0;
    for pair in states.windows(2) {
        let Some((monotonic, _, boottime)) = all([pair[0], pair[1]]) else {
            return checked.fail("a clock of the device went back");
        };
        slept_ns = slept_ns.max(boottime.saturating_sub(monotonic));
    }
    let mut faults = Vec::new();
    if slept_ns > READING_APART_NS {
        faults.push(format!("the device slept for {} ms during the run", slept_ns / 1_000_000));
    }
    // Over the whole run, since the longer it is the less it matters how far apart two clocks are read.
    if let Some((monotonic, raw, _)) = states.first().zip(states.last()).and_then(|(a, b)| all([a, b])) {
        let allowed_ns = raw as f64 * MOST_PPM / 1e6 + READING_APART_NS as f64;
        if raw >= FEWEST_NS_FOR_PPM && monotonic.abs_diff(raw) as f64 > allowed_ns {
            let ppm = (monotonic as f64 / raw as f64 - 1.0) * 1e6;
            faults.push(format!("CLOCK_MONOTONIC runs {ppm:+.0} ppm against the hardware it is made from"));
        }
    }
    let emulated = recording.facts.as_ref().is_some_and(|facts| facts.system.emulated);
    for fault in faults {
        // An emulated CPU stands still whenever its host has other work, also between two clocks.
        if emulated {
            checked.note(format!("the emulator's host stood still: {fault}"));
        } else {
            checked.fail(fault);
        }
    }
}
