//! From a disk up to the controller that serves it, and to the controller's interrupt lines.

use super::{irq_line, text, tree::Tree, ufs};
use tophalf_wire::{ControllerFacts, ControllerKind, InterruptTable};

/// A controller, as found above a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its folder under `/sys/devices`.
    pub sys_path: String,
    /// What it is.
    pub kind: ControllerKind,
    /// The path from it down to the disk: on platforms whose sysfs does not tell a device's interrupt, the
    /// handler bears one of these names.
    pub below: String,
}

/// The controller above a disk; `None` for virtual disks.
///
/// ```text
/// /sys/block/sda -> ../devices/platform/soc/20200000.ufs/host0/target0:0:0/0:0:0:0/block/sda
/// ```
pub fn above(tree: &Tree, disk: &str) -> Option<Place> {
    let path = tree.resolve(&format!("/sys/block/{disk}")).ok()?;
    let path = nvme_path(tree, &path).unwrap_or(path);
    if path.starts_with("/sys/devices/virtual/") {
        return None;
    }
    let place = |folder: &str, kind| {
        Some(Place { sys_path: folder.to_owned(), kind, below: path[folder.len()..].to_owned() })
    };
    if let Some(folder) = ancestors(&path).find(|folder| ufs::is_controller(tree, folder)) {
        return place(folder, ControllerKind::Ufs);
    }
    for (class, kind) in [("/mmc_host/", ControllerKind::Mmc), ("/nvme/", ControllerKind::Nvme)] {
        if let Some((folder, _)) = path.split_once(class) {
            return place(folder, kind);
        }
    }
    let has_line = |folder: &&str| !read_own_lines(tree, folder).is_empty();
    let is_platform_device = |folder: &&str| {
        tree.link_name(&format!("{folder}/subsystem")).is_ok_and(|bus| bus == "platform")
            && tree.link(&format!("{folder}/driver")).is_ok()
    };
    let folder = ancestors(&path).find(has_line).or_else(|| ancestors(&path).find(is_platform_device))?;
    place(folder, ControllerKind::Other)
}

/// The first real path to an NVMe disk that could have several (`CONFIG_NVME_MULTIPATH`): such a disk is
/// virtual, and its subsystem's folder holds links to the controllers.
///
/// ```text
/// /sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0 -> ../../../pci0000:00/0000:00:03.0/nvme/nvme0
/// ```
fn nvme_path(tree: &Tree, path: &str) -> Option<String> {
    let (subsystem, _) = path.rsplit_once('/').filter(|_| path.contains("/nvme-subsystem/"))?;
    let names = tree.list(subsystem).ok()?;
    names
        .iter()
        .filter(|name| name.starts_with("nvme"))
        .filter_map(|name| tree.resolve(&format!("{subsystem}/{name}")).ok())
        .find(|path| path.contains("/nvme/"))
}

/// The folders above a device, nearest first, as far as they can be devices.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/'))
        .map(|(folder, _)| folder)
        .take_while(|folder| folder.starts_with("/sys/devices/"))
}

/// All that is known of the controllers at `places` and of UFS controllers without a disk. The table is
/// `/proc/interrupts`, empty where it cannot be read.
pub fn read_controllers(tree: &Tree, places: &[Place], table: &InterruptTable) -> Vec<ControllerFacts> {
    let mut found: Vec<ControllerFacts> = Vec::new();
    let bound = ufs::read_bound(tree).into_iter().map(|sys_path| Place {
        sys_path,
        kind: ControllerKind::Ufs,
        below: String::new(),
    });
    for place in places.iter().cloned().chain(bound) {
        let known = found.iter().position(|controller| controller.sys_path == place.sys_path);
        let place_in_list = known.unwrap_or_else(|| {
            found.push(read_controller(tree, &place));
            found.len() - 1
        });
        let irqs = &mut found[place_in_list].irqs;
        if place.kind != ControllerKind::Ufs && read_own_lines(tree, &place.sys_path).is_empty() {
            irqs.extend(lines_named_after(&place, table));
        }
    }
    let mut of_ufs = found.iter_mut().filter(|controller| controller.kind == ControllerKind::Ufs);
    // The handlers' names do not tell several controllers apart.
    if let (Some(only), None) = (of_ufs.next(), of_ufs.next()) {
        only.irqs.extend(ufs::lines(table));
    }
    for controller in &mut found {
        controller.irqs.sort_unstable();
        controller.irqs.dedup();
    }
    found
}

fn read_controller(tree: &Tree, place: &Place) -> ControllerFacts {
    let folder = &place.sys_path;
    ControllerFacts {
        sys_path: folder.clone(),
        kind: place.kind,
        driver: tree.link_name(&format!("{folder}/driver")),
        irqs: read_own_lines(tree, folder),
        attributes: match place.kind {
            ControllerKind::Ufs => ufs::read_attributes(tree, folder),
            _ => Vec::new(),
        },
    }
}

/// The lines that a device's own folder tells: the names in `msi_irqs`, or else the number in `irq`
/// (drivers/pci/msi, `irq_show` in drivers/pci/pci-sysfs.c). Platform devices have neither.
fn read_own_lines(tree: &Tree, folder: &str) -> Vec<u32> {
    let vectors = format!("{folder}/msi_irqs");
    let names = tree.list(&vectors).unwrap_or_default();
    let lines: Vec<u32> = names
        .iter()
        // Seen, so that a recording has them too.
        .filter(|name| tree.exists(&format!("{vectors}/{name}")))
        .filter_map(|name| text::number(name.as_bytes()))
        .collect();
    if !lines.is_empty() {
        return lines;
    }
    let irq = format!("{folder}/irq");
    let line = if tree.exists(&irq) { tree.parse(&irq, text::one_number).unwrap_or(0) } else { 0 };
    if line == 0 { Vec::new() } else { vec![line] }
}

/// Lines whose handler is named after the controller or after something between it and its disk: `mmc0`,
/// `11230000.mmc`, `virtio0`.
fn lines_named_after(place: &Place, table: &InterruptTable) -> Vec<u32> {
    let own = place.sys_path.rsplit('/').next().unwrap_or_default();
    let names = || std::iter::once(own).chain(place.below.split('/')).filter(|name| !name.is_empty());
    irq_line::with_action(table, |action| names().any(|name| name == action))
}
