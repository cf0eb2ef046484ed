//! `tophalf probe`: what a device is, and what can be measured on it.

use super::{Answer, progress::Progress, tree};
use crate::agents::Agents;
use crate::device::{self, Device, local::LocalDevice};
use crate::interrupt::Interrupt;
use crate::{report, session};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ProbeArgs {
    /// adb serial, or `local` for this machine [default: the only device attached]
    #[arg(short, long, value_name = "DEV")]
    device: Option<String>,
    /// The agent to use, in place of the one found for the device
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
    /// Keep the files that were read, for a bug report
    #[arg(long, value_name = "FILE.tar")]
    record: Option<PathBuf>,
    /// Probe a tree that --record kept
    #[arg(long, value_name = "FILE.tar", conflicts_with_all = ["device", "record"])]
    replay: Option<PathBuf>,
}

pub(super) fn probe(args: ProbeArgs) -> anyhow::Result<Answer> {
    let interrupt = Interrupt::install()?;
    let agents = Agents::new(args.agent);
    let tree = args.replay.as_deref().map(tree::unpack).transpose()?;
    let mut device: Box<dyn Device> = match &tree {
        Some(tree) => Box::new(LocalDevice::replaying(&agents, tree.path())?),
        None => device::open(args.device.as_deref(), &agents)?,
    };
    let name = match &args.replay {
        Some(file) => file.display().to_string(),
        None => device.name().to_owned(),
    };
    let mut progress = Progress::new(&name, "probing".to_owned());
    let recording = session::probe(&mut *device, args.record.is_some(), &interrupt, &mut progress)?;
    session::facts(&recording)?;
    if let Some(path) = &args.record {
        tree::record(path, &recording.recorded)?;
    }
    Ok(Answer::new(report::text::probe(&name, &recording), report::json::probe(&name, &recording)))
}
