//! Lines for people: to standard error, to the phone's log, and into the stream.
//!
//! A static agent cannot link Android's liblog, so it speaks logd's protocol itself (README.protocol.md in
//! AOSP's liblog): one datagram a line to `/dev/socket/logdw`. Built for Android proper, `android_logger`
//! does it.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tophalf_wire::{Level, LogLine};

const TAG: &str = "tophalf";
/// Lines kept for the stream until it takes them; a bound, not a goal.
const MOST_WAITING: usize = 256;

struct Logger {
    waiting: Mutex<Vec<LogLine>>,
    logcat: logcat::Logcat,
}

static LOGGER: OnceLock<Logger> = OnceLock::new();

/// Makes the `log` macros of this program work. Never used in the timed loop.
pub fn init() {
    let logger = LOGGER.get_or_init(|| Logger { waiting: Mutex::default(), logcat: logcat::Logcat::new() });
    // Fails only if a logger is there already, which is this one.
    if log::set_logger(logger).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
}

/// Lines that have not been put into the stream yet.
pub fn take_waiting() -> Vec<LogLine> {
    LOGGER.get().map(|logger| std::mem::take(&mut *logger.waiting())).unwrap_or_default()
}

impl Logger {
    /// A thread that panicked while it held the lines left them whole.
    fn waiting(&self) -> MutexGuard<'_, Vec<LogLine>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Info
    }

    fn log(&self, record: &log::Record<'_>) {
        let level = match record.level() {
            log::Level::Error => Level::Error,
            log::Level::Warn => Level::Warn,
            _ => Level::Info,
        };
        let text = record.args().to_string();
        eprintln!("{TAG}: {text}");
        self.logcat.write(record, level, &text);
        let mut waiting = self.waiting();
        if waiting.len() < MOST_WAITING {
            waiting.push(LogLine { level, text });
        }
    }

    fn flush(&self) {}
}

#[cfg(target_os = "android")]
mod logcat {
    use log::Log;
    use tophalf_wire::Level;

    pub(super) struct Logcat(android_logger::AndroidLogger);

    impl Logcat {
        pub(super) fn new() -> Self {
            let config = android_logger::Config::default().with_tag(super::TAG);
            Self(android_logger::AndroidLogger::new(config.with_max_level(log::LevelFilter::Info)))
        }

        pub(super) fn write(&self, record: &log::Record<'_>, _: Level, _: &str) {
            self.0.log(record);
        }
    }
}

#[cfg(not(target_os = "android"))]
mod logcat {
    use std::os::unix::net::UnixDatagram;
    use std::path::Path;
    use std::time::SystemTime;
    use tophalf_wire::Level;

    const SOCKET: &str = "/dev/socket/logdw";
    const MAIN_BUFFER: u8 = 0;
    /// `LOGGER_ENTRY_MAX_PAYLOAD` (4068) less tag, level and two zeros.
    const MOST_TEXT_BYTES: usize = 4000;

    pub(super) struct Logcat(Option<UnixDatagram>);

    impl Logcat {
        pub(super) fn new() -> Self {
            Self::at(Path::new(SOCKET))
        }

        /// Without a logd there is no log of the phone's to write to, which is no error.
        fn at(path: &Path) -> Self {
            let connected = UnixDatagram::unbound().and_then(|socket| {
                socket.set_nonblocking(true)?;
                socket.connect(path)?;
                Ok(socket)
            });
            Self(connected.ok())
        }

        pub(super) fn write(&self, _: &log::Record<'_>, level: Level, text: &str) {
            if let Some(socket) = &self.0 {
                // A full or vanished logd loses the line there; it is in the stream as well.
                let _ = socket.send(&packet(level, text));
            }
        }
    }

    /// `u8 buffer, u16 thread, u32 seconds, u32 nanoseconds, u8 priority, tag, 0, text, 0`, little endian.
    fn packet(level: Level, text: &str) -> Vec<u8> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let tid = u16::try_from(nix::unistd::gettid().as_raw() & 0xffff).unwrap_or(0);
        let priority = match level {
            Level::Info => 4,
            Level::Warn => 5,
            Level::Error => 6,
        };
        let mut packet = vec![MAIN_BUFFER];
        packet.extend(tid.to_le_bytes());
        // Seconds wrap in 2106, as the protocol's own do.
        packet.extend(u32::try_from(now.as_secs()).unwrap_or(u32::MAX).to_le_bytes());
        packet.extend(now.subsec_nanos().to_le_bytes());
        packet.push(priority);
        packet.extend(super::TAG.bytes().chain([0]));
        packet.extend(text.bytes().take(MOST_TEXT_BYTES).chain([0]));
        packet
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_line_reaches_logd_as_one_datagram() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("logdw");
            let logd = UnixDatagram::bind(&path).unwrap();
            let record = log::Record::builder().build();
            Logcat::at(&path).write(&record, Level::Warn, "governor changed");
            let mut got = [0; 256];
            let bytes = logd.recv(&mut got).unwrap();
            assert_eq!(got[0], MAIN_BUFFER);
            assert_eq!(&got[11..bytes], b"\x05tophalf\0governor changed\0");
        }

        #[test]
        fn no_logd_is_no_error() {
            Logcat::at(Path::new("/nonexistent/logdw")).write(
                &log::Record::builder().build(),
                Level::Info,
                "x",
            );
        }
    }
}
