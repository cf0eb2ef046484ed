//! The agent against fio and against the barest loop there is, side by side, as ratios.
//!
//! 4 KiB random reads with direct I/O at depth one on `zram0`, all on the same CPU. Many short turns, forwards
//! and backwards in order, so that a drift of the machine, and the luck of one process's memory, hit all of
//! them alike. Needs root, fio, and a zram device that nobody uses; leaves it reset.
//!
//! Run by `make bench`.

use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File, OpenOptions};
use std::hint::black_box;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tophalf_wire::{
    Engine, Event, FrameReader, Job, Message, Outcome, Pattern, Plan, RunJob, TargetSpec, Workload,
};

const DEVICE: &str = "/dev/zram0";
const SPAN_BYTES: u64 = 256 << 20;
const BLOCK_BYTES: u32 = 4096;
const CPU: u16 = 1;
const TURN: Duration = Duration::from_millis(500);
const WARM_UP: Duration = Duration::from_millis(100);
const ROUNDS: usize = 40;

/// A turn of one contestant, given the agent; it answers operations a second.
type Turn = fn(&Path) -> Result<f64>;

/// Who is measured.
const CONTESTANTS: [(&str, Turn); 4] = [
    ("agent, 10 samples a second", |agent| run_agent(agent, 100_000_000)),
    ("agent, no samples", |agent| run_agent(agent, 0)),
    ("bare pread loop, one clock read", |_| bare_loop()),
    ("fio psync", |_| fio()),
];

/// What is promised: (who, over whom, at least).
const PROMISES: [(usize, usize, f64); 3] = [(0, 3, 1.05), (0, 2, 0.97), (0, 1, 0.99)];

fn main() -> Result<()> {
    let agent = agent_path()?;
    let zram = Zram::make()?;
    let mut iops: [Vec<f64>; CONTESTANTS.len()] = Default::default();
    for round in 0..ROUNDS {
        if std::io::stderr().is_terminal() {
            eprint!("\rround {} of {ROUNDS}", round + 1);
        }
        for turn in 0..CONTESTANTS.len() {
            let who = if round % 2 == 0 { turn } else { CONTESTANTS.len() - 1 - turn };
            let (name, measure) = CONTESTANTS[who];
            iops[who].push(measure(&agent).with_context(|| name.to_owned())?);
        }
    }
    drop(zram);
    eprintln!("{DEVICE}, 4 KiB random read, direct, depth 1, CPU {CPU}, {ROUNDS} turns of {TURN:?} each");
    for ((name, _), iops) in CONTESTANTS.iter().zip(&iops) {
        println!("{name:<34} {:>9.0} IOPS (median)", median(iops.clone()));
    }
    let mut kept = true;
    for (who, over, least) in PROMISES {
        // Neighbours in time are compared with each other, so that a drift cancels.
        let ratios = iops[who].iter().zip(&iops[over]).map(|(a, b)| a / b).collect();
        let ratio = median(ratios);
        kept &= ratio >= least;
        println!(
            "{:<34} {ratio:>9.3} x {:<34} at least {least}: {}",
            CONTESTANTS[who].0,
            CONTESTANTS[over].0,
            if ratio >= least { "kept" } else { "BROKEN" }
        );
    }
    ensure!(kept, "a ratio is below what is promised: look for load on this machine, then for the cause");
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

fn agent_path() -> Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/agents/tophalf-agent-x86_64");
    path.canonicalize().with_context(|| format!("{}: build it with `cargo ndk-build`", path.display()))
}

/// A zram device full of incompressible bytes.
struct Zram;

impl Zram {
    fn make() -> Result<Self> {
        let attribute = |name: &str| format!("/sys/block/zram0/{name}");
        let size = fs::read_to_string(attribute("disksize")).context("no zram0: modprobe zram")?;
        ensure!(size.trim() == "0", "{DEVICE} is in use ({} bytes): reset it first", size.trim());
        fs::write(attribute("disksize"), SPAN_BYTES.to_string()).context("size zram0")?;
        let zram = Self;
        let mut device = OpenOptions::new().write(true).open(DEVICE)?;
        let mut state = 1u64;
        for _ in 0..SPAN_BYTES / (1 << 20) {
            let mut chunk = Vec::with_capacity(1 << 20);
            while chunk.len() < 1 << 20 {
                state = next_random(state);
                chunk.extend(state.to_le_bytes());
            }
            device.write_all(&chunk)?;
        }
        device.sync_all()?;
        Ok(zram)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        if let Err(error) = fs::write("/sys/block/zram0/reset", "1") {
            eprintln!("reset zram0: {error}: do it by hand");
        }
    }
}

/// Marsaglia, "Xorshift RNGs", 2003.
fn next_random(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}

fn run_agent(agent: &Path, sample_ns: u64) -> Result<f64> {
    let plan = Plan {
        session: 1,
        watch_stdin: false,
        job: Job::Run(RunJob {
            target: TargetSpec {
                path: DEVICE.into(),
                span_bytes: Some(SPAN_BYTES),
                make_file: false,
                destroy_data_on: None,
                allow_buffered: false,
            },
            workload: Workload {
                engine: Engine::Psync,
                pattern: Pattern::Random,
                read_percent: 100,
                block_bytes: BLOCK_BYTES,
                seed: 1,
            },
            cpu: Some(CPU),
            warmup_ns: u64::try_from(WARM_UP.as_nanos())?,
            timed_ns: u64::try_from(TURN.as_nanos())?,
            window_ns: 1_000_000_000,
            sample_ns,
            hops_ops: 0,
        }),
    };
    let output = Command::new(agent).arg(plan.to_word()?).stdin(Stdio::null()).output()?;
    let mut reader = FrameReader::new(Some(1));
    reader.feed(&output.stdout);
    let (mut ops, mut busy_ns, mut done) = (0, 0, false);
    while let Some(event) = reader.next_event() {
        let Event::Message { message, .. } = event else { bail!("the agent's stream is damaged: {event:?}") };
        match *message {
            Message::Window(window) => {
                ops += window.reads;
                busy_ns += window.end_ns - window.begin_ns;
            }
            Message::End(end) => done = end.outcome == Outcome::Done,
            _ => {}
        }
    }
    ensure!(done, "the agent failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(ops as f64 * 1e9 / busy_ns as f64)
}

/// What no tool can be faster than: a read, a reading of the clock, the next offset.
fn bare_loop() -> Result<f64> {
    let worker = std::thread::spawn(|| -> Result<f64> {
        nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &{
            let mut set = nix::sched::CpuSet::new();
            set.set(usize::from(CPU))?;
            set
        })?;
        let device = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(DEVICE)?;
        let memory = vec![0u8; 2 * BLOCK_BYTES as usize];
        let start = memory.as_ptr().align_offset(BLOCK_BYTES as usize);
        let mut memory = memory;
        let buffer = &mut memory[start..start + BLOCK_BYTES as usize];
        let mut state = 1;
        spin(&device, buffer, &mut state, WARM_UP)?;
        spin(&device, buffer, &mut state, TURN)
    });
    worker.join().map_err(|_| anyhow::anyhow!("the bare loop panicked"))?
}

fn spin(device: &File, buffer: &mut [u8], state: &mut u64, length: Duration) -> Result<f64> {
    let begin = Instant::now();
    let mut ops = 0u64;
    loop {
        *state = next_random(*state);
        let block = (u128::from(*state) * u128::from(SPAN_BYTES / u64::from(BLOCK_BYTES))) >> 64;
        let moved = device.read_at(black_box(buffer), u64::try_from(block)? * u64::from(BLOCK_BYTES))?;
        ensure!(moved == BLOCK_BYTES as usize, "a short read");
        ops += 1;
        let spent = begin.elapsed();
        if spent >= length {
            return Ok(ops as f64 / spent.as_secs_f64());
        }
    }
}

fn fio() -> Result<f64> {
    const TERSE_READ_IOPS: usize = 7;
    let output = Command::new("fio")
        .args(["--name=peer", "--rw=randread", "--bs=4k", "--ioengine=psync", "--direct=1", "--time_based"])
        .args(["--norandommap", "--randrepeat=0", "--output-format=terse"])
        .arg(format!("--filename={DEVICE}"))
        .arg(format!("--size={SPAN_BYTES}"))
        .arg(format!("--ramp_time={}ms", WARM_UP.as_millis()))
        .arg(format!("--runtime={}ms", TURN.as_millis()))
        .arg(format!("--cpus_allowed={CPU}"))
        .output()
        .context("fio: apt-get install fio")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.contains("peer")).unwrap_or_default();
    let field = line.split(';').nth(TERSE_READ_IOPS);
    field.and_then(|field| field.parse().ok()).with_context(|| format!("fio printed {text:?}"))
}
