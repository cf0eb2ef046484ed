//! How warm a device is, from the state that a probe tells.

use super::plan::CoolDown;
use crate::printable::printable;
use crate::recording::Recording;

/// A thermal zone's reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Temperature {
    pub(super) millidegrees: i32,
    pub(super) zone: String,
}

impl Temperature {
    /// In degrees Celsius, with its zone.
    pub(super) fn shown(&self) -> String {
        format!("{:.1} °C ({})", f64::from(self.millidegrees) / 1000.0, printable(&self.zone, 60))
    }
}

/// The zone that is to be waited for, or the hottest.
///
/// # Errors
/// Why it cannot be told.
pub(super) fn read(recording: &Recording, asked: &CoolDown) -> Result<Temperature, String> {
    let state = recording.state.as_ref().ok_or("the agent told no temperatures")?;
    let zones = state.zones.as_ref().map_err(|why| printable(&why.reason, 300))?;
    let meant = zones.iter().filter(|zone| asked.zone.as_ref().is_none_or(|kind| zone.kind == *kind));
    let known: Vec<Temperature> = meant
        .filter_map(|zone| {
            let millidegrees = *zone.millidegrees.as_ref().ok()?;
            Some(Temperature { millidegrees, zone: zone.kind.clone() })
        })
        .collect();
    known.into_iter().max_by_key(|zone| zone.millidegrees).ok_or_else(|| {
        let kinds: Vec<String> = zones.iter().take(40).map(|zone| printable(&zone.kind, 60)).collect();
        match (&asked.zone, kinds.is_empty()) {
            (_, true) => "it has no thermal zones".to_owned(),
            (Some(kind), false) => {
                format!("no zone {} can be read; there are {}", printable(kind, 60), kinds.join(", "))
            }
            (None, false) => format!("no zone can be read; there are {}", kinds.join(", ")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tophalf_wire::{Clocks, EdgeSide, Reading, State, ThermalZone, Unavailable};

    fn recording(zones: Reading<Vec<ThermalZone>>) -> Recording {
        let unknown = || Unavailable::new("not in this test");
        let state = State {
            window: None,
            side: EdgeSide::Before,
            begin_ns: 0,
            end_ns: 0,
            zones,
            cooling: Err(unknown()),
            time_in_state: Err(unknown()),
            irq_cpus: Vec::new(),
            controller: Vec::new(),
            clocks: Clocks::default(),
            canary: None,
        };
        Recording { state: Some(state), ..Recording::default() }
    }

    fn zone(zone: u16, kind: &str, millidegrees: Reading<i32>) -> ThermalZone {
        ThermalZone { zone, kind: kind.to_owned(), millidegrees }
    }

    fn asked(zone: Option<&str>) -> CoolDown {
        CoolDown { below_millidegrees: 38_000, zone: zone.map(str::to_owned), limit: Duration::from_secs(1) }
    }

    #[test]
    fn the_hottest_or_the_one_that_is_named() {
        let told = recording(Ok(vec![
            zone(0, "soc", Ok(41_250)),
            zone(1, "battery", Ok(30_000)),
            zone(2, "dead", Err(Unavailable::new("EIO"))),
        ]));
        assert_eq!(read(&told, &asked(None)).unwrap().shown(), "41.2 °C (soc)");
        assert_eq!(read(&told, &asked(Some("battery"))).unwrap().millidegrees, 30_000);
        assert!(read(&told, &asked(Some("dead"))).unwrap_err().contains("there are soc, battery, dead"));
    }

    #[test]
    fn what_cannot_be_told_is_said() {
        assert_eq!(read(&recording(Ok(Vec::new())), &asked(None)).unwrap_err(), "it has no thermal zones");
        assert_eq!(read(&Recording::default(), &asked(None)).unwrap_err(), "the agent told no temperatures");
        assert_eq!(read(&recording(Err(Unavailable::new("denied"))), &asked(None)).unwrap_err(), "denied");
    }
}
