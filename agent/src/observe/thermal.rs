//! Heat: `/sys/class/thermal` (Documentation/driver-api/thermal/sysfs-api.rst).

use super::{text, tree::Tree};
use tophalf_wire::{CoolingDevice, Reading, ThermalZone};

const FOLDER: &str = "/sys/class/thermal";
/// Most zones and most cooling devices that are read; phones have some dozens.
const MOST: usize = 128;

/// Parses a temperature in thousandths of a degree Celsius, which may be below zero.
pub fn parse_millidegrees(bytes: &[u8]) -> Option<i32> {
    let word = bytes.trim_ascii();
    match word.strip_prefix(b"-") {
        Some(digits) => text::number::<i32>(digits)?.checked_neg(),
        None => text::number(word),
    }
}

/// Every thermal zone, by its number.
pub fn read_zones(tree: &Tree) -> Reading<Vec<ThermalZone>> {
    numbered(tree, "thermal_zone").map(|numbers| {
        let zones = numbers.into_iter().map(|zone| {
            let folder = format!("{FOLDER}/thermal_zone{zone}");
            ThermalZone {
                zone,
                kind: tree.read_text(&format!("{folder}/type")).unwrap_or_default(),
                // A sensor that is powered down answers with an error.
                millidegrees: tree.parse(&format!("{folder}/temp"), parse_millidegrees),
            }
        });
        zones.collect()
    })
}

/// Every cooling device, by its number.
pub fn read_cooling(tree: &Tree) -> Reading<Vec<CoolingDevice>> {
    numbered(tree, "cooling_device").map(|numbers| {
        let devices = numbers.into_iter().map(|device| {
            let folder = format!("{FOLDER}/cooling_device{device}");
            CoolingDevice {
                device,
                kind: tree.read_text(&format!("{folder}/type")).unwrap_or_default(),
                state: tree.parse(&format!("{folder}/cur_state"), text::one_number),
            }
        });
        devices.collect()
    })
}

/// The numbers of what is called `prefix` and a number, ascending.
fn numbered(tree: &Tree, prefix: &str) -> Reading<Vec<u16>> {
    let names = tree.list(FOLDER)?;
    let mut numbers: Vec<u16> = names
        .iter()
        .filter_map(|name| text::number(name.strip_prefix(prefix)?.as_bytes()))
        .take(MOST)
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperatures() {
        for (bytes, expected) in [
            (&b"41250\n"[..], Some(41_250)),
            (b"-2000\n", Some(-2000)),
            (b"0", Some(0)),
            (b"", None),
            (b"-", None),
            (b"4x", None),
            (b"99999999999", None),
        ] {
            assert_eq!(parse_millidegrees(bytes), expected, "{bytes:?}");
        }
    }
}
