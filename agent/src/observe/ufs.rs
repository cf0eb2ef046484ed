//! UFS host controllers, and the few of their attributes that are safe to read.
//!
//! A UFS controller's folder in sysfs is never walked, and its folders `*_descriptor`, `attributes` and
//! `flags` are never opened: reading those sends queries to the device, and reading all of them resets some
//! boards.

use super::{text, tree::Tree};
use tophalf_wire::{InterruptTable, Reading, Unavailable};

/// The only attributes that are read, by their path below the controller
/// (Documentation/ABI/testing/sysfs-driver-ufs). The driver answers all of them without asking the device.
const ATTRIBUTES: &[&str] = &[
    "auto_hibern8",
    "clkgate_delay_ms",
    "clkgate_enable",
    "clkscale_enable",
    "pm_qos_enable",
    "power/control",
    "power_info/dev_pm",
    "power_info/gear",
    "power_info/lane",
    "power_info/link_state",
    "power_info/mode",
    "power_info/rate",
    "rpm_lvl",
    "spm_lvl",
    "ufshci_capabilities/version",
    "wb_on",
];

/// Whether a name, of a driver or of an interrupt's handler, is a UFS controller's: `ufshcd`, `ufshcd-sprd`,
/// `exynos-ufshc`, `qcom-mcq-esi`, … The PHY beneath a controller has a driver of its own.
pub fn is_ufs_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "qcom-mcq-esi" || name.contains("ufs") && !name.contains("phy")
}

/// Whether a folder under `/sys/devices` is a UFS controller.
pub fn is_controller(tree: &Tree, folder: &str) -> bool {
    tree.link_name(&format!("{folder}/driver")).is_ok_and(|driver| is_ufs_name(&driver))
        || has_attributes(tree, folder)
}

/// Whether a folder holds what the UFS core gives every controller. Nothing is opened.
fn has_attributes(tree: &Tree, folder: &str) -> bool {
    ["auto_hibern8", "spm_lvl", "clkgate_enable"].iter().any(|name| tree.exists(&format!("{folder}/{name}")))
}

/// UFS controllers that a driver is bound to, also those without a disk, by their folders. Some boards have a
/// wrapper around the controller, whose driver is named after UFS but which is none.
pub fn read_bound(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for bus in ["platform", "pci"] {
        let drivers = format!("/sys/bus/{bus}/drivers");
        for driver in tree.list(&drivers).unwrap_or_default().iter().filter(|driver| is_ufs_name(driver)) {
            // Beside links to its devices, a driver's folder holds a link to its module and files.
            for entry in tree.list(&format!("{drivers}/{driver}")).unwrap_or_default() {
                let path = format!("{drivers}/{driver}/{entry}");
                if entry != "module"
                    && tree.link(&path).is_ok()
                    && let Ok(folder) = tree.resolve(&path)
                    && (driver.contains("ufshc") || has_attributes(tree, &folder))
                {
                    found.push(folder);
                }
            }
        }
    }
    found
}

/// The interrupt lines of UFS controllers, by the names of their handlers. With several queues there are
/// several lines, and all of them count: `qcom-mcq-esi`, or many named `ufshcd`.
pub fn lines(table: &InterruptTable) -> Vec<u32> {
    super::irq_line::with_action(table, is_ufs_name)
}

/// Reads a controller's attributes; those it does not have are left out.
pub fn read_attributes(tree: &Tree, folder: &str) -> Vec<(String, Reading<String>)> {
    let present = ATTRIBUTES.iter().filter_map(|name| {
        let path = format!("{folder}/{name}");
        // One that the kernel refuses to read is empty in a recording; no attribute is empty by itself.
        let text = || match tree.read_text(&path)? {
            text if text.is_empty() => Err(Unavailable::new(format!("{path} is empty"))),
            text => Ok(text),
        };
        tree.exists(&path).then(|| ((*name).to_owned(), text()))
    });
    present.collect()
}

/// What of a controller may change during a run: its attributes again, and the errors that the driver has counted, as
/// `errors.NAME`, where debugfs is mounted and may be read. It is never mounted.
pub fn read_state(tree: &Tree, folder: &str) -> Vec<(String, Reading<String>)> {
    let mut state = read_attributes(tree, folder);
    let name = folder.rsplit('/').next().unwrap_or(folder);
    match tree.parse(&format!("/sys/kernel/debug/ufshcd/{name}/stats"), parse_errors) {
        Ok(errors) => {
            state.extend(
                errors.into_iter().map(|(name, count)| (format!("errors.{name}"), Ok(count.to_string()))),
            );
        }
        Err(why) => state.push(("errors.stats".to_owned(), Err(why))),
    }
    state
}

/// Parses the driver's counts of errors (`ufs_debugfs_stats_show`, drivers/ufs/core/ufs-debugfs.c):
///
/// ```text
/// PHY Adapter Layer errors (except LINERESET): 0
/// Data Link Layer errors: 0
/// ```
pub fn parse_errors(bytes: &[u8]) -> Option<Vec<(String, u64)>> {
    const MOST: usize = 64;
    let rows = text::lines(bytes).filter(|line| !line.trim_ascii().is_empty()).take(MOST).map(|line| {
        let (name, count) = text::split_at_colon(line)?;
        Some((text::lossy(name), text::number(count.trim_ascii())?))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_the_driver_counted() {
        let stats = b"PHY Adapter Layer errors (except LINERESET): 0\nData Link Layer errors: 2\n";
        let errors = parse_errors(stats).unwrap();
        assert_eq!(errors[1], ("Data Link Layer errors".to_owned(), 2));
        assert_eq!(errors.len(), 2);
        assert_eq!(parse_errors(b"no count\n"), None);
        assert_eq!(parse_errors(b"errors: many\n"), None);
    }

    #[test]
    fn names_of_drivers_and_handlers() {
        for name in [
            "ufshcd",
            "ufshcd-sprd",
            "ufshcd-qcom",
            "exynos-ufshc",
            "google-ufshcd",
            "qcom-mcq-esi",
            "UFSHCD",
        ] {
            assert!(is_ufs_name(name), "{name}");
        }
        for name in ["qcom-qmp-ufs-phy", "sd", "mmc0", "dwc3", ""] {
            assert!(!is_ufs_name(name), "{name}");
        }
    }
}
