//! The `adb` program, one command at a time.

use crate::device::process::{self, Finished};
use crate::failure::Failure;
use std::{ffi::OsString, io, process::Command, time::Duration};

/// Longer than adb takes to start its server, or a small file to be pushed over a slow cable.
const LIMIT: Duration = Duration::from_secs(60);

/// `adb`, for one device or for none in particular.
#[derive(Debug, Clone)]
pub(super) struct Client {
    program: OsString,
    serial: Option<String>,
}

impl Client {
    /// The program `$ADB`, or `adb` found by `PATH`.
    pub(super) fn new() -> Self {
        let program = std::env::var_os("ADB").filter(|program| !program.is_empty());
        Self { program: program.unwrap_or_else(|| "adb".into()), serial: None }
    }

    /// The same program, for one device.
    pub(super) fn of(&self, serial: &str) -> Self {
        Self { serial: Some(serial.to_owned()), ..self.clone() }
    }

    /// A command of adb, not yet started.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(serial) = &self.serial {
            command.args(["-s", serial]);
        }
        command.args(arguments);
        command
    }

    /// Runs a command to its end. Its exit code is not judged here: old devices do not pass it on.
    pub(super) fn run(&self, arguments: &[&str]) -> anyhow::Result<Finished> {
        self.run_with_input(arguments, &[])
    }

    /// As [`Client::run`], with something on standard input.
    pub(super) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> anyhow::Result<Finished> {
        self.run_within(LIMIT, arguments, input)?.ok_or_else(|| {
            Failure::device(format!(
                "`adb {}` did not end within {} s: replug the device, or `adb kill-server`",
                arguments.join(" "),
                LIMIT.as_secs()
            ))
        })
    }

    /// As [`Client::run_with_input`], with another limit; `None` if it took longer.
    pub(super) fn run_within(
        &self,
        limit: Duration,
        arguments: &[&str],
        input: &[u8],
    ) -> anyhow::Result<Option<Finished>> {
        process::finish_with_input(&mut self.command(arguments), input, limit)
            .map_err(|error| self.cannot_start(error))
    }

    /// As [`Client::run`], and it must have succeeded.
    pub(super) fn succeed(&self, arguments: &[&str]) -> anyhow::Result<Finished> {
        let done = self.run(arguments)?;
        if done.status.success() {
            return Ok(done);
        }
        Err(Failure::device(format!("`adb {}` failed: {}", arguments.join(" "), done.said())))
    }

    /// What a command prints in the device's shell.
    pub(super) fn shell(&self, script: &str) -> anyhow::Result<String> {
        let done = self.run(&["shell", script])?;
        // 255 is adb's own: no such device, or the link broke. What a device's command returns is not judged.
        if done.status.code() == Some(255) || (done.stdout.is_empty() && done.stderr.starts_with("error:")) {
            return Err(Failure::device(format!("adb does not reach the device: {}", done.said())));
        }
        Ok(done.text())
    }

    /// What to say when the program is not there.
    pub(super) fn cannot_start(&self, error: io::Error) -> anyhow::Error {
        let program = self.program.to_string_lossy().into_owned();
        if error.kind() == io::ErrorKind::NotFound {
            return Failure::device(format!(
                "{program} was not found: install it (Debian: apt-get install adb), name it with ADB=/path/to/adb, \
                 or measure this machine with `-d local`"
            ));
        }
        anyhow::Error::new(error).context(format!("cannot run {program}"))
    }
}
