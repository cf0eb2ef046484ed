//! What it takes to compare many stored runs: seconds, peak memory, and how both grow.
//!
//! Makes 10,000 run files of ten windows each, in two variants of many boots, and compares subsets of them by the real
//! command: first without any figures computed before, then with. Reading the same files with `cat` is the
//! reference.
//!
//! Run by `make bench-compare`.

#[allow(dead_code, unused_imports, reason = "the tests of the analysis use the rest")]
#[path = "../tests/analysis/scene/mod.rs"]
mod scene;

use anyhow::{Context, Result, bail, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use scene::Scene;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tophalf::{run_header::RunHeader, store::Store};
use tophalf_wire::FrameWriter;

const TOPHALF: &str = env!("CARGO_BIN_EXE_tophalf");
/// Runs of both sides together.
const SIZES: [usize; 3] = [1_000, 3_000, 10_000];
const VARIANTS: [&str; 2] = ["6.12", "6.18"];
const RUNS_OF_A_BOOT: usize = 20;
const WINDOWS: u32 = 10;
const OPS_OF_A_WINDOW: u16 = 5_000;
const ROUNDS: usize = 5;
/// What is promised of the largest size, figures computed before.
const MOST_SECONDS: f64 = 1.0;
const MOST_MB: f64 = 200.0;
/// The word by which this program runs another one and tells its time and memory.
const MEASURE: &str = "--measure-child";

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some(MEASURE) {
        return measure_child(arguments);
    }
    let folder = tempfile::Builder::new().prefix("compare-").tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let folder = folder.path();
    let begin = Instant::now();
    make_runs(&folder.join("all"))?;
    let bytes = link_subsets(folder)?;
    eprintln!("made {} runs of {} KB each in {:.0?}", SIZES[2], bytes / 1000, begin.elapsed());
    // Figures are kept of files that were left alone for some seconds.
    thread::sleep(Duration::from_secs(5));

    println!(
        "{:>6} {:>16} {:>20} {:>14} {:>18} {:>14} {:>10}",
        "runs", "cat", "figures anew", "peak", "figures kept", "peak", "of cat"
    );
    let mut kept = Cost::default();
    for size in SIZES {
        let store = folder.join(size.to_string());
        let cat = median(|| cost(Command::new("sh").args(["-c", "cat */*.tophalf"]).current_dir(&store)))?;
        let cache = store.join("cache");
        let mut compare = Command::new(TOPHALF);
        compare.args(["compare", VARIANTS[0], VARIANTS[1], "--json", "--store"]).arg(&store);
        compare.env("XDG_CACHE_HOME", &cache);
        let anew = cost(&mut compare)?;
        ensure!(cache.is_dir(), "no figures were kept in {}", cache.display());
        kept = median(|| cost(&mut compare))?;
        println!(
            "{size:>6} {:>14.3} s {:>18.3} s {:>11.1} MB {:>16.3} s {:>11.1} MB {:>9.2}x",
            cat.seconds,
            anew.seconds,
            anew.peak_mb,
            kept.seconds,
            kept.peak_mb,
            kept.seconds / cat.seconds
        );
    }
    let fine = kept.seconds < MOST_SECONDS && kept.peak_mb < MOST_MB;
    println!(
        "{} runs in less than {MOST_SECONDS} s and {MOST_MB} MB: {}",
        SIZES[2],
        if fine { "kept" } else { "BROKEN" }
    );
    ensure!(fine, "a promise is broken: look for load on this machine, then for the cause");
    Ok(())
}

#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    seconds: f64,
    peak_mb: f64,
}

/// Of one program, by a process of its own, since the system tells the largest child of all.
fn cost(command: &mut Command) -> Result<Cost> {
    let mut measured = Command::new(env::current_exe()?);
    measured.arg(MEASURE).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        measured.env(name, value.unwrap_or_default());
    }
    if let Some(folder) = command.get_current_dir() {
        measured.current_dir(folder);
    }
    let output = measured.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{command:?} failed");
    let text = String::from_utf8(output.stdout)?;
    let (seconds, peak_mb) = text.trim().split_once(' ').context("two figures")?;
    Ok(Cost { seconds: seconds.parse()?, peak_mb: peak_mb.parse()? })
}

fn measure_child(mut arguments: impl Iterator<Item = String>) -> Result<()> {
    let program = arguments.next().context("a program")?;
    let begin = Instant::now();
    let status = Command::new(&program).args(arguments).stdout(Stdio::null()).status()?;
    let seconds = begin.elapsed().as_secs_f64();
    if !status.success() {
        bail!("{program}: {status}");
    }
    let peak_kib = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    println!("{seconds} {}", peak_kib as f64 * 1024.0 / 1e6);
    Ok(())
}

/// The round whose time is in the middle.
fn median(mut round: impl FnMut() -> Result<Cost>) -> Result<Cost> {
    let mut costs = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<_>>>()?;
    costs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    costs.get(ROUNDS / 2).copied().context("a round")
}

/// All runs, by one thread a variant.
fn make_runs(folder: &Path) -> Result<()> {
    let store = Store::new(folder);
    let make = |side: usize| -> Result<()> {
        let mut random = Pcg64Mcg::seed_from_u64(side as u64);
        (0..SIZES[2] / VARIANTS.len()).try_for_each(|number| make_run(&store, side, number, &mut random))
    };
    thread::scope(|scope| {
        let make = &make;
        let makers: Vec<_> = (0..VARIANTS.len()).map(|side| scope.spawn(move || make(side))).collect();
        makers.into_iter().try_for_each(|maker| maker.join().unwrap_or_else(|_| bail!("a maker panicked")))
    })
}

/// One run, whose boot, and who itself, differ by some per cent from others.
fn make_run(store: &Store, side: usize, number: usize, random: &mut Pcg64Mcg) -> Result<()> {
    let boot = number / RUNS_OF_A_BOOT;
    let mut of_boot = Pcg64Mcg::seed_from_u64((side * 1_000_000 + boot) as u64);
    let fastest_ns = of_boot.random_range(60_000..62_000) + random.random_range(0..2_000);
    let scene = Scene {
        boot_id: format!("boot-{side}-{boot}"),
        emulated: false,
        ops: OPS_OF_A_WINDOW.into(),
        windows: WINDOWS,
        latency_ns: (0..OPS_OF_A_WINDOW).map(|_| fastest_ns + random.random_range(0..8_000)).collect(),
        ..if side == 0 { Scene::hard() } else { Scene::threaded() }
    };
    let header = RunHeader {
        begun_unix_ns: 1_790_000_000_000_000_000 + i64::try_from(number)? * 15_000_000_000,
        ..scene::header(&format!("run-{side}-{number:05}"), VARIANTS[side])
    };
    let mut run = store.begin(&header)?;
    let mut frames = FrameWriter::new(header.session);
    let mut stream = Vec::new();
    for message in scene.messages() {
        stream.extend(frames.frame(&message)?);
    }
    run.append(&stream)?;
    // Unlike [`RunWriter::keep`], which waits for the disk twice a run.
    drop(run);
    let path = store.folder().join(VARIANTS[side]).join(format!("{}.tophalf", header.id));
    Ok(fs::rename(path.with_extension("tophalf.partial"), path)?)
}

/// A store of each size, of the same files. Gives the size of one.
fn link_subsets(folder: &Path) -> Result<u64> {
    let mut one = 0;
    for (size, variant) in SIZES.into_iter().flat_map(|size| VARIANTS.map(|variant| (size, variant))) {
        let to = folder.join(size.to_string()).join(variant);
        fs::create_dir_all(&to)?;
        let mut all: Vec<PathBuf> = fs::read_dir(folder.join("all").join(variant))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        all.sort();
        for run in all.iter().take(size / VARIANTS.len()) {
            fs::hard_link(run, to.join(run.file_name().context("a name")?))?;
            one = fs::metadata(run)?.len();
        }
    }
    Ok(one)
}
