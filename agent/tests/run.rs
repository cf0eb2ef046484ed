//! A whole run on a file of this machine, as the host would read it.

use std::sync::{Arc, Mutex};
use std::time::Instant;
use tophalf_agent::job;
use tophalf_wire::{
    EdgeSide, Engine, Event, FrameReader, Job, Message, Outcome, Pass, Pattern, Plan, RunJob, TargetSpec,
    Window, Workload,
};

/// What the agent writes, kept for the test.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn plan(folder: &tempfile::TempDir) -> RunJob {
    RunJob {
        target: TargetSpec {
            path: folder.path().join("scratch").to_str().unwrap().into(),
            span_bytes: Some(4 << 20),
            make_file: true,
            destroy_data_on: None,
            // Where these tests run, the file system may have no direct I/O.
            allow_buffered: true,
        },
        workload: Workload {
            engine: Engine::Psync,
            pattern: Pattern::Random,
            read_percent: 50,
            block_bytes: 4096,
            seed: 1,
        },
        cpu: None,
        warmup_ns: 300_000_000,
        timed_ns: 250_000_000,
        window_ns: 100_000_000,
        sample_ns: 20_000_000,
        hops_ops: 300,
    }
}

fn perform(run: RunJob) -> (Outcome, Vec<Message>) {
    let out = Kept::default();
    let plan = Plan { session: 9, watch_stdin: false, job: Job::Run(run) };
    let outcome = job::perform(&plan, None, out.clone()).unwrap();
    let mut reader = FrameReader::new(Some(9));
    reader.feed(&out.0.lock().unwrap());
    let mut messages = Vec::new();
    while let Some(event) = reader.next_event() {
        let Event::Message { lost: 0, message, .. } = event else { panic!("{event:?}") };
        messages.push(*message);
    }
    (outcome, messages)
}

fn windows(messages: &[Message], pass: Pass) -> Vec<&Window> {
    let windows = messages.iter().filter_map(|message| match message {
        Message::Window(window) if window.pass == pass => Some(window),
        _ => None,
    });
    windows.collect()
}

/// fio#2041, fio#1320, benchmark-wrapper#75: the ramp comes before what is counted, and is no part of it.
#[test]
fn what_is_counted_is_as_long_as_asked_and_comes_after_the_ramp() {
    let folder = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let (outcome, messages) = perform(plan(&folder));
    assert_eq!(outcome, Outcome::Done);
    let timed = windows(&messages, Pass::Timed);
    let counted: u64 = timed.iter().map(|window| window.end_ns - window.begin_ns).sum();
    assert!(counted >= 250_000_000, "{counted}");
    assert!(begun.elapsed().as_nanos() >= u128::from(counted) + 300_000_000);
    // Each window ends with the operation in which its time ran out.
    let latencies = messages.iter().filter_map(|message| match message {
        Message::Latencies(latencies) => Some(latencies.block.unpack().unwrap()),
        _ => None,
    });
    let longest = latencies.flatten().max().unwrap();
    assert!(counted < 250_000_000 + longest * timed.len() as u64, "{counted}, longest {longest}");
}

#[test]
fn every_operation_has_its_latency_and_they_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let (_, messages) = perform(plan(&folder));
    for window in windows(&messages, Pass::Timed) {
        let (mut ops, mut sum, mut writes) = (0, 0, 0);
        for message in &messages {
            if let Message::Latencies(latencies) = message
                && latencies.window == window.window
            {
                assert_eq!(u64::from(latencies.first), ops);
                let values = latencies.block.unpack().unwrap();
                ops += values.len() as u64;
                sum += values.iter().sum::<u64>();
                writes += u64::from(latencies.write_bits.iter().map(|byte| byte.count_ones()).sum::<u32>());
            }
        }
        assert_eq!((ops, writes), (window.reads + window.writes, window.writes));
        assert_eq!(sum, window.end_ns - window.begin_ns);
    }
    let hops: u64 = windows(&messages, Pass::Hops).iter().map(|window| window.reads + window.writes).sum();
    assert_eq!(hops, 300);
}

#[test]
fn the_file_is_gone_and_the_end_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (_, messages) = perform(plan(&folder));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let Some(Message::End(end)) = messages.last() else { panic!("{:?}", messages.last()) };
    assert_eq!(end.frames as usize, messages.len() - 1);
    assert!(end.overhead.peak_rss_bytes > 0 && end.overhead.latency_bytes > 0);
}

#[test]
fn what_cannot_be_is_the_end_frame_and_not_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let writes_to_what_is_there =
        RunJob { target: TargetSpec { make_file: false, ..plan(&folder).target }, ..plan(&folder) };
    let (outcome, messages) = perform(writes_to_what_is_there);
    let Outcome::Failed { message, .. } = outcome else { panic!("{outcome:?}") };
    assert!(message.contains("--destroy-data-on"), "{message}");
    assert!(matches!(messages.last(), Some(Message::End(_))));
}

/// The state of the device comes with each window, from both its ends, and the canary ran where the I/O did.
#[test]
fn each_window_has_the_state_of_the_device_at_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (_, messages) = perform(plan(&folder));
    let of = |message: &Message| match message {
        Message::State(state) => Some((state.window.unwrap(), state.side, state.canary.unwrap())),
        _ => None,
    };
    let states: Vec<_> = messages.iter().filter_map(of).collect();
    let windows = windows(&messages, Pass::Timed).len() + windows(&messages, Pass::Hops).len();
    assert_eq!(states.len(), 2 * windows);
    for pair in states.chunks(2) {
        assert_eq!((pair[0].0, pair[0].1, pair[1].1), (pair[1].0, EdgeSide::Before, EdgeSide::After));
        assert!(pair.iter().all(|(_, _, canary)| canary.best_ns > 1000));
    }
    let configs = messages.iter().filter(|message| matches!(message, Message::KernelConfig(_)));
    assert_eq!(configs.count(), 1);
}
