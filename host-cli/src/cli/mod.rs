//! The command line: one file a command, each of which parses, calls and gives an `Answer`.

mod campaign;
mod compare;
mod devices;
mod import;
mod probe;
mod progress;
mod qualify;
mod run;
mod show;
mod tree;

use crate::analysis::NotComparable;
use crate::failure::{EXIT_FOUND, EXIT_INVALID, Failure, exit_code};
use crate::printable::printable_lines;
use crate::store::Store;
use clap::{Args, Parser, Subcommand};
use serde_json::{Value, json};
use std::{
    io::{self, ErrorKind, Write},
    path::PathBuf,
    process::ExitCode,
};

/// Is a phone's storage completion in the top half of the interrupt, or does it wait for threads, and what
/// does each small I/O pay?
#[derive(Debug, Parser)]
#[command(name = "tophalf", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
struct Common {
    /// Folder of the run files
    #[arg(
        long,
        global = true,
        help_heading = "Everywhere",
        value_name = "DIR",
        default_value = "tophalf-runs"
    )]
    store: PathBuf,
    /// Print one JSON document instead of text
    #[arg(long, global = true, help_heading = "Everywhere")]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what is attached, and what can be measured on each
    Devices(devices::DevicesArgs),
    /// Show a device's controllers, disks, interrupt lines and threads, and what cannot be seen
    Probe(probe::ProbeArgs),
    /// Measure
    Run(Box<run::RunArgs>),
    /// Measure several variants by a plan, in a fair order
    Campaign(campaign::CampaignArgs),
    /// Compare a device with itself: false alarms, and the smallest difference that so many runs show
    Qualify(Box<qualify::QualifyArgs>),
    /// Take in numbers that another tool measured: output of fio, or scores as CSV
    Import(import::ImportArgs),
    /// Show runs that were stored
    Show(show::ShowArgs),
    /// Put two sides next to one another
    Compare(compare::CompareArgs),
}

/// What a command has to say.
#[derive(Debug)]
struct Answer {
    /// For people.
    text: String,
    /// The same for scripts, an object.
    json: Value,
    /// What went wrong on the way to it.
    problem: Option<anyhow::Error>,
    /// A measurement in it is invalid.
    invalid: bool,
    /// It found what the command was asked to fail on.
    found: bool,
}

impl Answer {
    fn new(text: String, json: Value) -> Self {
        Self { text, json, problem: None, invalid: false, found: false }
    }
}

/// The program.
pub fn main() -> ExitCode {
    let Cli { common, command } = Cli::parse();
    let store = Store::new(&common.store);
    let answer = match command {
        Command::Devices(args) => devices::devices(args),
        Command::Probe(args) => probe::probe(args),
        Command::Run(args) => run::run(*args, &store),
        Command::Campaign(args) => campaign::campaign(args, &store),
        Command::Qualify(args) => qualify::qualify(*args, &store),
        Command::Import(args) => import::import(&args, &store),
        Command::Show(args) => show::show(&args, &store),
        Command::Compare(args) => compare::compare(&args, &store),
    };
    let answer = answer.unwrap_or_else(|problem| Answer {
        text: String::new(),
        json: json!({ "schema": 1 }),
        problem: Some(problem),
        invalid: false,
        found: false,
    });
    ExitCode::from(give(answer, common.json))
}

/// Runs that are not there are the machinery's fault, runs that do not belong together the command's.
fn not_comparable(why: NotComparable) -> anyhow::Error {
    match why {
        NotComparable::NoRuns(_) | NotComparable::NoValidRun => Failure::device(why.to_string()),
        NotComparable::Differ(_) | NotComparable::Twice(_) => Failure::usage(why.to_string()),
    }
}

/// Prints an answer and gives its exit code.
fn give(mut answer: Answer, as_json: bool) -> u8 {
    let code = match &answer.problem {
        Some(problem) => exit_code(problem),
        None if answer.invalid => EXIT_INVALID,
        None if answer.found => EXIT_FOUND,
        None => 0,
    };
    if let Some(problem) = &answer.problem
        && let Value::Object(document) = &mut answer.json
    {
        document.insert("error".to_owned(), json!({ "message": format!("{problem:#}"), "exit_code": code }));
    }
    let text = if as_json { format!("{:#}\n", answer.json) } else { printable_lines(&answer.text) };
    let printed = print(&text);
    if let Some(problem) = &answer.problem {
        eprintln!("error: {}", printable_lines(&format!("{problem:#}")));
    }
    match printed {
        Ok(()) => code,
        Err(error) => {
            eprintln!("error: cannot write to standard output: {error}");
            code.max(EXIT_INVALID)
        }
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // `tophalf show … | head` has read what it wanted.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
