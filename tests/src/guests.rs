//! The guests that were built: where they are and what they were made from.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::apt::Package;
use crate::kernel;

/// Names the folder of guests, in place of `target/virtual-phone` of the workspace.
pub const DIR_VARIABLE: &str = "VIRTUAL_PHONE_DIR";

/// What `setup` built, as recorded in `manifest.json` beside the guests.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Identifies how the guests were put together, apart from the packages.
    pub recipe: String,
    /// The packages of the user space.
    pub userland: Vec<Package>,
    /// One entry a kernel.
    pub guests: Vec<Guest>,
}

/// One kernel with its first root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// What `uname -r` prints there.
    pub release: String,
    /// The packages the kernel came in.
    pub packages: Vec<Package>,
}

impl Guest {
    /// The folder of this guest within that of all guests.
    pub fn dir(&self, guests: &Path) -> PathBuf {
        guests.join(&self.release)
    }

    /// The kernel that QEMU boots.
    pub fn kernel(&self, guests: &Path) -> PathBuf {
        self.dir(guests).join("vmlinuz")
    }

    /// The archive the kernel unpacks its root from.
    pub fn initramfs(&self, guests: &Path) -> PathBuf {
        self.dir(guests).join("initramfs.cpio")
    }
}

impl Manifest {
    /// Reads the record in `dir`; an empty one when nothing was built there.
    pub fn load(dir: &Path) -> Result<Self> {
        let path = dir.join("manifest.json");
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).with_context(|| {
                format!("{} is damaged: remove it and run `virtual-phone setup`", path.display())
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Manifest::default()),
            Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
        }
    }

    /// Replaces the record in `dir` in one step.
    pub fn store(&self, dir: &Path) -> Result<()> {
        let path = dir.join("manifest.json");
        let failed = || format!("could not write {}", path.display());
        let new = path.with_extension("json.new");
        fs::write(&new, serde_json::to_vec_pretty(self)?).with_context(failed)?;
        fs::rename(&new, &path).with_context(failed)
    }

    /// The newest guest whose kernel is of the series `prefix`.
    pub fn newest(&self, prefix: &str) -> Option<&Guest> {
        let release = kernel::newest(self.guests.iter().map(|guest| guest.release.as_str()), prefix)?;
        self.guests.iter().find(|guest| guest.release == release)
    }
}

/// The folder of guests when none is named: that of the environment, else `target/virtual-phone` of the workspace.
pub fn default_dir() -> Result<PathBuf> {
    if let Some(dir) = env::var_os(DIR_VARIABLE) {
        return Ok(dir.into());
    }
    let starts = [env::current_dir(), env::current_exe()];
    let root = starts.iter().flatten().find_map(|start| start.ancestors().find(|dir| is_workspace(dir)));
    let root = root.with_context(|| {
        format!("neither this folder nor the program lies in the workspace: name the folder of guests with --dir or {DIR_VARIABLE}")
    })?;
    Ok(root.join("target/virtual-phone"))
}

fn is_workspace(dir: &Path) -> bool {
    let lock = fs::read_to_string(dir.join("Cargo.lock"));
    lock.is_ok_and(|text| text.contains(concat!("name = \"", env!("CARGO_PKG_NAME"), "\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let package = |name: &str| Package { name: name.into(), version: "1:2-3".into() };
        let guest = |release: &str| Guest { release: release.into(), packages: vec![package("linux-image")] };
        let guests = ["6.1.0-50-arm64", "6.12.95+deb12-arm64", "6.12.117+deb13-arm64"].map(guest);
        Manifest { recipe: "r".into(), userland: vec![package("adbd")], guests: guests.into() }
    }

    #[test]
    fn the_newest_guest_of_a_series() {
        assert_eq!(manifest().newest("6.12").unwrap().release, "6.12.117+deb13-arm64");
        assert_eq!(manifest().newest("6.1").unwrap().release, "6.1.0-50-arm64");
        assert_eq!(manifest().newest("7"), None);
    }

    #[test]
    fn stored_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Manifest::load(dir.path()).unwrap(), Manifest::default());
        manifest().store(dir.path()).unwrap();
        assert_eq!(Manifest::load(dir.path()).unwrap(), manifest());
    }

    #[test]
    fn a_damaged_record_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("manifest.json"), "{\"recipe\":").unwrap();
        let message = format!("{:#}", Manifest::load(dir.path()).unwrap_err());
        assert!(message.contains("run `virtual-phone setup`"), "{message}");
    }

    #[test]
    fn the_workspace_is_found_from_the_package() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(!is_workspace(dir));
        assert!(is_workspace(dir.parent().unwrap()));
    }
}
