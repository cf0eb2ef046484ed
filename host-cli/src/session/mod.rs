//! One job on one device: a probe, or a run whose frames go to a run file as they arrive.

mod conversation;
pub mod request;

use crate::device::Device;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printable::printable;
use crate::recording::{Decoder, Recording};
use crate::run_header::RunHeader;
use crate::store::{RunWriter, Store, id_part};
use conversation::{Broken, Ending, Listener, converse};
use std::{
    hash::{BuildHasher, RandomState},
    path::PathBuf,
    time::Duration,
};
use tophalf_wire::{
    Damage, End, Event, Facts, Fault, Job, Level, LogLine, Message, Outcome, ProbeJob, RunJob, Window,
};

/// A probe reads some hundreds of small files.
const PROBE_SILENCE: Duration = Duration::from_secs(60);
/// What is allowed to a run on top of the time that it needs by its plan.
const RUN_SILENCE: Duration = Duration::from_secs(30);
/// An emulated machine's second may take many of ours.
const EMULATION_FACTOR: u32 = 20;
/// The slowest a file is expected to be made.
const SLOWEST_FILL_BYTES_PER_S: u64 = 4 << 20;

/// Is told what happens while a job is done.
pub trait Observer {
    /// A window was finished.
    fn window(&mut self, window: &Window);
    /// The device says something, or the link did before the first frame; fit for a terminal.
    fn line(&mut self, line: &str);
}

/// Looks at a device without changing anything. With `record`, all files that were read come back too.
///
/// # Errors
/// The device does not answer, or not in full.
pub fn probe(
    device: &mut dyn Device,
    record: bool,
    interrupt: &Interrupt,
    observer: &mut dyn Observer,
) -> anyhow::Result<Recording> {
    loop {
        let mut listener = ProbeListener { decoder: Decoder::default(), observer };
        let job = Job::Probe(ProbeJob { record });
        let ending = converse(device, random_u32(), job, PROBE_SILENCE, interrupt, &mut listener)?;
        let recording = listener.decoder.finish();
        match ending {
            Ending::Ended(end) => {
                failure_of(&end).map_or(Ok(()), Err)?;
                return Ok(recording);
            }
            Ending::Broken(Broken::PtyTranslation) => {
                let transport = device.transport();
                if !device.fall_back() {
                    return Err(Broken::PtyTranslation.into_error(&transport));
                }
                observer.line(&format!("pty translation by {transport}: trying {}", device.transport()));
            }
            Ending::Broken(broken) => return Err(broken.into_error(&device.transport())),
        }
    }
}

/// What a probe found out about the device.
///
/// # Errors
/// The frame that says so is missing or damaged.
pub fn facts(recording: &Recording) -> anyhow::Result<&Facts> {
    recording.facts.as_ref().ok_or_else(|| {
        let why = recording.faults.described.first().map_or("nothing is damaged", String::as_str);
        Failure::device(format!(
            "the agent answered without saying what the device is: {}",
            printable(why, 300)
        ))
    })
}

/// What became of a run.
#[derive(Debug)]
pub struct Ran {
    /// Its file, if anything was measured.
    pub file: Option<PathBuf>,
    /// Why it did not go to its end.
    pub problem: Option<anyhow::Error>,
}

/// What a run is called.
#[derive(Debug, Clone)]
pub struct Labels {
    /// What differs between the sides of a comparison.
    pub variant: String,
    /// The name of the workload.
    pub workload: String,
    /// The place of the run in a campaign, as part of its id.
    pub campaign_slot: Option<String>,
}

/// Does one run and stores what it gives. `facts` is what the device was found to be.
pub fn run(
    device: &dyn Device,
    job: &RunJob,
    labels: &Labels,
    facts: &Facts,
    store: &Store,
    interrupt: &Interrupt,
    observer: &mut dyn Observer,
) -> Ran {
    let header = header(device, labels);
    let file = match store.begin(&header) {
        Ok(file) => file,
        Err(problem) => return Ran { file: None, problem: Some(problem) },
    };
    let mut listener = RunListener { file, windows: 0, observer };
    let silence = silence(job, facts);
    let ending = converse(device, header.session, Job::Run(job.clone()), silence, interrupt, &mut listener);
    let RunListener { file, windows, .. } = listener;
    let problem = match ending {
        Ok(Ending::Ended(end)) if interrupt.requested() && matches!(end.outcome, Outcome::Stopped { .. }) => {
            Some(Broken::Stopped.into_error(&device.transport()))
        }
        Ok(Ending::Ended(end)) => failure_of(&end),
        Ok(Ending::Broken(broken)) => Some(broken.into_error(&device.transport())),
        // The run file could not be written. It stays as it is: there may be no room to do better.
        Err(problem) => return Ran { file: None, problem: Some(problem) },
    };
    if windows == 0 {
        file.discard();
        return Ran { file: None, problem };
    }
    match file.keep() {
        Ok(file) => Ran { file: Some(file), problem },
        Err(not_kept) => Ran { file: None, problem: problem.or(Some(not_kept)) },
    }
}

fn header(device: &dyn Device, labels: &Labels) -> RunHeader {
    let now = jiff::Timestamp::now();
    let session = random_u32();
    RunHeader {
        id: format!(
            "{}-{}{}-{:04x}",
            now.strftime("%Y%m%dT%H%M%SZ"),
            labels.campaign_slot.as_ref().map_or(String::new(), |slot| format!("{slot}-")),
            id_part(device.name()),
            session & 0xffff
        ),
        // Until the year 2262.
        begun_unix_ns: i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX),
        host_version: env!("CARGO_PKG_VERSION").to_owned(),
        device: device.name().to_owned(),
        transport: device.transport(),
        variant: labels.variant.clone(),
        workload_name: labels.workload.clone(),
        session,
    }
}

/// A number that two streams will hardly share. The standard library's hash keys are random.
fn random_u32() -> u32 {
    let [a, b, c, d, ..] = RandomState::new().hash_one(0).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// How long the device may say nothing.
fn silence(job: &RunJob, facts: &Facts) -> Duration {
    let planned = Duration::from_nanos(job.warmup_ns.saturating_add(job.window_ns));
    let fill = job.target.span_bytes.filter(|_| job.target.make_file).unwrap_or(0) / SLOWEST_FILL_BYTES_PER_S;
    let limit = planned.saturating_add(RUN_SILENCE).saturating_add(Duration::from_secs(fill));
    if facts.system.emulated { limit.saturating_mul(EMULATION_FACTOR) } else { limit }
}

/// What an end frame says went wrong.
fn failure_of(end: &End) -> Option<anyhow::Error> {
    match &end.outcome {
        Outcome::Done => None,
        Outcome::Stopped { reason } => {
            Some(Failure::device(format!("stopped before the end of the plan: {}", printable(reason, 300))))
        }
        Outcome::Failed { fault: Fault::Usage, message } => Some(Failure::usage(printable(message, 1000))),
        Outcome::Failed { fault: Fault::Device, message } => Some(Failure::device(printable(message, 1000))),
    }
}

/// Keeps what a probe sends.
struct ProbeListener<'a> {
    decoder: Decoder,
    observer: &'a mut dyn Observer,
}

impl Listener for ProbeListener<'_> {
    fn bytes(&mut self, _: &[u8]) -> anyhow::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: Event) {
        tell(self.observer, &event);
        self.decoder.push(event);
    }
}

/// Stores what a run sends. Its figures are made from the file afterwards.
struct RunListener<'a> {
    file: RunWriter,
    windows: u32,
    observer: &'a mut dyn Observer,
}

impl Listener for RunListener<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.file.append(bytes)
    }

    fn event(&mut self, event: Event) {
        tell(self.observer, &event);
        if let Event::Message { message, .. } = event
            && let Message::Window(window) = *message
        {
            self.windows += 1;
            self.observer.window(&window);
        }
    }
}

/// Passes on what is meant for people.
fn tell(observer: &mut dyn Observer, event: &Event) {
    match event {
        Event::Message { message, .. } => {
            match &**message {
                // The end frame says it again, as the reason why the job failed.
                Message::Log(LogLine { level: Level::Error, .. }) => {}
                Message::Log(LogLine { text, .. }) => observer.line(&printable(text, 400)),
                _ => {}
            }
        }
        Event::Damaged { damage: Damage::LeadingText(text), .. } => {
            observer.line(&format!("before the first frame: {}", printable(text, 400)));
        }
        // Damage inside the stream is counted with the recording and judged with it.
        Event::Damaged { .. } | Event::UnknownKind { .. } => {}
    }
}
