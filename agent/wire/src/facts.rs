//! What the device is: things that do not change during a run.

use crate::Reading;
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// The whole of what a probe finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Kernel, user, processors.
    pub system: SystemFacts,
    /// Disks the kernel shows, or why they cannot be seen (a phone's shell may not read `/sys/block`).
    pub disks: Reading<Vec<DiskFacts>>,
    /// Storage controllers above those disks, and UFS controllers without one.
    pub controllers: Reading<Vec<ControllerFacts>>,
    /// Interrupt lines that belong to UFS or to a controller above a disk.
    pub irqs: Reading<Vec<IrqFacts>>,
    /// Every interrupt thread (`irq/N-NAME`), of any line: shows whether handlers are threaded by force.
    pub irq_threads: Vec<ThreadFacts>,
    /// `ksoftirqd/N`, one a CPU.
    pub ksoftirqd: Vec<ThreadFacts>,
}

impl Facts {
    /// The disk of this name, if it was seen.
    pub fn disk(&self, name: &str) -> Option<&DiskFacts> {
        self.disks.iter().flatten().find(|disk| disk.name == name)
    }

    /// The controller above a disk, if it has one that was seen.
    pub fn controller_of(&self, disk: &DiskFacts) -> Option<&ControllerFacts> {
        let path = disk.controller.as_ref()?;
        self.controllers.iter().flatten().find(|controller| controller.sys_path == *path)
    }
}

/// Kernel, user and processors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemFacts {
    /// `uname -r`.
    pub kernel_release: String,
    /// `uname -v`; holds `PREEMPT_RT` on such a kernel.
    pub kernel_version: String,
    /// `uname -m`.
    pub machine: String,
    /// `uname -n`.
    pub hostname: String,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: Reading<String>,
    /// `/proc/cmdline`; holds `threadirqs` where handlers are threaded by force.
    pub cmdline: Reading<String>,
    /// The machine's own name: device tree model, or DMI product.
    pub model: Reading<String>,
    /// Effective user.
    pub uid: u32,
    /// `/proc/self/attr/current`.
    pub selinux_context: Reading<String>,
    /// Bytes of a memory page.
    pub page_bytes: u32,
    /// Grain of `CLOCK_MONOTONIC` as seen by reading it, in nanoseconds.
    pub clock_grain_ns: u64,
    /// Set on an emulated machine (QEMU's device tree or firmware names): times are no hardware's.
    pub emulated: bool,
    /// CPUs that could ever be there.
    pub cpus_possible: Reading<Vec<u16>>,
    /// CPUs that run now.
    pub cpus_online: Reading<Vec<u16>>,
    /// CPUs this process may use (`Cpus_allowed_list`).
    pub cpus_allowed: Reading<Vec<u16>>,
    /// `/proc/self/cpuset`.
    pub cpuset: Reading<String>,
    /// One entry a possible CPU.
    pub cpus: Vec<CpuFacts>,
}

/// One processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuFacts {
    /// Its number.
    pub cpu: u16,
    /// `cpu_capacity`: 1024 is the strongest CPU at its highest frequency.
    pub capacity: Reading<u32>,
    /// `topology/cluster_cpus_list` or `topology/core_siblings_list`: CPUs of the same cluster.
    pub cluster: Reading<Vec<u16>>,
    /// `cpufreq/scaling_governor`.
    pub governor: Reading<String>,
    /// `cpufreq/scaling_min_freq` and `scaling_max_freq`, in kHz.
    pub frequency_range_khz: Reading<(u64, u64)>,
}

/// One disk (never a partition).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskFacts {
    /// Its name under `/sys/block`, such as `sda`.
    pub name: String,
    /// Major and minor number.
    pub dev: (u32, u32),
    /// What serves it: `/sys/block/X/device/driver` or the kind of virtual disk, such as `zram`.
    pub driver: Reading<String>,
    /// Vendor and model as the device gives them.
    pub model: Reading<String>,
    /// Bytes.
    pub size_bytes: Reading<u64>,
    /// Smallest unit that can be addressed, in bytes.
    pub logical_block_bytes: Reading<u32>,
    /// `queue/rq_affinity`: 0 never, 1 same group, 2 same CPU.
    pub rq_affinity: Reading<u8>,
    /// `queue/scheduler`, the chosen one.
    pub scheduler: Reading<String>,
    /// CPUs of each hardware queue (`mq/N/cpu_list`).
    pub hardware_queues: Reading<Vec<Vec<u16>>>,
    /// Names of its partitions.
    pub partitions: Vec<String>,
    /// `sys_path` of the controller above it, if there is one.
    pub controller: Option<String>,
}

/// What a controller is, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ControllerKind {
    /// A UFS host controller.
    Ufs,
    /// An eMMC or SD host.
    Mmc,
    /// An NVMe controller.
    Nvme,
    /// Another one.
    Other,
}

/// A storage controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerFacts {
    /// Its folder under `/sys/devices`.
    pub sys_path: String,
    /// What it is.
    pub kind: ControllerKind,
    /// Its driver, such as `ufshcd-sprd`.
    pub driver: Reading<String>,
    /// Numbers of its interrupt lines.
    pub irqs: Vec<u32>,
    /// Allow-listed sysfs attributes (name, text): clock gating, hibern8, link state and the like.
    pub attributes: Vec<(String, Reading<String>)>,
}

/// One interrupt line that completions may arrive on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IrqFacts {
    /// Linux's number, as in `/proc/interrupts`.
    pub irq: u32,
    /// Interrupt controller, such as `GICv3`.
    pub chip: String,
    /// The controller's own number, as text.
    pub hwirq: String,
    /// Names of the handlers on the line; more than one is a shared line.
    pub actions: Vec<String>,
    /// `/proc/irq/N/smp_affinity_list`.
    pub affinity: Reading<Vec<u16>>,
    /// `/proc/irq/N/effective_affinity_list`: where it is delivered.
    pub effective_affinity: Reading<Vec<u16>>,
    /// Interrupt threads of this line.
    pub threads: Vec<ThreadFacts>,
}

/// A kernel thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadFacts {
    /// Its process number.
    pub pid: u32,
    /// Its name, as the kernel prints it (15 characters on older kernels).
    pub comm: String,
    /// Scheduling policy by number (`SCHED_OTHER` 0, `SCHED_FIFO` 1, `SCHED_RR` 2).
    pub policy: u32,
    /// Real-time priority, 0 for the others.
    pub rt_priority: u32,
    /// Nice value.
    pub nice: i32,
    /// CPU it ran on last.
    pub cpu: u16,
    /// CPUs it may run on.
    pub cpus_allowed: Reading<Vec<u16>>,
    /// The second thread of a line that has a handler of either kind (`irq/N-s-NAME`).
    pub secondary: bool,
}

/// What the target turned out to be, once opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// As asked.
    pub path: String,
    /// After links.
    pub real_path: String,
    /// A block device (otherwise a regular file).
    pub block_device: bool,
    /// Major and minor number of the block device, or of the file's file system.
    pub dev: (u32, u32),
    /// The disk beneath, by its name under `/sys/block`.
    pub disk: Reading<String>,
    /// Bytes of the whole target.
    pub size_bytes: u64,
    /// Bytes that are used.
    pub span_bytes: u64,
    /// Smallest unit of direct I/O, in bytes: offset and length.
    pub offset_align_bytes: u32,
    /// Alignment of the buffer for direct I/O, in bytes.
    pub memory_align_bytes: u32,
    /// Where the two alignments come from: `statx`, `BLKSSZGET` or `st_blksize`.
    pub align_source: String,
    /// Direct I/O is in force.
    pub direct: bool,
    /// The file was made, and will be removed, by tophalf.
    pub made: bool,
}
