//! `cargo ndk-build`: builds tophalf's agents and checks that they will start on a phone.
//!
//! An agent is one static program of at most a mebibyte that needs nothing from the phone. Where rustup has the musl
//! target it takes one line of cargo; this program chooses among that and the other ways ([`flavor`]), makes what is
//! missing ([`sysroot`]), and refuses a result that only runs on some phones ([`elf`]).

mod agent;
mod cargo;
mod cli;
mod command;
mod debian;
mod elf;
mod flavor;
mod machine;
mod ndk;
mod plan;
mod sysroot;
mod toolchain;

use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::cli::{Build, Cli, Command, Target};
use crate::elf::Linkage;
use crate::flavor::{Arch, Request};
use crate::machine::Machine;
use crate::plan::Plan;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.build.way.flavor == Request::Ndk && cli.build.target == Target::X86_64 {
        let message = "--flavor ndk is for phones; the x86_64 agent is for PCs: leave --flavor out";
        Cli::command().error(ErrorKind::ArgumentConflict, message).exit();
    }
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ndk-build: {error:#}");
            ExitCode::from(3)
        }
    }
}

fn run(cli: &Cli) -> Result<()> {
    match &cli.command {
        Some(Command::Check { flavor, files }) => {
            let linkage = if *flavor == Request::Ndk { Linkage::Bionic } else { Linkage::Static };
            agent::check_files(files, linkage)
        }
        Some(Command::Test { way, arguments }) => {
            let machine = Machine::new()?;
            if way.install {
                machine.install(&[Arch::Aarch64], way.flavor)?;
            }
            agent::test(&machine, way.flavor, arguments)
        }
        None => build(&cli.build),
    }
}

fn build(options: &Build) -> Result<()> {
    let machine = Machine::new()?;
    let request = options.way.flavor;
    let arches = options.target.arches();
    if options.way.install {
        machine.install(arches, request)?;
    }
    if options.check_only && request == Request::Ndk {
        return agent::type_check(&machine, &Plan::check_android(&machine)?);
    }
    let out = options.out.clone().unwrap_or_else(|| machine.root.join("target/agents"));
    for &arch in arches {
        let choice = machine.choose(arch, request)?;
        let plan = Plan::new(&machine, arch, choice.flavor)?;
        if options.check_only {
            agent::type_check(&machine, &plan)?;
        } else {
            agent::build(&machine, &plan, &out)?;
        }
    }
    Ok(())
}
