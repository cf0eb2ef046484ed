//! What this machine has: the workspace, the toolchain, and whether each way to build can be gone.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::debian::{self, Missing};
use crate::flavor::{Arch, Choice, Flavor, Request, Usable, choose};
use crate::ndk;
use crate::sysroot::Sysroot;
use crate::toolchain::Toolchain;

/// The machine we run on, and the only `cargo ndk-build` of this workspace that works on it now.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The workspace's folder.
    pub(crate) root: PathBuf,
    /// Where the agents' own builds and the sysroot are.
    pub(crate) work: PathBuf,
    /// The compiler that cargo uses by itself.
    pub(crate) toolchain: Toolchain,
    _lock: File,
}

impl Machine {
    /// Looks at the machine, once no other `cargo ndk-build` is at work in this workspace.
    pub(crate) fn new() -> Result<Self> {
        // Cargo says where it runs us. What was compiled in may be another workspace's, where they share a target folder.
        let manifest =
            std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest).parent().context("ndk-build is in no workspace")?;
        let work = root.join("target/ndk-build");
        fs::create_dir_all(&work).with_context(|| format!("making {}", work.display()))?;
        let lock = lock(&work.join("lock"))?;
        Ok(Self { root: root.to_owned(), work, toolchain: Toolchain::in_use()?, _lock: lock })
    }

    /// Debian's sysroot, ready or not.
    pub(crate) fn sysroot(&self) -> Result<Sysroot> {
        Sysroot::new(&self.work, &self.toolchain)
    }

    /// Chooses the way to build for `arch` and says so.
    pub(crate) fn choose(&self, arch: Arch, request: Request) -> Result<Choice> {
        let choice = choose(arch, request, |flavor| self.usable(flavor, arch))?;
        for (flavor, reason) in &choice.passed_over {
            eprintln!("ndk-build: {arch}: not {flavor}: {reason}");
        }
        eprintln!("ndk-build: {arch}: chosen: {}", choice.flavor);
        Ok(choice)
    }

    /// Can `arch` be built in this way here?
    pub(crate) fn usable(&self, flavor: Flavor, arch: Arch) -> Usable {
        match flavor {
            Flavor::Musl => self.musl(arch),
            Flavor::Ndk => ndk::linker(&self.toolchain).map(drop),
            Flavor::Debian => self.debian(arch),
        }
    }

    fn musl(&self, arch: Arch) -> Usable {
        let triple = arch.musl_triple();
        let sysroot = self.toolchain.sysroot.display();
        if !self.toolchain.has_std(triple) {
            return Err(format!("no std for {triple} in {sysroot} (rustup target add {triple})"));
        }
        self.toolchain.rust_lld().map(drop).ok_or_else(|| format!("no rust-lld in {sysroot}"))
    }

    fn debian(&self, arch: Arch) -> Usable {
        if !debian::is_debian() {
            return Err("no dpkg and apt-get here".to_owned());
        }
        let sysroot = self.sysroot();
        if sysroot.as_ref().is_ok_and(|sysroot| sysroot.is_ready(arch)) {
            return Ok(());
        }
        let missing = Missing::look(&debian::COMPILER, &[arch]).map_err(|error| format!("{error:#}"))?;
        if !missing.is_empty() {
            let commands = missing.shown();
            return Err(format!(
                "packages are missing; as root: cargo ndk-build --install, which is {commands}"
            ));
        }
        sysroot.map(drop).map_err(|error| format!("{error:#}"))
    }

    /// Installs by apt what Debian's way needs and this machine has not.
    pub(crate) fn install(&self, arches: &[Arch], request: Request) -> Result<()> {
        let needs_debian = |arch: &&Arch| match (request, **arch) {
            (Request::Debian, _) => true,
            (Request::Musl, _) => false,
            // An NDK can not be installed, but Debian's compiler type-checks for it.
            (Request::Ndk, Arch::Aarch64) => !self.toolchain.has_std(ndk::TRIPLE),
            (Request::Auto, Arch::Aarch64) => {
                self.musl(Arch::Aarch64).is_err() && ndk::linker(&self.toolchain).is_err()
            }
            (Request::Auto | Request::Ndk, Arch::X86_64) => self.musl(Arch::X86_64).is_err(),
        };
        let arches: Vec<_> = arches.iter().filter(needs_debian).copied().collect();
        if !debian::is_debian() {
            let targets: Vec<_> = arches.iter().map(|arch| arch.musl_triple()).collect();
            if targets.is_empty() {
                return Ok(());
            }
            bail!(
                "--install needs Debian's dpkg and apt-get; here, run: rustup target add {}",
                targets.join(" ")
            );
        }
        let mut packages = Vec::new();
        if !arches.is_empty() {
            packages.extend(debian::COMPILER);
        }
        if !self.runs_aarch64() {
            packages.push(debian::EMULATOR);
        }
        Missing::look(&packages, &arches)?.install()
    }

    /// Does this machine itself run the phone's programs?
    pub(crate) fn runs_aarch64(&self) -> bool {
        self.toolchain.host.starts_with("aarch64-") && cfg!(target_os = "linux")
    }
}

/// Takes the lock at `path`, waiting for whoever has it.
fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| format!("making the lock {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => eprintln!("ndk-build: waiting for another cargo ndk-build"),
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("taking the lock {}", path.display()));
        }
    }
    file.lock().with_context(|| format!("waiting for the lock {}", path.display()))?;
    Ok(file)
}
