//! `tophalf run`: one or several runs of one workload on one device.

use super::{Answer, progress::Progress, show};
use crate::agents::Agents;
use crate::device;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::load::{Stored, load_one};
use crate::printable::printable;
use crate::run_options::RunOptions;
use crate::session::{self, Labels, Observer, request::prepare};
use crate::store::Store;
use crate::workload;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// adb serial, or `local` for this machine [default: the only device attached]
    #[arg(short, long, value_name = "DEV")]
    device: Option<String>,
    #[command(flatten)]
    options: RunOptions,
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// What differs between the sides of a comparison; a label [default: the kernel release]
    #[arg(long, value_name = "LABEL")]
    variant: Option<String>,
    /// The agent to use, in place of the one found for the device
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

pub(super) fn run(args: RunArgs, store: &Store) -> anyhow::Result<Answer> {
    let measure = Measure {
        device: args.device,
        options: args.options,
        runs: args.runs,
        variant: args.variant,
        agent: args.agent,
    };
    let Measured { runs, problem } = measure.measure(store)?;
    Ok(Answer { problem, ..show::answer(&runs) })
}

/// Runs of one variant to be made, one after the other.
#[derive(Debug)]
pub(super) struct Measure {
    pub(super) device: Option<String>,
    pub(super) options: RunOptions,
    pub(super) runs: u32,
    /// `None` is the kernel release.
    pub(super) variant: Option<String>,
    pub(super) agent: Option<PathBuf>,
}

/// Runs that were made, and why there are not more.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) runs: Vec<Stored>,
    pub(super) problem: Option<anyhow::Error>,
}

impl Measure {
    pub(super) fn measure(self, store: &Store) -> anyhow::Result<Measured> {
        let request = self.options.request()?;
        let interrupt = Interrupt::install()?;
        let mut device = device::open(self.device.as_deref(), &Agents::new(self.agent))?;
        let name = device.name().to_owned();
        let mut progress = Progress::new(&name, "probing".to_owned());
        let probed = session::probe(&mut *device, false, &interrupt, &mut progress)?;
        let facts = session::facts(&probed)?;
        let prepared = prepare(&request, facts, &*device)?;
        for note in &prepared.notes {
            progress.line(note);
        }
        let labels = Labels {
            variant: self.variant.unwrap_or_else(|| printable(&facts.system.kernel_release, 100)),
            workload: workload::name(&request.workload),
            campaign_slot: None,
        };
        drop(progress);

        let mut runs = Vec::new();
        let mut problem = None;
        for number in 1..=self.runs {
            let mut progress =
                Progress::new(&name, format!("{}, run {number} of {}", labels.workload, self.runs));
            let ran = session::run(&*device, &prepared.job, &labels, facts, store, &interrupt, &mut progress);
            let mut over = ran.problem;
            if let Some(file) = &ran.file {
                progress.line(&format!("stored as {}", file.display()));
                match load_one(file) {
                    Ok(run) => runs.push(run),
                    Err(unreadable) => over = over.or(Some(unreadable)),
                }
            }
            if interrupt.requested() && number < self.runs {
                over = over.or_else(|| Some(Failure::device("stopped on request")));
            }
            if let Some(why) = over {
                let which = format!("run {number} of {}", self.runs);
                problem = Some(if self.runs > 1 { why.context(which) } else { why });
                break;
            }
        }
        Ok(Measured { runs, problem })
    }
}
