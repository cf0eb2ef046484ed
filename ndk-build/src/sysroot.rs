//! A sysroot that looks as if rustup had added the musl targets, made from Debian's packages.
//!
//! Debian has no standard library for musl targets, but it has everything that one is made of: the compiler (rustc-web)
//! and the sources of exactly its version (rust-web-src), musl's C library and start files (musl-dev) and LLVM's unwinder
//! (libunwind-N-dev). The last two are downloaded for the target's architecture and unpacked, never installed. The result
//! is kept until Debian's compiler changes; with it an agent is built by the same cargo line as on a rustup machine.
//!
//! ```text
//! sysroot/bin/{rustc,rustdoc}                               Debian's, with --sysroot
//! sysroot/lib/rustlib/<host>/lib                          → Debian's
//! sysroot/lib/rustlib/<host>/bin                          → the rustup toolchain's, for rust-lld
//! sysroot/lib/rustlib/<target>/lib/*.rlib                   std, compiled here
//! sysroot/lib/rustlib/<target>/lib/self-contained/*.{o,a}   musl, libunwind, start files
//! sysroot/lib/rustlib/<target>/stamp                        what it was made from
//! ```

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::command::{capture, run};
use crate::flavor::Arch;
use crate::toolchain::{Toolchain, has_std};
use crate::{cargo, debian};

/// To be raised when the way a sysroot is made changes.
const RECIPE: u32 = 1;

/// From musl-dev, beside the start files that the compiler looks for by name.
const MUSL_FILES: [&str; 8] =
    ["crt1.o", "rcrt1.o", "Scrt1.o", "crti.o", "crtn.o", "libc.a", "libdl.a", "libpthread.a"];

/// Where the sysroot is and what it must be made from.
#[derive(Debug)]
pub(crate) struct Sysroot {
    dir: PathBuf,
    debian: Toolchain,
    rust_lld: PathBuf,
    stamp: String,
}

impl Sysroot {
    /// The sysroot below `work` for Debian's compiler as installed, with the linker of the rustup toolchain `rustup`.
    pub(crate) fn new(work: &Path, rustup: &Toolchain) -> Result<Self> {
        let version = debian::compiler()?;
        let debian = Toolchain::probe(debian::RUSTC.into())?;
        let rust_lld = rustup.rust_lld().with_context(|| {
            format!("no rust-lld in {}: put rustup's toolchain first in PATH", rustup.sysroot.display())
        })?;
        let stamp = format!("recipe {RECIPE}\nrustc-web {version}\n{}\n", debian.verbose);
        Ok(Self { dir: work.join("sysroot"), debian, rust_lld, stamp })
    }

    /// The compiler that uses this sysroot.
    pub(crate) fn rustc(&self) -> PathBuf {
        self.dir.join("bin/rustc")
    }

    /// The documentation compiler that uses this sysroot, for doc tests.
    pub(crate) fn rustdoc(&self) -> PathBuf {
        self.dir.join("bin/rustdoc")
    }

    /// Was the part for `arch` made, from what is installed now?
    pub(crate) fn is_ready(&self, arch: Arch) -> bool {
        let target = self.target(arch);
        fs::read_to_string(target.join("stamp")).is_ok_and(|stamp| stamp == self.stamp)
            && has_std(&target.join("lib"))
    }

    fn target(&self, arch: Arch) -> PathBuf {
        self.rustlib().join(arch.musl_triple())
    }

    fn rustlib(&self) -> PathBuf {
        self.dir.join("lib/rustlib")
    }

    /// Makes the parts that serve every target, which costs nothing, and the part for `arch` unless it is ready.
    /// Answers whether that part was made anew.
    pub(crate) fn ensure(&self, arch: Arch) -> Result<bool> {
        self.link_host().with_context(|| format!("preparing the sysroot {}", self.dir.display()))?;
        if self.is_ready(arch) {
            return Ok(false);
        }
        let triple = arch.musl_triple();
        eprintln!(
            "ndk-build: {arch}: making std for {triple} from Debian's packages, once: one to three minutes"
        );
        let start = Instant::now();
        // One fixed name: the caller holds the lock, and what a killed run left behind goes away.
        let scratch = self.dir.join("scratch");
        remove(&scratch)?;
        self.make(arch, &scratch).with_context(|| format!("making std for {triple}"))?;
        let target = self.target(arch);
        remove(&target)?;
        fs::rename(scratch.join("target"), &target)
            .with_context(|| format!("putting std in place as {}", target.display()))?;
        remove(&scratch)?;
        eprintln!("ndk-build: {arch}: made {} in {:.0} s", target.display(), start.elapsed().as_secs_f64());
        Ok(true)
    }

    /// The compilers and the host's libraries.
    fn link_host(&self) -> Result<()> {
        let host = self.rustlib().join(&self.debian.host);
        fs::create_dir_all(&host)?;
        fs::create_dir_all(self.dir.join("bin"))?;
        let debian = self.debian.sysroot.join("lib/rustlib");
        link(&debian.join(&self.debian.host).join("lib"), &host.join("lib"))?;
        link(&debian.join("src"), &self.rustlib().join("src"))?;
        let tools = self.rust_lld.parent().context("rust-lld is in no folder")?;
        link(tools, &host.join("bin"))?;
        for (name, path) in [("rustc", self.rustc()), ("rustdoc", self.rustdoc())] {
            let program = Path::new(debian::RUSTC).with_file_name(name);
            write_script(
                &path,
                &format!("exec '{}' --sysroot '{}' \"$@\"", program.display(), self.dir.display()),
            )?;
        }
        Ok(())
    }

    /// Makes `scratch/target`.
    fn make(&self, arch: Arch, scratch: &Path) -> Result<()> {
        let lib = scratch.join("target/lib");
        let self_contained = lib.join("self-contained");
        fs::create_dir_all(&self_contained)?;
        self.unpack(arch, scratch, &self_contained).context("getting musl and libunwind")?;
        self.compile_start_files(arch, scratch, &self_contained).context("making the start files")?;
        self.compile_std(arch, scratch, &lib).context("compiling std")?;
        fs::write(scratch.join("target/stamp"), &self.stamp)?;
        Ok(())
    }

    fn unpack(&self, arch: Arch, scratch: &Path, into: &Path) -> Result<()> {
        let packages = self.packages(arch)?;
        capture(debian::apt_get().arg("download").args(packages).current_dir(scratch))?;
        let unpacked = scratch.join("unpacked");
        for entry in scratch.read_dir()? {
            let file = entry?.path();
            if file.extension().is_some_and(|extension| extension == "deb") {
                capture(Command::new("dpkg-deb").arg("--extract").arg(file).arg(&unpacked))?;
            }
        }
        let musl = unpacked.join(format!("usr/lib/{}-linux-musl", arch.name()));
        for name in MUSL_FILES {
            copy(&musl.join(name), &into.join(name))?;
        }
        let gnu = unpacked.join(format!("usr/lib/{}-linux-gnu", arch.name()));
        copy(&gnu.join("libunwind.a"), &into.join("libunwind.a"))
    }

    /// The packages to unpack: libunwind of the same LLVM as the compiler's.
    fn packages(&self, arch: Arch) -> Result<[String; 2]> {
        let llvm = self.debian.llvm_major()?;
        Ok([format!("musl-dev:{}", arch.debian()), format!("libunwind-{llvm}-dev:{}", arch.debian())])
    }

    /// Rust needs no crtbegin and crtend but names them; ours are empty but for [`shim.rs`](sysroot/shim.rs).
    fn compile_start_files(&self, arch: Arch, scratch: &Path, into: &Path) -> Result<()> {
        const EMPTY: &str = "#![feature(no_core)]\n#![no_core]\n";
        const SHIM: &str = include_str!("sysroot/shim.rs");
        for (name, source) in [("crtbegin", EMPTY), ("crtbeginS", EMPTY), ("crtend", SHIM), ("crtendS", SHIM)]
        {
            let file = scratch.join("start.rs");
            fs::write(&file, source)?;
            let object = into.join(name).with_extension("o");
            let mut rustc = Command::new(&self.debian.rustc);
            rustc.env("RUSTC_BOOTSTRAP", "1");
            rustc.args(["--edition=2024", "--crate-type=lib", "-Cpanic=abort", "-Copt-level=2"]);
            rustc.arg("--target").arg(arch.musl_triple());
            rustc.arg(format!("--emit=obj={}", object.display())).arg(&file);
            capture(&mut rustc)?;
        }
        Ok(())
    }

    /// Compiles std and all that tests need, as an empty package's dependencies.
    fn compile_std(&self, arch: Arch, scratch: &Path, into: &Path) -> Result<()> {
        let package = scratch.join("empty");
        fs::create_dir_all(package.join("src"))?;
        fs::write(package.join("src/lib.rs"), "")?;
        let manifest = "[package]\nname = \"empty\"\nedition = \"2024\"\n[workspace]\n";
        fs::write(package.join("Cargo.toml"), manifest)?;
        // panic_abort must itself be compiled to abort, which cargo can not say of one crate; rustc's own build does the same.
        let wrapper = scratch.join("wrapper");
        let abort =
            r#"case " $* " in *" --crate-name panic_abort "*) set -- "$@" -C panic=abort ;; esac; exec "$@""#;
        write_script(&wrapper, abort)?;
        let built = scratch.join("built");
        let mut command = cargo::clean();
        command.args(["build", "--quiet", "--release"]);
        command.arg("-Zbuild-std=std,panic_abort,panic_unwind,proc_macro,test");
        command.arg("--target").arg(arch.musl_triple());
        command.arg("--target-dir").arg(&built).current_dir(&package);
        // The bitcode is for the agent's link-time optimisation.
        let mut flags = vec!["-Cembed-bitcode=yes".to_owned()];
        flags.extend(cargo::home().map(|home| cargo::remap(&home, "/cargo")));
        flags.push(cargo::remap(&self.debian.sysroot.join("lib/rustlib/src/rust"), "/rust"));
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        command.env("RUSTC", &self.debian.rustc).env("RUSTC_WRAPPER", &wrapper).env("RUSTC_BOOTSTRAP", "1");
        run(&mut command)?;
        let libraries = built.join(arch.musl_triple()).join("release/deps");
        for entry in libraries.read_dir().with_context(|| format!("reading {}", libraries.display()))? {
            let file = entry?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(".rlib") && !name.starts_with("libempty-") {
                copy(&file, &into.join(&*name))?;
            }
        }
        Ok(())
    }
}

/// Makes `link` point to `to`, whatever it was before.
fn link(to: &Path, link: &Path) -> Result<()> {
    if fs::read_link(link).is_ok_and(|now| now == to) {
        return Ok(());
    }
    if link.symlink_metadata().is_ok() {
        fs::remove_file(link).with_context(|| format!("removing {}", link.display()))?;
    }
    symlink(to, link).with_context(|| format!("linking {} to {}", link.display(), to.display()))
}

/// Writes a shell script, unless it is there already: cargo takes a new time of change for a new compiler.
fn write_script(path: &Path, line: &str) -> Result<()> {
    let text = format!("#!/bin/sh\n{line}\n");
    if fs::read_to_string(path).is_ok_and(|now| now == text) {
        return Ok(());
    }
    fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)))
        .with_context(|| format!("writing {}", path.display()))
}

/// Removes a folder that may not be there.
fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", dir.display()))
        }
        _ => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("copying {} to {}", from.display(), to.display()))?;
    Ok(())
}
