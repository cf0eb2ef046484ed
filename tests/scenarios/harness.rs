//! A phone, a store and the command, and what the command answers.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use virtual_phone::{BootOptions, Phone};

/// `target/release/tophalf`, which `make setup` leaves.
pub(crate) fn tophalf() -> Command {
    let path = workspace().join("target/release/tophalf");
    assert!(path.exists(), "{} is not there: make setup", path.display());
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).env_remove("ANDROID_SERIAL");
    command
}

pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace")
}

/// A booted phone and a store of its own.
pub(crate) struct Rig {
    pub(crate) phone: Phone,
    store: TempDir,
}

/// What a command answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl Answer {
    /// The one JSON document on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// The only run of the document, of a command that went well.
    #[track_caller]
    pub(crate) fn run(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:#?}");
        let run = self.json()["runs"][0].clone();
        assert_eq!(run["quality"]["valid"], true, "{run:#}");
        run
    }

    /// The command was refused with `code`, and one line of standard error has all of `words`.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        let told = self.stderr.lines().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(told, "no line has all of {words:?}: {self:#?}");
    }
}

impl Rig {
    #[track_caller]
    pub(crate) fn boot(options: &BootOptions) -> Self {
        let phone = Phone::boot(options).unwrap_or_else(|error| panic!("{error:#}"));
        Self { phone, store: tempfile::tempdir().expect("a folder for the store") }
    }

    pub(crate) fn store(&self) -> &Path {
        self.store.path()
    }

    /// `tophalf VERB ARGUMENTS`, without a device.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = tophalf();
        command.args(arguments).arg("--store").arg(self.store());
        command
    }

    pub(crate) fn tophalf(&self, arguments: &[&str]) -> Answer {
        self.command(arguments).output().expect("tophalf starts").into()
    }

    /// `tophalf run -d THIS_PHONE --json ARGUMENTS`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        let base = ["run", "-d", self.phone.serial(), "--json"];
        self.tophalf(&[&base[..], arguments].concat())
    }

    /// A run of a minute, broken by `fault` once its first window has arrived; what the command then answers.
    pub(crate) fn run_until(&self, fault: impl FnOnce(&Child)) -> Answer {
        self.run_meanwhile(&["--seconds", "60", "--warmup", "0"], fault)
    }

    /// `tophalf run -d THIS_PHONE --json ARGUMENTS`, and what happens once its first window has arrived; what the command
    /// answers in the end.
    pub(crate) fn run_meanwhile(&self, arguments: &[&str], meanwhile: impl FnOnce(&Child)) -> Answer {
        let base = ["run", "-d", self.phone.serial(), "--json"];
        let child = self
            .command(&[&base[..], arguments].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("tophalf starts");
        let arrived = Instant::now() + Duration::from_secs(60);
        while !self.has_a_window() {
            assert!(Instant::now() < arrived, "no window arrived within a minute");
            std::thread::sleep(Duration::from_millis(300));
        }
        meanwhile(&child);
        child.wait_with_output().expect("tophalf ends").into()
    }

    /// The run that is being made has a window.
    fn has_a_window(&self) -> bool {
        let unfinished =
            self.files().into_iter().filter(|file| file.extension().is_some_and(|end| end == "partial"));
        unfinished.into_iter().any(|file| {
            let file = file.to_str().expect("a plain name");
            let shown: Result<Value, _> =
                serde_json::from_str(&self.tophalf(&["show", file, "--json"]).stdout);
            shown.is_ok_and(|shown| {
                shown["runs"][0]["windows"].as_array().is_some_and(|windows| !windows.is_empty())
            })
        })
    }

    /// Every file of the store, finished or not.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let folders = std::fs::read_dir(self.store()).into_iter().flatten().flatten();
        let files =
            folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten());
        files.map(|file| file.path()).collect()
    }

    /// The only stored run.
    #[track_caller]
    pub(crate) fn only_file(&self) -> String {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].to_str().expect("a plain name").to_owned()
    }
}
