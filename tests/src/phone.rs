//! One virtual phone, from boot to the end.

use std::fs::File;
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::console::{Console, Progress};
use crate::guests::{self, Guest, Manifest};
use crate::options::BootOptions;
use crate::process::Process;
use crate::qmp::Qmp;
use crate::{adb, qemu};

/// Four builders beside it on a two-core machine make a boot of 10 s one of 60.
const BOOT_LIMIT: Duration = Duration::from_secs(240);
/// The same for one emulated CPU at a time.
const REPEATABLE_BOOT_LIMIT: Duration = Duration::from_secs(900);
const ADB_LIMIT: Duration = Duration::from_secs(15);
/// How long a request to stop can go unnoticed during a boot.
const STEP: Duration = Duration::from_millis(200);

/// A booted phone that adb reaches. Dropping it ends it and makes adb forget it.
pub struct Phone {
    qmp: Mutex<Qmp<ChildStdout, ChildStdin>>,
    console: Console,
    process: Process,
    guest: Guest,
    serial: String,
}

impl Phone {
    /// Boots a guest that [`crate::setup::run`] has built and waits until adb reaches it.
    pub fn boot(options: &BootOptions) -> Result<Self> {
        let phone = Self::boot_unless(options, &AtomicBool::new(false))?;
        phone.context("a boot that nobody stopped was stopped")
    }

    /// As [`Phone::boot`]; once `stop` is set, the phone is ended and the result is `None`.
    pub fn boot_unless(options: &BootOptions, stop: &AtomicBool) -> Result<Option<Self>> {
        let limit = if options.repeatable { REPEATABLE_BOOT_LIMIT } else { BOOT_LIMIT };
        let deadline = Instant::now() + limit;
        let phone = Self::start(options)?;
        let release = &phone.guest.release;
        loop {
            match phone.console.wait(STEP) {
                Progress::Up => break,
                Progress::Closed => bail!("{release} did not boot: QEMU ended; {}", phone.console.tail()),
                Progress::Booting if stop.load(Ordering::Relaxed) => return Ok(None),
                Progress::Booting if Instant::now() < deadline => {}
                Progress::Booting => {
                    bail!("{release} did not boot within {} s; {}", limit.as_secs(), phone.console.tail())
                }
            }
        }
        loop {
            let Err(error) = adb::connect(&phone.serial, ADB_LIMIT) else { return Ok(Some(phone)) };
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if !phone.is_running() || Instant::now() > deadline {
                let tail = phone.console.tail();
                return Err(error)
                    .with_context(|| format!("{release} booted, but adb does not reach it; {tail}"));
            }
            // What the server still knows of an earlier phone at this address is in the way of this one.
            adb::disconnect(&phone.serial, ADB_LIMIT)?;
            thread::sleep(STEP);
        }
    }

    /// Starts QEMU and finds out the port.
    fn start(options: &BootOptions) -> Result<Self> {
        let dir = match &options.dir {
            Some(dir) => dir.clone(),
            None => guests::default_dir()?,
        };
        let guest = Manifest::load(&dir)?.newest(&options.kernel).cloned().with_context(|| {
            let kernel = &options.kernel;
            format!("no guest for {kernel} in {}: run `virtual-phone setup --kernel {kernel}`", dir.display())
        })?;
        let create = |path: &PathBuf| {
            File::create(path).with_context(|| format!("could not create {}", path.display()))
        };
        let log = options.serial_log.as_ref().map(create).transpose()?;
        let lacking = "`virtual-phone setup` says what this machine lacks";
        adb::check().context(lacking)?;
        let (process, streams) = Process::spawn(qemu::command(options, &dir, &guest)?).context(lacking)?;
        let console = Console::new(streams.stderr, log);
        let port = Qmp::new(streams.stdout, streams.stdin).and_then(|mut qmp| {
            let port = forwarded_port(&mut qmp)?;
            Ok((qmp, port))
        });
        let (qmp, port) = port.map_err(|error| {
            // QEMU is on its way out: its reason is complete once it is gone.
            console.wait(ADB_LIMIT);
            anyhow!("QEMU did not start ({error:#}); {}", console.tail())
        })?;
        Ok(Phone { qmp: Mutex::new(qmp), console, process, guest, serial: format!("127.0.0.1:{port}") })
    }

    /// The name adb knows it by, `127.0.0.1:PORT`.
    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// The kernel's release, as `uname -r` prints it.
    pub fn kernel_release(&self) -> &str {
        &self.guest.release
    }

    /// Runs `adb -s SERIAL ARGUMENT…` to its end, whatever its exit code.
    pub fn adb(&self, arguments: &[&str]) -> Result<Output> {
        adb::run(&self.serial, arguments)
    }

    /// What `adb shell COMMAND` prints; an exit code other than 0 is an error.
    pub fn shell(&self, command: &str) -> Result<String> {
        crate::command::text(&mut adb::command(&self.serial, &["shell", command]))
    }

    /// Whether QEMU is there still.
    pub fn is_running(&self) -> bool {
        self.process.is_running()
    }

    /// The last lines of the guest's console, for an error message.
    pub fn console_tail(&self) -> String {
        self.console.tail()
    }

    /// Cuts the network under adb, or mends it.
    pub fn set_link(&self, up: bool) -> Result<()> {
        self.qmp("set_link", json!({"name": qemu::NETWORK_ID, "up": up})).map(drop)
    }

    /// Any other command of QEMU's machine protocol.
    pub fn qmp(&self, command: &str, arguments: Value) -> Result<Value> {
        self.qmp.lock().unwrap_or_else(PoisonError::into_inner).execute(command, arguments)
    }
}

impl Drop for Phone {
    fn drop(&mut self) {
        // A server that does not answer keeps an address that leads nowhere; there is nothing better to do.
        let _ = adb::disconnect(&self.serial, ADB_LIMIT);
    }
}

/// The host's port that leads to adbd, from lines like
/// `  TCP[HOST_FORWARD]  12       127.0.0.1 40123       10.0.2.15  5555    0     0`.
fn forwarded_port(qmp: &mut Qmp<ChildStdout, ChildStdin>) -> Result<u16> {
    let answer = qmp.execute("human-monitor-command", json!({"command-line": "info usernet"}))?;
    let text = answer.as_str().unwrap_or_default();
    parse_forwarded_port(text).with_context(|| format!("QEMU shows no forwarded port: {text}"))
}

fn parse_forwarded_port(usernet: &str) -> Option<u16> {
    let line = usernet.lines().find(|line| line.contains("HOST_FORWARD"))?;
    line.split_whitespace().skip_while(|word| *word != "127.0.0.1").nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_that_qemu_chose() {
        let text = "Hub -1 (user0):\r\n  Protocol[State]    FD  Source Address  Port   Dest. Address  Port RecvQ SendQ\r\n  \
                    TCP[HOST_FORWARD]  12       127.0.0.1 40123       10.0.2.15  5555     0     0\r\n";
        assert_eq!(parse_forwarded_port(text), Some(40123));
        assert_eq!(parse_forwarded_port("Hub -1 (user0):\r\n"), None);
    }
}
