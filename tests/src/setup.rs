//! From Debian's archive to bootable guests.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::apt::{self, Apt};
use crate::guests::{Guest, Manifest};
use crate::{initramfs, kernel};

/// Before the UFS driver's completion went to a thread, with it there, and after that was undone.
pub const DEFAULT_KERNELS: [&str; 3] = ["6.12", "6.18", "7"];

/// What is there after [`run`].
#[derive(Debug)]
pub struct Outcome {
    /// The guest each wanted series stands for now.
    pub guests: Vec<Guest>,
    /// The wanted series that neither the archive nor an earlier set-up has.
    pub missing: Vec<String>,
}

/// Sees to it that `dir` holds a guest of each kernel series in `kernels`.
///
/// Without `update`, guests that are there are left as they are and nothing is fetched for them. `progress` gets a
/// line before each step that takes long.
pub fn run(dir: &Path, kernels: &[String], update: bool, progress: impl Fn(&str)) -> Result<Outcome> {
    fs::create_dir_all(dir).with_context(|| format!("could not create {}", dir.display()))?;
    // apt and dpkg want absolute paths.
    let dir = &dir.canonicalize().with_context(|| format!("could not find {}", dir.display()))?;
    let lock =
        File::create(dir.join("lock")).with_context(|| format!("could not write in {}", dir.display()))?;
    lock.lock().with_context(|| format!("could not lock {}", dir.join("lock").display()))?;

    let mut manifest = Manifest::load(dir)?;
    if manifest.recipe != initramfs::recipe() {
        manifest = Manifest { recipe: initramfs::recipe(), ..Manifest::default() };
    }
    if update || kernels.iter().any(|prefix| manifest.newest(prefix).is_none()) {
        build(dir, &mut manifest, kernels, update, &progress)?;
    }

    let (mut guests, mut missing) = (Vec::new(), Vec::new());
    for prefix in kernels {
        match manifest.newest(prefix) {
            Some(guest) => guests.push(guest.clone()),
            None => missing.push(prefix.clone()),
        }
    }
    Ok(Outcome { guests, missing })
}

fn build(
    dir: &Path,
    manifest: &mut Manifest,
    kernels: &[String],
    update: bool,
    progress: &impl Fn(&str),
) -> Result<()> {
    let mirror = apt::mirror()?;
    let apt = Apt::new(&dir.join("apt"), &mirror)?;
    progress(&format!("fetching the lists of arm64 packages from {mirror}"));
    apt.update()?;

    let userland = apt.with_dependencies(&initramfs::PACKAGES)?;
    if manifest.userland != userland {
        // An old kernel with a new user space is a new guest.
        manifest.guests.clear();
        manifest.userland = userland;
    }
    progress(&format!("fetching the user space ({} packages)", manifest.userland.len()));
    let workshop = dir.join("unpacked");
    if workshop.exists() {
        // An earlier set-up was killed.
        fs::remove_dir_all(&workshop).with_context(|| format!("could not remove {}", workshop.display()))?;
    }
    let unpacked = temporary_folder(&workshop)?;
    for file in apt.fetch(&manifest.userland)? {
        apt::unpack(&file, unpacked.path())?;
    }

    let releases = apt.kernels()?;
    for prefix in kernels {
        let Some(release) = kernel::newest(releases.iter().map(String::as_str), prefix) else { continue };
        let there = match manifest.newest(prefix) {
            Some(guest) => !update || guest.release == release,
            None => false,
        };
        if !there {
            progress(&format!("fetching and unpacking the kernel {release}"));
            let guest = Guest { release: release.to_owned(), packages: apt.kernel_packages(release)? };
            let kernel = temporary_folder(&workshop)?;
            build_guest(dir, &apt, &guest, unpacked.path(), kernel.path())
                .with_context(|| format!("the guest for {release} could not be built"))?;
            manifest.guests.push(guest);
            manifest.store(dir)?;
        }
    }
    manifest.store(dir)?;
    drop(unpacked);
    fs::remove_dir(&workshop).with_context(|| format!("could not remove {}", workshop.display()))?;
    let kernel_packages = manifest.guests.iter().flat_map(|guest| &guest.packages);
    apt.keep_only(manifest.userland.iter().chain(kernel_packages))
}

/// `unpacked` is an empty folder to unpack the kernel's packages into.
fn build_guest(dir: &Path, apt: &Apt, guest: &Guest, userland: &Path, unpacked: &Path) -> Result<()> {
    for file in apt.fetch(&guest.packages)? {
        apt::unpack(&file, unpacked)?;
    }
    let (image, modules) = locate(unpacked, &guest.release)?;
    let guest_dir = guest.dir(dir);
    fs::create_dir_all(&guest_dir).with_context(|| format!("could not create {}", guest_dir.display()))?;
    fs::rename(&image, guest.kernel(dir)).with_context(|| format!("could not move {}", image.display()))?;
    // Moved into place whole: a phone may be booting from the old one.
    let initramfs = unpacked.join("initramfs.cpio");
    initramfs::build(userland, &modules, &initramfs)?;
    fs::rename(&initramfs, guest.initramfs(dir))
        .with_context(|| format!("could not move {}", initramfs.display()))
}

/// Where a kernel's packages put its image and its modules: this moved in 7.x, and /lib to /usr/lib before.
fn locate(root: &Path, release: &str) -> Result<(PathBuf, PathBuf)> {
    let modules = ["usr/lib/modules", "lib/modules"].map(|dir| root.join(dir).join(release));
    let Some(modules) = modules.iter().find(|dir| dir.join("kernel").is_dir()) else {
        bail!("its packages hold no lib/modules/{release}/kernel");
    };
    let images = [root.join(format!("boot/vmlinuz-{release}")), modules.join("vmlinuz")];
    let Some(image) = images.iter().find(|image| image.is_file()) else {
        bail!("its packages hold neither boot/vmlinuz-{release} nor lib/modules/{release}/vmlinuz");
    };
    Ok((image.clone(), modules.clone()))
}

fn temporary_folder(dir: &Path) -> Result<tempfile::TempDir> {
    let failed = || format!("could not create a folder in {}", dir.display());
    fs::create_dir_all(dir).with_context(failed)?;
    tempfile::tempdir_in(dir).with_context(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_image_in_either_place() {
        for image in ["boot/vmlinuz-7.3.4-arm64", "usr/lib/modules/7.3.4-arm64/vmlinuz"] {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("usr/lib/modules/7.3.4-arm64/kernel")).unwrap();
            fs::create_dir_all(root.path().join("boot")).unwrap();
            fs::write(root.path().join(image), "").unwrap();
            let (found, modules) = locate(root.path(), "7.3.4-arm64").unwrap();
            assert_eq!(found, root.path().join(image));
            assert_eq!(modules, root.path().join("usr/lib/modules/7.3.4-arm64"));
        }
        let empty = tempfile::tempdir().unwrap();
        assert!(locate(empty.path(), "7.3.4-arm64").is_err());
    }
}
