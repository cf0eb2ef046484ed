//! A plan from its first frame to its last.

use crate::clock::{grain_ns, now_ns};
use crate::error::JobError;
use crate::observe::facts::{self, Own};
use crate::observe::kernel;
use crate::observe::state::StateReader;
use crate::observe::tree::Tree;
use crate::run::{Cost, RunError, run};
use crate::stop::Watch;
use crate::stream::Stream;
use std::io::{self, Write};
use std::path::PathBuf;
use tophalf_wire::{EdgeSide, End, Hello, Job, Message, Outcome, Overhead, Plan};

/// What this was built for and how: `aarch64-linux-musl`.
pub fn build_name() -> String {
    let libc = if cfg!(target_os = "android") {
        "bionic"
    } else if cfg!(target_env = "musl") {
        "musl"
    } else {
        "gnu"
    };
    let checked = if cfg!(debug_assertions) { "-debug" } else { "" };
    format!("{}-linux-{libc}{checked}", std::env::consts::ARCH)
}

/// Does what `plan` says and writes the stream to `out`. A probe looks below `root` instead of `/`.
///
/// # Errors
/// Nobody listens any more. All other failures are in the end frame.
pub fn perform<W: Write>(plan: &Plan, root: Option<PathBuf>, out: W) -> io::Result<Outcome> {
    let mut stream = Stream::new(plan.session, out);
    stream.send(&Message::Hello(Hello::new(env!("CARGO_PKG_VERSION"), build_name())))?;
    stream.send(&Message::Plan(plan.clone()))?;
    let mut cost = Cost::default();
    let outcome = match attempt(plan, root, &mut stream, &mut cost) {
        Ok(outcome) => outcome,
        Err(RunError::Job(error)) => {
            log::error!("{error}");
            error.into_outcome()
        }
        Err(RunError::Link(error)) => return Err(error),
    };
    let overhead = Overhead {
        loop_ns: cost.loop_ns,
        sampler_cpu_ns: cost.sampler_cpu_ns,
        stream_cpu_ns: stream.cpu_ns(),
        stream_bytes: stream.bytes(),
        latency_bytes: cost.latency_bytes,
        peak_rss_bytes: peak_rss_bytes(),
    };
    let frames = stream.frames();
    stream.send(&Message::End(End { outcome: outcome.clone(), frames, overhead }))?;
    Ok(outcome)
}

fn attempt<W: Write>(
    plan: &Plan,
    root: Option<PathBuf>,
    stream: &mut Stream<W>,
    cost: &mut Cost,
) -> Result<Outcome, RunError> {
    let tree = root.map_or_else(Tree::live, Tree::at);
    match &plan.job {
        Job::Probe(probe) => {
            let tree = if probe.record { tree.recording() } else { tree };
            let facts = facts::read(&tree, &own()?);
            let state = StateReader::of_probe(&facts).read(&tree, None, EdgeSide::Before, None, now_ns);
            stream.send(&Message::Facts(facts))?;
            stream.send(&Message::State(state))?;
            stream.send(&Message::KernelConfig(kernel::read_config(&tree)))?;
            for recorded in tree.into_recorded() {
                stream.send(&Message::Recorded(recorded))?;
            }
            Ok(Outcome::Done)
        }
        Job::Run(job) => {
            let facts = facts::read(&tree, &own()?);
            stream.send(&Message::Facts(facts.clone()))?;
            stream.send(&Message::KernelConfig(kernel::read_config(&tree)))?;
            run(job, &facts, &tree, Watch { stdin: plan.watch_stdin }, stream, cost)
        }
    }
}

/// What the machine says of itself without files.
fn own() -> Result<Own, JobError> {
    let failed =
        |call: &str, errno| JobError::device(format!("{call}: {errno}: this is no Linux the agent knows"));
    let name = nix::sys::utsname::uname().map_err(|errno| failed("uname", errno))?;
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE);
    let page_bytes = page.map_err(|errno| failed("sysconf(_SC_PAGESIZE)", errno))?;
    let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
    Ok(Own {
        kernel_release: text(name.release()),
        kernel_version: text(name.version()),
        machine: text(name.machine()),
        hostname: text(name.nodename()),
        uid: nix::unistd::geteuid().as_raw(),
        page_bytes: page_bytes.and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(4096),
        clock_grain_ns: grain_ns(),
    })
}

/// Largest resident size so far, in bytes.
fn peak_rss_bytes() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    // getrusage cannot fail for RUSAGE_SELF; ru_maxrss is in KiB on Linux.
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| u64::try_from(usage.max_rss()).unwrap_or(0) * 1024)
}
