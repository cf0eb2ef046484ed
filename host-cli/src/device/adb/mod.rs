//! A phone, by the `adb` program.
//!
//! The agent is started by `adb shell -T`: no terminal, standard error apart, standard input passed on. Where
//! the device has no such shell (before Android 7), or changes bytes all the same, `adb exec-out` is used: a
//! clean stream too, but one way only. adb's exit codes are not trusted in either.

mod client;
mod list;
mod root;

pub use list::{Attached, State};
pub use root::Root;

use super::{Access, Device, ShellDone, is_disk_name, process::Piped};
use crate::agents::{Agent, Agents, check_version};
use crate::failure::Failure;
use crate::printable::printable;
use anyhow::Context;
use client::Client;
use std::time::Duration;
use tophalf_wire::Plan;

/// The folder on a phone where its shell may keep and run programs.
const FOLDER: &str = "/data/local/tmp/tophalf";

/// Stands before the exit code of a script.
const EXIT_CODE: &str = "tophalf: exit code";

/// How the agent's output comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    ShellNoTerminal,
    ExecOut,
}

/// A phone.
#[derive(Debug)]
pub struct AdbDevice {
    adb: Client,
    serial: String,
    transport: Transport,
    root: Option<Root>,
    /// The agent on the device.
    agent: String,
}

/// What is attached, in adb's order.
///
/// # Errors
/// adb is not there, or does not answer.
pub fn attached() -> anyhow::Result<Vec<Attached>> {
    Ok(list::parse(&Client::new().succeed(&["devices", "-l"])?.text()))
}

impl AdbDevice {
    /// The device with this serial, or `ANDROID_SERIAL`'s, or the only one attached; with its agent in place.
    ///
    /// # Errors
    /// There is no such device, it cannot be used as it is, or the agent cannot be brought there.
    pub fn open(wanted: Option<&str>, agents: &Agents) -> anyhow::Result<Self> {
        let from_environment = std::env::var("ANDROID_SERIAL").ok().filter(|serial| !serial.is_empty());
        let serial = list::choose(&attached()?, wanted.or(from_environment.as_deref()))?;
        let adb = Client::new().of(&serial);
        let shown = printable(&serial, 300);
        let mut device =
            Self { transport: preferred_transport(&adb), root: None, agent: String::new(), adb, serial };
        device.prepare(agents).with_context(|| format!("device {shown}"))?;
        Ok(device)
    }

    fn prepare(&mut self, agents: &Agents) -> anyhow::Result<()> {
        let machine = self.adb.shell("uname -m")?;
        // Linker warnings may stand before it.
        let machine = machine.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let agent = agents.for_machine(machine)?;
        self.agent = self.bring(&agent)?;
        self.root = self.find_root()?;
        Ok(())
    }

    /// Puts the agent on the device, unless this very build is there already. A push that breaks off leaves
    /// nothing under its final name.
    fn bring(&self, agent: &Agent) -> anyhow::Result<String> {
        let path = format!("{FOLDER}/agent-{}", agent.fingerprint);
        let version = format!("{path} --version 2>&1");
        if check_version(&self.adb.shell(&version)?, &agent.path).is_ok() {
            return Ok(path);
        }
        let made = self
            .adb
            .shell(&format!("{{ mkdir -p {FOLDER} && rm -f {FOLDER}/agent-* && echo made; }} 2>&1"))?;
        if !made.lines().any(|line| line.trim() == "made") {
            return Err(Failure::device(format!(
                "cannot make {FOLDER} on the device: {}; remove it there if another user made it",
                printable(&made, 200)
            )));
        }
        let source = agent.path.to_string_lossy();
        let arriving = format!("{path}.arriving");
        self.adb.succeed(&["push", &source, &arriving])?;
        // `push` keeps the mode of the host's file, which may not be executable there.
        let said = self.adb.shell(&format!("chmod 755 {arriving} && mv {arriving} {path} && {version}"))?;
        check_version(&said, &agent.path)
            .with_context(|| format!("the agent was pushed to {path}, but does not run there"))?;
        Ok(path)
    }

    fn find_root(&self) -> anyhow::Result<Option<Root>> {
        for (root, question) in root::QUESTIONS {
            let answer = self.adb.run_with_input(&["shell", question.script], question.input)?;
            if root::says_root(&answer) {
                return Ok(Some(*root));
            }
        }
        Ok(None)
    }

    /// What the device's shell is given to start the agent.
    fn start_script(&self, plan: &Plan) -> anyhow::Result<String> {
        let word = plan.to_word().map_err(|error| Failure::usage(error.to_string()))?;
        let command = format!("{} {word}", self.agent);
        let script = self.root.map_or_else(|| format!("exec {command}"), |root| root.wrap(&command));
        Ok(match self.transport {
            Transport::ShellNoTerminal => script,
            // Here both outputs are one stream; the agent's log lines travel as frames too.
            Transport::ExecOut => format!("{script} 2>/dev/null"),
        })
    }
}

/// `shell -T` where the device understands it.
fn preferred_transport(adb: &Client) -> Transport {
    match adb.run(&["features"]) {
        Ok(features) if features.status.success() && !features.text().contains("shell_v2") => {
            Transport::ExecOut
        }
        // An adb too old to tell is asked to try: a wrong guess is noticed at the first frame.
        _ => Transport::ShellNoTerminal,
    }
}

impl Device for AdbDevice {
    fn name(&self) -> &str {
        &self.serial
    }

    fn transport(&self) -> String {
        let transport = match self.transport {
            Transport::ShellNoTerminal => "adb shell -T",
            Transport::ExecOut => "adb exec-out",
        };
        format!("{transport}, {}", self.root.map_or("no root", Root::describe))
    }

    fn access(&self) -> Access {
        self.root.map_or(Access::Shell, |root| Access::Root(root.describe()))
    }

    fn carries_stdin(&self) -> bool {
        self.transport == Transport::ShellNoTerminal && self.root.is_none_or(Root::passes_stdin)
    }

    fn start(&self, plan: &Plan) -> anyhow::Result<Piped> {
        let script = self.start_script(plan)?;
        let mut command = match self.transport {
            Transport::ShellNoTerminal => self.adb.command(&["shell", "-T", &script]),
            Transport::ExecOut => self.adb.command(&["exec-out", &script]),
        };
        Piped::spawn(&mut command).map_err(|error| self.adb.cannot_start(error))
    }

    fn fall_back(&mut self) -> bool {
        let first = self.transport == Transport::ShellNoTerminal;
        self.transport = Transport::ExecOut;
        first
    }

    fn disk_path(&self, disk: &str) -> anyhow::Result<String> {
        if !is_disk_name(disk) {
            return Err(Failure::device(format!("the device names a disk {:?}", printable(disk, 64))));
        }
        let found = self.adb.shell(&format!("ls -d /dev/block/{disk} /dev/{disk} 2>/dev/null"))?;
        let mut nodes = [format!("/dev/block/{disk}"), format!("/dev/{disk}")].into_iter();
        nodes.find(|node| found.lines().any(|line| line.trim() == node)).ok_or_else(|| {
            Failure::device(format!(
                "the kernel shows {disk}, but there is neither /dev/block/{disk} nor /dev/{disk}: name its node \
                 with --target"
            ))
        })
    }

    fn scratch_folder(&self) -> String {
        FOLDER.to_owned()
    }

    fn shell(&self, script: &str, limit: Duration) -> anyhow::Result<ShellDone> {
        // Old devices do not pass an exit code on, so it comes as text.
        let told = format!("( {script}\n) 2>&1; echo \"{EXIT_CODE} $?\"");
        let (command, input) = root::script(self.root, &told);
        let shown = printable(script, 200);
        let done = self.adb.run_within(limit, &["shell", &command], input.as_bytes())?;
        let done = done.ok_or_else(|| {
            Failure::device(format!("`{shown}` did not end on the device within {} s", limit.as_secs()))
        })?;
        let text = done.text();
        let told = text
            .trim_end()
            .rsplit_once(EXIT_CODE)
            .and_then(|(said, code)| Some((said, code.trim().parse().ok()?)));
        match told {
            Some((said, code)) => Ok(ShellDone { code, said: said.to_owned() }),
            None => Err(Failure::device(format!(
                "`{shown}` was not run to its end on the device: {}",
                done.said()
            ))),
        }
    }
}
