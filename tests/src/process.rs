//! A child process that does not outlive this one, however this one ends.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::command;

/// How long it takes at most until a child's own end is noticed.
const NOTICE: Duration = Duration::from_millis(200);

/// A running child. Dropping it kills the child.
pub(crate) struct Process {
    /// Dropping it, or sending, asks the keeper to kill the child.
    kill: Option<Sender<()>>,
    keeper: Option<JoinHandle<io::Result<ExitStatus>>>,
}

/// The child's ends of its standard streams.
pub(crate) struct Streams {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Process {
    /// Starts `command` with piped streams, in a process group of its own, so that a terminal's Ctrl-C is ours to
    /// handle. The kernel kills it should this process die without getting to.
    pub(crate) fn spawn(mut command: Command) -> Result<(Self, Streams)> {
        let what = command::shown(&command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let parent = std::process::id();
        // SAFETY: between fork and exec only async-signal-safe functions may be called; `die_with` calls prctl and
        // getppid and allocates nothing.
        unsafe { command.pre_exec(move || die_with(parent)) };

        let (kill, asked) = mpsc::channel::<()>();
        let (started, start) = mpsc::channel();
        // PR_SET_PDEATHSIG watches the *thread* that forked, so that thread has to live as long as the child: the
        // one that waits for it.
        let keeper = thread::spawn(move || {
            let mut child = match command.spawn() {
                Ok(child) => child,
                Err(error) => {
                    // Whoever waits for the start has either got the error or is gone.
                    let kind = error.kind();
                    let _ = started.send(Err(error));
                    return Err(kind.into());
                }
            };
            let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
            let _ = started.send(Ok(streams));
            loop {
                if let Some(status) = child.try_wait()? {
                    return Ok(status);
                }
                match asked.recv_timeout(NOTICE) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                        child.kill()?;
                        return child.wait();
                    }
                }
            }
        });
        let started = start.recv().with_context(|| format!("the thread that starts `{what}` died"))?;
        let streams = started.with_context(|| format!("could not start `{what}`"))?;
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            unreachable!("all three streams are piped");
        };
        let process = Process { kill: Some(kill), keeper: Some(keeper) };
        Ok((process, Streams { stdin, stdout, stderr }))
    }

    /// Whether the child is there still.
    pub(crate) fn is_running(&self) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| !keeper.is_finished())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.kill.take());
        if let Some(keeper) = self.keeper.take() {
            // Nothing can be done about a child that cannot be killed or a keeper that panicked.
            let _ = keeper.join();
        }
    }
}

fn die_with(parent: u32) -> io::Result<()> {
    // SAFETY: PR_SET_PDEATHSIG takes a signal number and touches no memory.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // A parent that died before the call above sends no signal.
    if std::os::unix::process::parent_id() != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::path::Path;

    #[test]
    fn dropping_kills() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo $$; exec sleep 1000"]);
        let (process, mut streams) = Process::spawn(shell).unwrap();
        let mut pid = [0; 16];
        let length = streams.stdout.read(&mut pid).unwrap();
        let pid = std::str::from_utf8(&pid[..length]).unwrap().trim();
        assert!(process.is_running());
        drop(process);
        assert!(!Path::new("/proc").join(pid).exists());
    }

    #[test]
    fn its_own_end_is_noticed() {
        let (process, _streams) = Process::spawn(Command::new("true")).unwrap();
        let start = std::time::Instant::now();
        while process.is_running() {
            assert!(start.elapsed() < Duration::from_secs(10));
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Process::spawn(Command::new("/nonexistent/qemu")).err().unwrap();
        assert!(format!("{error:#}").contains("could not start `/nonexistent/qemu`: No such file"));
    }
}
