//! What runs were made in, side against side.

use super::{EnvironmentLine, RunSummary, commits};
use std::collections::BTreeSet;

/// A line of the environment: its name, and what a run says of it.
type Line = (&'static str, fn(&RunSummary) -> Option<String>);

const LINES: [Line; 18] = [
    ("kernel", |run| run.system.kernel_release.clone()),
    ("built", |run| run.system.kernel_version.clone()),
    ("config", |run| run.conditions.config.as_ref().map(|config| format!("crc {}", config.crc32))),
    ("machine", |run| run.system.model.clone()),
    ("UFSHCI", |run| attribute(run, "ufshci_capabilities/version")),
    ("queues", |run| run.completion.hardware_queues.map(|queues| queues.to_string())),
    ("completion", |run| Some(run.completion.path.name().to_owned())),
    ("commits", commits::shown_by),
    ("IRQ CPU", |run| run.conditions.irq_cpus.as_ref().map(|cpus| list(cpus))),
    ("IRQ thread", |run| {
        run.completion.thread.as_ref().map(|thread| format!("{} {}", thread.policy, thread.priority))
    }),
    ("governor", |run| run.conditions.governor.clone()),
    ("frequency", |run| {
        run.conditions.mean_frequency_khz.map(|khz| format!("{:.0} MHz", (khz / 1e4).round() * 10.0))
    }),
    ("temperature", |run| {
        run.conditions.temperature.as_ref().map(|heat| format!("{:.0} C ({})", heat.highest_c, heat.zone))
    }),
    ("WriteBooster", |run| attribute(run, "wb_on")),
    ("auto hibern8", |run| attribute(run, "auto_hibern8").map(|us| format!("{us} us"))),
    ("clock gating", |run| {
        let enabled = attribute(run, "clkgate_enable")?;
        let delay = attribute(run, "clkgate_delay_ms").map_or_else(String::new, |ms| format!(", {ms} ms"));
        Some(format!("{enabled}{delay}"))
    }),
    ("link", |run| {
        let parts: Vec<String> = ["gear", "lane", "mode"]
            .iter()
            .filter_map(|part| attribute(run, &format!("power_info/{part}")))
            .collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }),
    ("queue", |run| {
        let scheduler = run.conditions.scheduler.as_ref()?;
        let affinity =
            run.conditions.rq_affinity.map_or_else(String::new, |at| format!(", rq_affinity {at}"));
        Some(format!("{scheduler}{affinity}"))
    }),
];

fn attribute(run: &RunSummary, name: &str) -> Option<String> {
    run.conditions.controller.get(name).cloned()
}

fn list(cpus: &[u16]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The environment of both sides; only what some run tells.
pub fn environment(base: &[&RunSummary], new: &[&RunSummary]) -> Vec<EnvironmentLine> {
    let side = |runs: &[&RunSummary], of: fn(&RunSummary) -> Option<String>| {
        runs.iter().filter_map(|run| of(run)).collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>()
    };
    LINES
        .iter()
        .map(|(name, of)| EnvironmentLine {
            name: (*name).to_owned(),
            base: side(base, *of),
            new: side(new, *of),
        })
        .filter(|line| !(line.base.is_empty() && line.new.is_empty()))
        .collect()
}
