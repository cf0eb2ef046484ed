//! Where the device side's programs are found on this machine, and which one fits a device.

use crate::failure::Failure;
use crate::printable::printable;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// The variable that names the folder of agents.
pub const FOLDER_VARIABLE: &str = "TOPHALF_AGENTS";

/// Finds agents.
#[derive(Debug, Clone)]
pub struct Agents {
    /// `--agent`: this one, whatever the device is.
    file: Option<PathBuf>,
    /// Folders that are looked through, in this order.
    folders: Vec<PathBuf>,
}

/// An agent that was found.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Where it is.
    pub path: PathBuf,
    /// Names this very build: what is pushed under it never has to be pushed again.
    pub fingerprint: String,
}

impl Agents {
    /// Agents as the command line and the environment say: `file` if given, otherwise the folder named by
    /// [`FOLDER_VARIABLE`], otherwise `agents` beside this program or one folder above it.
    pub fn new(file: Option<PathBuf>) -> Self {
        let beside = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        let folders = match std::env::var_os(FOLDER_VARIABLE) {
            Some(folder) => vec![PathBuf::from(folder)],
            None => {
                beside.map(|folder| vec![folder.join("agents"), folder.join("../agents")]).unwrap_or_default()
            }
        };
        Self { file, folders }
    }

    /// The agent for a device of architecture `machine` (`uname -m`).
    ///
    /// # Errors
    /// There is no agent for that architecture, or its file is not there.
    pub fn for_machine(&self, machine: &str) -> anyhow::Result<Agent> {
        if let Some(file) = &self.file {
            return Agent::open(file).map_err(|error| Failure::usage(format!("--agent: {error:#}")));
        }
        let name = file_name(machine)?;
        let tried: Vec<PathBuf> = self.folders.iter().map(|folder| folder.join(name)).collect();
        match tried.iter().find(|path| path.is_file()) {
            Some(path) => Agent::open(path),
            None => Err(Failure::usage(format!(
                "no {name} (looked for {}): build it with `cargo ndk-build`, or name one with --agent FILE or \
                 a folder with {FOLDER_VARIABLE}",
                tried.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
            ))),
        }
    }
}

impl Agent {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read the agent {}", path.display()))?;
        let fingerprint =
            format!("{}-{:08x}-{:x}", env!("CARGO_PKG_VERSION"), crc32fast::hash(&bytes), bytes.len());
        Ok(Self { path: path.to_path_buf(), fingerprint })
    }
}

/// The agent's file name for an architecture.
fn file_name(machine: &str) -> anyhow::Result<&'static str> {
    match machine {
        "aarch64" => Ok("tophalf-agent-aarch64"),
        "x86_64" => Ok("tophalf-agent-x86_64"),
        "armv7l" | "armv8l" | "armv7" | "i686" | "i386" => Err(Failure::device(format!(
            "the device's user space is 32-bit ({machine}): agents exist for 64-bit devices only (aarch64, \
             x86_64)"
        ))),
        other => Err(Failure::device(format!(
            "the device says its architecture is {:?}: agents exist for aarch64 and x86_64",
            printable(other, 40)
        ))),
    }
}

/// Checks what `tophalf-agent --version` printed: `tophalf-agent 0.1.0 (protocol 1, aarch64-linux-musl)`.
///
/// # Errors
/// It is another program, or it speaks another protocol.
pub fn check_version(printed: &str, agent: &Path) -> anyhow::Result<()> {
    let line = printed.lines().map(str::trim).find(|line| line.starts_with("tophalf-agent "));
    let protocol = line
        .and_then(|line| line.split_once("(protocol "))
        .and_then(|(_, rest)| rest.split([',', ')']).next()?.parse::<u16>().ok());
    match protocol {
        Some(tophalf_wire::PROTOCOL) => Ok(()),
        Some(theirs) => Err(Failure::usage(other_protocol(theirs, &agent.display().to_string()))),
        None => Err(Failure::usage(format!(
            "{} is no tophalf agent: asked for its version it said {:?}; build one with `cargo ndk-build`",
            agent.display(),
            printable(printed, 200)
        ))),
    }
}

/// What to say when the two sides speak different versions.
pub fn other_protocol(theirs: u16, agent: &str) -> String {
    let ours = tophalf_wire::PROTOCOL;
    let newer = if theirs > ours { "newer" } else { "older" };
    format!(
        "the agent {agent} is {newer} than this tophalf (protocol {theirs} against {ours}): use the agent that \
         came with this tophalf, or build it with `cargo ndk-build`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{EXIT_USAGE, exit_code};

    #[test]
    fn versions() {
        let path = Path::new("agent");
        check_version("tophalf-agent 0.1.0 (protocol 1, x86_64-linux-musl)\n", path).unwrap();
        check_version("WARNING: linker: something\r\ntophalf-agent 0.9.0 (protocol 1)\r\n", path).unwrap();
        let newer = check_version("tophalf-agent 2.0.0 (protocol 7)", path).unwrap_err().to_string();
        assert!(newer.contains("newer") && newer.contains("protocol 7 against 1"), "{newer}");
        let error = check_version("\u{1b}[31mrm: no", path).unwrap_err();
        assert!(!error.to_string().contains('\u{1b}') && error.to_string().contains("is no tophalf agent"));
    }

    #[test]
    fn a_missing_agent_names_the_command_that_makes_it() {
        let agents = Agents { file: None, folders: vec!["/nonexistent".into()] };
        let error = agents.for_machine("aarch64").unwrap_err();
        assert_eq!(exit_code(&error), EXIT_USAGE);
        assert!(error.to_string().contains("cargo ndk-build"), "{error}");
        assert!(agents.for_machine("armv8l").unwrap_err().to_string().contains("32-bit"));
        assert!(agents.for_machine("riscv64").unwrap_err().to_string().contains("riscv64"));
    }
}
