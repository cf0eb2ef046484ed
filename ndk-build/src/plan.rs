//! How cargo is called to build for one target in one way.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, anyhow};

use crate::elf::Linkage;
use crate::flavor::{Arch, Flavor};
use crate::machine::Machine;
use crate::toolchain::Toolchain;
use crate::{cargo, debian, ndk};

/// One target, one way.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The processor.
    pub(crate) arch: Arch,
    /// The way.
    pub(crate) flavor: Flavor,
    /// Rust's name of the target.
    pub(crate) triple: &'static str,
    /// The compiler's version, for people.
    pub(crate) rustc: String,
    /// A target folder of its own: the workspace's is locked by the cargo that runs us.
    target_dir: PathBuf,
    environment: Vec<(String, OsString)>,
    flags: Vec<String>,
    /// Is std to be compiled along?
    build_std: bool,
}

impl Plan {
    /// The plan to build for `arch` as `flavor`, which must be usable. Makes Debian's sysroot if it is needed.
    pub(crate) fn new(machine: &Machine, arch: Arch, flavor: Flavor) -> Result<Self> {
        let mut plan = Self {
            arch,
            flavor,
            triple: arch.musl_triple(),
            rustc: machine.toolchain.version().to_owned(),
            target_dir: machine.work.join(flavor.to_string()),
            environment: Vec::new(),
            flags: private_folders(machine).iter().map(|(folder, name)| cargo::remap(folder, name)).collect(),
            build_std: false,
        };
        match flavor {
            Flavor::Musl => plan.link_by_lld(),
            Flavor::Debian => plan.use_sysroot(machine)?,
            Flavor::Ndk => {
                plan.triple = ndk::TRIPLE;
                let clang = ndk::linker(&machine.toolchain).map_err(|reason| anyhow!(reason))?;
                plan.link_by(clang);
                plan.flags.push("-Clink-arg=-Wl,-z,max-page-size=16384".to_owned());
            }
        }
        Ok(plan)
    }

    /// The plan to type-check for Android, which needs no NDK: where rustup has no std for it, Debian's compiler and
    /// sources do.
    pub(crate) fn check_android(machine: &Machine) -> Result<Self> {
        let mut plan = Self {
            arch: Arch::Aarch64,
            flavor: Flavor::Ndk,
            triple: ndk::TRIPLE,
            rustc: machine.toolchain.version().to_owned(),
            target_dir: machine.work.join("check-android"),
            environment: Vec::new(),
            flags: Vec::new(),
            build_std: false,
        };
        if !machine.toolchain.has_std(plan.triple) {
            debian::compiler().map_err(|error| {
                error.context(format!(
                    "no std for {} (rustup target add {}), and Debian's compiler can not make it (as root: cargo ndk-build --install)",
                    plan.triple, plan.triple
                ))
            })?;
            plan.rustc = Toolchain::probe(debian::RUSTC.into())?.version().to_owned();
            plan.set("RUSTC", debian::RUSTC);
            plan.set("RUSTC_BOOTSTRAP", "1");
            plan.build_std = true;
        }
        Ok(plan)
    }

    fn use_sysroot(&mut self, machine: &Machine) -> Result<()> {
        let sysroot = machine.sysroot()?;
        if sysroot.ensure(self.arch)? {
            // What was built against the old std can not be used, and cargo would not see the difference.
            match std::fs::remove_dir_all(self.target_dir.join(self.triple)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        self.set("RUSTC", sysroot.rustc());
        self.set("RUSTDOC", sysroot.rustdoc());
        self.rustc = Toolchain::probe(sysroot.rustc().into())?.version().to_owned();
        self.link_by_lld();
        Ok(())
    }

    /// A static program, without a C compiler.
    fn link_by_lld(&mut self) {
        self.link_by("rust-lld");
        self.flags.push("-Ctarget-feature=+crt-static".to_owned());
        // Nothing is there to be moved about: without relocations it is smaller, and it starts without writing to itself.
        self.flags.push("-Crelocation-model=static".to_owned());
        // lld's own choice is 64 KiB on aarch64, which is better still, but 4 KiB on x86-64.
        if self.arch == Arch::X86_64 {
            self.flags.push("-Clink-arg=-zmax-page-size=16384".to_owned());
        }
    }

    fn link_by(&mut self, linker: impl Into<OsString>) {
        let triple = self.triple.replace('-', "_").to_uppercase();
        self.set(&format!("CARGO_TARGET_{triple}_LINKER"), linker);
    }

    /// Runs what is built for this target by another program.
    pub(crate) fn run_by(&mut self, runner: &str) {
        let triple = self.triple.replace('-', "_").to_uppercase();
        self.set(&format!("CARGO_TARGET_{triple}_RUNNER"), runner);
    }

    fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.push((name.to_owned(), value.into()));
    }

    /// `cargo subcommand` for this target.
    pub(crate) fn cargo(&self, machine: &Machine, subcommand: &str) -> Command {
        let mut command = cargo::clean();
        command.arg(subcommand).arg("--target").arg(self.triple).arg("--target-dir").arg(&self.target_dir);
        if self.build_std {
            command.arg("-Zbuild-std=std,panic_abort");
        }
        command.current_dir(&machine.root);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("CARGO_ENCODED_RUSTFLAGS", self.flags.join("\x1f"));
        command
    }

    /// The agent that `cargo build --profile agent` leaves.
    pub(crate) fn artifact(&self) -> PathBuf {
        self.target_dir.join(self.triple).join("agent/tophalf-agent")
    }

    /// What the file must be.
    pub(crate) fn linkage(&self) -> Linkage {
        if self.flavor == Flavor::Ndk { Linkage::Bionic } else { Linkage::Static }
    }
}

/// The folders whose names must not be left in an agent, and what stands for them there.
pub(crate) fn private_folders(machine: &Machine) -> Vec<(PathBuf, &'static str)> {
    let mut folders: Vec<_> = cargo::home().map(|home| (home, "/cargo")).into_iter().collect();
    // The last that fits counts, and the workspace may be inside of the others.
    folders.push((machine.root.clone(), "/tophalf"));
    folders
}
