//! A child process heard through pipes, with limits on time and memory.

use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    collections::VecDeque,
    io::{self, Read},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

/// Bytes of one read. Some tens of reads may wait to be heard; then the child has to wait.
const CHUNK_BYTES: usize = 64 << 10;
const WAITING_CHUNKS: usize = 32;
/// What is kept of standard error: its end.
const STDERR_BYTES: usize = 8 << 10;
/// What a one-shot command may print.
const OUTPUT_BYTES: usize = 4 << 20;
/// How long a child may take to end after its standard input has ended.
const GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);

/// A running child. Dropping it ends it.
#[derive(Debug)]
pub struct Piped {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<Vec<u8>>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    stderr_over: Receiver<()>,
}

/// What was heard of a child.
#[derive(Debug)]
pub enum Heard {
    /// Some of its standard output.
    Bytes(Vec<u8>),
    /// Nothing in the time given.
    Nothing,
    /// Its standard output is over.
    Over,
}

/// A child that ended by itself.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// The end of its standard error.
    pub stderr: String,
}

impl Finished {
    /// Its standard output as text, without carriage returns, which old devices' terminals add.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).replace('\r', "")
    }

    /// What it said last, for an error message: standard error, or else standard output.
    pub fn said(&self) -> String {
        let stdout = self.text();
        let said = [self.stderr.trim(), stdout.trim()].into_iter().find(|text| !text.is_empty());
        crate::printable::printable(said.unwrap_or("nothing"), 400)
    }
}

impl Piped {
    /// Starts `command` with pipes, in a process group of its own: Ctrl-C is for us to pass on.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (send, stdout) = sync_channel(WAITING_CHUNKS);
        if let Some(pipe) = child.stdout.take() {
            thread::spawn(move || pass_on(pipe, &send));
        }
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let (over, stderr_over) = sync_channel(1);
        if let Some(pipe) = child.stderr.take() {
            let kept = Arc::clone(&stderr);
            thread::spawn(move || {
                keep_end(pipe, &kept);
                // Nobody may be waiting for it any more.
                let _ = over.send(());
            });
        }
        Ok(Self { stdin: child.stdin.take(), child, stdout, stderr, stderr_over })
    }

    /// Waits for output, at most `limit`.
    pub fn hear(&self, limit: Duration) -> Heard {
        match self.stdout.recv_timeout(limit) {
            Ok(bytes) => Heard::Bytes(bytes),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::Over,
        }
    }

    /// Its standard input, once.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// Ends its standard input, which asks an agent to stop.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Ends it now, and what it started in its process group.
    pub fn kill(&mut self) {
        // Once it was waited for, its number may be another's.
        if matches!(self.child.try_wait(), Ok(None)) {
            // It may be ending at this moment.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
    }

    /// Waits for its end, at most `limit`.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + limit;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => thread::sleep(POLL),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The end of its standard error. Waits a moment for a child that has just ended.
    pub fn stderr(&self) -> String {
        // Over or not, what is there is taken.
        let _ = self.stderr_over.recv_timeout(Duration::from_millis(500));
        let kept = lock(&self.stderr);
        String::from_utf8_lossy(&kept.iter().copied().collect::<Vec<u8>>()).into_owned()
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        self.close_stdin();
        if self.wait(GRACE).is_none() {
            self.kill();
            // A child that cannot be waited for was waited for before.
            let _ = self.child.wait();
        }
    }
}

/// Runs `command` with empty standard input to its end, at most `limit`. `None` means that it took longer.
///
/// # Errors
/// The program cannot be started.
pub fn finish(command: &mut Command, limit: Duration) -> io::Result<Option<Finished>> {
    finish_with_input(command, &[], limit)
}

/// As [`finish`], with something to read on standard input.
///
/// # Errors
/// The program cannot be started.
pub fn finish_with_input(
    command: &mut Command,
    input: &[u8],
    limit: Duration,
) -> io::Result<Option<Finished>> {
    let mut piped = Piped::spawn(command)?;
    if let Some(mut stdin) = piped.take_stdin() {
        // A child that does not read its input is judged by what it prints.
        let _ = io::Write::write_all(&mut stdin, input);
    }
    let until = Instant::now() + limit;
    let mut stdout = Vec::new();
    loop {
        match piped.hear(until.saturating_duration_since(Instant::now())) {
            Heard::Bytes(bytes) if stdout.len() < OUTPUT_BYTES => stdout.extend(bytes),
            Heard::Bytes(_) => {}
            Heard::Over => break,
            Heard::Nothing => {
                piped.kill();
                return Ok(None);
            }
        }
    }
    let status = piped.wait(until.saturating_duration_since(Instant::now()).max(GRACE));
    Ok(status.map(|status| Finished { status, stderr: piped.stderr(), stdout }))
}

fn pass_on(mut pipe: impl Read, send: &SyncSender<Vec<u8>>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                if send.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn keep_end(mut pipe: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 4096];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let mut kept = lock(kept);
                kept.extend(&buffer[..count]);
                let surplus = kept.len().saturating_sub(STDERR_BYTES);
                kept.drain(..surplus);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The bytes are whole whatever happened to another holder.
fn lock(kept: &Mutex<VecDeque<u8>>) -> MutexGuard<'_, VecDeque<u8>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_outputs_and_the_status_are_kept() {
        let done =
            finish(&mut sh("echo out; echo err >&2; exit 3"), Duration::from_secs(20)).unwrap().unwrap();
        assert_eq!((done.text().as_str(), done.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(done.status.code(), Some(3));
        assert_eq!(done.said(), "err");
    }

    #[test]
    fn a_child_that_hangs_is_ended() {
        let begun = Instant::now();
        assert!(finish(&mut sh("exec sleep 100"), Duration::from_millis(200)).unwrap().is_none());
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn what_a_child_started_is_ended_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let alive = folder.path().join("alive");
        let script = format!("while :; do touch {}; sleep 0.02; done & wait", alive.display());
        assert!(finish(&mut sh(&script), Duration::from_millis(500)).unwrap().is_none());
        thread::sleep(Duration::from_millis(100));
        std::fs::remove_file(&alive).unwrap();
        thread::sleep(Duration::from_millis(200));
        assert!(!alive.exists());
    }

    #[test]
    fn only_the_end_of_standard_error_is_kept() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done";
        let done = finish(&mut sh(script), Duration::from_secs(20)).unwrap().unwrap();
        assert!(done.stderr.len() <= STDERR_BYTES && done.stderr.ends_with("line 2999\n"));
    }

    #[test]
    fn input_is_passed() {
        let done = finish_with_input(&mut sh("cat"), b"id -u\n", Duration::from_secs(20)).unwrap().unwrap();
        assert_eq!(done.stdout, b"id -u\n");
    }
}
