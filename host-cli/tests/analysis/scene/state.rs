//! The state of a phone at the ends of a run's windows.

use super::Scene;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use tophalf_wire::*;

/// One window, without what is outside of it.
const WINDOW_NS: u64 = 1_000_000_000;
/// A kernel's configuration as far as it matters here.
pub(crate) const CONFIG: &str = "CONFIG_HZ=250\nCONFIG_PREEMPT=y\n# CONFIG_PREEMPT_RT is not set\n";

/// A phone that stays as it is: 40 °C, no limit against heat, all of the time at 1.82 GHz, interrupts on CPU0, no errors.
fn quiet(window: u32, side: EdgeSide, irqs: &[u32]) -> State {
    let edges = 2 * u64::from(window) + u64::from(side == EdgeSide::After);
    let now_ns = 5_000_000_000 + edges * WINDOW_NS;
    let attribute = |name: &str, value: &str| (name.to_owned(), Ok(value.to_owned()));
    State {
        window: Some(window),
        side,
        begin_ns: now_ns,
        end_ns: now_ns + 400_000,
        zones: Ok(vec![
            ThermalZone { zone: 0, kind: "soc-thmzone".to_owned(), millidegrees: Ok(40_000) },
            ThermalZone { zone: 1, kind: "board-thmzone".to_owned(), millidegrees: Ok(31_000) },
            // Some phones have zones without a sensor behind them.
            ThermalZone { zone: 2, kind: "none-thmzone".to_owned(), millidegrees: Ok(-274_000) },
        ]),
        cooling: Ok(vec![
            CoolingDevice { device: 0, kind: "cpufreq-cpu0".to_owned(), state: Ok(0) },
            CoolingDevice { device: 1, kind: "cpufreq-cpu6".to_owned(), state: Ok(0) },
        ]),
        time_in_state: Ok(vec![PolicyTimes {
            policy: 0,
            cpus: Ok(vec![0, 1]),
            times: vec![(614_400, 7000), (1_820_000, 9000 + 100 * edges)],
        }]),
        irq_cpus: irqs.iter().map(|irq| (*irq, Ok(vec![0]))).collect(),
        controller: vec![
            attribute("auto_hibern8", "0"),
            attribute("power_info/gear", "HS_GEAR3"),
            attribute("power_info/lane", "2"),
            attribute("power_info/link_state", "ACTIVE"),
            attribute("power_info/mode", "FAST_MODE"),
            attribute("power_info/rate", "HS_RATE_B"),
            attribute("wb_on", "1"),
            attribute("errors.PHY Adapter Layer errors (except LINERESET)", "2"),
        ],
        clocks: Clocks { monotonic_ns: now_ns, raw_ns: now_ns - 70, boottime_ns: now_ns + 9_000_000_000 },
        canary: Some(Canary { cpu: 0, best_ns: 200_000 }),
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A scene on a phone that is no emulator, with the state at both ends of each window, each as `edit` leaves it, and the
/// kernel's configuration.
pub(crate) fn with_states(scene: &Scene, config: &str, mut edit: impl FnMut(&mut State)) -> Vec<Message> {
    let irqs: Vec<u32> = scene.lines.iter().map(|line| line.0).collect();
    let mut messages = Vec::new();
    for message in scene.messages() {
        let around = match &message {
            Message::Edge(edge) => Some((edge.window, edge.side)),
            _ => None,
        };
        let is_target = matches!(message, Message::Target(_));
        messages.push(message);
        if let Some((window, side)) = around {
            let mut state = quiet(window, side, &irqs);
            edit(&mut state);
            messages.push(Message::State(state));
        } else if is_target {
            messages.push(Message::KernelConfig(KernelConfig { gzip: Ok(gzip(config)) }));
        }
    }
    messages
}
