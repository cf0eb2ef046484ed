use super::*;
use crate::run_header::RunHeader;
use crate::store::Store;
use std::{fs, path::PathBuf, time::Duration};
use tophalf_wire::{FrameWriter, Hello, Level, LogLine, Message};

const RUNS: usize = 20;

/// A store of small runs that were left alone for so long that their figures may be kept.
struct Bench {
    folder: tempfile::TempDir,
    found: Found,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..RUNS {
            write_run(folder.path(), number, "6.18");
        }
        thread::sleep(Duration::from_secs(5));
        let found = Store::new(folder.path().join("runs")).find("6.18").unwrap();
        assert_eq!(found.runs.len(), RUNS);
        Self { folder, found }
    }

    fn cache(&self) -> FigureCache {
        FigureCache::new(self.folder.path().join("cache")).unwrap()
    }

    fn cache_file(&self) -> PathBuf {
        let mut files = fs::read_dir(self.folder.path().join("cache")).unwrap();
        let file = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none(), "one folder of runs, one file, and no temporary one");
        file
    }

    fn computed(&self) -> Vec<Stored> {
        load_with(&self.found, None).unwrap()
    }

    fn with_cache(&self) -> Vec<Stored> {
        load_with(&self.found, Some(&self.cache())).unwrap()
    }

    /// How many of the runs come from the cache.
    fn hits(&self) -> usize {
        let figures = self.cache().read(self.found.runs[0].parent().unwrap());
        let from = |path: &PathBuf| load_from(path, Some(&figures)).unwrap().1;
        self.found.runs.iter().filter(|path| matches!(from(path), Origin::Cache(_))).count()
    }
}

fn write_run(folder: &Path, number: usize, variant: &str) -> PathBuf {
    let header = RunHeader {
        id: format!("run-{number:02}"),
        begun_unix_ns: 1_764_565_200_000_000_000,
        host_version: "0.1.0".to_owned(),
        device: "T615".to_owned(),
        transport: "adb shell -T, su -c".to_owned(),
        variant: variant.to_owned(),
        workload_name: "randread-4k".to_owned(),
        session: 7,
    };
    let mut frames = FrameWriter::new(7);
    let log = Message::Log(LogLine { level: Level::Info, text: format!("run {number}") });
    let mut run = Store::new(folder.join("runs")).begin(&header).unwrap();
    for message in [Message::Hello(Hello::new("0.1.0", "test")), log] {
        run.append(&frames.frame(&message).unwrap()).unwrap();
    }
    run.keep().unwrap()
}

#[test]
fn figures_from_the_cache_are_those_of_the_files() {
    let bench = Bench::new();
    let computed = bench.computed();
    assert_eq!(bench.hits(), 0);
    assert_eq!(bench.with_cache(), computed);
    assert_eq!(bench.hits(), RUNS);
    assert_eq!(bench.with_cache(), computed);
    let before = fs::read(bench.cache_file()).unwrap();
    bench.with_cache();
    assert_eq!(fs::read(bench.cache_file()).unwrap(), before, "nothing new is nothing to write");

    // Head, lengths, check sums, names and figures.
    for at in (0..300).step_by(3).chain((300..before.len()).step_by(211)) {
        let mut flipped = before.clone();
        flipped[at] ^= 0x04;
        fs::write(bench.cache_file(), &flipped).unwrap();
        assert_eq!(bench.with_cache(), computed, "byte {at} is flipped");
        assert_eq!(bench.hits(), RUNS, "byte {at} was flipped and is mended");
    }
    for length in (0..before.len()).step_by(997) {
        fs::write(bench.cache_file(), &before[..length]).unwrap();
        assert_eq!(bench.with_cache(), computed, "torn after {length} bytes");
        assert_eq!(bench.hits(), RUNS);
    }
    fs::remove_dir_all(bench.folder.path().join("cache")).unwrap();
    assert_eq!(bench.with_cache(), computed, "it can be removed at any time");
}

#[test]
fn a_run_that_is_touched_replaced_or_new_is_computed() {
    let bench = Bench::new();
    bench.with_cache();
    assert_eq!(bench.hits(), RUNS);
    let [first, second, third, ..] = bench.found.runs.as_slice() else { unreachable!() };

    // The same length and, as `cp -p` does, the same time of modification.
    let was = fs::metadata(first).unwrap().modified().unwrap();
    let mut bytes = fs::read(first).unwrap();
    let at = bytes.len() - 6;
    bytes[at] ^= 1;
    fs::write(first, &bytes).unwrap();
    fs::File::options().append(true).open(first).unwrap().set_modified(was).unwrap();
    // Another run under its name.
    fs::remove_file(second).unwrap();
    fs::rename(third, second).unwrap();
    let found =
        Found { runs: bench.found.runs.iter().filter(|path| *path != third).cloned().collect(), foreign: 0 };
    let bench = Bench { found, ..bench };
    assert_eq!(bench.hits(), RUNS - 3);
    let computed = bench.computed();
    assert_eq!(bench.with_cache(), computed);
    assert_eq!(bench.hits(), RUNS - 3, "what changed just now may change again unseen");
    thread::sleep(Duration::from_secs(5));
    assert_eq!(bench.with_cache(), computed);
    assert_eq!(bench.hits(), RUNS - 1);
}

#[test]
fn what_another_program_or_another_folder_left_is_not_used() {
    let bench = Bench::new();
    bench.with_cache();
    let program = Identity::of(&bench.found.runs[0]).unwrap();
    let mut other = bench.cache();
    other.program = program;
    assert!(other.read(bench.found.runs[0].parent().unwrap()).is_empty());
    let copy = bench.folder.path().join("runs/copy");
    fs::create_dir(&copy).unwrap();
    for run in &bench.found.runs {
        fs::copy(run, copy.join(run.file_name().unwrap())).unwrap();
    }
    // Not even under the name of the other's cache.
    fs::rename(bench.cache_file(), bench.cache().read(&copy).path()).unwrap();
    assert!(bench.cache().read(&copy).is_empty());
}

#[test]
fn a_cache_that_cannot_be_written_changes_nothing() {
    let bench = Bench::new();
    fs::write(bench.folder.path().join("cache"), "a file where a folder should be").unwrap();
    assert_eq!(bench.with_cache(), bench.computed());
    assert_eq!(bench.hits(), 0);
}

#[test]
fn the_first_run_that_cannot_be_read_is_named() {
    let bench = Bench::new();
    for at in [3, 11] {
        fs::write(&bench.found.runs[at], "fio-3.33").unwrap();
    }
    let error = load_with(&bench.found, Some(&bench.cache())).unwrap_err();
    assert!(error.to_string().contains("run-03.tophalf"), "{error}");
}

#[test]
fn the_order_is_kept() {
    assert_eq!(on_all_cpus(1000, |at| at * 2), (0..1000).map(|at| at * 2).collect::<Vec<_>>());
    assert!(on_all_cpus(0, |at| at).is_empty());
}
