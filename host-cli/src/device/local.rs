//! This machine, measured by the same agent.

use super::{Access, Device, ShellDone, is_disk_name, process};
use crate::agents::{Agent, Agents, check_version};
use crate::failure::Failure;
use crate::printable::printable;
use anyhow::Context;
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use tophalf_wire::Plan;

const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// This machine.
#[derive(Debug)]
pub struct LocalDevice {
    agent: Agent,
    /// A recorded tree that is probed in place of this machine.
    tree: Option<PathBuf>,
}

impl LocalDevice {
    /// This machine, with the agent for its architecture.
    ///
    /// # Errors
    /// There is no such agent, it cannot be run, or it is of another version.
    pub fn open(agents: &Agents) -> anyhow::Result<Self> {
        let agent = agents.for_machine(std::env::consts::ARCH)?;
        let path = agent.path.display();
        let said = process::finish(Command::new(&agent.path).arg("--version"), VERSION_LIMIT)
            .with_context(|| format!("cannot run the agent {path}"))?
            .ok_or_else(|| Failure::device(format!("the agent {path} did not give its version")))?;
        if !said.status.success() {
            return Err(Failure::device(format!(
                "the agent {path} did not give its version ({}): {}",
                said.status,
                said.said()
            )));
        }
        check_version(&said.text(), &agent.path)?;
        Ok(Self { agent, tree: None })
    }

    /// The recorded tree at `tree`, as if it were this machine. It can only be probed.
    ///
    /// # Errors
    /// As [`LocalDevice::open`].
    pub fn replaying(agents: &Agents, tree: &Path) -> anyhow::Result<Self> {
        Ok(Self { tree: Some(tree.to_path_buf()), ..Self::open(agents)? })
    }
}

impl Device for LocalDevice {
    fn name(&self) -> &str {
        "local"
    }

    fn transport(&self) -> String {
        "local".to_owned()
    }

    fn access(&self) -> Access {
        Access::Own
    }

    fn carries_stdin(&self) -> bool {
        true
    }

    fn start(&self, plan: &Plan) -> anyhow::Result<process::Piped> {
        let mut command = Command::new(&self.agent.path);
        if let Some(tree) = &self.tree {
            command.arg("--root").arg(tree);
        }
        command.arg(plan.to_word().map_err(|error| Failure::usage(error.to_string()))?);
        process::Piped::spawn(&mut command)
            .with_context(|| format!("cannot run the agent {}", self.agent.path.display()))
    }

    fn fall_back(&mut self) -> bool {
        false
    }

    fn disk_path(&self, disk: &str) -> anyhow::Result<String> {
        let path = Path::new("/dev").join(disk);
        if is_disk_name(disk) && path.exists() {
            return Ok(path.display().to_string());
        }
        Err(Failure::device(format!("there is no /dev/{} on this machine", printable(disk, 64))))
    }

    fn scratch_folder(&self) -> String {
        std::env::temp_dir().display().to_string()
    }

    fn shell(&self, script: &str, limit: Duration) -> anyhow::Result<ShellDone> {
        let done =
            process::finish(Command::new("sh").args(["-c", script]), limit).context("cannot run sh")?;
        let done = done.ok_or_else(|| {
            Failure::device(format!("`{}` did not end within {} s", printable(script, 200), limit.as_secs()))
        })?;
        // Ended by a signal: as a shell would tell it.
        Ok(ShellDone { code: done.status.code().unwrap_or(128), said: done.text() + &done.stderr })
    }
}
