//! What can differ from one boot to the next.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::Value;

/// How to boot a virtual phone. [`BootOptions::new`] is the ordinary one; change the fields that matter.
#[derive(Clone, Debug)]
pub struct BootOptions {
    /// A kernel series (`6.12`, `7`) or a whole release: the newest guest that is of it.
    pub kernel: String,
    /// Boot with `threadirqs`: every ordinary interrupt handler runs in a thread.
    pub threadirqs: bool,
    /// Give the UFS controller its multi-circular queues, one a CPU.
    pub mcq: bool,
    /// Let guest time be a count of executed instructions. Slow, and only one such phone at a time makes sense.
    pub repeatable: bool,
    /// Virtual CPUs.
    pub cpus: u32,
    /// The port on 127.0.0.1 that leads to adbd; a free one if `None`.
    pub adb_port: Option<u16>,
    /// What is behind the disk.
    pub disk: Disk,
    /// An SD card (512-byte blocks, /dev/mmcblk0) in place of the UFS controller.
    pub no_ufs: bool,
    /// adb shells run as `shell` (uid 2000), as on a phone nobody rooted.
    pub unprivileged: bool,
    /// Which stand-in for `su` the guest has.
    pub su: Su,
    /// More words for the kernel's command line.
    pub append: String,
    /// Where the guest's console is written to, as well.
    pub serial_log: Option<PathBuf>,
    /// The folder of guests; that of [`crate::guests::default_dir`] if `None`.
    pub dir: Option<PathBuf>,
}

/// What holds the bytes of the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disk {
    /// Nothing: 1 GiB that completes at once, with undefined content.
    Null,
    /// A raw image, which writes change.
    File(PathBuf),
    /// Any block node in QEMU's JSON, without `node-name`: `blkdebug` for I/O errors, `throttle` for a slow disk.
    Node(Value),
}

/// Stand-ins for `su`. They become root as the real ones do, and take the words the real ones take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Su {
    /// There is no `su`
    None,
    /// `su -c COMMAND`
    Magisk,
    /// `su 0 COMMAND ARGUMENT…`, without `-c`
    Toybox,
}

impl BootOptions {
    /// Two CPUs, a UFS disk without delay, adb as root.
    pub fn new(kernel: &str) -> Self {
        BootOptions {
            kernel: kernel.to_owned(),
            threadirqs: false,
            mcq: false,
            repeatable: false,
            cpus: 2,
            adb_port: None,
            disk: Disk::Null,
            no_ufs: false,
            unprivileged: false,
            su: Su::None,
            append: String::new(),
            serial_log: None,
            dir: None,
        }
    }

    /// The kernel's command line. Words with `vp.` are for the guest's /init.
    pub(crate) fn kernel_command_line(&self) -> String {
        let mut words = vec!["console=ttyAMA0 panic=-1 quiet"];
        if self.threadirqs {
            words.push("threadirqs");
        }
        if self.repeatable {
            // An idle CPU that waits for an interrupt would let time pass that no instruction accounts for.
            words.push("nohlt");
        }
        if self.unprivileged {
            words.push("vp.uid=2000");
        }
        match self.su {
            Su::None => {}
            Su::Magisk => words.push("vp.su=magisk"),
            Su::Toybox => words.push("vp.su=toybox"),
        }
        if !self.append.is_empty() {
            words.push(&self.append);
        }
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_the_kernel() {
        let mut options = BootOptions::new("7");
        assert_eq!(options.kernel_command_line(), "console=ttyAMA0 panic=-1 quiet");
        options.threadirqs = true;
        options.repeatable = true;
        options.unprivileged = true;
        options.su = Su::Toybox;
        options.append = "nosmp".into();
        assert_eq!(
            options.kernel_command_line(),
            "console=ttyAMA0 panic=-1 quiet threadirqs nohlt vp.uid=2000 vp.su=toybox nosmp"
        );
    }
}
