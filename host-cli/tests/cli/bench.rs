//! A folder with a fake adb, a fake phone and a store, and the command to be run in it.

use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Output,
    time::Duration,
};
use tempfile::TempDir;

pub(crate) const TOPHALF: &str = env!("CARGO_BIN_EXE_tophalf");

/// What `adb devices -l` prints with one phone.
pub(crate) const ONE_PHONE: &str = "List of devices attached\nT615-0001              device usb:1-2 \
                                    product:ums9230 model:T615 device:ums9230 transport_id:3\n\n";

pub(crate) struct Bench {
    folder: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bench {
    /// One rooted phone whose agent works.
    pub(crate) fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        bench.write("devices", ONE_PHONE);
        bench.write("features", "shell_v2\ncmd\nstat_v2\n");
        fs::create_dir_all(bench.path("phone/bin")).unwrap();
        fs::create_dir_all(bench.path("phone/data/local/tmp")).unwrap();
        bench.program("adb", include_str!("fake_adb.sh"));
        bench.program("phone/bin/uname", "#!/bin/sh\necho aarch64\n");
        bench.program("phone/bin/id", "#!/bin/sh\necho 0\n");
        bench.program("phone/bin/ls", "#!/bin/sh\necho /dev/block/sda\n");
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn program(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// `program` with an agent that does `scenario`, and nothing of this machine's own adb in sight.
    pub(crate) fn command_of(&self, program: &str, scenario: &str) -> std::process::Command {
        let mut command = std::process::Command::new(program);
        command
            .current_dir(self.folder.path())
            .env("ADB", self.path("adb"))
            .env("FAKE", self.folder.path())
            .env("FAKE_AGENT", scenario)
            .env("FAKE_AGENT_WAITS", self.path("waits"))
            .env("TOPHALF_AGENTS", self.agents())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("ANDROID_SERIAL");
        command
    }

    /// What `tophalf` does with these arguments.
    pub(crate) fn run(&self, scenario: &str, arguments: &[&str]) -> Done {
        let mut command = self.command_of(TOPHALF, scenario);
        command.args(arguments);
        let mut command = assert_cmd::Command::from_std(command);
        Done::of(&command.timeout(Duration::from_secs(120)).output().unwrap())
    }

    /// A folder in which the fake agent is the agent for every architecture.
    fn agents(&self) -> PathBuf {
        let folder = self.path("agents");
        if !folder.exists() {
            fs::create_dir(&folder).unwrap();
            for name in ["tophalf-agent-aarch64", "tophalf-agent-x86_64"] {
                self.program(&format!("agents/{name}"), &crate::agent::script());
            }
        }
        folder
    }

    /// Run files, finished or not.
    pub(crate) fn stored(&self) -> Vec<PathBuf> {
        fn files(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() { files(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        files(&self.path("tophalf-runs"), &mut found);
        found.sort();
        found
    }

    /// What was asked of adb, a line each.
    pub(crate) fn adb_log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

impl Done {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// The one document on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It failed with this code and one line that holds these words.
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        let errors: Vec<&str> = self.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(errors.len(), 1, "{self:?}");
        for word in words {
            assert!(errors[0].contains(word), "{word:?} is not in {:?}", errors[0]);
        }
        self.has_no_controls();
    }

    pub(crate) fn succeeds(&self) {
        assert_eq!(self.code, 0, "{self:?}");
        self.has_no_controls();
    }

    fn has_no_controls(&self) {
        let bad = |c: char| c.is_control() && c != '\n';
        assert!(!self.stdout.contains(bad) && !self.stderr.contains(bad), "{self:?}");
    }
}
