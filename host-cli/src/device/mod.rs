//! The edge to a device: how an agent gets there, is started, and is heard. Everything behind [`Device`]
//! sees a byte stream only.

pub mod adb;
pub mod local;
pub mod process;

use crate::agents::Agents;
use process::Piped;
use std::time::Duration;
use tophalf_wire::Plan;

/// A device that an agent can be started on.
pub trait Device {
    /// Its name as the transport gives it: an adb serial, or `local`.
    fn name(&self) -> &str;

    /// How it is reached, such as `adb shell -T, su -c`.
    fn transport(&self) -> String;

    /// What agents on it may do.
    fn access(&self) -> Access;

    /// Whether the agent's standard input ends with the link, so that it can be told to stop by it.
    fn carries_stdin(&self) -> bool;

    /// Starts the agent with a plan.
    ///
    /// # Errors
    /// The transport's program cannot be started.
    fn start(&self, plan: &Plan) -> anyhow::Result<Piped>;

    /// Goes over to another transport to the same device, after this one changed bytes. `false` if there is
    /// none left.
    fn fall_back(&mut self) -> bool;

    /// The path by which the device names one of its disks.
    ///
    /// # Errors
    /// There is no such node, or the device does not answer.
    fn disk_path(&self, disk: &str) -> anyhow::Result<String>;

    /// Folder where a file can be made for a run; ends without a slash.
    fn scratch_folder(&self) -> String;

    /// Runs a script in the device's shell, as root where the agent is, at most `limit`.
    ///
    /// # Errors
    /// The device does not answer, or not in time. What the script returns is no error here.
    fn shell(&self, script: &str, limit: Duration) -> anyhow::Result<ShellDone>;
}

/// What a script did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellDone {
    /// Its exit code.
    pub code: i32,
    /// What it printed, both outputs together where the transport does not keep them apart.
    pub said: String,
}

/// What agents on a device may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everything, by these means.
    Root(&'static str),
    /// What a phone's shell user may: neither block devices nor most of `/sys`.
    Shell,
    /// What the user who runs tophalf may.
    Own,
}

/// The device that `selector` (`-d`) means: `local`, an adb serial, or the only one attached.
///
/// # Errors
/// There is none, there are several, or it cannot be used as it is.
pub fn open(selector: Option<&str>, agents: &Agents) -> anyhow::Result<Box<dyn Device>> {
    match selector {
        Some("local") => Ok(Box::new(local::LocalDevice::open(agents)?)),
        _ => Ok(Box::new(adb::AdbDevice::open(selector, agents)?)),
    }
}

/// A name of a disk that is safe to be part of a path.
fn is_disk_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
