//! Debian's packages: which are there, what apt would have to do, and doing it.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{capture, run};
use crate::flavor::Arch;

/// Debian's compiler, of the package rustc-web.
pub(crate) const RUSTC: &str = "/usr/bin/rustc";

/// The compiler and the sources of its standard library: one source package, so always one version.
pub(crate) const COMPILER: [&str; 2] = ["rustc-web", "rust-web-src"];

/// Runs aarch64 programs on another machine, for `cargo ndk-build test`.
pub(crate) const EMULATOR: &str = "qemu-user-static";

/// Is this a machine with Debian's package tools?
pub(crate) fn is_debian() -> bool {
    capture(Command::new("dpkg").arg("--version")).is_ok() && capture(apt_get().arg("--version")).is_ok()
}

/// The version of an installed package.
pub(crate) fn installed(package: &str) -> Option<String> {
    let format = "-f=${db:Status-Abbrev} ${Version}\n";
    let text = capture(Command::new("dpkg-query").args(["-W", format, package])).ok()?;
    let (status, version) = text.lines().next()?.split_once(' ')?;
    (status == "ii").then(|| version.trim().to_owned())
}

/// The version of Debian's compiler, if it and the sources of exactly that version are installed.
pub(crate) fn compiler() -> Result<String> {
    let [rustc, sources] =
        COMPILER.map(|package| installed(package).with_context(|| format!("no {package}")));
    let (rustc, sources) = (rustc?, sources?);
    if rustc != sources {
        bail!("rustc-web is {rustc} but rust-web-src is {sources}: apt-get install rustc-web rust-web-src");
    }
    Ok(rustc)
}

/// Can apt download this package, named with its architecture?
fn has_candidate(package: &str) -> bool {
    let policy = capture(Command::new("apt-cache").env("LC_ALL", "C").args(["policy", package]));
    policy.is_ok_and(|text| {
        text.lines()
            .filter_map(|line| line.trim().strip_prefix("Candidate: "))
            .any(|candidate| candidate != "(none)")
    })
}

/// What apt has to do before an agent can be built.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Architectures whose packages dpkg does not know.
    architectures: Vec<&'static str>,
    /// Packages to install.
    packages: Vec<&'static str>,
    /// Are package lists missing?
    lists: bool,
}

impl Missing {
    /// Looks at what `packages` and musl for `arches` need.
    pub(crate) fn look(packages: &[&'static str], arches: &[Arch]) -> Result<Self> {
        let own = capture(Command::new("dpkg").arg("--print-architecture"))?;
        let foreign = capture(Command::new("dpkg").arg("--print-foreign-architectures"))?;
        let known = |arch: &Arch| arch.debian() == own || foreign.lines().any(|name| name == arch.debian());
        let architectures = arches.iter().filter(|arch| !known(arch)).map(|arch| arch.debian()).collect();
        let packages: Vec<_> =
            packages.iter().copied().filter(|package| installed(package).is_none()).collect();
        let lists = packages.iter().any(|package| !has_candidate(package))
            || arches.iter().any(|arch| !has_candidate(&format!("musl-dev:{}", arch.debian())));
        Ok(Self { architectures, packages, lists })
    }

    /// Is there nothing to do?
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The commands that put it right, in order.
    fn commands(&self) -> Vec<Vec<&'static str>> {
        let mut commands: Vec<Vec<_>> =
            self.architectures.iter().map(|name| vec!["dpkg", "--add-architecture", name]).collect();
        if self.lists || !self.architectures.is_empty() {
            commands.push(vec!["apt-get", "update"]);
        }
        if !self.packages.is_empty() {
            let mut install = vec!["apt-get", "install", "-y", "--no-install-recommends"];
            install.extend(&self.packages);
            commands.push(install);
        }
        commands
    }

    /// The commands as one line for a shell.
    pub(crate) fn shown(&self) -> String {
        let lines: Vec<_> = self.commands().iter().map(|words| words.join(" ")).collect();
        lines.join(" && ")
    }

    /// Does it, as root. Lists that are out of date are fetched anew and the installation tried once more.
    pub(crate) fn install(&self) -> Result<()> {
        for words in self.commands() {
            eprintln!("ndk-build: {}", words.join(" "));
            if let Err(error) = run(&mut privileged(&words)) {
                if !words.contains(&"install") || self.lists {
                    return Err(error).context(format!("as root, run: {}", self.shown()));
                }
                eprintln!("ndk-build: {error:#}; trying again with fresh package lists");
                run(&mut privileged(&["apt-get", "update"]))
                    .and_then(|()| run(&mut privileged(&words)))
                    .with_context(|| format!("as root, run: apt-get update && {}", self.shown()))?;
            }
        }
        Ok(())
    }
}

/// The command of `words`. Another apt that is at work is waited for.
fn privileged(words: &[&str]) -> Command {
    let mut command = match words {
        ["apt-get", ..] => apt_get(),
        _ => Command::new(words[0]),
    };
    command.args(&words[1..]);
    command
}

/// apt-get that asks nothing and waits for another apt.
pub(crate) fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").args(["-q", "-o", "DPkg::Lock::Timeout=600"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_machine_gets_three_commands() {
        let missing = Missing {
            architectures: vec!["arm64"],
            packages: vec!["rustc-web", "rust-web-src"],
            lists: true,
        };
        assert_eq!(
            missing.shown(),
            "dpkg --add-architecture arm64 && apt-get update && \
             apt-get install -y --no-install-recommends rustc-web rust-web-src"
        );
    }

    #[test]
    fn only_what_is_missing_is_done() {
        let missing = Missing { packages: vec![EMULATOR], ..Missing::default() };
        assert_eq!(missing.shown(), "apt-get install -y --no-install-recommends qemu-user-static");
        assert!(Missing::default().is_empty());
        assert_eq!(Missing::default().shown(), "");
        let lists = Missing { lists: true, ..Missing::default() };
        assert_eq!(lists.shown(), "apt-get update");
    }
}
