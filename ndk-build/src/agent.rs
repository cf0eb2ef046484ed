//! Building, checking and testing the agent.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{capture, run};
use crate::elf;
use crate::flavor::{Arch, Flavor, Request, choose};
use crate::machine::Machine;
use crate::plan::{Plan, private_folders};

/// Emulates one aarch64 program.
const QEMU: &str = "qemu-aarch64-static";

/// Builds the agent of `plan`, checks it, and only then puts it into `out`.
pub(crate) fn build(machine: &Machine, plan: &Plan, out: &Path) -> Result<()> {
    let mut cargo = plan.cargo(machine, "build");
    cargo.args(["--quiet", "--profile", "agent", "--package", "tophalf-agent", "--bin", "tophalf-agent"]);
    run(&mut cargo)?;
    let built = plan.artifact();
    let bytes = fs::read(&built).with_context(|| format!("reading {}", built.display()))?;
    let report = elf::check(&bytes, Some(plan.arch), plan.linkage())
        .with_context(|| format!("{} would not run everywhere", built.display()))?;
    let folders: Vec<_> = private_folders(machine).into_iter().map(|(folder, _)| folder).collect();
    if let Some(folder) = left_inside(&bytes, &folders) {
        bail!("{} holds the name of a folder of this machine, {}", built.display(), folder.display());
    }
    let path = out.join(format!("tophalf-agent-{}", plan.arch));
    place(&bytes, &path).with_context(|| format!("writing {}", path.display()))?;
    println!("{}: {}, {}, {report}, no build paths", path.display(), plan.flavor, plan.rustc);
    Ok(())
}

/// Only type-checks the agent of `plan`.
pub(crate) fn type_check(machine: &Machine, plan: &Plan) -> Result<()> {
    let mut cargo = plan.cargo(machine, "check");
    cargo.args(["--quiet", "--profile", "agent", "--package", "tophalf-agent"]);
    run(&mut cargo)?;
    println!("tophalf-agent: {}, {}, {}: type-checks", plan.triple, plan.flavor, plan.rustc);
    Ok(())
}

/// Checks files that are there already, all of them even if one is refused.
pub(crate) fn check_files(files: &[PathBuf], linkage: elf::Linkage) -> Result<()> {
    let mut refused = 0;
    for path in files {
        let checked =
            fs::read(path).context("can not be read").and_then(|bytes| elf::check(&bytes, None, linkage));
        match checked {
            Ok(report) => println!("{}: {report}", path.display()),
            Err(error) => {
                eprintln!("ndk-build: {}: {error:#}", path.display());
                refused += 1;
            }
        }
    }
    if refused > 0 {
        bail!(
            "{refused} of {} files would not run everywhere; build them anew: cargo ndk-build",
            files.len()
        );
    }
    Ok(())
}

/// Runs the unit tests of what goes onto a phone as static aarch64 programs.
pub(crate) fn test(machine: &Machine, request: Request, arguments: &[OsString]) -> Result<()> {
    let choice = choose(Arch::Aarch64, request, |flavor| match flavor {
        Flavor::Ndk => Err("what is built for Android's loader does not run here".to_owned()),
        _ => machine.usable(flavor, Arch::Aarch64),
    })?;
    let mut plan = Plan::new(machine, Arch::Aarch64, choice.flavor)?;
    if !machine.runs_aarch64() {
        capture(Command::new(QEMU).arg("--version"))
            .context("aarch64 programs need qemu-user-static here (as root: cargo ndk-build --install)")?;
        plan.run_by(QEMU);
    }
    let mut cargo = plan.cargo(machine, "test");
    cargo.args(["--package", "tophalf-wire", "--package", "tophalf-agent"]).args(arguments);
    run(&mut cargo)
}

/// The first of `folders` whose name is in the file.
fn left_inside<'a>(file: &[u8], folders: &'a [PathBuf]) -> Option<&'a Path> {
    let holds = |name: &[u8]| !name.is_empty() && file.windows(name.len()).any(|window| window == name);
    folders.iter().find(|folder| holds(folder.as_os_str().as_bytes())).map(PathBuf::as_path)
}

/// Puts a program at `path`, whole or not at all: others may be pushing the old one.
fn place(bytes: &[u8], path: &Path) -> Result<()> {
    let dir = path.parent().context("it is in no folder")?;
    fs::create_dir_all(dir)?;
    let file = tempfile::NamedTempFile::new_in(dir)?;
    fs::write(file.path(), bytes)?;
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o755))?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_path_is_found_anywhere() {
        let folders = [PathBuf::from("/home/me/.cargo"), PathBuf::from("/work/main")];
        assert_eq!(left_inside(b"\0/rust/core\0/work/main", &folders), Some(Path::new("/work/main")));
        assert_eq!(left_inside(b"/work/mai\0", &folders), None);
        assert_eq!(left_inside(b"", &folders), None);
    }

    #[test]
    fn a_placed_program_is_whole_and_may_be_run() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agents/tophalf-agent-aarch64");
        for bytes in [b"old".as_slice(), b"new"] {
            place(bytes, &path).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 1);
    }
}
