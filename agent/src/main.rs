//! `tophalf-agent`: a plan in, frames out.

use lexopt::{Arg, Parser, ValueExt};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::process::ExitCode;
use tophalf_agent::{job, log, stop};
use tophalf_wire::{Fault, Hello, Job, Message, Outcome, PROTOCOL, Plan, PlanError};

const USAGE: &str = "\
usage: tophalf-agent [--root DIR] PLAN

The device side of tophalf. PLAN is the word that tophalf gives; the answer is a stream of frames on
standard output, and lines for people on standard error.

  --root DIR   probe the recorded tree at DIR instead of this machine
  --version    print the version and the protocol";

/// What the command line asks for.
enum Ask {
    Perform { plan: String, root: Option<PathBuf> },
    Version,
    Help,
}

fn main() -> ExitCode {
    match arguments() {
        Ok(Ask::Perform { plan, root }) => perform(&plan, root),
        Ok(Ask::Version) => {
            println!(
                "tophalf-agent {} (protocol {PROTOCOL}, {})",
                env!("CARGO_PKG_VERSION"),
                job::build_name()
            );
            ExitCode::SUCCESS
        }
        Ok(Ask::Help) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Err(error) => usage(&error.to_string()),
    }
}

fn arguments() -> Result<Ask, lexopt::Error> {
    let mut parser = Parser::from_env();
    let (mut plan, mut root) = (None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("root") => root = Some(PathBuf::from(parser.value()?)),
            Arg::Long("version") => return Ok(Ask::Version),
            Arg::Long("help") | Arg::Short('h') => return Ok(Ask::Help),
            Arg::Value(word) if plan.is_none() => plan = Some(word.string()?),
            other => return Err(other.unexpected()),
        }
    }
    plan.map(|plan| Ask::Perform { plan, root }).ok_or_else(|| "no PLAN: tophalf gives it".into())
}

fn usage(error: &str) -> ExitCode {
    eprintln!("tophalf-agent: {error}\n{USAGE}");
    ExitCode::from(2)
}

fn perform(word: &str, root: Option<PathBuf>) -> ExitCode {
    log::init();
    let plan = match Plan::from_word(word) {
        Ok(plan) => plan,
        Err(error) => return refuse(error),
    };
    if root.is_some() && matches!(plan.job, Job::Run(_)) {
        return usage("--root is for probes only");
    }
    if let Err(errno) = stop::catch_signals() {
        // A signal then ends the agent at once; what was sent until then still counts.
        ::log::warn!("signals are not caught: {errno}");
    }
    match job::perform(&plan, root, &*standard_output()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed { fault: Fault::Usage, .. }) => ExitCode::from(2),
        Ok(_) => ExitCode::from(3),
        Err(error) => {
            eprintln!(
                "tophalf-agent: write frames to standard output: {error}: the host or the link is gone"
            );
            ExitCode::from(3)
        }
    }
}

/// A host of another version learns which one this is; a damaged plan is only told to people.
fn refuse(error: PlanError) -> ExitCode {
    if matches!(error, PlanError::OtherProtocol { .. }) {
        let hello = Message::Hello(Hello::new(env!("CARGO_PKG_VERSION"), job::build_name()));
        // Whether it arrives or not, this ends here.
        let _ = tophalf_agent::stream::Stream::new(0, &*standard_output()).send(&hello);
    }
    eprintln!("tophalf-agent: {error}");
    ExitCode::from(2)
}

/// Standard output without std's buffer and lock: a frame is one write.
fn standard_output() -> ManuallyDrop<File> {
    use std::os::fd::FromRawFd;
    // SAFETY: descriptor 1 is open from the start, and is never closed through this handle.
    ManuallyDrop::new(unsafe { File::from_raw_fd(1) })
}
