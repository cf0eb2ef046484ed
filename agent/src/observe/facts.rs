//! All that a probe finds, put together.

use super::{block, controller, cpu, interrupts, irq_line, kernel, task, tree::Tree, ufs};
use tophalf_wire::{Facts, InterruptTable, Reading, SystemFacts};

/// What the process knows of itself and its kernel without reading files. It is used where a file does not
/// tell, so that a recording is not mistaken for the machine it is looked at on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// `uname -r`, where neither `/proc/sys/kernel/osrelease` nor `/proc/version` can be read.
    pub kernel_release: String,
    /// `uname -v`, where neither `/proc/sys/kernel/version` nor `/proc/version` can be read.
    pub kernel_version: String,
    /// `uname -m`, where `/proc/sys/kernel/arch` (since Linux 6.1) cannot be read.
    pub machine: String,
    /// `uname -n`, where `/proc/sys/kernel/hostname` cannot be read.
    pub hostname: String,
    /// Effective user, where `/proc/self/status` cannot be read.
    pub uid: u32,
    /// Bytes of a memory page, where `/proc/self/auxv` cannot be read.
    pub page_bytes: u32,
    /// Grain of `CLOCK_MONOTONIC`, in nanoseconds.
    pub clock_grain_ns: u64,
}

/// Reads everything.
pub fn read(tree: &Tree, own: &Own) -> Facts {
    let table = tree.parse("/proc/interrupts", interrupts::parse);
    let empty = InterruptTable::default();
    let rows = table.as_ref().unwrap_or(&empty);
    let threads = task::read_kernel_threads(tree).unwrap_or_default();

    let mut places = Vec::new();
    let disks: Reading<Vec<_>> = block::read_names(tree).map(|names| {
        let disks = names.iter().filter_map(|name| {
            let mut disk = block::read_disk(tree, name).ok()?;
            if let Some(place) = controller::above(tree, name) {
                disk.controller = Some(place.sys_path.clone());
                places.push(place);
            }
            Some(disk)
        });
        disks.collect()
    });
    let found = controller::read_controllers(tree, &places, rows);
    let mut lines: Vec<u32> = found.iter().flat_map(|controller| controller.irqs.iter().copied()).collect();
    lines.extend(ufs::lines(rows));

    let disk_models = disks.iter().flatten().filter_map(|disk| disk.model.as_deref().ok());
    let emulated = is_emulated(tree, disk_models);
    // Those that were found without the disks are worth having, but none found that way proves nothing.
    let controllers = match &disks {
        Err(reason) if found.is_empty() => Err(reason.clone()),
        _ => Ok(found),
    };
    Facts {
        system: read_system(tree, own, emulated),
        controllers,
        irqs: table
            .as_ref()
            .map(|table| irq_line::read_lines(tree, &lines, table, &threads.irq))
            .map_err(Clone::clone),
        disks,
        irq_threads: threads.irq,
        ksoftirqd: threads.ksoftirqd,
    }
}

fn read_system(tree: &Tree, own: &Own, emulated: bool) -> SystemFacts {
    let setting = |name| tree.read_text(&format!("/proc/sys/kernel/{name}"));
    let status = tree.read("/proc/self/status").map(|bytes| task::parse_status(&bytes));
    let cpus_possible = cpu::read_possible(tree);
    // An Android shell may read `/proc/version`, but not all of `/proc/sys`.
    let banner = tree.parse("/proc/version", kernel::parse_banner);
    let (release, version) =
        banner.unwrap_or_else(|_| (own.kernel_release.clone(), own.kernel_version.clone()));
    SystemFacts {
        kernel_release: setting("osrelease").unwrap_or(release),
        kernel_version: setting("version").unwrap_or(version),
        machine: setting("arch").unwrap_or_else(|_| own.machine.clone()),
        hostname: setting("hostname").unwrap_or_else(|_| own.hostname.clone()),
        boot_id: setting("random/boot_id"),
        cmdline: tree.read_text("/proc/cmdline"),
        model: read_model(tree),
        uid: status.as_ref().ok().and_then(|status| status.uid).unwrap_or(own.uid),
        selinux_context: tree.read_text("/proc/self/attr/current"),
        page_bytes: tree.parse("/proc/self/auxv", kernel::parse_page_bytes).unwrap_or(own.page_bytes),
        clock_grain_ns: own.clock_grain_ns,
        emulated,
        cpus_online: cpu::read_online(tree),
        cpus_allowed: status.and_then(task::Status::into_cpus_allowed),
        cpuset: tree.read_text("/proc/self/cpuset"),
        cpus: cpus_possible.as_deref().map(|cpus| cpu::read_cpus(tree, cpus)).unwrap_or_default(),
        cpus_possible,
    }
}

/// The machine's own name: the device tree's model, or the DMI product.
fn read_model(tree: &Tree) -> Reading<String> {
    tree.read_text("/sys/firmware/devicetree/base/model")
        .or_else(|error| tree.read_text("/sys/class/dmi/id/product_name").map_err(|_| error))
}

/// Whether this is an emulator: the device tree that QEMU and crosvm make (`linux,dummy-virt`), QEMU's name in
/// the firmware's tables, or a disk that QEMU made up. Times there are no hardware's.
fn is_emulated<'a>(tree: &Tree, mut disk_models: impl Iterator<Item = &'a str>) -> bool {
    const PLACES: [&str; 4] = [
        "/sys/firmware/devicetree/base/compatible",
        "/sys/firmware/devicetree/base/model",
        "/sys/class/dmi/id/sys_vendor",
        "/sys/class/dmi/id/product_name",
    ];
    let is_emulator = |text: &str| text.contains("linux,dummy-virt") || text.contains("QEMU");
    PLACES.iter().any(|path| tree.read_text(path).is_ok_and(|text| is_emulator(&text)))
        || disk_models.any(is_emulator)
}
