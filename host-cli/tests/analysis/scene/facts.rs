//! What the device of a scene is, and what it was asked for.

use super::{IRQ_THREAD_PID, SESSION, Scene};
use tophalf_wire::*;

const UFS_PATH: &str = "/sys/devices/platform/4010000000.pcie/pci0000:00/0000:00:02.0";

pub(crate) fn kernel_thread(comm: &str, pid: u32, policy: u32, rt_priority: u32) -> ThreadFacts {
    ThreadFacts {
        pid,
        comm: comm.to_owned(),
        policy,
        rt_priority,
        nice: 0,
        cpu: 0,
        cpus_allowed: Ok(vec![0]),
        secondary: comm.contains("-s-"),
    }
}

impl Scene {
    pub(crate) fn plan(&self) -> Plan {
        Plan {
            session: SESSION,
            watch_stdin: true,
            job: Job::Run(RunJob {
                target: TargetSpec {
                    path: "/dev/sda".to_owned(),
                    span_bytes: None,
                    make_file: false,
                    destroy_data_on: None,
                    allow_buffered: false,
                },
                workload: Workload {
                    engine: Engine::Psync,
                    pattern: Pattern::Random,
                    read_percent: 100,
                    block_bytes: self.block_bytes,
                    seed: 1,
                },
                cpu: Some(self.io_cpu),
                warmup_ns: 500_000_000,
                timed_ns: 1_000_000_000,
                window_ns: 1_000_000_000,
                sample_ns: 100_000_000,
                hops_ops: self.hops.unwrap_or(0),
            }),
        }
    }

    pub(crate) fn facts(&self) -> Facts {
        let cpu = |cpu| CpuFacts {
            cpu,
            capacity: Ok(1024),
            cluster: Ok(vec![0, 1]),
            governor: Err(Unavailable::new("no such file: cpufreq/scaling_governor")),
            frequency_range_khz: Err(Unavailable::new("no such file: cpufreq/scaling_min_freq")),
        };
        let numbers: Vec<u32> = self.lines.iter().map(|line| line.0).collect();
        let threads = |irq| self.thread.iter().filter(move |thread| thread.irq == irq);
        let own = self.thread.iter().map(|thread| kernel_thread(thread.comm, IRQ_THREAD_PID, 1, 50));
        let others = self.other_threads.iter().zip(90..).map(|(comm, pid)| kernel_thread(comm, pid, 1, 50));
        Facts {
            system: SystemFacts {
                kernel_release: "6.12.1-arm64".to_owned(),
                kernel_version: self.kernel_version.clone(),
                machine: "aarch64".to_owned(),
                hostname: "virtual-phone".to_owned(),
                boot_id: Ok(self.boot_id.clone()),
                cmdline: self.cmdline.clone(),
                model: Ok("linux,dummy-virt".to_owned()),
                uid: 0,
                selinux_context: Err(Unavailable::new("no such file: /proc/self/attr/current")),
                page_bytes: 4096,
                clock_grain_ns: 16,
                emulated: self.emulated,
                cpus_possible: Ok(vec![0, 1]),
                cpus_online: Ok(vec![0, 1]),
                cpus_allowed: Ok(vec![0, 1]),
                cpuset: Ok("/".to_owned()),
                cpus: vec![cpu(0), cpu(1)],
            },
            disks: Ok(vec![DiskFacts {
                name: "sda".to_owned(),
                dev: (8, 0),
                driver: Ok("sd".to_owned()),
                model: Ok("QEMU QEMU HARDDISK".to_owned()),
                size_bytes: Ok(1 << 30),
                logical_block_bytes: Ok(4096),
                rq_affinity: Ok(1),
                scheduler: Ok("none".to_owned()),
                hardware_queues: Ok(vec![vec![0, 1]; self.hardware_queues]),
                partitions: vec![],
                controller: self.controller.map(|_| UFS_PATH.to_owned()),
            }]),
            controllers: Ok(self
                .controller
                .iter()
                .map(|&kind| ControllerFacts {
                    sys_path: UFS_PATH.to_owned(),
                    kind,
                    driver: Ok("ufshcd".to_owned()),
                    irqs: numbers.clone(),
                    attributes: vec![
                        ("clkgate_enable".to_owned(), Ok("1".to_owned())),
                        ("auto_hibern8".to_owned(), Err(Unavailable::new("permission denied"))),
                    ],
                })
                .collect()),
            irqs: Ok(self
                .lines
                .iter()
                .map(|(irq, actions, _)| IrqFacts {
                    irq: *irq,
                    chip: "GICv3".to_owned(),
                    hwirq: "37".to_owned(),
                    actions: actions.iter().map(|action| (*action).to_owned()).collect(),
                    affinity: Ok(vec![0, 1]),
                    effective_affinity: Ok(vec![0]),
                    threads: threads(*irq)
                        .map(|thread| kernel_thread(thread.comm, IRQ_THREAD_PID, 1, 50))
                        .collect(),
                })
                .collect()),
            irq_threads: own.chain(others).collect(),
            ksoftirqd: vec![kernel_thread("ksoftirqd/0", 14, 0, 0), kernel_thread("ksoftirqd/1", 21, 0, 0)],
        }
    }

    pub(crate) fn target(&self) -> TargetFacts {
        TargetFacts {
            path: "/dev/sda".to_owned(),
            real_path: "/dev/sda".to_owned(),
            block_device: true,
            dev: (8, 0),
            disk: Ok("sda".to_owned()),
            size_bytes: 1 << 30,
            span_bytes: 1 << 30,
            offset_align_bytes: 4096,
            memory_align_bytes: 4,
            align_source: "statx".to_owned(),
            direct: true,
            made: false,
        }
    }
}
