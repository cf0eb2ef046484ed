//! One plan, one stream: from the start of the agent to its end frame, or to the reason why there is none.

use crate::agents::other_protocol;
use crate::device::{
    Device,
    process::{Heard, Piped},
};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printable::printable;
use std::time::{Duration, Instant};
use tophalf_wire::{Damage, End, Event, FrameReader, Job, Message, Plan};

/// How often the wish to stop is looked at while the device is silent.
const LOOK: Duration = Duration::from_millis(100);
/// How long an agent that was told to stop may take to say its last.
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// Hears a stream.
pub(super) trait Listener {
    /// Bytes as they came, before anything is made of them.
    fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()>;
    /// The next event of the stream.
    fn event(&mut self, event: Event);
}

/// How a stream ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// With its end frame, which says whether the job was done.
    Ended(End),
    /// Without one: the job failed, for this reason.
    Broken(Broken),
}

/// Why a stream has no end frame.
#[derive(Debug)]
pub(super) enum Broken {
    /// A terminal in between changed bytes.
    PtyTranslation,
    /// The agent is of another version.
    OtherProtocol { theirs: u16 },
    /// It was over before its end.
    Cut { said: String },
    /// Nothing came any more.
    Silent { seconds: u64, said: String },
    /// The user asked to stop.
    Stopped,
}

impl Broken {
    /// As an error about the device.
    pub(super) fn into_error(self, transport: &str) -> anyhow::Error {
        match self {
            Self::PtyTranslation => Failure::device(format!(
                "pty translation: {transport} puts a carriage return before each line feed of the agent's output, so \
                 that nothing of it can be read: use a newer adb and device (shell_v2), or `adb root` in place of su"
            )),
            Self::OtherProtocol { theirs } => Failure::usage(other_protocol(theirs, "on the device")),
            Self::Cut { said } => Failure::device(format!(
                "the agent's stream ({transport}) broke off before its end frame: the agent was killed or the link was \
                 cut; it said last: {said}"
            )),
            Self::Silent { seconds, said } => Failure::device(format!(
                "nothing came from the agent ({transport}) for {seconds} s, so it was given up: is the device asleep, \
                 or its storage stuck? It said last: {said}"
            )),
            Self::Stopped => Failure::device("stopped on request, before the end of the plan"),
        }
    }
}

/// Has `device` do `job` and hears it to its end. A device that is silent for longer than `silence` is given
/// up.
///
/// # Errors
/// The agent cannot be started, or the listener fails.
pub(super) fn converse(
    device: &dyn Device,
    session: u32,
    job: Job,
    silence: Duration,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> anyhow::Result<Ending> {
    let plan = Plan { session, watch_stdin: device.carries_stdin(), job };
    let mut agent = device.start(&plan)?;
    let mut reader = FrameReader::new(Some(session));
    let mut last_heard = Instant::now();
    let mut stopping = false;
    let said = |agent: &Piped| printable(last_lines(&agent.stderr()), 400);
    loop {
        if interrupt.requested() && !stopping {
            stopping = true;
            last_heard = Instant::now();
            agent.close_stdin();
        }
        match agent.hear(LOOK) {
            Heard::Bytes(bytes) => {
                last_heard = Instant::now();
                listener.bytes(&bytes)?;
                reader.feed(&bytes);
                while let Some(event) = reader.next_event() {
                    let ending = ending(&event);
                    listener.event(event);
                    if let Some(ending) = ending {
                        return Ok(ending);
                    }
                }
            }
            Heard::Over if stopping => return Ok(Ending::Broken(Broken::Stopped)),
            Heard::Over => {
                if let Some(rest) = reader.finish() {
                    listener.event(rest);
                }
                return Ok(Ending::Broken(Broken::Cut { said: said(&agent) }));
            }
            Heard::Nothing if stopping && (!plan.watch_stdin || last_heard.elapsed() > STOP_LIMIT) => {
                agent.kill();
                return Ok(Ending::Broken(Broken::Stopped));
            }
            Heard::Nothing if last_heard.elapsed() > silence => {
                agent.kill();
                let seconds = silence.as_secs();
                return Ok(Ending::Broken(Broken::Silent { seconds, said: said(&agent) }));
            }
            Heard::Nothing => {}
        }
    }
}

/// Whether an event ends the stream.
fn ending(event: &Event) -> Option<Ending> {
    match event {
        Event::Message { message, .. } => match &**message {
            Message::End(end) => Some(Ending::Ended(end.clone())),
            _ => None,
        },
        Event::Damaged { damage: Damage::PtyTranslation, .. } => Some(Ending::Broken(Broken::PtyTranslation)),
        Event::Damaged { damage: Damage::OtherProtocol { theirs }, .. } => {
            Some(Ending::Broken(Broken::OtherProtocol { theirs: *theirs }))
        }
        Event::Damaged { .. } | Event::UnknownKind { .. } => None,
    }
}

/// The end of what was said: its last three lines.
fn last_lines(text: &str) -> &str {
    let text = text.trim_end();
    if text.is_empty() {
        return "nothing";
    }
    let start = text.rmatch_indices('\n').nth(2).map_or(0, |(at, _)| at + 1);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Access, ShellDone};
    use std::process::Command;
    use tophalf_wire::{FrameWriter, Hello, Outcome, Overhead, ProbeJob};

    /// Runs a shell script in place of an agent.
    struct Script(String);

    impl Device for Script {
        fn name(&self) -> &str {
            "script"
        }
        fn transport(&self) -> String {
            "sh".to_owned()
        }
        fn access(&self) -> Access {
            Access::Own
        }
        fn carries_stdin(&self) -> bool {
            true
        }
        fn start(&self, _: &Plan) -> anyhow::Result<Piped> {
            Ok(Piped::spawn(Command::new("sh").args(["-c", &self.0]))?)
        }
        fn fall_back(&mut self) -> bool {
            false
        }
        fn disk_path(&self, _: &str) -> anyhow::Result<String> {
            anyhow::bail!("there is no disk here")
        }
        fn scratch_folder(&self) -> String {
            "/tmp".to_owned()
        }
        fn shell(&self, _: &str, _: Duration) -> anyhow::Result<ShellDone> {
            anyhow::bail!("there is no shell here")
        }
    }

    #[derive(Default)]
    struct Heap {
        bytes: Vec<u8>,
        events: usize,
    }

    impl Listener for Heap {
        fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
            self.bytes.extend(bytes);
            Ok(())
        }
        fn event(&mut self, _: Event) {
            self.events += 1;
        }
    }

    fn heard(script: &str, silence: Duration) -> (Ending, Heap) {
        let mut heap = Heap::default();
        let job = Job::Probe(ProbeJob { record: false });
        let script = Script(script.to_owned());
        let ending = converse(&script, 7, job, silence, &Interrupt::default(), &mut heap);
        (ending.unwrap(), heap)
    }

    /// A shell command that prints these frames.
    fn printf(messages: &[Message]) -> String {
        let mut writer = FrameWriter::new(7);
        let bytes = messages.iter().flat_map(|message| writer.frame(message).unwrap());
        let octal: String = bytes.map(|byte| format!("\\{byte:03o}")).collect();
        format!("printf '{octal}'")
    }

    #[test]
    fn a_stream_ends_with_its_end_frame_whatever_the_exit_code_is() {
        let end = End { outcome: Outcome::Done, frames: 1, overhead: Overhead::default() };
        let frames = printf(&[Message::Hello(Hello::new("0.1.0", "test")), Message::End(end.clone())]);
        let (ending, heap) = heard(&format!("echo banner; {frames}; exit 1"), Duration::from_secs(60));
        assert!(matches!(ending, Ending::Ended(ended) if ended == end));
        assert_eq!(heap.events, 3);
        assert!(heap.bytes.starts_with(b"banner\n"));
    }

    #[test]
    fn a_stream_without_an_end_frame_is_cut_whatever_the_exit_code_is() {
        let frames = printf(&[Message::Hello(Hello::new("0.1.0", "test"))]);
        let (ending, _) =
            heard(&format!("{frames}; echo 'error: closed' >&2; exit 0"), Duration::from_secs(60));
        assert!(
            matches!(&ending, Ending::Broken(Broken::Cut { said }) if said == "error: closed"),
            "{ending:?}"
        );
    }

    #[test]
    fn a_silent_device_is_given_up() {
        let (ending, _) = heard("exec sleep 100", Duration::from_millis(300));
        assert!(matches!(ending, Ending::Broken(Broken::Silent { .. })), "{ending:?}");
    }

    #[test]
    fn a_device_that_prints_only_noise_does_not_fill_memory() {
        let (ending, _) = heard("head -c 20000000 /dev/zero | tr '\\0' x", Duration::from_secs(60));
        assert!(matches!(ending, Ending::Broken(Broken::Cut { .. })), "{ending:?}");
    }

    #[test]
    fn the_last_lines() {
        assert_eq!(last_lines(""), "nothing");
        assert_eq!(last_lines("one\n"), "one");
        assert_eq!(last_lines("a\nb\nc\nd\ne\n"), "c\nd\ne");
    }
}
