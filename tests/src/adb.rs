//! The real `adb`, from PATH, with whatever server the environment names.

use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::command;

/// `adb -s SERIAL ARGUMENT…`, not yet run.
pub fn command(serial: &str, arguments: &[&str]) -> Command {
    let mut adb = Command::new("adb");
    adb.args(["-s", serial]).args(arguments);
    adb
}

/// Runs `adb -s SERIAL ARGUMENT…` to its end, whatever its exit code.
pub fn run(serial: &str, arguments: &[&str]) -> Result<Output> {
    command::start(&mut command(serial, arguments))
}

/// Whether there is an adb at all.
pub(crate) fn check() -> Result<()> {
    command::output(Command::new("adb").arg("version")).map(drop)
}

/// `adb connect SERIAL`, and whether a shell command then gives its answer, within `limit`.
pub(crate) fn connect(serial: &str, limit: Duration) -> Result<()> {
    // adb's exit code says nothing here: "failed to connect" comes with 0 too.
    let said = text(&mut limited(limit, &["connect", serial]))?;
    let answer = command::text(&mut limited(limit, &["-s", serial, "shell", "echo", "ready"]))
        .with_context(|| format!("`adb connect {serial}` said: {}", said.trim()))?;
    anyhow::ensure!(answer.trim() == "ready", "`adb shell echo ready` printed {answer:?}");
    Ok(())
}

/// `adb disconnect SERIAL`, so that the server forgets it.
pub(crate) fn disconnect(serial: &str, limit: Duration) -> Result<()> {
    text(&mut limited(limit, &["disconnect", serial])).map(drop)
}

fn text(command: &mut Command) -> Result<String> {
    let Output { stdout, stderr, .. } = command::start(command)?;
    Ok(String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

/// adb waits for ever on a link that is half there.
fn limited(limit: Duration, arguments: &[&str]) -> Command {
    let mut timeout = Command::new("timeout");
    timeout.arg("--kill-after=1").arg(limit.as_secs_f64().to_string()).arg("adb").args(arguments);
    timeout
}
