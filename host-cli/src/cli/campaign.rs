//! `tophalf campaign`: many runs by a plan, in a fair order.

use super::Answer;
use crate::agents::Agents;
use crate::campaign::{self, Options, plan::PlanFile};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printable::printable_lines;
use crate::store::Store;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct CampaignArgs {
    /// What is measured, on which devices and how often (docs/campaign.md)
    #[arg(value_name = "PLAN.toml")]
    plan: PathBuf,
    /// Go on with a campaign that was interrupted: make what is missing
    #[arg(long)]
    resume: bool,
    /// Only say who would come when; touches no device
    #[arg(long)]
    dry_run: bool,
    /// adb serial, or `local`; repeat it for more; where the plan names no devices [default: the only one attached]
    #[arg(short, long = "device", value_name = "DEV")]
    devices: Vec<String>,
    /// The agent to use, in place of the one found for each device
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

pub(super) fn campaign(args: CampaignArgs, store: &Store) -> anyhow::Result<Answer> {
    let file = PlanFile::read(&args.plan)?;
    let options = Options { devices: args.devices, resume: args.resume };
    let say = |line: &str| eprintln!("{}", printable_lines(line));
    if args.dry_run {
        let report = campaign::preview(&file, &options, store, &say)?;
        return Ok(Answer::new(report.schedule(), report.json()));
    }
    let interrupt = Interrupt::install()?;
    let report = campaign::run(&file, &options, store, &Agents::new(args.agent), &interrupt, &say)?;
    let (asked, valid) = report.counts();
    let problem = (!report.complete()).then(|| {
        let stopped = if interrupt.requested() { "stopped on request: " } else { "" };
        Failure::device(format!(
            "{stopped}{valid} of {asked} runs are there and valid: `tophalf campaign {} --resume` makes what is missing",
            args.plan.display()
        ))
    });
    Ok(Answer { problem, ..Answer::new(report.text(), report.json()) })
}
