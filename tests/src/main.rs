//! `virtual-phone`: makes and boots phones that are QEMU, for `tophalf` to measure.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use signal_hook::consts::{SIGINT, SIGTERM};
use virtual_phone::{BootOptions, Disk, Phone, Su, detached, guests, host, setup};

const FAILED: u8 = 3;

/// A phone with a real UFS driver and a real adbd, under QEMU.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// The folder of guests [default: target/virtual-phone of the workspace]
    #[arg(long, global = true, env = guests::DIR_VARIABLE, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Fetch kernels and user space from Debian and build bootable guests
    Setup(SetupArgs),
    /// Boot a guest and keep it until SIGTERM or SIGINT; `ready 127.0.0.1:PORT` on stdout once adb reaches it
    Boot(BootArgs),
    /// End a phone that `boot --detach` left running
    Stop(StopArgs),
}

#[derive(Args)]
struct StopArgs {
    /// The file that `boot --detach` was given
    #[arg(value_name = "PID-FILE")]
    pid_file: PathBuf,
}

#[derive(Args)]
struct SetupArgs {
    /// A kernel series; the newest there is of it is taken
    #[arg(long = "kernel", value_name = "PREFIX", default_values = setup::DEFAULT_KERNELS)]
    kernels: Vec<String>,
    /// Look for newer packages although guests are there
    #[arg(long)]
    update: bool,
    /// First install QEMU, adb and xz on this machine where they are missing (as root, else by sudo)
    #[arg(long)]
    install_host_packages: bool,
}

#[derive(Args)]
struct BootArgs {
    /// A kernel series or release; the newest guest of it boots
    #[arg(long, value_name = "PREFIX")]
    kernel: String,
    /// Run interrupt handlers in threads
    #[arg(long)]
    threadirqs: bool,
    /// UFS multi-circular queues, one a CPU
    #[arg(long, conflicts_with = "no_ufs")]
    mcq: bool,
    /// Guest time counts instructions: slow, and the same on every boot; one at a time, on a quiet machine
    #[arg(long)]
    repeatable: bool,
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    cpus: u32,
    /// The port on 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    adb_port: Option<u16>,
    /// A raw disk image, or `null`: 1 GiB without content or delay
    #[arg(long, value_name = "FILE|null", default_value = "null")]
    disk: PathBuf,
    /// An SD card with 512-byte blocks in place of the UFS disk
    #[arg(long)]
    no_ufs: bool,
    /// adb shells run as uid 2000, not as root
    #[arg(long)]
    unprivileged: bool,
    /// Which stand-in for `su` the phone has
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Su::None)]
    su: Su,
    /// More words for the kernel's command line
    #[arg(
        long,
        value_name = "WORDS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    append: String,
    /// Copy the guest's console to a file
    #[arg(long, value_name = "FILE")]
    serial_log: Option<PathBuf>,
    /// Leave the phone running once adb reaches it, until `stop`; what it says goes to PID-FILE.log. A phone that an
    /// earlier boot left under this file is ended first
    #[arg(long, value_name = "PID-FILE")]
    detach: Option<PathBuf>,
    /// Be the phone that `--detach` left running
    #[arg(long, value_name = "PID-FILE", hide = true, conflicts_with = "detach")]
    held_by: Option<PathBuf>,
}

impl BootArgs {
    fn options(self, dir: Option<PathBuf>) -> BootOptions {
        let disk = if self.disk.as_os_str() == "null" { Disk::Null } else { Disk::File(self.disk) };
        BootOptions {
            kernel: self.kernel,
            threadirqs: self.threadirqs,
            mcq: self.mcq,
            repeatable: self.repeatable,
            cpus: self.cpus,
            adb_port: self.adb_port,
            disk,
            no_ufs: self.no_ufs,
            unprivileged: self.unprivileged,
            su: self.su,
            append: self.append,
            serial_log: self.serial_log,
            dir,
        }
    }
}

fn main() -> ExitCode {
    let Cli { dir, command } = Cli::parse();
    let result = match command {
        Subcommands::Setup(arguments) => set_up(arguments, dir),
        Subcommands::Boot(arguments) => match (arguments.detach.clone(), arguments.held_by.clone()) {
            (Some(pid_file), _) => detached::start(&pid_file).map(|serial| println!("ready {serial}")),
            (None, Some(pid_file)) => {
                detached::hold(&pid_file).and_then(|_held| boot(&arguments.options(dir)))
            }
            (None, None) => boot(&arguments.options(dir)),
        },
        Subcommands::Stop(StopArgs { pid_file }) => detached::stop(&pid_file),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("virtual-phone: {error:#}");
            ExitCode::from(FAILED)
        }
    }
}

fn set_up(arguments: SetupArgs, dir: Option<PathBuf>) -> Result<()> {
    let progress = |step: &str| eprintln!("virtual-phone: {step}");
    if arguments.install_host_packages {
        host::install(progress)?;
    }
    host::check()?;
    let dir = match dir {
        Some(dir) => dir,
        None => guests::default_dir()?,
    };
    let outcome = setup::run(&dir, &arguments.kernels, arguments.update, progress)?;
    for guest in &outcome.guests {
        println!("{} in {}", guest.release, guest.dir(&dir).display());
    }
    for prefix in &outcome.missing {
        eprintln!(
            "virtual-phone: Debian's archive has no arm64 kernel {prefix} any more: going on without \
             (`boot --threadirqs` gives any other kernel threaded interrupts)"
        );
    }
    if outcome.guests.is_empty() {
        bail!("none of the kernels {} can be had", arguments.kernels.join(", "));
    }
    Ok(())
}

fn boot(options: &BootOptions) -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("could not handle signals")?;
    }
    let start = Instant::now();
    let Some(phone) = Phone::boot_unless(options, &stop)? else { return Ok(()) };
    eprintln!("virtual-phone: {} up in {:.1} s", phone.kernel_release(), start.elapsed().as_secs_f64());
    println!("ready {}", phone.serial());
    while !stop.load(Ordering::Relaxed) {
        if !phone.is_running() {
            bail!("the phone went down; {}", phone.console_tail());
        }
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn queues_without_ufs_are_a_usage_error() {
        let words = ["virtual-phone", "boot", "--kernel", "7", "--mcq", "--no-ufs"];
        assert_eq!(Cli::try_parse_from(words).err().unwrap().exit_code(), 2);
    }
}
