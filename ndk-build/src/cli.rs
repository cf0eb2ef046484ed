//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::flavor::{Arch, Request};

/// Builds tophalf's agents for phones and PCs, and checks that they will start there
#[derive(Debug, Parser)]
#[command(bin_name = "cargo ndk-build", version, args_conflicts_with_subcommands = true)]
#[command(after_help = "Exit codes: 0 fine, 2 usage, 3 an agent could not be built or did not pass a check.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) build: Build,
}

/// What there is besides building.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check files that are there already
    Check {
        /// What the files must be: static, or with `ndk` dynamic for Android
        #[arg(long, value_enum, default_value = "auto")]
        flavor: Request,
        /// The files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Run the unit tests of the agent and the wire as static aarch64 programs
    Test {
        #[command(flatten)]
        way: Way,
        /// More arguments for `cargo test`
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
}

/// How to build.
#[derive(Debug, clap::Args)]
pub(crate) struct Way {
    /// The way to build
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) flavor: Request,
    /// First install what Debian's packages lack, by apt and as root
    #[arg(long)]
    pub(crate) install: bool,
}

/// What to build.
#[derive(Debug, clap::Args)]
pub(crate) struct Build {
    #[command(flatten)]
    pub(crate) way: Way,
    /// The processors to build for
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) target: Target,
    /// Where the agents go [default: target/agents in the workspace]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Only type-check; for `--flavor ndk` this needs no NDK
    #[arg(long, conflicts_with = "out")]
    pub(crate) check_only: bool,
}

/// What `--target` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Target {
    /// Phones
    Aarch64,
    /// PCs, for `-d local`
    #[value(name = "x86_64")]
    X86_64,
    /// Both
    All,
}

impl Target {
    /// The processors meant.
    pub(crate) fn arches(self) -> &'static [Arch] {
        match self {
            Self::Aarch64 => &[Arch::Aarch64],
            Self::X86_64 => &[Arch::X86_64],
            Self::All => &[Arch::Aarch64, Arch::X86_64],
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn everything_has_a_default() {
        let cli = Cli::try_parse_from(["ndk-build"]).unwrap();
        assert_eq!((cli.build.target, cli.build.way.flavor), (Target::All, Request::Auto));
        assert!(cli.command.is_none());
    }

    #[test]
    fn tests_take_arguments_after_two_dashes() {
        let cli =
            Cli::try_parse_from(["ndk-build", "test", "--install", "--", "-p", "tophalf-wire"]).unwrap();
        let Some(Command::Test { way, arguments }) = cli.command else { panic!("{cli:?}") };
        assert!(way.install);
        assert_eq!(arguments, ["-p", "tophalf-wire"]);
    }
}
