//! What else differs between two sides, beside what was meant to.

use super::statistics::mean;
use super::{Asked, Gate, RunSummary};
use std::collections::BTreeSet;

/// Degrees Celsius between the sides' mean temperatures.
const MOST_APART_C: f64 = 5.0;
/// Percent between the sides' mean frequencies.
const MOST_FREQUENCY_PERCENT: f64 = 2.0;
/// Percent between the sides' canaries.
const MOST_CANARY_PERCENT: f64 = 3.0;

/// Attributes of a controller that change as the disk idles, so that they say nothing about a side.
const CHANGE_BY_THEMSELVES: [&str; 2] = ["power_info/dev_pm", "power_info/link_state"];

/// Everything that differs between the sides and would make a difference by itself.
pub fn gates(base: &[&RunSummary], new: &[&RunSummary], asked: &Asked) -> Vec<Gate> {
    if base.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let mut gates = Vec::new();
    gates.extend(temperature(base, new));
    gates.extend(speed(base, new));
    gates.extend(kernels(base, new, asked.same_base));
    gates.extend(settings(base, new));
    gates
}

/// Means of a figure on both sides, where both have it.
fn means(
    base: &[&RunSummary],
    new: &[&RunSummary],
    of: impl Fn(&RunSummary) -> Option<f64>,
) -> Option<(f64, f64)> {
    let side = |runs: &[&RunSummary]| mean(&runs.iter().filter_map(|run| of(run)).collect::<Vec<_>>());
    side(base).zip(side(new))
}

fn temperature(base: &[&RunSummary], new: &[&RunSummary]) -> Option<Gate> {
    let of = |run: &RunSummary| run.conditions.temperature.as_ref().map(|t| (t.first_c + t.last_c) / 2.0);
    let (base_c, new_c) = means(base, new, of)?;
    ((base_c - new_c).abs() > MOST_APART_C).then(|| Gate {
        name: "temperature".to_owned(),
        sentence: format!(
            "temperature: the base was measured at {base_c:.0} degrees and the new side at {new_c:.0}: let the device \
             cool down between runs"
        ),
        blocks: true,
    })
}

fn speed(base: &[&RunSummary], new: &[&RunSummary]) -> Option<Gate> {
    let percent = |(base, new): (f64, f64)| (new / base - 1.0) * 100.0;
    let frequency = means(base, new, |run| run.conditions.mean_frequency_khz);
    if let Some((base_khz, new_khz)) = frequency.filter(|pair| percent(*pair).abs() > MOST_FREQUENCY_PERCENT)
    {
        return Some(Gate {
            name: "frequency".to_owned(),
            sentence: format!(
                "frequency: the I/O thread's CPU ran at {:.0} MHz on the base and at {:.0} MHz on the new side: hold the \
                 governor still",
                base_khz / 1e3,
                new_khz / 1e3
            ),
            blocks: true,
        });
    }
    // An emulator's canary tells of its host.
    let canary = |run: &RunSummary| {
        let [fastest, _] = run.conditions.canary_ns.filter(|_| run.system.emulated != Some(true))?;
        Some(fastest as f64)
    };
    let pair = means(base, new, canary).filter(|pair| percent(*pair).abs() > MOST_CANARY_PERCENT)?;
    Some(Gate {
        name: "canary".to_owned(),
        sentence: format!(
            "canary: work that is not I/O takes {:+.1} % on the new side too: the CPU is not as fast",
            percent(pair)
        ),
        blocks: true,
    })
}

fn kernels(base: &[&RunSummary], new: &[&RunSummary], same_base: bool) -> Vec<Gate> {
    let mut gates = Vec::new();
    let version =
        |run: &RunSummary| run.system.kernel_release.as_deref().map(base_version).map(str::to_owned);
    if let Some((base, new)) = differ(base, new, version) {
        gates.push(Gate {
            name: "kernel-base".to_owned(),
            sentence: format!("kernel-base: {base} against {new}: more than one commit lies between them"),
            blocks: same_base,
        });
    }
    let config = |run: &RunSummary| run.conditions.config.as_ref().map(|config| config.crc32.clone());
    if let Some((base, new)) = differ(base, new, config) {
        gates.push(Gate {
            name: "kernel-config".to_owned(),
            sentence: format!(
                "kernel-config: the kernels were built in different ways ({base} against {new})"
            ),
            blocks: same_base,
        });
    } else if same_base && base.iter().chain(new).any(|run| run.conditions.config.is_none()) {
        gates.push(Gate {
            name: "kernel-config".to_owned(),
            sentence: "kernel-config: that the kernels were built the same way cannot be checked, since not all runs have \
                       /proc/config.gz"
                .to_owned(),
            blocks: true,
        });
    }
    gates
}

/// `6.18.15` of `6.18.15+deb13-arm64`, `6.18.0-rc3` of `6.18.0-rc3-next`: the numbers, and which release candidate, since
/// thousands of commits lie between two of them.
pub(super) fn base_version(release: &str) -> &str {
    let numbers = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
    let candidate = release[numbers..].strip_prefix("-rc").map_or(0, |rest| {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits > 0 { "-rc".len() + digits } else { 0 }
    });
    release[..numbers + candidate].trim_end_matches('.')
}

/// Distinct values of both sides, where they are not the same and both sides have some.
fn differ(
    base: &[&RunSummary],
    new: &[&RunSummary],
    of: impl Fn(&RunSummary) -> Option<String>,
) -> Option<(String, String)> {
    let side = |runs: &[&RunSummary]| runs.iter().filter_map(|run| of(run)).collect::<BTreeSet<String>>();
    let (base, new) = (side(base), side(new));
    let list = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(", ");
    (base != new && !base.is_empty() && !new.is_empty()).then(|| (list(base), list(new)))
}

/// Settings that are only told: a knob may be what is compared.
fn settings(base: &[&RunSummary], new: &[&RunSummary]) -> Vec<Gate> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for run in base.iter().chain(new) {
        let names_of_run = run.conditions.controller.keys().map(String::as_str);
        names.extend(names_of_run.filter(|name| !CHANGE_BY_THEMSELVES.contains(name)));
    }
    let told = |name: &str, of: &dyn Fn(&RunSummary) -> Option<String>| {
        differ(base, new, of).map(|(base, new)| Gate {
            name: name.to_owned(),
            sentence: format!("{name}: {base} against {new}"),
            blocks: false,
        })
    };
    let mut gates: Vec<Gate> = [
        told("cmdline", &|run| run.conditions.cmdline.clone()),
        told("governor", &|run| run.conditions.governor.clone()),
        told("irq-cpu", &|run| run.conditions.irq_cpus.as_ref().map(|cpus| format!("CPU {cpus:?}"))),
        told("scheduler", &|run| run.conditions.scheduler.clone()),
        told("rq_affinity", &|run| run.conditions.rq_affinity.map(|value| value.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect();
    gates.extend(
        names.into_iter().filter_map(|name| told(name, &|run| run.conditions.controller.get(name).cloned())),
    );
    gates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_version_is_what_vendors_add_to() {
        for (release, version) in [
            ("6.18.15+deb13-arm64", "6.18.15"),
            ("5.15.178-android13-8-gabc", "5.15.178"),
            ("6.18.0-rc3", "6.18.0-rc3"),
            ("6.18.0-rc12-next-20260101", "6.18.0-rc12"),
            ("6.18.0-rcar", "6.18.0"),
            ("7.3", "7.3"),
            ("", ""),
        ] {
            assert_eq!(base_version(release), version);
        }
    }
}
