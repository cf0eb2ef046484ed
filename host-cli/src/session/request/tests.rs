use super::*;
use crate::device::{ShellDone, process::Piped};
use crate::failure::{EXIT_USAGE, exit_code};
use std::time::Duration;
use tophalf_wire::{ControllerFacts, Engine, Pattern, Plan, Reading, Unavailable};

/// A device that only says what it may do.
struct Fake(Access);

impl Device for Fake {
    fn name(&self) -> &str {
        "fake"
    }
    fn transport(&self) -> String {
        "fake".to_owned()
    }
    fn access(&self) -> Access {
        self.0
    }
    fn carries_stdin(&self) -> bool {
        true
    }
    fn start(&self, _: &Plan) -> anyhow::Result<Piped> {
        anyhow::bail!("nothing is started here")
    }
    fn fall_back(&mut self) -> bool {
        false
    }
    fn disk_path(&self, disk: &str) -> anyhow::Result<String> {
        Ok(format!("/dev/block/{disk}"))
    }
    fn scratch_folder(&self) -> String {
        "/data/local/tmp/tophalf".to_owned()
    }
    fn shell(&self, _: &str, _: Duration) -> anyhow::Result<ShellDone> {
        anyhow::bail!("there is no shell here")
    }
}

const ROOT: Fake = Fake(Access::Root("su -c"));
const SHELL: Fake = Fake(Access::Shell);
const OWN: Fake = Fake(Access::Own);

fn unavailable<T>() -> Reading<T> {
    Err(Unavailable::new("read /sys/block: Permission denied"))
}

fn disk(name: &str, size_bytes: u64, controller: &str) -> DiskFacts {
    DiskFacts {
        name: name.to_owned(),
        dev: (8, 0),
        driver: unavailable(),
        model: unavailable(),
        size_bytes: Ok(size_bytes),
        logical_block_bytes: Ok(4096),
        rq_affinity: unavailable(),
        scheduler: unavailable(),
        hardware_queues: unavailable(),
        partitions: vec![format!("{name}1")],
        controller: Some(controller.to_owned()),
    }
}

fn facts(kind: ControllerKind, disks: Vec<DiskFacts>) -> Facts {
    Facts {
        system: SystemFacts {
            kernel_release: "6.18".to_owned(),
            kernel_version: String::new(),
            machine: "aarch64".to_owned(),
            hostname: String::new(),
            boot_id: unavailable(),
            cmdline: unavailable(),
            model: unavailable(),
            uid: 0,
            selinux_context: unavailable(),
            page_bytes: 4096,
            clock_grain_ns: 1,
            emulated: false,
            cpus_possible: Ok((0..8).collect()),
            cpus_online: Ok(vec![0, 1, 2, 3, 6, 7]),
            cpus_allowed: Ok(vec![2, 3, 4, 5, 6, 7]),
            cpuset: unavailable(),
            cpus: Vec::new(),
        },
        disks: Ok(disks),
        controllers: Ok(vec![ControllerFacts {
            sys_path: "/sys/devices/c".to_owned(),
            kind,
            driver: unavailable(),
            irqs: vec![18],
            attributes: Vec::new(),
        }]),
        irqs: Ok(vec![irq(17, &[7]), irq(18, &[0, 3])]),
        irq_threads: Vec::new(),
        ksoftirqd: Vec::new(),
    }
}

fn irq(irq: u32, affinity: &[u16]) -> IrqFacts {
    IrqFacts {
        irq,
        chip: "GICv3".to_owned(),
        hwirq: "37".to_owned(),
        actions: vec!["ufshcd".to_owned()],
        affinity: Ok(affinity.to_vec()),
        effective_affinity: unavailable(),
        threads: Vec::new(),
    }
}

fn ufs() -> Facts {
    let lun = |name, size| disk(name, size, "/sys/devices/c");
    facts(ControllerKind::Ufs, vec![lun("sda", 64 << 30), lun("sdb", 4 << 20), lun("sdc", 128 << 20)])
}

fn request() -> RunRequest {
    RunRequest {
        target: None,
        make_file: false,
        span_bytes: None,
        destroy_data_on: None,
        allow_buffered: false,
        workload: Workload {
            engine: Engine::Psync,
            pattern: Pattern::Random,
            read_percent: 100,
            block_bytes: 4096,
            seed: 1,
        },
        cpu: CpuChoice::OfInterrupt,
        warmup_ns: 0,
        timed_ns: 1,
        window_ns: 1,
        sample_ns: 0,
        hops_ops: 0,
    }
}

fn on(target: &str) -> RunRequest {
    RunRequest { target: Some(target.to_owned()), ..request() }
}

fn with(change: impl FnOnce(&mut RunRequest), mut request: RunRequest) -> RunRequest {
    change(&mut request);
    request
}

fn refused(request: &RunRequest, facts: &Facts, device: &dyn Device) -> String {
    let error = prepare(request, facts, device).unwrap_err();
    assert_eq!(exit_code(&error), EXIT_USAGE, "{error}");
    let text = error.to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

#[test]
fn the_largest_ufs_disk_is_read() {
    let prepared = prepare(&request(), &ufs(), &ROOT).unwrap();
    assert_eq!(prepared.job.target.path, "/dev/block/sda");
    assert!(!prepared.job.target.make_file && prepared.job.target.span_bytes.is_none());
    // CPU 0 is where the line is delivered first, but it is not allowed; line 17 is not the disk's.
    assert_eq!(prepared.job.cpu, Some(3));
    assert_eq!(prepared.notes.len(), 2);
}

#[test]
fn a_disk_without_a_controller_has_no_interrupt_to_be_near() {
    let mut phone = ufs();
    let zram = DiskFacts { controller: None, ..disk("zram0", 64 << 20, "") };
    phone.disks = phone.disks.map(|disks| [disks, vec![zram]].concat());
    let prepared = prepare(&on("/dev/zram0"), &phone, &ROOT).unwrap();
    assert_eq!(prepared.job.cpu, Some(2), "the first that may be used");
    assert!(
        prepared.notes.iter().any(|note| note.contains("no interrupt of the target")),
        "{:?}",
        prepared.notes
    );
}

#[test]
fn without_root_a_file_is_made() {
    let mut phone = ufs();
    (phone.disks, phone.controllers) = (unavailable(), unavailable());
    let prepared = prepare(&request(), &phone, &SHELL).unwrap();
    assert_eq!(prepared.job.target.path, "/data/local/tmp/tophalf/scratch.bin");
    assert!(prepared.job.target.make_file);
    assert_eq!(prepared.job.target.span_bytes, Some(DEFAULT_FILE_BYTES));
    assert!(prepared.notes[0].contains("need root"), "{:?}", prepared.notes);
    let text = refused(&on("/dev/block/sda"), &phone, &SHELL);
    assert!(text.contains("adb root") && text.contains("leave --target out"), "{text}");
}

#[test]
fn this_machine_needs_a_target() {
    let text = refused(&request(), &ufs(), &OWN);
    assert!(text.contains("needs --target") && text.contains("sda, sdb, sdc"), "{text}");
}

#[test]
fn storage_that_is_no_ufs_is_named() {
    let emmc = facts(ControllerKind::Mmc, vec![disk("mmcblk0", 8 << 30, "/sys/devices/c")]);
    let text = refused(&request(), &emmc, &ROOT);
    assert!(text.starts_with("no UFS: storage is eMMC (mmcblk0)"), "{text}");
    let asked = prepare(&on("/dev/block/mmcblk0"), &emmc, &ROOT).unwrap();
    assert_eq!(asked.job.target.path, "/dev/block/mmcblk0");
    let none = facts(ControllerKind::Other, Vec::new());
    assert!(refused(&request(), &none, &ROOT).contains("no disk is there"));
}

#[test]
fn writing_needs_permission() {
    let writes = |request: RunRequest| with(|request| request.workload.read_percent = 50, request);
    let allowed = |request: RunRequest, path: &str| {
        with(|request| request.destroy_data_on = Some(path.to_owned()), writes(request))
    };
    let text = refused(&writes(on("/dev/block/sda1")), &ufs(), &ROOT);
    assert!(text.contains("--destroy-data-on /dev/block/sda1"), "{text}");
    refused(&allowed(on("/dev/block/sda1"), "/dev/block/sda"), &ufs(), &ROOT);
    refused(&allowed(request(), "/dev/block/sda"), &ufs(), &ROOT);
    prepare(&allowed(on("/dev/block/sda1"), "/dev/block/sda1"), &ufs(), &ROOT).unwrap();
    prepare(&with(|request| request.make_file = true, writes(on("/data/x"))), &ufs(), &ROOT).unwrap();
    let made = prepare(&writes(request()), &ufs(), &ROOT).unwrap();
    assert!(made.job.target.make_file, "a write load never goes to the disk by itself");
}

/// axboe/fio#186.
#[test]
fn a_block_smaller_than_the_disks() {
    let small = |path: &str| with(|request| request.workload.block_bytes = 512, on(path));
    for path in ["/dev/sda", "/dev/block/sda1"] {
        let text = refused(&small(path), &ufs(), &ROOT);
        assert!(text.contains("logical block 4096, asked 512"), "{text}");
    }
    for bytes in [0, 2 << 20] {
        refused(&with(|request| request.workload.block_bytes = bytes, on("/dev/sda")), &ufs(), &ROOT);
    }
}

#[test]
fn a_span_that_does_not_fit() {
    let span = |bytes| with(|request| request.span_bytes = Some(bytes), on("/dev/sdb"));
    assert!(refused(&span(8 << 20), &ufs(), &ROOT).contains("span 8388608 bytes, size 4194304 bytes"));
    refused(&span(1024), &ufs(), &ROOT);
    prepare(&span(4 << 20), &ufs(), &ROOT).unwrap();
}

#[test]
fn a_disk_that_is_not_there() {
    let text = refused(&on("/dev/block/sdz"), &ufs(), &ROOT);
    assert!(text.contains("no disk /dev/block/sdz (disks: sda, sdb, sdc)"), "{text}");
    for path in ["/dev/block/by-name/userdata", "/dev/block/dm-3", "/data/file"] {
        prepare(&on(path), &ufs(), &ROOT).unwrap();
    }
}

/// util-linux/util-linux#413 and others: a CPU outside the cpuset, and one that is off-line.
#[test]
fn a_cpu_that_cannot_be_used() {
    let pinned = |cpu| with(|request| request.cpu = CpuChoice::Only(cpu), request());
    for cpu in [0, 4, 9] {
        let text = refused(&pinned(cpu), &ufs(), &ROOT);
        assert!(text.contains("allowed (Cpus_allowed_list) 2-7, online 0-3,6-7"), "{text}");
    }
    assert_eq!(prepare(&pinned(6), &ufs(), &ROOT).unwrap().job.cpu, Some(6));
    let any = with(|request| request.cpu = CpuChoice::Any, request());
    assert_eq!(prepare(&any, &ufs(), &ROOT).unwrap().job.cpu, None);
}

#[test]
fn lists_of_cpus() {
    assert_eq!(ranges(&[]), "none");
    assert_eq!(ranges(&[3]), "3");
    assert_eq!(ranges(&[0, 1, 2, 5, 7, 6]), "0-2,5-7");
    assert_eq!(ranges(&[u16::MAX, 0]), "0,65535");
}
