//! The state of recorded devices.

use crate::common::{own, tree};
use tophalf_agent::observe::{facts, kernel, state::StateReader};
use tophalf_wire::{EdgeSide, State};

fn state(name: &str) -> State {
    let tree = tree(name);
    let facts = facts::read(&tree, &own());
    StateReader::of_probe(&facts).read(&tree, Some(3), EdgeSide::After, None, || 7)
}

#[test]
fn t615_tells_heat_speed_interrupts_and_errors() {
    let state = state("t615-threaded");
    assert_eq!((state.window, state.side, state.begin_ns), (Some(3), EdgeSide::After, 7));
    let zones: Vec<(&str, i32)> = state
        .zones
        .as_ref()
        .unwrap()
        .iter()
        .map(|zone| (zone.kind.as_str(), *zone.millidegrees.as_ref().unwrap()))
        .collect();
    assert_eq!(zones, [("soc-thmzone", 41_250), ("cpu-thmzone", 43_810), ("battery", -1500)]);
    let cooling = state.cooling.unwrap();
    assert_eq!((cooling[0].kind.as_str(), &cooling[0].state), ("cpufreq-cpu0", &Ok(0)));
    let policies = state.time_in_state.unwrap();
    assert_eq!(policies.iter().map(|policy| policy.policy).collect::<Vec<_>>(), [0, 6]);
    assert_eq!(policies[1].cpus.as_deref(), Ok(&[6, 7][..]));
    assert_eq!(policies[1].times, [(768_000, 120_455), (1_820_000, 8111)]);
    assert_eq!(state.irq_cpus, [(205, Ok(vec![0]))]);
    let told = |name: &str| {
        let entry = state.controller.iter().find(|(known, _)| known == name);
        entry.map(|(_, text)| text.as_deref().unwrap().to_owned())
    };
    assert_eq!(told("power_info/gear").as_deref(), Some("HS_GEAR3"));
    assert_eq!(told("errors.Host Resets").as_deref(), Some("1"));
    assert_eq!(told("errors.PM Suspend errors").as_deref(), Some("0"));
    assert!(kernel::read_config(&tree("t615-threaded")).gzip.unwrap().starts_with(&[0x1f, 0x8b]));
}

/// What is not there is unavailable with a reason, and no zero.
#[test]
fn a_phone_that_tells_nothing() {
    let state = state("shell-tier");
    for reason in [
        state.zones.unwrap_err().reason,
        state.cooling.unwrap_err().reason,
        state.time_in_state.unwrap_err().reason,
        kernel::read_config(&tree("shell-tier")).gzip.unwrap_err().reason,
    ] {
        assert!(reason.contains("/sys/") || reason.contains("/proc/config.gz"), "{reason}");
    }
    assert!(state.irq_cpus.iter().all(|(_, cpus)| cpus.is_err()));
}
