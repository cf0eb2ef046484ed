//! Which way an agent is built on this machine: a pure choice from what the machine has.

use std::fmt;

use anyhow::{Result, bail};
use clap::ValueEnum;

/// The processor an agent runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arch {
    /// Phones.
    Aarch64,
    /// `-d local` on a PC, and x86-64 virtual devices.
    X86_64,
}

impl Arch {
    /// The name in file names and on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Aarch64 => "aarch64",
            Self::X86_64 => "x86_64",
        }
    }

    /// Rust's name of the static target.
    pub(crate) fn musl_triple(self) -> &'static str {
        match self {
            Self::Aarch64 => "aarch64-unknown-linux-musl",
            Self::X86_64 => "x86_64-unknown-linux-musl",
        }
    }

    /// Debian's name of the architecture.
    pub(crate) fn debian(self) -> &'static str {
        match self {
            Self::Aarch64 => "arm64",
            Self::X86_64 => "amd64",
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A way to build an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    /// A musl target that rustup installed, linked by rust-lld.
    Musl,
    /// The Android NDK: dynamic against bionic and liblog.
    Ndk,
    /// A musl target made once from Debian's packages, linked by rust-lld.
    Debian,
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Musl => "musl",
            Self::Ndk => "ndk",
            Self::Debian => "debian",
        })
    }
}

/// What `--flavor` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Request {
    /// The first that works here of musl, ndk, debian
    Auto,
    /// A musl target installed by rustup
    Musl,
    /// The Android NDK: not static, logs to logcat; aarch64 only
    Ndk,
    /// A musl target made from Debian's packages
    Debian,
}

/// Whether a way can be gone, or why not.
pub(crate) type Usable = Result<(), String>;

/// The way chosen, and the better ones that were not usable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The first usable way.
    pub(crate) flavor: Flavor,
    /// The ways before it, each with its reason.
    pub(crate) passed_over: Vec<(Flavor, String)>,
}

/// The ways to try, best first.
///
/// The x86-64 agent is for Linux PCs, where bionic's loader does not exist, so the NDK is never one of its ways.
pub(crate) fn order(arch: Arch, request: Request) -> &'static [Flavor] {
    match (request, arch) {
        (Request::Musl, _) => &[Flavor::Musl],
        (Request::Debian, _) => &[Flavor::Debian],
        (Request::Ndk, Arch::Aarch64) => &[Flavor::Ndk],
        (Request::Auto, Arch::Aarch64) => &[Flavor::Musl, Flavor::Ndk, Flavor::Debian],
        (Request::Auto | Request::Ndk, Arch::X86_64) => &[Flavor::Musl, Flavor::Debian],
    }
}

/// Chooses the way for `arch` from what `usable` knows of the machine, or says why there is none.
/// Only the ways that are considered are asked for.
pub(crate) fn choose(
    arch: Arch,
    request: Request,
    mut usable: impl FnMut(Flavor) -> Usable,
) -> Result<Choice> {
    let mut passed_over = Vec::new();
    for &flavor in order(arch, request) {
        match usable(flavor) {
            Ok(()) => return Ok(Choice { flavor, passed_over }),
            Err(reason) => passed_over.push((flavor, reason)),
        }
    }
    let reasons: Vec<_> =
        passed_over.iter().map(|(flavor, reason)| format!("\n  {flavor}: {reason}")).collect();
    bail!("no way to build the {arch} agent on this machine:{}", reasons.concat())
}

#[cfg(test)]
mod tests {
    use super::Arch::{Aarch64, X86_64};
    use super::Flavor::{Debian, Musl, Ndk};
    use super::*;

    /// What is chosen on a machine where only the ways in `has` can be gone.
    fn chosen(arch: Arch, request: Request, has: &[Flavor]) -> Result<Choice> {
        choose(
            arch,
            request,
            |flavor| if has.contains(&flavor) { Ok(()) } else { Err(format!("no {flavor}")) },
        )
    }

    fn flavor(arch: Arch, request: Request, has: &[Flavor]) -> Flavor {
        chosen(arch, request, has).unwrap().flavor
    }

    #[test]
    fn auto_prefers_musl_then_ndk_then_debian() {
        assert_eq!(flavor(Aarch64, Request::Auto, &[Musl, Ndk, Debian]), Musl);
        assert_eq!(flavor(Aarch64, Request::Auto, &[Ndk, Debian]), Ndk);
        assert_eq!(flavor(Aarch64, Request::Auto, &[Debian]), Debian);
    }

    #[test]
    fn a_flavor_asked_for_is_never_replaced() {
        assert_eq!(flavor(Aarch64, Request::Debian, &[Musl, Ndk, Debian]), Debian);
        assert_eq!(flavor(Aarch64, Request::Ndk, &[Musl, Ndk, Debian]), Ndk);
        let error = chosen(Aarch64, Request::Musl, &[Ndk, Debian]).unwrap_err();
        assert!(error.to_string().contains("musl: no musl"), "{error}");
    }

    #[test]
    fn the_ndk_is_never_used_for_a_pc() {
        assert_eq!(flavor(X86_64, Request::Auto, &[Ndk, Debian]), Debian);
        assert_eq!(flavor(X86_64, Request::Ndk, &[Ndk, Debian]), Debian);
    }

    #[test]
    fn the_reasons_of_the_better_ways_are_kept() {
        let choice = chosen(Aarch64, Request::Auto, &[Debian]).unwrap();
        assert_eq!(choice.passed_over, [(Musl, "no musl".to_owned()), (Ndk, "no ndk".to_owned())]);
    }

    #[test]
    fn with_no_way_every_reason_is_told() {
        let text = chosen(Aarch64, Request::Auto, &[]).unwrap_err().to_string();
        for reason in ["aarch64 agent", "musl: no musl", "ndk: no ndk", "debian: no debian"] {
            assert!(text.contains(reason), "{reason} is not in {text}");
        }
    }

    #[test]
    fn ways_after_the_chosen_one_are_not_looked_at() {
        let mut asked = Vec::new();
        let choice = choose(Aarch64, Request::Auto, |flavor| {
            asked.push(flavor);
            Ok(())
        });
        assert_eq!((choice.unwrap().flavor, asked), (Musl, vec![Musl]));
    }
}
