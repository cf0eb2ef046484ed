//! The machine: QEMU's command line.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::guests::Guest;
use crate::options::{BootOptions, Disk};

/// The network's name for QMP's `set_link`.
pub(crate) const NETWORK_ID: &str = "net0";

const DISK_NODE: &str = "blocks0";
const NULL_DISK_BYTES: u64 = 1 << 30;

/// QEMU for `guest`: QMP on stdin and stdout, the guest's console together with QEMU's own complaints on stderr, so
/// that nothing has to be named, and nothing stays behind.
pub(crate) fn command(options: &BootOptions, guests: &Path, guest: &Guest) -> Result<Command> {
    if options.mcq && options.no_ufs {
        bail!("a phone without UFS has no UFS queues: leave out --mcq or --no-ufs");
    }
    let cpus = options.cpus;
    let mut qemu = Command::new("qemu-system-aarch64");
    qemu.args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]);
    qemu.args(["-machine", "virt,gic-version=3", "-cpu", "cortex-a76", "-m", "1024"]);
    qemu.args(["-smp", &cpus.to_string()]);
    if options.repeatable {
        qemu.args(["-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off"]);
    } else {
        qemu.args(["-accel", "tcg,thread=multi"]);
    }
    qemu.args(["-chardev", "stdio,id=qmp,signal=off", "-mon", "chardev=qmp,mode=control"]);
    qemu.args(["-chardev", "file,id=console,path=/dev/stderr", "-serial", "chardev:console"]);
    qemu.arg("-kernel").arg(guest.kernel(guests));
    qemu.arg("-initrd").arg(guest.initramfs(guests));
    qemu.args(["-append", &options.kernel_command_line()]);

    qemu.args(["-blockdev", &block_device(&options.disk)?]);
    if options.no_ufs {
        qemu.args(["-device", "sdhci-pci,id=sdhci0"]);
        qemu.args(["-device", &format!("sd-card,drive={DISK_NODE}")]);
    } else {
        let queues = if options.mcq { format!(",mcq=on,mcq-maxq={cpus}") } else { String::new() };
        qemu.args(["-device", &format!("ufs,id=ufs0,serial=virtual-phone{queues}")]);
        qemu.args(["-device", &format!("ufs-lu,bus=ufs0,drive={DISK_NODE},lun=0")]);
    }

    // Port 0 is a free one of the host's choice. The guest reaches nothing but adb.
    let port = options.adb_port.unwrap_or(0);
    qemu.args(["-netdev", &format!("user,id=user0,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:5555")]);
    qemu.args(["-device", &format!("virtio-net-pci,id={NETWORK_ID},netdev=user0,romfile=")]);
    Ok(qemu)
}

fn block_device(disk: &Disk) -> Result<String> {
    let mut node = match disk {
        Disk::Null => json!({"driver": "null-co", "size": NULL_DISK_BYTES, "read-zeroes": false}),
        Disk::File(path) => {
            if !path.is_file() {
                bail!("there is no disk image {}: `truncate -s 1G FILE` makes an empty one", path.display());
            }
            let path = path.to_str().context("QEMU takes only disk images with a UTF-8 name")?;
            json!({"driver": "raw", "file": {"driver": "file", "filename": path}})
        }
        Disk::Node(node) => node.clone(),
    };
    node["node-name"] = DISK_NODE.into();
    Ok(node.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(options: &BootOptions) -> String {
        let guest = Guest { release: "6.12.1-arm64".into(), packages: Vec::new() };
        crate::command::shown(&command(options, Path::new("/guests"), &guest).unwrap())
    }

    #[test]
    fn an_ordinary_boot() {
        let words = words(&BootOptions::new("6.12"));
        assert!(
            words
                .contains("-kernel /guests/6.12.1-arm64/vmlinuz -initrd /guests/6.12.1-arm64/initramfs.cpio")
        );
        assert!(words.contains("hostfwd=tcp:127.0.0.1:0-:5555"), "{words}");
        assert!(!words.contains("mcq") && !words.contains("icount"), "{words}");
    }

    #[test]
    fn each_option_reaches_qemu() {
        let mut options = BootOptions::new("6.18");
        options.mcq = true;
        options.cpus = 4;
        options.repeatable = true;
        options.adb_port = Some(15555);
        let words = words(&options);
        for expected in ["mcq=on,mcq-maxq=4", "-smp 4", "-icount shift=1,sleep=off", "127.0.0.1:15555-:5555"]
        {
            assert!(words.contains(expected), "{expected} in {words}");
        }
    }

    #[test]
    fn a_disk_image_whose_name_has_a_comma() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a,b");
        std::fs::write(&path, "").unwrap();
        let device: serde_json::Value =
            serde_json::from_str(&block_device(&Disk::File(path.clone())).unwrap()).unwrap();
        assert_eq!(device["file"]["filename"], path.to_str().unwrap());
        assert!(block_device(&Disk::File(dir.path().join("none"))).is_err());
    }
}
