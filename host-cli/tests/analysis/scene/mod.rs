//! Recordings for tests, made the way real ones are: messages put into frames and taken out again.

pub(crate) mod facts;
pub(crate) mod state;

use std::collections::BTreeMap;
use tophalf::analysis::{RunSummary, summarize};
use tophalf::recording::Recording;
use tophalf::run_header::RunHeader;
use tophalf_wire::*;

pub(crate) const SESSION: u32 = 7;
pub(crate) const IRQ_THREAD_PID: u32 = 82;

/// The events of a stream that holds these messages.
pub(crate) fn events(messages: &[Message]) -> Vec<Event> {
    let mut writer = FrameWriter::new(SESSION);
    let mut reader = FrameReader::new(Some(SESSION));
    for message in messages {
        reader.feed(&writer.frame(message).unwrap());
    }
    let mut events: Vec<Event> = std::iter::from_fn(|| reader.next_event()).collect();
    events.extend(reader.finish());
    events
}

pub(crate) fn recording(messages: &[Message]) -> Recording {
    Recording::from_events(events(messages))
}

pub(crate) fn header(id: &str, variant: &str) -> RunHeader {
    RunHeader {
        id: id.to_owned(),
        begun_unix_ns: 1_790_000_000_000_000_000,
        host_version: "0.1.0".to_owned(),
        device: "127.0.0.1:15555".to_owned(),
        transport: "adb shell -T".to_owned(),
        variant: variant.to_owned(),
        workload_name: "randread-4k".to_owned(),
        session: SESSION,
    }
}

/// A run of equal windows whose counters grow as told. Times are in nanoseconds, counts per operation.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) cmdline: Reading<String>,
    pub(crate) kernel_version: String,
    pub(crate) boot_id: String,
    pub(crate) emulated: bool,
    pub(crate) ops: u64,
    pub(crate) windows: u32,
    pub(crate) block_bytes: u32,
    pub(crate) latency_ns: Vec<u64>,
    pub(crate) io_cpu: u16,
    /// Number, handlers and interrupts per operation by CPU.
    pub(crate) lines: Vec<(u32, Vec<&'static str>, BTreeMap<u16, f64>)>,
    pub(crate) thread: Option<SceneThread>,
    /// Other interrupt threads of the system.
    pub(crate) other_threads: Vec<&'static str>,
    pub(crate) ksoftirqd: BTreeMap<u16, f64>,
    pub(crate) block_softirqs: BTreeMap<u16, f64>,
    pub(crate) timer_softirqs: BTreeMap<u16, f64>,
    pub(crate) calls: BTreeMap<u16, f64>,
    pub(crate) hardware_queues: usize,
    pub(crate) controller: Option<ControllerKind>,
    pub(crate) device_ios: f64,
    pub(crate) device_bytes: f64,
    pub(crate) hops: Option<u32>,
}

#[derive(Debug, Clone)]
pub(crate) struct SceneThread {
    pub(crate) comm: &'static str,
    pub(crate) irq: u32,
    pub(crate) slices: f64,
}

impl Scene {
    /// Hard interrupts on CPU0, I/O there too.
    pub(crate) fn hard() -> Self {
        Self {
            cmdline: Ok("console=ttyAMA0 panic=-1 quiet".to_owned()),
            kernel_version: "#1 SMP PREEMPT_DYNAMIC Debian".to_owned(),
            boot_id: "b-1".to_owned(),
            emulated: true,
            ops: 1000,
            windows: 1,
            block_bytes: 4096,
            latency_ns: vec![33_216, 33_200, 33_232, 33_216, 40_000],
            io_cpu: 0,
            lines: vec![(18, vec!["ufshcd"], BTreeMap::from([(0, 1.0), (1, 0.0)]))],
            thread: None,
            other_threads: vec![],
            ksoftirqd: BTreeMap::from([(0, 0.02), (1, 0.0)]),
            block_softirqs: BTreeMap::from([(0, 1.0), (1, 0.0)]),
            timer_softirqs: BTreeMap::from([(0, 0.02), (1, 0.02)]),
            calls: BTreeMap::from([(0, 0.0), (1, 0.0)]),
            hardware_queues: 1,
            controller: Some(ControllerKind::Ufs),
            device_ios: 1.0,
            device_bytes: 1.0,
            hops: None,
        }
    }

    /// The handler's own thread on CPU0, and `ksoftirqd` after it.
    pub(crate) fn threaded() -> Self {
        Self {
            thread: Some(SceneThread { comm: "irq/18-ufshcd", irq: 18, slices: 1.0 }),
            ksoftirqd: BTreeMap::from([(0, 1.0), (1, 0.0)]),
            latency_ns: vec![54_496, 54_480, 54_512, 54_496, 70_000],
            ..Self::hard()
        }
    }

    /// Every handler threaded by `threadirqs`.
    pub(crate) fn forced() -> Self {
        Self {
            cmdline: Ok("console=ttyAMA0 threadirqs quiet".to_owned()),
            thread: Some(SceneThread { comm: "irq/18-ufshcd", irq: 18, slices: 1.0 }),
            other_threads: vec!["irq/13-uart-pl0", "irq/14-rtc-pl031"],
            ksoftirqd: BTreeMap::from([(0, 0.16), (1, 0.0)]),
            timer_softirqs: BTreeMap::from([(0, 0.16), (1, 0.1)]),
            ..Self::hard()
        }
    }

    /// A disk of memory.
    pub(crate) fn zram() -> Self {
        Self {
            lines: vec![],
            ksoftirqd: BTreeMap::from([(0, 0.0), (1, 0.0)]),
            block_softirqs: BTreeMap::from([(0, 0.0), (1, 0.0)]),
            controller: None,
            latency_ns: vec![1900, 2000, 2100],
            ..Self::hard()
        }
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        let mut messages = vec![
            Message::Hello(Hello::new("0.1.0", "aarch64-linux-musl")),
            Message::Plan(self.plan()),
            Message::Facts(self.facts()),
            Message::Target(self.target()),
        ];
        for window in 0..self.windows {
            messages.extend(self.window(window, Pass::Timed, self.ops));
        }
        if let Some(ops) = self.hops {
            messages.extend(self.window(self.windows, Pass::Hops, ops.into()));
        }
        messages.push(Message::End(End {
            outcome: Outcome::Done,
            frames: u32::try_from(messages.len()).unwrap(),
            overhead: Overhead {
                loop_ns: 45,
                sampler_cpu_ns: 1_500_000,
                stream_cpu_ns: 900_000,
                stream_bytes: 20_000,
                latency_bytes: 2 * self.ops * u64::from(self.windows),
                peak_rss_bytes: 2 << 20,
            },
        }));
        messages
    }

    pub(crate) fn recording(&self) -> Recording {
        recording(&self.messages())
    }

    pub(crate) fn summary(&self, id: &str, variant: &str) -> RunSummary {
        summarize(&header(id, variant), &self.recording())
    }

    fn window(&self, index: u32, pass: Pass, ops: u64) -> Vec<Message> {
        let latencies: Vec<u64> =
            self.latency_ns.iter().copied().cycle().take(usize::try_from(ops).unwrap()).collect();
        let begin_ns = 1_000_000_000 * (u64::from(index) + 1);
        let end_ns = begin_ns + latencies.iter().sum::<u64>();
        let window = Window {
            window: index,
            pass,
            begin_ns,
            end_ns,
            reads: ops,
            writes: 0,
            errors: 0,
            short: 0,
            first_error: None,
            sampler_cpu_ns: 1000,
            samples: (10, 0),
        };
        let body = match pass {
            Pass::Timed => latencies
                .chunks(MAX_BLOCK_VALUES)
                .enumerate()
                .map(|(block, values)| {
                    Message::Latencies(Latencies {
                        window: index,
                        first: u32::try_from(block * MAX_BLOCK_VALUES).unwrap(),
                        write_bits: vec![],
                        all_writes: false,
                        block: LatencyBlock::pack(values),
                    })
                })
                .collect(),
            Pass::Hops => vec![Message::Hops(self.hop_block(index, usize::try_from(ops).unwrap()))],
        };
        let mut messages = vec![Message::Edge(self.edge(index, EdgeSide::Before, ops))];
        messages.push(Message::Window(window));
        messages.extend(body);
        messages.push(Message::Edge(self.edge(index, EdgeSide::After, ops)));
        messages
    }

    pub(crate) fn hop_block(&self, index: u32, ops: usize) -> Hops {
        let column = |role, wait, run, slices: f64| {
            let ran: Vec<u64> =
                (0..ops as u64).map(|op| scaled(slices, op + 1) - scaled(slices, op)).collect();
            let times = |ns: u64| LatencyBlock::pack(&ran.iter().map(|ran| ran * ns).collect::<Vec<u64>>());
            HopColumn { role, wait_ns: times(wait), run_ns: times(run), slices: LatencyBlock::pack(&ran) }
        };
        let total: Vec<u64> = self.latency_ns.iter().copied().cycle().take(ops).collect();
        let mut threads = Vec::new();
        if let Some(thread) = &self.thread {
            threads.push(column(ThreadRole::IrqThread { irq: thread.irq }, 3000, 4000, thread.slices));
        }
        threads.push(column(ThreadRole::Ksoftirqd { cpu: 0 }, 2500, 3500, self.ksoftirqd[&0]));
        threads.push(column(ThreadRole::Submitter, 1500, 9000, 1.0));
        Hops { window: index, first: 0, total_ns: LatencyBlock::pack(&total), threads }
    }

    /// Counters as they stand before or after a window, from figures per operation.
    pub(crate) fn edge(&self, index: u32, side: EdgeSide, ops: u64) -> Edge {
        let done = self.ops * u64::from(index) + if side == EdgeSide::After { ops } else { 0 };
        let full = index == 0 && side == EdgeSide::Before;
        let text = |text: &str| if full { text.to_owned() } else { String::new() };
        let counts = |start: u64, rates: &BTreeMap<u16, f64>| -> Vec<u64> {
            [0, 1].iter().map(|cpu| start + scaled(rates.get(cpu).copied().unwrap_or(0.0), done)).collect()
        };
        let mut rows: Vec<InterruptRow> = self
            .lines
            .iter()
            .map(|(irq, actions, rates)| InterruptRow {
                label: irq.to_string(),
                counts: counts(64, rates),
                text: text(&format!("GICv3  37 Level     {}", actions.join(", "))),
            })
            .collect();
        rows.push(InterruptRow {
            label: "11".to_owned(),
            counts: counts(5000, &self.timer_softirqs),
            text: text("GICv3  27 Level     arch_timer"),
        });
        rows.push(InterruptRow {
            label: "IPI1".to_owned(),
            counts: counts(300, &self.calls),
            text: text("Function call interrupts"),
        });
        if full {
            rows.push(InterruptRow { label: "Err".to_owned(), counts: vec![0], text: String::new() });
        }
        let thread = |role, tid, slices: f64| ThreadReading {
            role,
            tid,
            schedstat: Ok(SchedStat {
                run_ns: 1000 + 4000 * scaled(slices, done),
                wait_ns: 1000 + 3000 * scaled(slices, done),
                slices: 5 + scaled(slices, done),
            }),
        };
        let mut threads = Vec::new();
        if let Some(irq_thread) = &self.thread {
            let role = ThreadRole::IrqThread { irq: irq_thread.irq };
            threads.push(thread(role, IRQ_THREAD_PID, irq_thread.slices));
        }
        for (&cpu, &slices) in &self.ksoftirqd {
            threads.push(thread(ThreadRole::Ksoftirqd { cpu }, 14 + 7 * u32::from(cpu), slices));
        }
        threads.push(thread(ThreadRole::Submitter, 500, 1.0));
        let block_bytes = u64::from(self.block_bytes);
        Edge {
            window: index,
            side,
            begin_ns: 0,
            end_ns: 1,
            interrupts: Ok(InterruptTable { cpus: vec![0, 1], rows }),
            softirqs: Ok(SoftirqTable {
                cpus: vec![0, 1],
                rows: vec![
                    ("TIMER".to_owned(), counts(900, &self.timer_softirqs)),
                    ("BLOCK".to_owned(), counts(800, &self.block_softirqs)),
                ],
            }),
            threads,
            block: Ok(BlockStat {
                reads: 100 + scaled(self.device_ios, done),
                read_sectors: 800 + scaled(self.device_bytes, done * block_bytes / 512),
                ..BlockStat::default()
            }),
            process_io: Ok(ProcessIo {
                rchar: 5000 + done * block_bytes,
                read_bytes: 4096 + scaled(self.device_bytes, done * block_bytes),
                ..ProcessIo::default()
            }),
            cpus: vec![],
            placement: Placement {
                cpu: self.io_cpu,
                allowed: Ok(vec![self.io_cpu]),
                online: Ok(vec![0, 1]),
                migrations: Ok(3),
            },
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small positive test figures")]
pub(crate) fn scaled(per_op: f64, ops: u64) -> u64 {
    (per_op * ops as f64).round() as u64
}
