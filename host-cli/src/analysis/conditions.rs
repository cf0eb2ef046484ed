//! What a run was made in: what may differ between two sides without anybody's having meant it.

use super::completion::disk_of;
use super::config;
use crate::recording::{Recording, WindowRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tophalf_wire::{Pass, PolicyTimes, Reading, State, Unavailable};

/// What a run was made in. What a device does not tell is `None`, and why is in
/// [`super::RunSummary::unavailable`] under `conditions.…`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// `/proc/cmdline`.
    pub cmdline: Option<String>,
    /// How the kernel was built.
    pub config: Option<ConfigSummary>,
    /// Frequency governor of the I/O thread's CPU.
    pub governor: Option<String>,
    /// Limits of its frequency, in kHz.
    pub frequency_range_khz: Option<[u64; 2]>,
    /// Its mean frequency in the timed windows by `time_in_state`, in kHz.
    pub mean_frequency_khz: Option<f64>,
    /// Time of the canary after the fastest and the slowest window, in nanoseconds.
    pub canary_ns: Option<[u64; 2]>,
    /// The hottest thermal zone.
    pub temperature: Option<Temperature>,
    /// CPUs that the disk's interrupts are delivered to.
    pub irq_cpus: Option<Vec<u16>>,
    /// I/O scheduler of the disk.
    pub scheduler: Option<String>,
    /// `rq_affinity` of the disk.
    pub rq_affinity: Option<u8>,
    /// Attributes of the disk's controller: WriteBooster, hibern8, clock gating, link.
    pub controller: BTreeMap<String, String>,
}

/// How a kernel was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigSummary {
    /// CRC-32 of the options and their values.
    pub crc32: String,
    /// Options that it has.
    pub options: usize,
}

/// The temperature of a thermal zone over a run, in degrees Celsius.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Temperature {
    /// The zone's type.
    pub zone: String,
    /// Before the first window.
    pub first_c: f64,
    /// After the last one.
    pub last_c: f64,
    /// The highest that was seen.
    pub highest_c: f64,
}

/// Finds what a run was made in. `missing` is told the name and the reason of what is not known.
pub(super) fn of_recording(recording: &Recording, missing: &mut dyn FnMut(&str, String)) -> Conditions {
    let mut unless = Unless { missing };
    let facts =
        recording.facts.as_ref().ok_or_else(|| Unavailable::new("the device sent no facts of itself"));
    let system = facts.clone().map(|facts| &facts.system);
    let cpu = io_cpu(recording);
    let cpu_facts = system.clone().and_then(|system| {
        let cpu = cpu.clone()?;
        system
            .cpus
            .iter()
            .find(|facts| facts.cpu == cpu)
            .ok_or_else(|| Unavailable::new(format!("the device told nothing of CPU{cpu}")))
    });
    let disk = disk_of(recording);
    let config = config::of_recording(recording);
    let range = cpu_facts.clone().and_then(|cpu| cpu.frequency_range_khz.clone());
    Conditions {
        cmdline: unless.known("cmdline", system.and_then(|system| system.cmdline.clone())),
        config: unless.known(
            "config",
            config
                .map(|options| ConfigSummary { crc32: config::check_sum(&options), options: options.len() }),
        ),
        governor: unless.known("governor", cpu_facts.and_then(|cpu| cpu.governor.clone())),
        frequency_range_khz: unless.known("frequency_range_khz", range).map(|(low, high)| [low, high]),
        mean_frequency_khz: unless
            .known("mean_frequency_khz", cpu.and_then(|cpu| mean_frequency_khz(recording, cpu))),
        canary_ns: unless.known("canary_ns", canary_ns(recording)),
        temperature: unless.known("temperature", temperature(recording)),
        irq_cpus: unless.known("irq_cpus", irq_cpus(recording)),
        scheduler: unless.known("scheduler", disk.clone().and_then(|disk| disk.scheduler.clone())),
        rq_affinity: unless.known("rq_affinity", disk.and_then(|disk| disk.rq_affinity.clone())),
        controller: controller(recording),
    }
}

/// Tells what is not known.
struct Unless<'a> {
    missing: &'a mut dyn FnMut(&str, String),
}

impl Unless<'_> {
    fn known<T>(&mut self, name: &str, reading: Reading<T>) -> Option<T> {
        reading.map_err(|why| (self.missing)(&format!("conditions.{name}"), why.reason)).ok()
    }
}

/// States before and after the windows, in the order of time.
pub(super) fn states(recording: &Recording) -> impl Iterator<Item = &State> {
    recording.windows.iter().flat_map(|record| [&record.state_before, &record.state_after]).flatten()
}

fn no_state() -> Unavailable {
    Unavailable::new("the agent of this run did not look at the device's state")
}

/// The CPU that the I/O thread was on.
fn io_cpu(recording: &Recording) -> Reading<u16> {
    let asked = recording.run_job().and_then(|job| job.cpu);
    let seen = || {
        let edges = recording.windows.iter().flat_map(|record| [&record.before, &record.after]).flatten();
        let mut cpus = edges.map(|edge| edge.placement.cpu);
        let first = cpus.next()?;
        cpus.all(|cpu| cpu == first).then_some(first)
    };
    asked.or_else(seen).ok_or_else(|| Unavailable::new("the I/O thread was on more than one CPU"))
}

/// The growth of `time_in_state` over the timed windows, as a mean.
fn mean_frequency_khz(recording: &Recording, cpu: u16) -> Reading<f64> {
    let (mut weighted, mut ticks) = (0.0, 0.0);
    for record in timed(recording) {
        let (before, after) = (
            record.state_before.as_ref().ok_or_else(no_state)?,
            record.state_after.as_ref().ok_or_else(no_state)?,
        );
        let before = policy_of(before, cpu)?;
        let after = policy_of(after, cpu)?;
        let before: BTreeMap<u64, u64> = before.times.iter().copied().collect();
        for (khz, time) in &after.times {
            let grown = time.saturating_sub(before.get(khz).copied().unwrap_or(0)) as f64;
            weighted += grown * *khz as f64;
            ticks += grown;
        }
    }
    if ticks > 0.0 {
        Ok(weighted / ticks)
    } else {
        Err(Unavailable::new("time_in_state did not move in the timed windows"))
    }
}

fn timed(recording: &Recording) -> impl Iterator<Item = &WindowRecord> {
    recording.windows_of(Pass::Timed).map(|(record, _)| record)
}

fn policy_of(state: &State, cpu: u16) -> Reading<&PolicyTimes> {
    let policies = state.time_in_state.as_ref().map_err(Clone::clone)?;
    let of_cpu = |policy: &&PolicyTimes| policy.cpus.as_ref().is_ok_and(|cpus| cpus.contains(&cpu));
    policies
        .iter()
        .find(of_cpu)
        .ok_or_else(|| Unavailable::new(format!("no frequency policy tells that it is CPU{cpu}'s")))
}

/// A canary and the window it ran after.
#[derive(Debug, Clone, Copy)]
pub(super) struct CanaryAfter {
    pub(super) window: u32,
    pub(super) cpu: u16,
    pub(super) best_ns: u64,
}

/// Canaries after timed windows: the CPU is as the window left it.
pub(super) fn canaries(recording: &Recording) -> Vec<CanaryAfter> {
    let of = |record: &WindowRecord| {
        let canary = record.state_after.as_ref()?.canary?;
        Some(CanaryAfter { window: record.index, cpu: canary.cpu, best_ns: canary.best_ns })
    };
    timed(recording).filter_map(of).collect()
}

fn canary_ns(recording: &Recording) -> Reading<[u64; 2]> {
    let times: Vec<u64> = canaries(recording).into_iter().map(|canary| canary.best_ns).collect();
    let (fastest, slowest) = (times.iter().min(), times.iter().max());
    fastest.zip(slowest).map(|(fastest, slowest)| [*fastest, *slowest]).ok_or_else(no_state)
}

/// The zone that was hottest at any time. Zones that do not tell, or tell what no phone survives, are passed over.
fn temperature(recording: &Recording) -> Reading<Temperature> {
    const POSSIBLE: std::ops::RangeInclusive<i32> = -40_000..=150_000;
    let mut zones: BTreeMap<(u16, &str), Vec<i32>> = BTreeMap::new();
    let mut any_state = false;
    for state in states(recording) {
        any_state = true;
        for zone in state.zones.as_ref().map_err(Clone::clone)? {
            if let Ok(millidegrees) = &zone.millidegrees
                && POSSIBLE.contains(millidegrees)
            {
                zones.entry((zone.zone, &zone.kind)).or_default().push(*millidegrees);
            }
        }
    }
    if !any_state {
        return Err(no_state());
    }
    let hottest = zones.into_iter().max_by_key(|(_, readings)| readings.iter().max().copied());
    let ((_, zone), readings) =
        hottest.ok_or_else(|| Unavailable::new("no thermal zone tells its temperature"))?;
    let degrees = |millidegrees: Option<&i32>| f64::from(millidegrees.copied().unwrap_or_default()) / 1e3;
    Ok(Temperature {
        zone: zone.to_owned(),
        first_c: degrees(readings.first()),
        last_c: degrees(readings.last()),
        highest_c: degrees(readings.iter().max()),
    })
}

fn irq_cpus(recording: &Recording) -> Reading<Vec<u16>> {
    let state = states(recording).next().ok_or_else(no_state)?;
    let mut cpus = Vec::new();
    for (_, reading) in &state.irq_cpus {
        cpus.extend(reading.as_ref().map_err(Clone::clone)?);
    }
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.is_empty() { Err(Unavailable::new("the target has no interrupt line")) } else { Ok(cpus) }
}

/// Attributes as of the first state, or of the facts where there is none; counters of errors are no condition.
fn controller(recording: &Recording) -> BTreeMap<String, String> {
    let of_facts = || {
        let facts = recording.facts.as_ref()?;
        Some(&facts.controller_of(disk_of(recording).ok()?)?.attributes)
    };
    let attributes = states(recording).next().map(|state| &state.controller).or_else(of_facts);
    attributes
        .into_iter()
        .flatten()
        .filter(|(name, _)| !name.starts_with(ERRORS))
        .filter_map(|(name, text)| Some((name.clone(), text.as_ref().ok()?.trim().to_owned())))
        .collect()
}

/// What names of error counters begin with.
pub(super) const ERRORS: &str = "errors.";
