//! What is read or written: opened, checked against what the plan allows, and described.

use crate::engine::AlignedBuffer;
use crate::error::JobError;
use crate::observe::tree::Tree;
use crate::pattern::fill_incompressible;
use crate::sys;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use tophalf_wire::{Facts, Reading, TargetFacts, TargetSpec, Unavailable, Workload};

/// A target that is open and as the plan wants it.
#[derive(Debug)]
pub struct Target {
    /// Open for what the workload does, with `O_DIRECT` unless `facts.direct` says otherwise.
    pub file: File,
    /// What it turned out to be.
    pub facts: TargetFacts,
}

/// Opens the target of a run.
///
/// # Errors
/// It is not there, may not be used so, or cannot hold the workload; nothing was changed then.
pub fn open(spec: &TargetSpec, workload: &Workload, device: &Facts, tree: &Tree) -> Result<Target, JobError> {
    check_workload(workload)?;
    let writes = workload.read_percent < 100;
    if writes && !spec.make_file && spec.destroy_data_on.as_deref() != Some(&spec.path) {
        return Err(JobError::usage(format!(
            "{} would be written to: allow it with --destroy-data-on {}, or leave --target out to use a file of tophalf's own",
            spec.path, spec.path
        )));
    }
    let (file, direct) =
        if spec.make_file { make_file(spec)? } else { open_existing(spec, writes, device, tree)? };
    let facts = describe(spec, &file, direct, tree)?;
    check_fit(&facts, workload)?;
    try_one(&file, &facts, workload)?;
    Ok(Target { file, facts })
}

fn check_workload(workload: &Workload) -> Result<(), JobError> {
    if workload.block_bytes == 0 || workload.block_bytes > Workload::MAX_BLOCK_BYTES {
        return Err(JobError::usage(format!(
            "block size {} bytes: choose --bs from one logical block to {} bytes",
            workload.block_bytes,
            Workload::MAX_BLOCK_BYTES
        )));
    }
    if workload.read_percent > 100 {
        return Err(JobError::usage(format!("{} % reads: choose 0 to 100", workload.read_percent)));
    }
    Ok(())
}

/// Opens with `O_DIRECT`, or without it if that is refused and the plan allows it.
fn open_direct(spec: &TargetSpec, options: &mut OpenOptions, flags: i32) -> Result<(File, bool), JobError> {
    match options.custom_flags(flags | libc::O_DIRECT).open(&spec.path) {
        Ok(file) => Ok((file, true)),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            if spec.make_file {
                // open(2) has made the file all the same; it never existed before, or this were EEXIST.
                let _ = fs::remove_file(&spec.path);
            }
            if !spec.allow_buffered {
                return Err(JobError::usage(format!(
                    "open {} with O_DIRECT: refused ({error}): its file system has no direct I/O; choose another --target, or --allow-buffered to measure the page cache",
                    spec.path
                )));
            }
            let file =
                options.custom_flags(flags).open(&spec.path).map_err(|error| open_error(spec, &error))?;
            Ok((file, false))
        }
        Err(error) => Err(open_error(spec, &error)),
    }
}

fn open_error(spec: &TargetSpec, error: &io::Error) -> JobError {
    let path = &spec.path;
    let next = match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENXIO | libc::ENODEV) => "see `tophalf probe` for what is there",
        Some(libc::EACCES | libc::EPERM) => {
            "it needs root (adb root, or su), or a file in /data/local/tmp as --target"
        }
        Some(libc::EBUSY) => "it is mounted or in use; unmount it or choose another",
        Some(libc::EEXIST) => "remove it or name another",
        Some(libc::EROFS) => "it cannot be written to",
        _ => "choose another --target",
    };
    JobError::usage(format!("open {path}: {error}: {next}"))
}

fn open_existing(
    spec: &TargetSpec,
    writes: bool,
    device: &Facts,
    tree: &Tree,
) -> Result<(File, bool), JobError> {
    let kind = fs::metadata(&spec.path).map_err(|error| open_error(spec, &error))?;
    let block_device = kind.file_type().is_block_device();
    if !block_device && !kind.is_file() {
        return Err(JobError::usage(format!(
            "{} is neither a block device nor a regular file: choose another --target",
            spec.path
        )));
    }
    let mut flags = 0;
    if writes && block_device {
        // O_EXCL on a block device: refused while it is mounted or claimed.
        flags = libc::O_EXCL;
        let dev = split_dev(kind.rdev());
        let holder =
            device.disks.iter().flatten().find(|disk| disk.dev == dev && !disk.partitions.is_empty());
        if let Some(disk) = holder {
            return Err(JobError::usage(format!(
                "{} is a whole disk with partitions ({}): writing to it is never allowed; name a scratch partition",
                spec.path,
                disk.partitions.join(", ")
            )));
        }
        if device.disks.is_err() && disk_of(dev, tree).is_err() {
            return Err(JobError::usage(format!(
                "{}: whether it holds partitions cannot be seen (/sys/block is not readable), so it is not written to: use a file in /data/local/tmp",
                spec.path
            )));
        }
    }
    open_direct(spec, OpenOptions::new().read(true).write(writes), flags)
}

/// Makes the file, takes its name away at once, so that no crash leaves it behind, and fills it: blocks that
/// were never written would be read without any I/O.
fn make_file(spec: &TargetSpec) -> Result<(File, bool), JobError> {
    const CHUNK_BYTES: u64 = Workload::MAX_BLOCK_BYTES as u64;
    let path = &spec.path;
    let span =
        spec.span_bytes.ok_or_else(|| JobError::usage(format!("{path}: a file to be made needs --size")))?;
    let bytes = span.div_ceil(CHUNK_BYTES) * CHUNK_BYTES;
    let (file, direct) = open_direct(spec, OpenOptions::new().read(true).write(true).create_new(true), 0)?;
    let failed = |what: &str, error: &io::Error| {
        let next = match error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => "free some space or choose a smaller --size",
            _ => "choose another --target",
        };
        JobError::device(format!("{what} {path} ({bytes} bytes): {error}: {next}"))
    };
    fs::remove_file(path).map_err(|error| failed("unlink", &error))?;
    let mut chunk = AlignedBuffer::new(Workload::MAX_BLOCK_BYTES as usize);
    for (number, offset) in (0..bytes).step_by(Workload::MAX_BLOCK_BYTES as usize).enumerate() {
        fill_incompressible(&mut chunk, number as u64);
        file.write_all_at(&chunk, offset).map_err(|error| failed("write", &error))?;
    }
    file.sync_all().map_err(|error| failed("fsync", &error))?;
    Ok((file, direct))
}

fn describe(spec: &TargetSpec, file: &File, direct: bool, tree: &Tree) -> Result<TargetFacts, JobError> {
    let path = spec.path.clone();
    let failed = |what: &str, error: &io::Error| {
        JobError::device(format!("{what} of {path}: {error}: choose another --target"))
    };
    let status = file.metadata().map_err(|error| failed("status", &error))?;
    let block_device = status.file_type().is_block_device();
    let size_bytes = if block_device {
        sys::device_bytes(file).map_err(|error| failed("size", &error))?
    } else {
        status.size()
    };
    let dev = split_dev(if block_device { status.rdev() } else { status.dev() });
    let disk = disk_of(dev, tree);
    let (offset_align_bytes, memory_align_bytes, align_source) =
        alignment(file, block_device, &status).map_err(|error| failed("alignment", &error))?;
    if offset_align_bytes == 0 && !spec.allow_buffered {
        return Err(JobError::usage(format!(
            "{path}: statx says that this file has no direct I/O (compressed, encrypted or inline data?); choose another --target, or --allow-buffered to measure the page cache"
        )));
    }
    Ok(TargetFacts {
        real_path: fs::canonicalize(Path::new(&path))
            .map_or_else(|_| path.clone(), |real| real.display().to_string()),
        block_device,
        dev,
        disk,
        size_bytes,
        span_bytes: spec.span_bytes.unwrap_or(size_bytes),
        direct: direct && offset_align_bytes != 0,
        offset_align_bytes: offset_align_bytes.max(1),
        memory_align_bytes,
        align_source: align_source.into(),
        made: spec.make_file,
        path,
    })
}

/// Offset and memory alignment of direct I/O, and who says so.
fn alignment(file: &File, block_device: bool, status: &fs::Metadata) -> io::Result<(u32, u32, &'static str)> {
    if let Ok(Some(told)) = sys::direct_alignment(file) {
        return Ok((told.offset_bytes, told.memory_bytes, "statx"));
    }
    if block_device {
        let bytes = sys::logical_block_bytes(file)?;
        return Ok((bytes, bytes, "BLKSSZGET"));
    }
    let bytes = u32::try_from(status.blksize()).unwrap_or(4096);
    Ok((bytes, bytes, "st_blksize"))
}

fn check_fit(target: &TargetFacts, workload: &Workload) -> Result<(), JobError> {
    let (block, align) = (workload.block_bytes, target.offset_align_bytes);
    if target.direct && !block.is_multiple_of(align) {
        return Err(JobError::usage(format!(
            "{}: logical block {align}, asked {block}: choose --bs as a multiple of {align}",
            target.path
        )));
    }
    if target.span_bytes > target.size_bytes {
        return Err(JobError::usage(format!(
            "{}: span {} bytes, size {} bytes: choose --size {} or less",
            target.path, target.span_bytes, target.size_bytes, target.size_bytes
        )));
    }
    if target.span_bytes < u64::from(block) {
        return Err(JobError::usage(format!(
            "{}: span {} bytes does not hold one block of {block}: choose a larger --size",
            target.path, target.span_bytes
        )));
    }
    let memory = target.memory_align_bytes as usize;
    if memory > AlignedBuffer::ALIGN_BYTES {
        return Err(JobError::device(format!("{}: asks for buffers aligned to {memory} bytes", target.path)));
    }
    Ok(())
}

/// One read, so that a refusal is told before anything is measured.
fn try_one(file: &File, target: &TargetFacts, workload: &Workload) -> Result<(), JobError> {
    let mut buffer = AlignedBuffer::new(workload.block_bytes as usize);
    let read = file.read_at(&mut buffer, 0);
    match read {
        Ok(bytes) if bytes == buffer.len() => Ok(()),
        Ok(bytes) => Err(JobError::device(format!(
            "read {} bytes at 0 of {}: got {bytes}: choose another --target",
            buffer.len(),
            target.path
        ))),
        Err(error) => Err(JobError::device(format!(
            "read {} bytes at 0 of {}: {error}: the device fails or refuses direct I/O; see `adb shell dmesg`",
            buffer.len(),
            target.path
        ))),
    }
}

/// Major and minor of a `dev_t` as stat(2) gives it on Linux: 12 + 20 bits in the low word, the rest above
/// (`new_encode_dev`, include/linux/kdev_t.h). nix has this for every Linux but Android's.
fn split_dev(dev: u64) -> (u32, u32) {
    let number = |part: u64| u32::try_from(part).unwrap_or(u32::MAX);
    let major = ((dev >> 8) & 0xfff) | ((dev >> 32) & !0xfff);
    let minor = (dev & 0xff) | ((dev >> 12) & 0xffff_ff00);
    (number(major), number(minor))
}

/// The disk beneath a device number: through partitions to their disk, and through device mappers that have
/// one slave to that.
fn disk_of(dev: (u32, u32), tree: &Tree) -> Reading<String> {
    const MOST_LAYERS: usize = 8;
    let mut path = tree.resolve(&format!("/sys/dev/block/{}:{}", dev.0, dev.1))?;
    for _ in 0..MOST_LAYERS {
        if tree.exists(&format!("{path}/partition")) {
            path = path.rsplit_once('/').map(|(parent, _)| parent.to_owned()).unwrap_or_default();
        }
        match tree.list(&format!("{path}/slaves")).unwrap_or_default().as_slice() {
            [] => {
                let name = path.rsplit('/').next().unwrap_or_default();
                return Ok(name.to_owned());
            }
            [one] => path = tree.resolve(&format!("{path}/slaves/{one}"))?,
            several => {
                return Err(Unavailable::new(format!(
                    "{path} lies on several disks: {}",
                    several.join(", ")
                )));
            }
        }
    }
    Err(Unavailable::new(format!("{path} has more than {MOST_LAYERS} layers beneath it")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `os.makedev(major, minor)` of Python 3.11.
    #[test]
    fn device_numbers_are_split_as_makedev_joins_them() {
        for (dev, expected) in [
            (0x801, (8, 1)),
            (0xfd07, (253, 7)),
            (0x11_03ff, (259, 511)),
            (0x1000_4933_88e0, (5000, 300_000)),
        ] {
            assert_eq!(split_dev(dev), expected, "{dev:#x}");
        }
    }
}
