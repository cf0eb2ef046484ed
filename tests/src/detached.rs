//! A phone that outlives the command that booted it, as a campaign's boot commands need: the command starts itself
//! again, apart from the terminal, and goes away once that one says that its phone is ready.
//!
//! The running one keeps its process number in a file and that file locked. The system lets go of the lock when it
//! ends, however it ends, so a number that has become another process's is never taken for it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// How long a phone may take to go away once it was told to.
const STOP_LIMIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// Boots a phone as this process was told to, but for `--detach`, and leaves it running; gives its serial.
///
/// # Errors
/// An earlier phone of this file does not go away, or this one does not boot.
pub fn start(pid_file: &Path) -> Result<String> {
    stop(pid_file)?;
    if let Some(folder) = pid_file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)
            .with_context(|| format!("could not make the folder {}", folder.display()))?;
    }
    let log_path = log_of(pid_file);
    let log = File::create(&log_path).with_context(|| format!("could not create {}", log_path.display()))?;
    let program = std::env::current_exe().context("could not find this program")?;
    let mut child = Command::new(program)
        .args(held(std::env::args_os().skip(1), pid_file))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        // Ctrl-C and the end of the group that started it are not meant for the phone.
        .process_group(0)
        .spawn()
        .context("could not start this program again")?;
    let stdout = child.stdout.take().context("the program that was started has no standard output")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).context("could not hear the phone")?;
    if let Some(serial) = line.trim_end().strip_prefix("ready ") {
        return Ok(serial.to_owned());
    }
    let status = child.wait().context("could not wait for the phone")?;
    let said = fs::read_to_string(&log_path).unwrap_or_default();
    bail!("the phone did not boot ({status}): {}", said.trim())
}

/// The arguments of this process with `--held-by` in place of `--detach`.
fn held(arguments: impl Iterator<Item = OsString>, pid_file: &Path) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        if argument == "--detach" {
            arguments.next();
        } else if !argument.to_string_lossy().starts_with("--detach=") {
            kept.push(argument);
        }
    }
    kept.extend(["--held-by".into(), pid_file.into()]);
    kept
}

/// Keeps this process's number in `pid_file` for as long as the result lives.
///
/// # Errors
/// The file cannot be written, or another process holds it.
pub fn hold(pid_file: &Path) -> Result<File> {
    let failed = || format!("could not keep the process number in {}", pid_file.display());
    let options = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(pid_file);
    let mut file = options.with_context(failed)?;
    file.try_lock().with_context(failed)?;
    file.set_len(0).with_context(failed)?;
    write!(file, "{}", std::process::id()).with_context(failed)?;
    Ok(file)
}

/// Ends the phone that holds `pid_file`, if there is one.
///
/// # Errors
/// It does not go away.
pub fn stop(pid_file: &Path) -> Result<()> {
    let shown = pid_file.display();
    let mut file = match File::open(pid_file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened.with_context(|| format!("could not open {shown}"))?,
    };
    let until = Instant::now() + STOP_LIMIT;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("could not lock {shown}"));
            }
        }
        if !told {
            told = true;
            let mut pid = String::new();
            file.read_to_string(&mut pid).with_context(|| format!("could not read {shown}"))?;
            terminate(pid.trim()).with_context(|| format!("the phone of {shown}"))?;
        }
        ensure!(
            Instant::now() < until,
            "the phone of {shown} did not go away within {} s",
            STOP_LIMIT.as_secs()
        );
        thread::sleep(LOOK);
    }
}

fn terminate(pid: &str) -> Result<()> {
    let pid: libc::pid_t =
        pid.parse().ok().filter(|&pid| pid > 1).context("its process number is damaged")?;
    // SAFETY: kill takes two numbers and touches no memory.
    let sent = unsafe { libc::kill(pid, libc::SIGTERM) };
    let error = std::io::Error::last_os_error();
    ensure!(sent == 0 || error.raw_os_error() == Some(libc::ESRCH), "could not be told to end: {error}");
    Ok(())
}

fn log_of(pid_file: &Path) -> PathBuf {
    let mut name = pid_file.as_os_str().to_owned();
    name.push(".log");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_wish_to_be_detached_is_taken_out() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let expected = words(&["boot", "--kernel", "7", "--mcq", "--held-by", "p"]);
        for given in [
            &["boot", "--detach", "p", "--kernel", "7", "--mcq"][..],
            &["boot", "--kernel", "7", "--detach=p", "--mcq"],
        ] {
            assert_eq!(held(words(given).into_iter(), Path::new("p")), expected);
        }
    }

    #[test]
    fn a_holder_is_told_to_end_and_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        stop(&file).unwrap();
        // flock(1) holds it as a phone would.
        let script = "exec 9<>\"$1\"; flock 9; echo $$ > \"$1\"; echo held; exec sleep 1000";
        let mut holder =
            Command::new("sh").args(["-c", script, "sh"]).arg(&file).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let waiter = thread::spawn(move || holder.wait().unwrap());
        stop(&file).unwrap();
        assert!(!waiter.join().unwrap().success());
        // What is left behind says a number that nobody holds.
        stop(&file).unwrap();
        drop(hold(&file).unwrap());
    }

    #[test]
    fn two_cannot_hold_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let held = hold(&file).unwrap();
        assert!(hold(&file).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), std::process::id().to_string());
        drop(held);
        hold(&file).unwrap();
    }
}
