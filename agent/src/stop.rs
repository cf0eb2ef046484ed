//! When to stop early: a signal, or the host gone.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::io::Read;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Set once something asked for an end. The timed loop looks at it after each operation.
pub static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(0);

extern "C" fn on_signal(number: i32) {
    SIGNAL.store(number, Ordering::Relaxed);
    STOP.store(true, Ordering::Relaxed);
}

/// Makes SIGHUP (the link is gone), SIGINT and SIGTERM ask for an end, and SIGPIPE an ordinary error.
///
/// # Errors
/// The kernel refused a handler.
pub fn catch_signals() -> nix::Result<()> {
    // No SA_RESTART: a write to a link that no longer drains must return.
    let ask = SigAction::new(SigHandler::Handler(on_signal), SaFlags::empty(), SigSet::empty());
    let ignore = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    let install = |signal, action: &SigAction| {
        // SAFETY: the handler only stores to atomics, which is async-signal-safe.
        unsafe { sigaction(signal, action) }.map(drop)
    };
    install(Signal::SIGHUP, &ask)?;
    install(Signal::SIGINT, &ask)?;
    install(Signal::SIGTERM, &ask)?;
    install(Signal::SIGPIPE, &ignore)
}

/// Watches for the reasons to stop.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    /// The end of standard input is a reason.
    pub stdin: bool,
}

impl Watch {
    /// Why to stop, if there is a reason.
    pub fn reason(&self) -> Option<String> {
        if self.stdin && stdin_ended() {
            STOP.store(true, Ordering::Relaxed);
            return Some("standard input ended: the host or the link is gone".into());
        }
        if !STOP.load(Ordering::Relaxed) {
            return None;
        }
        let number = SIGNAL.load(Ordering::Relaxed);
        Some(match Signal::try_from(number) {
            Ok(signal) => format!("{signal} was received"),
            Err(_) => "it was asked to stop".into(),
        })
    }
}

/// Whether standard input is at its end. Anything that does come is thrown away.
fn stdin_ended() -> bool {
    let mut stdin = std::io::stdin();
    let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    if !matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..)) {
        return false;
    }
    matches!(stdin.read(&mut [0; 512]), Ok(0))
}
