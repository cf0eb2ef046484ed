//! The guest's console: kept for when something goes wrong, and watched for the line that says all is well.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What the guest's /init prints last.
const UP: &str = "virtual-phone: up";
/// Enough for a kernel panic.
const KEPT_LINES: usize = 60;

/// A thread reads the console; everything here can be asked at any time.
pub(crate) struct Console {
    shared: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    up: bool,
    closed: bool,
}

/// How far the guest is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Booting,
    Up,
    /// The machine is gone.
    Closed,
}

impl Console {
    /// Starts reading `input`, copying it to `log`.
    pub(crate) fn new(input: impl Read + Send + 'static, mut log: Option<File>) -> Self {
        let shared = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let console = Console { shared: Arc::clone(&shared) };
        thread::spawn(move || {
            let mut input = BufReader::new(input);
            let mut line = Vec::new();
            while matches!(input.read_until(b'\n', &mut line), Ok(length) if length > 0) {
                // A log that cannot be written is no reason to stop the phone.
                log = log.take().filter(|mut log| log.write_all(&line).is_ok());
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                line.clear();
                let mut state = lock(&shared.0);
                state.up |= text.contains(UP);
                if state.lines.len() == KEPT_LINES {
                    state.lines.pop_front();
                }
                state.lines.push_back(text);
                shared.1.notify_all();
            }
            lock(&shared.0).closed = true;
            shared.1.notify_all();
        });
        console
    }

    /// Waits until the guest is up or gone, `limit` at most.
    pub(crate) fn wait(&self, limit: Duration) -> Progress {
        let booting = |state: &mut State| !state.up && !state.closed;
        let state = lock(&self.shared.0);
        let waited = self.shared.1.wait_timeout_while(state, limit, booting);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match (state.closed, state.up) {
            (true, _) => Progress::Closed,
            (false, true) => Progress::Up,
            (false, false) => Progress::Booting,
        }
    }

    /// The last lines, for an error message.
    pub(crate) fn tail(&self) -> String {
        let state = lock(&self.shared.0);
        if state.lines.is_empty() {
            return "the guest's console stayed empty".to_owned();
        }
        let lines: Vec<_> = state.lines.iter().map(|line| format!("  | {line}")).collect();
        format!("the last lines of the guest's console:\n{}", lines.join("\n"))
    }
}

/// The state is whole between any two statements, so a panic elsewhere cannot have spoilt it.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_then_closed() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let console = Console::new(reader, None);
        assert_eq!(console.wait(Duration::from_millis(1)), Progress::Booting);
        writer.write_all(b"[    0.1] booting \xff\r\nvirtual-phone: up\r\n").unwrap();
        assert_eq!(console.wait(Duration::from_secs(10)), Progress::Up);
        drop(writer);
        while console.wait(Duration::from_secs(10)) != Progress::Closed {}
        assert!(console.tail().ends_with("  | virtual-phone: up"), "{}", console.tail());
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let text: String = (0..1000).map(|number| format!("line {number}\n")).collect();
        let console = Console::new(std::io::Cursor::new(text.into_bytes()), None);
        assert_eq!(console.wait(Duration::from_secs(10)), Progress::Closed);
        assert_eq!(console.tail().lines().count(), KEPT_LINES + 1);
        assert!(console.tail().ends_with("line 999"));
    }
}
