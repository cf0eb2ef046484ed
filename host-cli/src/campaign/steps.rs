//! Commands of a plan. What is untrusted or chosen by somebody else, such as a serial, is in their environment, and
//! never part of their text.

use super::plan::{Place, Step};
use crate::device::Device;
use crate::device::process::{Heard, Piped};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printable::printable;
use anyhow::Context;
use std::{
    process::{Command, ExitStatus},
    time::{Duration, Instant},
};

const LOOK: Duration = Duration::from_millis(50);
/// How long output may still come after the command has ended: what it left running may keep the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// What is kept of the output: its end.
const KEPT_BYTES: usize = 8 << 10;
const SHOWN_CHARS: usize = 400;

/// Does one step.
///
/// # Errors
/// It failed, took too long, or was stopped; the text says which step and what it said.
pub(super) fn step(
    step: &Step,
    device: Option<&dyn Device>,
    environment: &[(&str, String)],
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let shown = printable(&step.command, 200);
    match (step.place, device) {
        (Place::Host, _) => on_host(step, environment, interrupt).with_context(|| format!("`{shown}`")),
        (Place::Device, Some(device)) => {
            let done = device.shell(&step.command, step.limit)?;
            if done.code == 0 {
                return Ok(());
            }
            Err(Failure::device(format!(
                "`{shown}` on the device: exit code {}; it said: {}",
                done.code,
                last_words(&done.said)
            )))
        }
        (Place::Device, None) => Err(Failure::usage(format!("`{shown}` needs a device that answers"))),
    }
}

fn on_host(step: &Step, environment: &[(&str, String)], interrupt: &Interrupt) -> anyhow::Result<()> {
    let mut command = Command::new("sh");
    command.args(["-c", &step.command]);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    let mut child = Piped::spawn(&mut command).context("cannot run sh")?;
    child.close_stdin();
    let until = Instant::now() + step.limit;
    let mut kept = Vec::new();
    // Its end counts, not that of its output: a program that it leaves running on purpose may hold the pipe.
    let status: ExitStatus = loop {
        let over = match child.hear(LOOK) {
            Heard::Bytes(bytes) => {
                keep_end(&mut kept, &bytes);
                false
            }
            Heard::Nothing => false,
            Heard::Over => true,
        };
        if let Some(status) = child.wait(if over { LOOK } else { Duration::ZERO }) {
            break status;
        }
        if interrupt.requested() {
            child.kill();
            return Err(Failure::device("stopped on request"));
        }
        if Instant::now() >= until {
            child.kill();
            let said = said(&kept, &child);
            return Err(Failure::device(format!(
                "did not end within {} s (timeout_s); it said last: {said}",
                step.limit.as_secs()
            )));
        }
    };
    if status.success() {
        return Ok(());
    }
    while let Heard::Bytes(bytes) = child.hear(LAST_WORDS) {
        keep_end(&mut kept, &bytes);
    }
    Err(Failure::device(format!("{status}; it said last: {}", said(&kept, &child))))
}

fn keep_end(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend(bytes);
    let surplus = kept.len().saturating_sub(KEPT_BYTES);
    kept.drain(..surplus);
}

/// The end of standard error, or else of standard output.
fn said(stdout: &[u8], child: &Piped) -> String {
    let stderr = child.stderr();
    let stdout = String::from_utf8_lossy(stdout);
    last_words(if stderr.trim().is_empty() { &stdout } else { &stderr })
}

/// The end of a text, in one line.
fn last_words(text: &str) -> String {
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(SHOWN_CHARS);
    let end: String = text.chars().skip(skipped).collect();
    let end = printable(&end, SHOWN_CHARS);
    if end.is_empty() { "nothing".to_owned() } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(command: &str, limit: Duration) -> anyhow::Result<()> {
        let one = Step { place: Place::Host, command: command.to_owned(), limit };
        step(&one, None, &[("TOPHALF_SERIAL", "a;b $(c)".to_owned())], &Interrupt::default())
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_command_is_done_and_sees_its_environment() {
        host("test \"$TOPHALF_SERIAL\" = 'a;b $(c)'", LONG).unwrap();
    }

    #[test]
    fn a_command_that_fails_says_how_and_its_last_words() {
        let error =
            format!("{:#}", host("echo out; echo 'no such partition' >&2; exit 7", LONG).unwrap_err());
        assert!(error.contains("exit status: 7") && error.contains("no such partition"), "{error}");
        let error = format!("{:#}", host("echo only this; exit 1", LONG).unwrap_err());
        assert!(error.contains("only this"), "{error}");
    }

    #[test]
    fn a_command_that_hangs_is_ended() {
        let error = host("echo waiting; sleep 100; true", Duration::from_millis(300)).unwrap_err();
        assert!(format!("{error:#}").contains("waiting"), "{error:#}");
    }

    #[test]
    fn a_program_left_running_does_not_hold_it_up() {
        let begun = Instant::now();
        host("sleep 30 & echo started", LONG).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(15));
    }

    #[test]
    fn more_output_than_is_kept_does_no_harm() {
        host("head -c 3000000 /dev/zero", LONG).unwrap();
    }
}
