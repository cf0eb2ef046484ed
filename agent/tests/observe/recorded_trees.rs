//! What the agent finds on devices that are recorded under `tests/data/trees`.

use crate::common::{own, tree};
use tophalf_agent::observe::facts;
use tophalf_wire::{ControllerKind, DiskFacts, Facts, IrqFacts};

fn read(name: &str) -> Facts {
    facts::read(&tree(name), &own())
}

fn disk<'a>(facts: &'a Facts, name: &str) -> &'a DiskFacts {
    facts.disks.as_ref().unwrap().iter().find(|disk| disk.name == name).expect("the disk")
}

fn irqs(facts: &Facts) -> &[IrqFacts] {
    facts.irqs.as_ref().unwrap()
}

#[test]
fn t615_has_a_threaded_ufs_handler() {
    let facts = read("t615-threaded");
    let [controller] = facts.controllers.as_deref().unwrap() else { panic!("{:?}", facts.controllers) };
    assert_eq!(controller.sys_path, "/sys/devices/platform/soc/soc:ap-apb/20200000.ufs");
    assert_eq!(controller.kind, ControllerKind::Ufs);
    assert_eq!(controller.driver.as_deref(), Ok("ufshcd-sprd"));
    assert_eq!(controller.irqs, [205], "platform devices do not tell: by the handler's name");
    let attribute = |name: &str| {
        controller
            .attributes
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, text)| text.as_deref().unwrap())
    };
    assert_eq!(attribute("clkgate_delay_ms"), Some("10"));
    assert_eq!(attribute("power_info/gear"), Some("HS_GEAR3"));
    assert_eq!(attribute("clkscale_enable"), None, "this driver cannot");

    let [line] = irqs(&facts) else { panic!("{:?}", facts.irqs) };
    assert_eq!((line.irq, line.chip.as_str(), line.hwirq.as_str()), (205, "GICv3", "90"));
    assert_eq!(line.actions, ["ufshcd"]);
    assert_eq!(line.effective_affinity.as_deref(), Ok(&[0][..]));
    assert_eq!(line.affinity.as_ref().unwrap().len(), 8);
    let [thread] = line.threads.as_slice() else { panic!("{:?}", line.threads) };
    assert_eq!((thread.pid, thread.comm.as_str(), thread.secondary), (74, "irq/205-ufshcd", false));
    assert_eq!((thread.policy, thread.rt_priority, thread.cpu), (1, 50, 0));
    assert_eq!(thread.cpus_allowed.as_deref(), Ok(&[0][..]));
}

#[test]
fn t615_threads_are_kernel_threads_only() {
    let facts = read("t615-threaded");
    let pids: Vec<u32> = facts.irq_threads.iter().map(|thread| thread.pid).collect();
    assert_eq!(pids, [74, 76], "process 5769 calls itself irq/205-ufshcd");
    let names: Vec<&str> = facts.ksoftirqd.iter().map(|thread| thread.comm.as_str()).collect();
    assert_eq!(names.len(), 8);
    assert_eq!((names[0], names[7]), ("ksoftirqd/0", "ksoftirqd/7"));
}

#[test]
fn t615_disks() {
    let facts = read("t615-threaded");
    let sda = disk(&facts, "sda");
    assert_eq!(sda.dev, (8, 0));
    assert_eq!(sda.driver.as_deref(), Ok("sd"));
    assert_eq!(sda.model.as_deref(), Ok("SAMSUNG KM2L9001CM-B518"));
    assert_eq!(sda.size_bytes, Ok(249_872_384 * 512));
    assert_eq!((&sda.logical_block_bytes, &sda.rq_affinity), (&Ok(4096), &Ok(1)));
    assert_eq!(sda.scheduler.as_deref(), Ok("mq-deadline"));
    assert_eq!(sda.hardware_queues, Ok(vec![(0..8).collect()]));
    assert_eq!(sda.partitions, ["sda1", "sda2", "sda10"]);
    let controller = Some("/sys/devices/platform/soc/soc:ap-apb/20200000.ufs");
    assert_eq!(sda.controller.as_deref(), controller);
    assert_eq!(disk(&facts, "sdb").controller.as_deref(), controller);
    for (name, driver) in [("zram0", "zram"), ("dm-0", "dm")] {
        assert_eq!(disk(&facts, name).driver.as_deref(), Ok(driver));
        assert_eq!(disk(&facts, name).controller, None);
    }
    let names: Vec<&str> = facts.disks.as_ref().unwrap().iter().map(|disk| disk.name.as_str()).collect();
    assert_eq!(names, ["dm-0", "sda", "sdb", "zram0"], "nothing is set up on loop0");
}

#[test]
fn t615_system() {
    let system = read("t615-threaded").system;
    assert_eq!(system.kernel_release, "6.18.2-maybe-dirty");
    assert_eq!(system.kernel_version, "#1 SMP PREEMPT Mon Feb  2 10:11:12 UTC 2026");
    assert_eq!((system.machine.as_str(), system.hostname.as_str()), ("aarch64", "localhost"));
    assert_eq!(system.model.as_deref(), Ok("Spreadtrum UMS9230 4H10 SoC"));
    assert_eq!((system.uid, system.page_bytes, system.emulated), (0, 4096, false));
    assert_eq!(system.selinux_context.as_deref(), Ok("u:r:su:s0"));
    assert_eq!(system.cpuset.as_deref(), Ok("/foreground"));
    assert_eq!(system.cpus_allowed.as_ref().unwrap().len(), 8);
    let clusters: Vec<usize> = system.cpus.iter().map(|cpu| cpu.cluster.as_ref().unwrap().len()).collect();
    assert_eq!(clusters, [6, 6, 6, 6, 6, 6, 2, 2]);
    let big = &system.cpus[6];
    assert_eq!((&big.capacity, big.governor.as_deref()), (&Ok(1024), Ok("schedutil")));
    assert_eq!(big.frequency_range_khz, Ok((768_000, 1_820_000)));
}

#[test]
fn every_queue_of_a_qualcomm_phone_has_its_line() {
    let facts = read("qcom-mcq-esi");
    let [controller] = facts.controllers.as_deref().unwrap() else { panic!("{:?}", facts.controllers) };
    assert_eq!(controller.irqs, (172..=180).collect::<Vec<_>>());
    let lines = irqs(&facts);
    assert_eq!(lines.len(), 9);
    assert_eq!((lines[0].actions.as_slice(), lines[0].threads.len()), (&["ufshcd".to_owned()][..], 1));
    assert!(lines[1..].iter().all(|line| line.actions == ["qcom-mcq-esi"] && line.threads.is_empty()));
    assert_eq!(lines[3].effective_affinity.as_deref(), Ok(&[2][..]));
    let queues = disk(&facts, "sda").hardware_queues.as_ref().unwrap();
    assert_eq!(queues.len(), 8);
    let alone = facts.system.cpus.last().unwrap();
    assert_eq!(alone.cluster.as_deref(), Ok(&[7][..]), "a cluster of one");
}

#[test]
fn a_phone_without_ufs() {
    let facts = read("emmc-phone");
    let [controller] = facts.controllers.as_deref().unwrap() else { panic!("{:?}", facts.controllers) };
    assert_eq!(controller.kind, ControllerKind::Mmc);
    assert_eq!(controller.sys_path, "/sys/devices/platform/soc/soc:ap-apb/20600000.sdio");
    assert_eq!(controller.driver.as_deref(), Ok("sdhci-sprd-r11"));
    assert_eq!(controller.irqs, [44], "not mmc1's");
    assert!(controller.attributes.is_empty());
    let card = disk(&facts, "mmcblk0");
    assert_eq!((card.driver.as_deref(), card.model.as_deref()), (Ok("mmcblk"), Ok("DV4064")));
    assert_eq!(card.partitions, ["mmcblk0p1", "mmcblk0p2"]);
    assert!(facts.irq_threads.is_empty());
    assert_eq!(facts.system.machine, own().machine, "Linux 5.15 has no file for it");
    assert_eq!(facts.system.cpus[7].cluster.as_deref(), Ok(&[6, 7][..]), "from core_siblings_list");
}

#[test]
fn a_shell_still_finds_the_line_and_its_thread() {
    let facts = read("shell-tier");
    let reason = &facts.disks.as_ref().unwrap_err().reason;
    assert_eq!(reason, "list /sys/block: No such file or directory (os error 2)");
    assert!(facts.controllers.is_err());
    let [line] = irqs(&facts) else { panic!("{:?}", facts.irqs) };
    assert_eq!((line.irq, line.threads.len()), (205, 1));
    let reason = &line.effective_affinity.as_ref().unwrap_err().reason;
    assert!(reason.starts_with("read /proc/irq/205/effective_affinity_list: "), "{reason}");
    assert_eq!(line.threads[0].cpus_allowed.as_deref(), Ok(&[0][..]), "it follows the line");
    assert_eq!(facts.system.uid, 2000);
    assert_eq!(facts.system.kernel_release, "6.18.2-android17-3-maybe-dirty-4k", "from /proc/version");
    assert_eq!(facts.system.hostname, own().hostname);
    assert!(facts.system.boot_id.is_err() && facts.system.model.is_err());
}

#[test]
fn a_virtual_phone_with_linux_7_3() {
    let facts = read("arm64-7.3-format");
    assert!(facts.system.emulated);
    let controllers = facts.controllers.as_ref().unwrap();
    let ufs = controllers.iter().find(|controller| controller.kind == ControllerKind::Ufs).unwrap();
    assert_eq!(ufs.sys_path, "/sys/devices/platform/4010000000.pcie/pci0000:00/0000:00:02.0");
    assert_eq!((ufs.driver.as_deref(), ufs.irqs.as_slice()), (Ok("ufshcd"), &[18][..]));
    let virtio = controllers.iter().find(|controller| controller.kind == ControllerKind::Other).unwrap();
    assert_eq!(virtio.sys_path, "/sys/devices/platform/a003e00.virtio_mmio");
    assert_eq!(virtio.irqs, [19]);
    assert_eq!(controllers.len(), 2);
    let line = &irqs(&facts)[0];
    assert_eq!(
        (line.irq, line.chip.as_str(), line.actions.as_slice()),
        (18, "GICv3", &["ufshcd".to_owned()][..])
    );
    assert!(line.threads.is_empty(), "handled in the interrupt");
}

/// Recorded by `tophalf probe --record` on the three virtual phones.
#[test]
fn real_recordings_show_the_controller_and_which_kernel_has_a_thread() {
    for (name, release, thread) in [
        ("virtual-phone-6.12", "6.12.117+deb13-arm64", None),
        ("virtual-phone-6.18", "6.18.15+deb13-arm64", Some("irq/21-ufshcd")),
        ("virtual-phone-7.3", "7.3.4+deb13-arm64", None),
    ] {
        let facts = read(name);
        assert_eq!(facts.system.kernel_release, release);
        assert!(facts.system.emulated, "{name}");
        let [controller] = facts.controllers.as_deref().unwrap() else { panic!("{:?}", facts.controllers) };
        assert_eq!((controller.kind, controller.irqs.as_slice()), (ControllerKind::Ufs, &[21][..]), "{name}");
        let sda = disk(&facts, "sda");
        assert_eq!(sda.controller.as_ref(), Some(&controller.sys_path), "{name}");
        assert_eq!((&sda.logical_block_bytes, &sda.size_bytes), (&Ok(4096), &Ok(1 << 30)), "{name}");
        let [line] = irqs(&facts) else { panic!("{name}: {:?}", facts.irqs) };
        assert_eq!(
            (line.irq, line.chip.as_str(), line.actions.as_slice()),
            (21, "GICv3", &["ufshcd".to_owned()][..])
        );
        assert_eq!(line.threads.first().map(|thread| thread.comm.as_str()), thread, "{name}");
        assert_eq!(facts.ksoftirqd.len(), 2, "{name}");
    }
}
