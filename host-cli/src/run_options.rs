//! What is measured and how: the options that `tophalf run` and the `[run]` table of a campaign's plan share.

use crate::failure::Failure;
use crate::session::request::{CpuChoice, RunRequest};
use crate::units::{block_size, seconds, size};
use crate::workload::{self, Rw};
use clap::{Args, Command, FromArgMatches, ValueEnum};
use tophalf_wire::Workload;

/// Long enough that reading the counters at both ends does not matter, short enough that frames are sent
/// often.
const WINDOW_NS: u64 = 1_000_000_000;

/// What is measured and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunOptions {
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

impl RunOptions {
    /// Reads words as the command line has them, such as `--seconds=10`.
    ///
    /// # Errors
    /// What clap says of the first that it does not take, in one line.
    pub(crate) fn from_words(words: &[String]) -> Result<Self, String> {
        let command = Self::augment_args(Command::new("run").no_binary_name(true));
        let matches = command.try_get_matches_from(words).map_err(|error| one_line(&error))?;
        Self::from_arg_matches(&matches).map_err(|error| one_line(&error))
    }

    /// The long names of all options, and whether each takes a value.
    pub(crate) fn names() -> Vec<(String, bool)> {
        let command = Self::augment_args(Command::new("run"));
        let named = |arg: &clap::Arg| Some((arg.get_long()?.to_owned(), arg.get_action().takes_values()));
        command.get_arguments().filter_map(named).collect()
    }

    /// What is asked of a run.
    ///
    /// # Errors
    /// Two options contradict one another.
    pub(crate) fn request(&self) -> anyhow::Result<RunRequest> {
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

/// The first paragraph of what clap says, without its prefix.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<RunOptions, String> {
        RunOptions::from_words(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_read_as_by_the_command() {
        let request =
            read(&["--workload=mixed-8k", "--seconds=0.5", "--cpu=any"]).unwrap().request().unwrap();
        assert_eq!((request.workload.block_bytes, request.workload.read_percent), (8192, 50));
        assert_eq!((request.timed_ns, request.cpu), (500_000_000, CpuChoice::Any));
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (word, said) in [
            ("--workload=fast", "is no workload"),
            ("--seconds=-1", "is no number of seconds"),
            ("--hops-ops=0", "0 is not in 1..=1000000"),
            ("--passes=trace", "possible values: timed, hops"),
            ("--nothing=1", "unexpected argument"),
        ] {
            let error = read(&[word]).unwrap_err();
            assert!(error.contains(said) && !error.contains('\n'), "{word}: {error}");
        }
        assert!(read(&["--seconds=0"]).unwrap().request().is_err());
    }

    #[test]
    fn names_of_options_are_those_of_the_command() {
        let names = RunOptions::names();
        assert!(names.contains(&("hops-ops".to_owned(), true)), "{names:?}");
        assert!(names.contains(&("make-file".to_owned(), false)), "{names:?}");
    }
}
