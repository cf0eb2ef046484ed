//! From disks to controllers on machines that no recorded tree is of.

use crate::common::own;
use std::{fs, os::unix::fs::symlink};
use tophalf_agent::observe::{facts, tree::Tree};
use tophalf_wire::{ControllerKind, Facts};

/// A tree in the making.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(interrupts: &str) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        machine.file("/proc/interrupts", interrupts)
    }

    fn file(self, path: &str, content: &str) -> Self {
        let place = self.0.path().join(&path[1..]);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, content).unwrap();
        self
    }

    fn link(self, path: &str, target: &str) -> Self {
        let place = self.0.path().join(&path[1..]);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(target, place).unwrap();
        self
    }

    fn disk(self, name: &str, folder: &str) -> Self {
        self.link(&format!("/sys/block/{name}"), folder).file(&format!("{folder}/dev"), "8:0\n")
    }

    fn facts(&self) -> Facts {
        facts::read(&Tree::at(self.0.path()), &own())
    }
}

/// Folder, kind and lines of each controller.
fn controllers(facts: &Facts) -> Vec<(&str, ControllerKind, &[u32])> {
    let found = facts.controllers.as_ref().unwrap().iter();
    found.map(|found| (found.sys_path.as_str(), found.kind, found.irqs.as_slice())).collect()
}

fn lines(facts: &Facts) -> Vec<u32> {
    facts.irqs.as_ref().unwrap().iter().map(|line| line.irq).collect()
}

const NVME: &str = "/sys/devices/pci0000:00/0000:00:03.0";

#[test]
fn the_vectors_of_an_nvme_controller() {
    let facts = Machine::new(
        " CPU0\n 30: 5 PCI-MSIX-0000:00:03.0 0-edge nvme0q0\n 31: 9 PCI-MSIX-0000:00:03.0 1-edge nvme0q1\n",
    )
    .disk("nvme0n1", &format!("{NVME}/nvme/nvme0/nvme0n1"))
    .file(&format!("{NVME}/irq"), "11\n")
    .file(&format!("{NVME}/msi_irqs/30"), "msix\n")
    .file(&format!("{NVME}/msi_irqs/31"), "msix\n")
    .facts();
    assert_eq!(controllers(&facts), [(NVME, ControllerKind::Nvme, &[30, 31][..])], "not the unused pin");
    assert_eq!(lines(&facts), [30, 31]);
}

#[test]
fn an_nvme_disk_that_could_have_several_paths() {
    let subsystem = "/sys/devices/virtual/nvme-subsystem/nvme-subsys0";
    let facts = Machine::new(" CPU0\n")
        .disk("nvme0n1", &format!("{subsystem}/nvme0n1"))
        .link(&format!("{subsystem}/nvme0"), "../../../pci0000:00/0000:00:03.0/nvme/nvme0")
        .file(&format!("{NVME}/nvme/nvme0/state"), "live\n")
        .file(&format!("{NVME}/msi_irqs/30"), "msix\n")
        .facts();
    assert_eq!(controllers(&facts), [(NVME, ControllerKind::Nvme, &[30][..])]);
}

const TWO_LINES: &str =
    " CPU0\n 40: 5 GICv3 37 Level ufshcd\n 41: 9 GICv3 38 Level ufshcd\n 42: 1 GICv3 39 Level mmc0\n";

#[test]
fn handlers_do_not_tell_two_ufs_controllers_apart() {
    let machine = Machine::new(TWO_LINES)
        .disk("sda", "/sys/devices/platform/a.ufs/host0/block/sda")
        .file("/sys/devices/platform/a.ufs/spm_lvl", "5\n");
    assert_eq!(
        controllers(&machine.facts()),
        [("/sys/devices/platform/a.ufs", ControllerKind::Ufs, &[40, 41][..])],
        "one controller has them all"
    );
    let facts = machine
        .disk("sdb", "/sys/devices/platform/b.ufs/host1/block/sdb")
        .file("/sys/devices/platform/b.ufs/spm_lvl", "5\n")
        .facts();
    assert!(
        controllers(&facts).iter().all(|(_, kind, irqs)| *kind == ControllerKind::Ufs && irqs.is_empty())
    );
    assert_eq!(lines(&facts), [40, 41], "still lines of UFS");
}

#[test]
fn a_ufs_controller_without_a_disk_and_the_wrapper_around_it() {
    let drivers = "/sys/bus/platform/drivers";
    let facts = Machine::new(TWO_LINES)
        .link(&format!("{drivers}/ti-j721e-ufs/w.ufs-wrapper"), "/sys/devices/platform/w.ufs-wrapper")
        .link(&format!("{drivers}/cdns-ufshcd/c.ufs"), "/sys/devices/platform/w.ufs-wrapper/c.ufs")
        .link(&format!("{drivers}/cdns-ufshcd/module"), "/sys/module/cdns_pltfrm")
        .file(&format!("{drivers}/cdns-ufshcd/bind"), "")
        .file("/sys/devices/platform/w.ufs-wrapper/c.ufs/spm_lvl", "5\n")
        .file("/sys/module/cdns_pltfrm/refcnt", "0\n")
        .facts();
    assert!(facts.disks.is_err());
    let expected = [("/sys/devices/platform/w.ufs-wrapper/c.ufs", ControllerKind::Ufs, &[40, 41][..])];
    assert_eq!(controllers(&facts), expected);
}

#[test]
fn a_machine_without_anything_gives_reasons() {
    let empty = tempfile::tempdir().unwrap();
    let facts = facts::read(&Tree::at(empty.path()), &own());
    assert!(facts.disks.is_err() && facts.controllers.is_err() && facts.irqs.is_err());
    assert_eq!((facts.system.uid, facts.system.page_bytes), (own().uid, own().page_bytes));
    assert_eq!(facts.system.kernel_release, own().kernel_release);
}
