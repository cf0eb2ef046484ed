//! The guest's root: an uncompressed cpio archive, since unpacking is slow under emulation.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use crate::cpio::Writer;
use crate::modules::Index;

/// The Debian packages the user space is taken from, with all they depend on.
///
/// Android's shell is mksh; busybox's own would run its applets, `su` among them, whatever PATH holds.
pub(crate) const PACKAGES: [&str; 3] = ["adbd", "busybox-static", "mksh"];

/// Network, UFS and its disks, the SD card of a phone without UFS, zram, NVMe.
const MODULES: [&str; 7] = ["virtio_net", "ufshcd-pci", "sd_mod", "sdhci-pci", "mmc_block", "zram", "nvme"];

const INIT: &str = include_str!("../guest/init");
const SU_MAGISK: &str = include_str!("../guest/su-magisk");
const SU_TOYBOX: &str = include_str!("../guest/su-toybox");
// Without passwords, so that the su stand-ins ask for none.
const PASSWD: &str = "root::0:0:root:/:/bin/sh\nshell::2000:2000:shell:/:/bin/sh\n";
const GROUP: &str = "root:x:0:\ntty:x:5:\nshell:x:2000:\n";

const DIRECTORIES: [&str; 14] = [
    "bin",
    "data",
    "data/local",
    "data/local/tmp",
    "dev",
    "etc",
    "guest",
    "modules",
    "proc",
    "sys",
    "tmp",
    "usr",
    "usr/lib",
    LIBRARIES,
];
const LIBRARIES: &str = "usr/lib/aarch64-linux-gnu";

/// Changes whenever a guest built before differs from one built now from the same packages.
pub(crate) fn recipe() -> String {
    let mut hasher = crc32fast::Hasher::new();
    for part in [include_str!("initramfs.rs"), INIT, SU_MAGISK, SU_TOYBOX] {
        hasher.update(part.as_bytes());
    }
    format!("{:08x}", hasher.finalize())
}

/// Writes the archive for the kernel whose modules are in `modules`, with the unpacked [`PACKAGES`] of `userland`.
pub(crate) fn build(userland: &Path, modules: &Path, out: &Path) -> Result<()> {
    let file = File::create(out).with_context(|| format!("could not create {}", out.display()))?;
    let mut archive = Writer::new(BufWriter::new(file));
    for directory in DIRECTORIES {
        archive.directory(directory, 0o755)?;
    }
    archive.file("init", 0o755, INIT.as_bytes())?;
    archive.file("guest/su-magisk", 0o755, SU_MAGISK.as_bytes())?;
    archive.file("guest/su-toybox", 0o755, SU_TOYBOX.as_bytes())?;
    archive.file("etc/passwd", 0o644, PASSWD.as_bytes())?;
    archive.file("etc/group", 0o644, GROUP.as_bytes())?;

    add(&mut archive, &userland.join("usr/bin/busybox"), "bin/busybox")?;
    add(&mut archive, &userland.join("usr/lib/android-sdk/platform-tools/adbd"), "bin/adbd")?;
    add(&mut archive, &userland.join("usr/bin/mksh"), "bin/mksh")?;
    archive.symlink("bin/sh", "mksh")?;
    archive.symlink("lib", "usr/lib")?;
    archive.symlink("usr/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu/ld-linux-aarch64.so.1")?;
    add_libraries(&mut archive, &userland.join(LIBRARIES), LIBRARIES)?;
    let android = format!("{LIBRARIES}/android");
    archive.directory(&android, 0o755)?;
    add_libraries(&mut archive, &userland.join(&android), &android)?;

    let mut order = String::new();
    for module in Index::new(modules)?.load_order(&MODULES)? {
        let name = format!("{}.ko", module.name);
        archive.file(&format!("modules/{name}"), 0o644, &module.image)?;
        order += &format!("{name}\n");
    }
    archive.file("modules/order", 0o644, order.as_bytes())?;
    archive.finish()?.flush().with_context(|| format!("could not write {}", out.display()))
}

/// Every shared library that lies in `folder` itself.
fn add_libraries(archive: &mut Writer<impl Write>, folder: &Path, to: &str) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    for name in names.iter().filter(|name| name.contains(".so")) {
        add(archive, &folder.join(name), &format!("{to}/{name}"))?;
    }
    Ok(())
}

fn add(archive: &mut Writer<impl Write>, from: &Path, to: &str) -> Result<()> {
    let failed = || format!("the packages {PACKAGES:?} should have brought {}", from.display());
    let metadata = fs::symlink_metadata(from).with_context(failed)?;
    if metadata.is_symlink() {
        archive.symlink(to, &fs::read_link(from).with_context(failed)?.to_string_lossy())?;
    } else {
        let content = fs::read(from).with_context(failed)?;
        archive.file(to, metadata.permissions().mode() & 0o777, &content)?;
    }
    Ok(())
}
