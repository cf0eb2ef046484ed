//! `tophalf run`: one or several runs of one workload on one device.

use super::{
    Answer,
    progress::Progress,
    show::{self, load},
    units::{block_size, seconds, size},
    workload::{self, Rw},
};
use crate::agents::Agents;
use crate::device;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printable::printable;
use crate::session::{
    self, Labels, Observer,
    request::{CpuChoice, RunRequest, prepare},
};
use crate::store::Store;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tophalf_wire::Workload;

/// Long enough that reading the counters at both ends does not matter, short enough that frames are sent
/// often.
const WINDOW_NS: u64 = 1_000_000_000;

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// adb serial, or `local` for this machine [default: the only device attached]
    #[arg(short, long, value_name = "DEV")]
    device: Option<String>,
    /// randread-4k, randread-8k, randwrite-4k, mixed-4k, mixed70-4k (70 % reads), seqread-128k and the like
    #[arg(short, long, value_name = "NAME", default_value = "randread-4k", value_parser = workload::parse)]
    workload: Workload,
    /// Block device or file [default: the largest UFS disk, or a file where that is not allowed]
    #[arg(long, value_name = "PATH")]
    target: Option<String>,
    /// Make a file at the target, full of random data, and remove it afterwards
    #[arg(long)]
    make_file: bool,
    /// Use the first SIZE bytes of the target [default: all of it; 64m of a file that is made]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Allow writing to what is on the target; PATH is the target, repeated
    #[arg(long, value_name = "PATH")]
    destroy_data_on: Option<String>,
    /// Go on through the page cache if direct I/O is refused
    #[arg(long)]
    allow_buffered: bool,
    /// CPU of the I/O thread, or `any` to leave it to the scheduler [default: where the interrupt is delivered]
    #[arg(long, value_name = "N", value_parser = cpu_choice)]
    cpu: Option<CpuChoice>,
    /// Seconds that are measured
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    seconds: u64,
    /// Seconds of I/O before that
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds)]
    warmup: u64,
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// What differs between the sides of a comparison; a label [default: the kernel release]
    #[arg(long, value_name = "LABEL")]
    variant: Option<String>,
    /// Passes of a run
    #[arg(long, value_delimiter = ',', default_value = "timed,hops", value_name = "PASS,…")]
    passes: Vec<PassName>,
    /// Size of one I/O, in place of the workload's
    #[arg(long, value_name = "SIZE", value_parser = block_size)]
    bs: Option<u32>,
    /// Pattern, in place of the workload's
    #[arg(long, value_enum)]
    rw: Option<Rw>,
    /// Reads among 100 operations of a mix
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=99))]
    rwmixread: Option<u8>,
    /// What offsets and mix follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// I/Os of the hops pass
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    hops_ops: u32,
    /// Milliseconds between two samples of the counters; 0 takes none
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=60_000))]
    sample_ms: u32,
    /// The agent to use, in place of the one found for the device
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

/// A pass of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PassName {
    /// Nothing but the I/O is timed
    Timed,
    /// Where each I/O waits
    Hops,
}

fn cpu_choice(text: &str) -> Result<CpuChoice, String> {
    match text {
        "any" => Ok(CpuChoice::Any),
        number => number.parse().map(CpuChoice::Only).map_err(|_| "write a number or `any`".to_owned()),
    }
}

impl RunArgs {
    fn request(&self) -> anyhow::Result<RunRequest> {
        let mut workload = Workload { seed: self.seed, ..self.workload.clone() };
        workload::change(&mut workload, self.rw, self.rwmixread).map_err(Failure::usage)?;
        workload.block_bytes = self.bs.unwrap_or(workload.block_bytes);
        let has = |pass| self.passes.contains(&pass);
        if has(PassName::Timed) && self.seconds == 0 {
            return Err(Failure::usage("--seconds 0 measures nothing: choose 1 or more, or --passes hops"));
        }
        Ok(RunRequest {
            target: self.target.clone(),
            make_file: self.make_file,
            span_bytes: self.size,
            destroy_data_on: self.destroy_data_on.clone(),
            allow_buffered: self.allow_buffered,
            workload,
            cpu: self.cpu.unwrap_or(CpuChoice::OfInterrupt),
            warmup_ns: self.warmup,
            timed_ns: if has(PassName::Timed) { self.seconds } else { 0 },
            window_ns: WINDOW_NS,
            sample_ns: u64::from(self.sample_ms) * 1_000_000,
            hops_ops: if has(PassName::Hops) { self.hops_ops } else { 0 },
        })
    }
}

pub(super) fn run(args: RunArgs, store: &Store) -> anyhow::Result<Answer> {
    let request = args.request()?;
    let interrupt = Interrupt::install()?;
    let mut device = device::open(args.device.as_deref(), &Agents::new(args.agent))?;
    let name = device.name().to_owned();
    let mut progress = Progress::new(&name, "probing".to_owned());
    let probed = session::probe(&mut *device, false, &interrupt, &mut progress)?;
    let facts = session::facts(&probed)?;
    let prepared = prepare(&request, facts, &*device)?;
    for note in &prepared.notes {
        progress.line(note);
    }
    let labels = Labels {
        variant: args.variant.unwrap_or_else(|| printable(&facts.system.kernel_release, 100)),
        workload: workload::name(&request.workload),
    };
    drop(progress);

    let mut runs = Vec::new();
    let mut problem = None;
    for number in 1..=args.runs {
        let mut progress =
            Progress::new(&name, format!("{}, run {number} of {}", labels.workload, args.runs));
        let ran = session::run(&*device, &prepared.job, &labels, facts, store, &interrupt, &mut progress);
        let mut over = ran.problem;
        if let Some(file) = &ran.file {
            progress.line(&format!("stored as {}", file.display()));
            match load(file) {
                Ok(run) => runs.push(run),
                Err(unreadable) => over = over.or(Some(unreadable)),
            }
        }
        if interrupt.requested() && number < args.runs {
            over = over.or_else(|| Some(Failure::device("stopped on request")));
        }
        if let Some(why) = over {
            let which = format!("run {number} of {}", args.runs);
            problem = Some(if args.runs > 1 { why.context(which) } else { why });
            break;
        }
    }
    Ok(Answer { problem, ..show::answer(&runs) })
}
