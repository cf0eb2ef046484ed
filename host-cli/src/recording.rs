//! The one decoder of what a device sent: a live stream and a stored file take the same path.
//!
//! Any order of events gives a recording. What is missing, came twice or was damaged is kept in
//! [`Recording::faults`] and judged by [`crate::analysis::quality`]. Latencies stay packed, and rows of
//! `/proc/interrupts` that did not change are shared between edges, so that a recording takes no more memory
//! than a small multiple of the bytes it was read from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use tophalf_wire::{
    BlockStat, CpuReading, Damage, Edge, EdgeSide, End, Event, Facts, Hello, Hops, InterruptTable, Job,
    KernelConfig, Latencies, LogLine, Message, Pass, Placement, Plan, ProcessIo, Reading, Recorded, RunJob,
    Samples, SoftirqTable, State, TargetFacts, ThreadReading, Unavailable, Window,
};

/// Everything one stream told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// The greeting of the agent.
    pub hello: Option<Hello>,
    /// The plan as the device understood it.
    pub plan: Option<Plan>,
    /// What the device is.
    pub facts: Option<Facts>,
    /// What the target turned out to be.
    pub target: Option<TargetFacts>,
    /// The state of the device when it was probed.
    pub state: Option<State>,
    /// How its kernel was built.
    pub config: Option<KernelConfig>,
    /// The windows, in their order.
    pub windows: Vec<WindowRecord>,
    /// Lines for people.
    pub log: Vec<LogLine>,
    /// Files that a probe read.
    pub recorded: Vec<Recorded>,
    /// How it ended. `None`: the stream was cut, so the run failed.
    pub end: Option<End>,
    /// Whole frames that were read.
    pub frames: u64,
    /// What is wrong with the stream itself.
    pub faults: Faults,
}

/// What is wrong with a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    /// Frames that never came, by their numbers.
    pub lost_frames: u64,
    /// Frames whose number had passed already. They are ignored.
    pub repeated_frames: u64,
    /// Frames of a kind this version does not know. They are passed over, which is no damage.
    pub unknown_frames: u64,
    /// Pieces of the stream that are no frame of it.
    pub damaged_pieces: u64,
    /// Bytes of those pieces.
    pub damaged_bytes: u64,
    /// The first [`Faults::KEPT`] things that are wrong, in words.
    pub described: Vec<String>,
    /// What was printed before the first frame: banners of `adb` or `su`. No damage.
    pub preamble: Vec<String>,
}

/// One window with all that belongs to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowRecord {
    /// Its number.
    pub index: u32,
    /// The window itself; `None` if it was never finished or its frame is lost.
    pub window: Option<Window>,
    /// Counters just before its first operation.
    pub before: Option<EdgeRecord>,
    /// Counters just after its last operation.
    pub after: Option<EdgeRecord>,
    /// The state of the device before it.
    pub state_before: Option<State>,
    /// The state of the device after it.
    pub state_after: Option<State>,
    /// Its latencies, in their order, still packed.
    pub latencies: Vec<Latencies>,
    /// Cheap counters inside it.
    pub samples: Vec<Samples>,
    /// Operations of the hops pass, in their order, still packed.
    pub hops: Vec<Hops>,
}

/// [`Edge`] with its interrupt table made whole.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeRecord {
    /// Before the first counter was read, in nanoseconds of `CLOCK_MONOTONIC`.
    pub begin_ns: u64,
    /// After the last one was.
    pub end_ns: u64,
    /// Every row of `/proc/interrupts`.
    pub interrupts: Reading<InterruptCounts>,
    /// `/proc/softirqs`.
    pub softirqs: Reading<SoftirqTable>,
    /// Scheduler statistics of the watched threads.
    pub threads: Vec<ThreadReading>,
    /// `/sys/block/X/stat` of the disk beneath the target.
    pub block: Reading<BlockStat>,
    /// `/proc/self/io`.
    pub process_io: Reading<ProcessIo>,
    /// Frequency of each online CPU that tells it.
    pub cpus: Vec<CpuReading>,
    /// Where the I/O thread was, and may be.
    pub placement: Placement,
}

/// Rows of `/proc/interrupts` by label (`18`, `IPI1`).
pub type InterruptCounts = BTreeMap<String, Arc<InterruptLine>>;

/// One row of `/proc/interrupts`, its counts by CPU number instead of by column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InterruptLine {
    /// What stands after the counts: chip, number, trigger, actions.
    pub text: String,
    /// Count of each CPU that had a column.
    pub per_cpu: BTreeMap<u16, u64>,
    /// The count of a row that is not kept per CPU (`ERR`, `MIS`).
    pub unattributed: Option<u64>,
}

impl Faults {
    /// Most things that are described in words.
    pub const KEPT: usize = 32;

    /// Nothing of the stream is missing or damaged.
    pub fn none(&self) -> bool {
        self.lost_frames == 0 && self.repeated_frames == 0 && self.damaged_pieces == 0
    }

    fn describe(&mut self, what: String) {
        if self.described.len() < Self::KEPT {
            self.described.push(what);
        }
    }
}

impl Recording {
    /// Decodes a whole stream. Never fails: see [`Recording::faults`].
    pub fn from_events(events: impl IntoIterator<Item = Event>) -> Self {
        let mut decoder = Decoder::default();
        for event in events {
            decoder.push(event);
        }
        decoder.finish()
    }

    /// The job of the plan, if it was a run.
    pub fn run_job(&self) -> Option<&RunJob> {
        match &self.plan.as_ref()?.job {
            Job::Run(job) => Some(job),
            Job::Probe(_) => None,
        }
    }

    /// The finished windows of a pass.
    pub fn windows_of(&self, pass: Pass) -> impl Iterator<Item = (&WindowRecord, &Window)> {
        self.windows
            .iter()
            .filter_map(|record| Some((record, record.window.as_ref()?)))
            .filter(move |(_, window)| window.pass == pass)
    }
}

/// Takes events one by one, for a stream that is still running.
#[derive(Debug, Default)]
pub struct Decoder {
    recording: Recording,
    windows: BTreeMap<u32, WindowRecord>,
    next_seq: u64,
    interrupts: Interrupts,
}

/// What is known of `/proc/interrupts` so far.
#[derive(Debug, Default)]
enum Interrupts {
    /// No table has come yet; the next one holds all rows.
    #[default]
    NoneYet,
    /// The rows as of the last edge.
    Known(InterruptCounts),
    /// A frame was lost, and with it perhaps rows that have not changed since.
    Broken,
}

impl Decoder {
    /// Takes in the next event.
    pub fn push(&mut self, event: Event) {
        let faults = &mut self.recording.faults;
        match event {
            Event::Message { seq, lost, message } => {
                if self.take_number(seq, lost) {
                    self.message(*message);
                }
            }
            Event::UnknownKind { seq, kind: _ } => {
                // How many were lost before it shows in the numbers alone.
                let lost = u64::from(seq).saturating_sub(self.next_seq);
                if self.take_number(seq, u32::try_from(lost).unwrap_or(u32::MAX)) {
                    self.recording.faults.unknown_frames += 1;
                }
            }
            Event::Damaged { damage: Damage::LeadingText(text), .. } if self.recording.frames == 0 => {
                if faults.preamble.len() < Faults::KEPT {
                    faults.preamble.push(text);
                }
            }
            Event::Damaged { bytes, damage } => {
                if matches!(damage, Damage::Malformed { .. }) {
                    // It had a number, so that no later frame reports it as lost.
                    self.interrupts = Interrupts::Broken;
                }
                faults.damaged_pieces += 1;
                faults.damaged_bytes = faults.damaged_bytes.saturating_add(bytes as u64);
                faults.describe(describe_damage(bytes, &damage));
            }
        }
    }

    /// What is known so far, all windows but the open one included.
    pub fn finish(mut self) -> Recording {
        self.recording.windows = self.windows.into_values().collect();
        self.recording
    }

    /// The last window that is finished: for showing progress.
    pub fn last_window(&self) -> Option<&Window> {
        self.windows.values().rev().find_map(|record| record.window.as_ref())
    }

    /// Whether the frame of this number is new.
    fn take_number(&mut self, seq: u32, lost: u32) -> bool {
        let faults = &mut self.recording.faults;
        if u64::from(seq) < self.next_seq {
            faults.repeated_frames += 1;
            faults.describe(format!("frame {seq} came again and was ignored"));
            return false;
        }
        self.next_seq = u64::from(seq) + 1;
        self.recording.frames += 1;
        if lost > 0 {
            faults.lost_frames = faults.lost_frames.saturating_add(lost.into());
            faults.describe(format!("{lost} frames are missing before frame {seq}"));
            self.interrupts = Interrupts::Broken;
        }
        true
    }

    fn message(&mut self, message: Message) {
        let recording = &mut self.recording;
        match message {
            Message::Hello(hello) => keep_first(&mut recording.hello, hello, "Hello", &mut recording.faults),
            Message::Plan(plan) => keep_first(&mut recording.plan, plan, "Plan", &mut recording.faults),
            Message::Facts(facts) => keep_first(&mut recording.facts, facts, "Facts", &mut recording.faults),
            Message::Target(target) => {
                keep_first(&mut recording.target, target, "Target", &mut recording.faults);
            }
            Message::Edge(edge) => self.edge(edge),
            Message::Window(window) => {
                let record = window_of(&mut self.windows, window.window);
                keep_first(&mut record.window, window, "Window", &mut recording.faults);
            }
            Message::Latencies(latencies) => {
                window_of(&mut self.windows, latencies.window).latencies.push(latencies);
            }
            Message::Samples(samples) => {
                window_of(&mut self.windows, samples.window).samples.push(samples);
            }
            Message::Hops(hops) => window_of(&mut self.windows, hops.window).hops.push(hops),
            Message::Log(line) => recording.log.push(line),
            Message::Recorded(file) => recording.recorded.push(file),
            Message::End(end) => keep_first(&mut recording.end, end, "End", &mut recording.faults),
            Message::State(state) => self.state(state),
            Message::KernelConfig(config) => {
                keep_first(&mut recording.config, config, "KernelConfig", &mut recording.faults);
            }
        }
    }

    fn edge(&mut self, edge: Edge) {
        let interrupts = self.merge(edge.interrupts);
        let record = window_of(&mut self.windows, edge.window);
        let (slot, name) = match edge.side {
            EdgeSide::Before => (&mut record.before, "Edge before"),
            EdgeSide::After => (&mut record.after, "Edge after"),
        };
        let whole = EdgeRecord {
            begin_ns: edge.begin_ns,
            end_ns: edge.end_ns,
            interrupts,
            softirqs: edge.softirqs,
            threads: edge.threads,
            block: edge.block,
            process_io: edge.process_io,
            cpus: edge.cpus,
            placement: edge.placement,
        };
        keep_first(slot, whole, name, &mut self.recording.faults);
    }

    fn state(&mut self, state: State) {
        let faults = &mut self.recording.faults;
        let Some(window) = state.window else {
            return keep_first(&mut self.recording.state, state, "State", faults);
        };
        let record = window_of(&mut self.windows, window);
        match state.side {
            EdgeSide::Before => keep_first(&mut record.state_before, state, "State before", faults),
            EdgeSide::After => keep_first(&mut record.state_after, state, "State after", faults),
        }
    }

    /// The whole table at an edge that sent only the rows which changed.
    fn merge(&mut self, sent: Reading<InterruptTable>) -> Reading<InterruptCounts> {
        let sent = sent?;
        if matches!(self.interrupts, Interrupts::NoneYet) {
            self.interrupts = Interrupts::Known(InterruptCounts::new());
        }
        let Interrupts::Known(known) = &mut self.interrupts else {
            return Err(Unavailable::new(
                "a frame was lost before this reading of /proc/interrupts, and rows that had not changed are not sent again",
            ));
        };
        for row in sent.rows {
            let attributed = row.counts.len() == sent.cpus.len();
            let text = match known.get(&row.label) {
                Some(line) if row.text.is_empty() => line.text.clone(),
                _ => row.text,
            };
            let line = if attributed {
                let per_cpu = sent.cpus.iter().copied().zip(row.counts).collect();
                InterruptLine { text, per_cpu, unattributed: None }
            } else {
                let unattributed = Some(row.counts.iter().fold(0, |sum: u64, &n| sum.saturating_add(n)));
                InterruptLine { text, per_cpu: BTreeMap::new(), unattributed }
            };
            known.insert(row.label, Arc::new(line));
        }
        // A CPU that went off-line has no column any more, not even in rows that did not change.
        for line in known.values_mut() {
            if line.per_cpu.keys().any(|cpu| !sent.cpus.contains(cpu)) {
                Arc::make_mut(line).per_cpu.retain(|cpu, _| sent.cpus.contains(cpu));
            }
        }
        Ok(known.clone())
    }
}

fn window_of(windows: &mut BTreeMap<u32, WindowRecord>, index: u32) -> &mut WindowRecord {
    windows.entry(index).or_insert_with(|| WindowRecord { index, ..WindowRecord::default() })
}

fn keep_first<T>(slot: &mut Option<T>, value: T, name: &str, faults: &mut Faults) {
    if slot.is_some() {
        faults.repeated_frames += 1;
        faults.describe(format!("a second {name} frame came and was ignored"));
    } else {
        *slot = Some(value);
    }
}

fn describe_damage(bytes: usize, damage: &Damage) -> String {
    let mut text = format!("{bytes} bytes are no frame: ");
    let written = match damage {
        Damage::LeadingText(line) => write!(text, "text, beginning {line:?}"),
        Damage::PtyTranslation => {
            write!(text, "pty translation: the link turned line feeds into carriage return and line feed")
        }
        Damage::BadFrame => write!(text, "damaged or cut off, the check sum is wrong"),
        Damage::TooLong => write!(text, "no end within the longest frame"),
        Damage::OtherSession { theirs } => write!(text, "of another stream, session {theirs}"),
        Damage::OtherProtocol { theirs } => write!(
            text,
            "the agent speaks protocol {theirs} and this tophalf {}: use the agent that came with this tophalf",
            tophalf_wire::PROTOCOL
        ),
        Damage::Malformed { kind } => write!(text, "a frame of kind {kind} whose content does not fit"),
    };
    debug_assert!(written.is_ok(), "writing to a String does not fail");
    text
}
