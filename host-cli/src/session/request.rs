//! From what the user asks to what the device is told: the target is chosen, and what cannot work is refused
//! before anything is touched.

use crate::device::{Access, Device};
use crate::failure::Failure;
use crate::printable::printable;
use tophalf_wire::{ControllerKind, DiskFacts, Facts, IrqFacts, RunJob, SystemFacts, TargetSpec, Workload};

/// The span of a file that is made where no size is asked for.
pub const DEFAULT_FILE_BYTES: u64 = 64 << 20;

/// What the user asks of a run.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// `--target`; `None` leaves the choice to [`prepare`].
    pub target: Option<String>,
    /// The file at the target is to be made, and removed afterwards.
    pub make_file: bool,
    /// `--size`.
    pub span_bytes: Option<u64>,
    /// `--destroy-data-on`.
    pub destroy_data_on: Option<String>,
    /// `--allow-buffered`.
    pub allow_buffered: bool,
    /// How the target is used.
    pub workload: Workload,
    /// Where the I/O thread runs.
    pub cpu: CpuChoice,
    /// As in [`RunJob`].
    pub warmup_ns: u64,
    /// As in [`RunJob`].
    pub timed_ns: u64,
    /// As in [`RunJob`].
    pub window_ns: u64,
    /// As in [`RunJob`].
    pub sample_ns: u64,
    /// As in [`RunJob`].
    pub hops_ops: u32,
}

/// Where the I/O thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuChoice {
    /// On the CPU that the target's interrupt is delivered to.
    OfInterrupt,
    /// Wherever the scheduler puts it.
    Any,
    /// On this one.
    Only(u16),
}

/// A job that was checked, and what was chosen for the user.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What the device is told.
    pub job: RunJob,
    /// Choices that the user did not make, a line each.
    pub notes: Vec<String>,
}

/// Makes the job for what was asked of a device that was found to be `facts`.
///
/// # Errors
/// What is asked cannot be, or is not allowed.
pub fn prepare(request: &RunRequest, facts: &Facts, device: &dyn Device) -> anyhow::Result<Prepared> {
    let mut notes = Vec::new();
    let target = target(request, facts, device, &mut notes)?;
    check_fit(&target, &request.workload, facts)?;
    let cpu = cpu(request.cpu, &target, facts, &mut notes)?;
    let job = RunJob {
        target,
        workload: request.workload.clone(),
        cpu,
        warmup_ns: request.warmup_ns,
        timed_ns: request.timed_ns,
        window_ns: request.window_ns,
        sample_ns: request.sample_ns,
        hops_ops: request.hops_ops,
    };
    Ok(Prepared { job, notes })
}

fn target(
    request: &RunRequest,
    facts: &Facts,
    device: &dyn Device,
    notes: &mut Vec<String>,
) -> anyhow::Result<TargetSpec> {
    let spec = |path: String, make_file: bool| TargetSpec {
        path,
        span_bytes: request.span_bytes.or(make_file.then_some(DEFAULT_FILE_BYTES)),
        make_file,
        destroy_data_on: request.destroy_data_on.clone(),
        allow_buffered: request.allow_buffered,
    };
    let writes = request.workload.read_percent < 100;
    if let Some(path) = &request.target {
        check_permission(request, path, writes)?;
        if device.access() == Access::Shell && path.starts_with("/dev/") {
            return Err(Failure::usage(format!(
                "{} is a block device, which needs root, and no `su` answered: run `adb root` first (userdebug \
                 builds) or allow su for the shell, or leave --target out to use a file of tophalf's own",
                printable(path, 300)
            )));
        }
        return Ok(spec(path.clone(), request.make_file));
    }
    if request.make_file || request.destroy_data_on.is_some() {
        return Err(Failure::usage("--make-file and --destroy-data-on need the path repeated as --target"));
    }
    let why_file = match (device.access(), writes) {
        (Access::Own, _) => {
            return Err(Failure::usage(format!(
                "-d local needs --target: a disk or file to read ({}), or a path and --make-file",
                disk_names(facts)
            )));
        }
        (Access::Shell, _) => Some("block devices need root"),
        (Access::Root(_), true) => Some("the workload writes"),
        (Access::Root(_), false) => None,
    };
    if let Some(why) = why_file {
        let spec = spec(format!("{}/scratch.bin", device.scratch_folder()), true);
        notes.push(format!(
            "target: {}, a file of {} MiB made for this run, because {why}; its figures include the file system",
            spec.path,
            spec.span_bytes.unwrap_or_default() >> 20
        ));
        return Ok(spec);
    }
    let disk = largest_ufs_disk(facts)?;
    let path = device.disk_path(&disk.name)?;
    notes.push(format!("target: {path}, the largest UFS disk"));
    Ok(spec(path, false))
}

fn check_permission(request: &RunRequest, path: &str, writes: bool) -> anyhow::Result<()> {
    let shown = printable(path, 300);
    match &request.destroy_data_on {
        Some(allowed) if allowed != path => Err(Failure::usage(format!(
            "--destroy-data-on {} is not the --target {shown}: repeat it exactly",
            printable(allowed, 300)
        ))),
        None if writes && !request.make_file => Err(Failure::usage(format!(
            "{shown} would be written to: allow it with --destroy-data-on {shown}, have a file made there with \
             --make-file, or leave --target out to use a file of tophalf's own"
        ))),
        _ => Ok(()),
    }
}

fn largest_ufs_disk(facts: &Facts) -> anyhow::Result<&DiskFacts> {
    let unreadable = |what: &str, why: &tophalf_wire::Unavailable| {
        Failure::usage(format!(
            "{what} cannot be seen ({}): name what to read with --target",
            printable(&why.reason, 300)
        ))
    };
    let disks = facts.disks.as_ref().map_err(|why| unreadable("the disks", why))?;
    facts.controllers.as_ref().map_err(|why| unreadable("the storage controllers", why))?;
    let kind_of = |disk: &DiskFacts| facts.controller_of(disk).map(|controller| controller.kind);
    let of_kind = |kind: ControllerKind| disks.iter().filter(move |disk| kind_of(disk) == Some(kind));
    let size = |disk: &&DiskFacts| disk.size_bytes.clone().unwrap_or(0);
    if let Some(disk) = of_kind(ControllerKind::Ufs).max_by_key(size) {
        return Ok(disk);
    }
    Err(Failure::usage(match of_kind(ControllerKind::Mmc).max_by_key(size) {
        Some(disk) => {
            let name = printable(&disk.name, 64);
            format!(
                "no UFS: storage is eMMC ({name}): to measure it all the same, name it with --target /dev/block/{name}"
            )
        }
        None => format!("no UFS ({}): name what to read with --target", disk_names(facts)),
    }))
}

fn disk_names(facts: &Facts) -> String {
    match &facts.disks {
        Ok(disks) if disks.is_empty() => "no disk is there".to_owned(),
        Ok(disks) => {
            let names: Vec<String> = disks.iter().take(30).map(|disk| printable(&disk.name, 64)).collect();
            format!("disks: {}", names.join(", "))
        }
        Err(why) => format!("the disks cannot be seen: {}", printable(&why.reason, 300)),
    }
}

/// The disk that a path names, and whether it is the whole of it. By-name links and device mapper nodes are
/// the device's to resolve.
fn disk_of<'a>(path: &str, facts: &'a Facts) -> Option<(&'a DiskFacts, bool)> {
    let name = node_name(path)?;
    let disks = facts.disks.as_ref().ok()?;
    let has_part = |disk: &&DiskFacts| disk.partitions.iter().any(|partition| partition == name);
    let whole = disks.iter().find(|disk| disk.name == name).map(|disk| (disk, true));
    whole.or_else(|| Some((disks.iter().find(has_part)?, false)))
}

/// `sda` of `/dev/sda` or `/dev/block/sda`.
fn node_name(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/')?;
    matches!(folder, "/dev" | "/dev/block").then_some(name)
}

fn check_fit(target: &TargetSpec, workload: &Workload, facts: &Facts) -> anyhow::Result<()> {
    const DISK_PREFIXES: [&str; 5] = ["sd", "mmcblk", "nvme", "vd", "zram"];
    let path = printable(&target.path, 300);
    let block = workload.block_bytes;
    if block == 0 || block > Workload::MAX_BLOCK_BYTES {
        return Err(Failure::usage(format!(
            "--bs {block}: choose one logical block to {} bytes",
            Workload::MAX_BLOCK_BYTES
        )));
    }
    if target.span_bytes.is_some_and(|span| span < u64::from(block)) {
        return Err(Failure::usage(format!("--size is smaller than one block of {block} bytes")));
    }
    let Some((disk, whole)) = disk_of(&target.path, facts) else {
        let looks_like_disk = node_name(&target.path)
            .is_some_and(|name| DISK_PREFIXES.iter().any(|prefix| name.starts_with(prefix)));
        if looks_like_disk && facts.disks.is_ok() {
            return Err(Failure::usage(format!("there is no disk {path} ({})", disk_names(facts))));
        }
        return Ok(());
    };
    match disk.logical_block_bytes {
        Ok(logical) if logical > 0 && !block.is_multiple_of(logical) => {
            return Err(Failure::usage(format!(
                "{path}: logical block {logical}, asked {block}: choose --bs as a multiple of {logical}"
            )));
        }
        _ => {}
    }
    match (target.span_bytes, &disk.size_bytes) {
        (Some(span), Ok(size)) if whole && span > *size => Err(Failure::usage(format!(
            "{path}: span {span} bytes, size {size} bytes: choose --size {size} or less"
        ))),
        _ => Ok(()),
    }
}

fn cpu(
    choice: CpuChoice,
    target: &TargetSpec,
    facts: &Facts,
    notes: &mut Vec<String>,
) -> anyhow::Result<Option<u16>> {
    match choice {
        CpuChoice::Any => Ok(None),
        CpuChoice::Only(cpu) => check_cpu(cpu, &facts.system).map(|()| Some(cpu)),
        CpuChoice::OfInterrupt => {
            let usable = |cpu: &u16| check_cpu(*cpu, &facts.system).is_ok();
            let delivered = delivery_cpus(target, facts).find(usable);
            let first = || facts.system.cpus_online.iter().flatten().copied().find(usable);
            let (cpu, why) = match (delivered, first()) {
                (Some(cpu), _) => (cpu, "where the interrupt is delivered"),
                (None, Some(cpu)) => (cpu, "the first; no interrupt of the target is known"),
                (None, None) => {
                    notes.push("CPU: not pinned, because the CPUs cannot be seen".to_owned());
                    return Ok(None);
                }
            };
            notes.push(format!("CPU: {cpu} ({why}); --cpu N or --cpu any changes it"));
            Ok(Some(cpu))
        }
    }
}

/// CPUs that the target's interrupts are delivered to, the likeliest first.
fn delivery_cpus<'a>(target: &TargetSpec, facts: &'a Facts) -> impl Iterator<Item = u16> + 'a {
    // A disk without a controller, such as zram, has no line; those of a file's disk are only told by the
    // device once it is open, and on a phone they are the UFS lines that a probe finds.
    let lines = disk_of(&target.path, facts).map(|(disk, _)| {
        facts.controller_of(disk).map(|controller| controller.irqs.clone()).unwrap_or_default()
    });
    facts
        .irqs
        .iter()
        .flatten()
        .filter(move |irq| lines.as_ref().is_none_or(|lines| lines.contains(&irq.irq)))
        .flat_map(|IrqFacts { effective_affinity, affinity, .. }| {
            effective_affinity.as_ref().or(affinity.as_ref()).into_iter().flatten().copied()
        })
}

fn check_cpu(cpu: u16, system: &SystemFacts) -> anyhow::Result<()> {
    let lacks = |list: &tophalf_wire::Reading<Vec<u16>>| matches!(list, Ok(cpus) if !cpus.contains(&cpu));
    if !lacks(&system.cpus_allowed) && !lacks(&system.cpus_online) {
        return Ok(());
    }
    let shown = |list: &tophalf_wire::Reading<Vec<u16>>| match list {
        Ok(cpus) => ranges(cpus),
        Err(why) => printable(&why.reason, 200),
    };
    Err(Failure::usage(format!(
        "CPU {cpu} cannot be used: allowed (Cpus_allowed_list) {}, online {}: choose --cpu among both",
        shown(&system.cpus_allowed),
        shown(&system.cpus_online)
    )))
}

/// `0-3,6` as the kernel writes lists of CPUs.
fn ranges(cpus: &[u16]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let words: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            run => run.iter().map(u16::to_string).collect(),
        })
        .collect();
    if words.is_empty() { "none".to_owned() } else { words.join(",") }
}

#[cfg(test)]
mod tests;
