//! The two public reports that began this work, and one more, replayed: their figures are imported by the command, and
//! compared as any other runs are.
//!
//! Expected probabilities are SciPy 1.17.1's: `scipy.stats.permutation_test((base, new), difference of means,
//! permutation_type='independent', alternative='two-sided', n_resamples=inf)`, all 20 ways of putting 3 and 3 apart.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use tophalf::analysis::{
    Asked, Comparison, ImportedRun, MetricComparison, Verdict, compare_imported, quantum,
};
use tophalf::load::{Stored, load};
use tophalf::store::Store;

/// A store, and the command on it.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tophalf"));
        command.current_dir(self.folder.path()).args(arguments).output().unwrap()
    }

    /// What `import` of a file of `tests/data` says.
    fn import(&self, file: &str, more: &[&str]) -> Value {
        let path = data(file).display().to_string();
        let done = self.run(&[&["import", &path, "--json"], more].concat());
        assert!(done.status.success(), "{done:?}");
        serde_json::from_slice(&done.stdout).unwrap()
    }

    fn runs(&self, variant: &str) -> Vec<ImportedRun> {
        let store = Store::new(self.folder.path().join("tophalf-runs"));
        let all = load(&store.find(variant).unwrap()).unwrap();
        all.into_iter()
            .map(|stored| match stored {
                Stored::Imported(run) => *run,
                Stored::Measured(_) => panic!("a measured run"),
            })
            .collect()
    }

    fn compare(&self, base: &str, new: &str) -> Comparison {
        compare_imported(&self.runs(base), &self.runs(new), &Asked::default()).unwrap()
    }

    /// Asserts that `import` of `text` fails with `code` and one line that has all of `words`, and keeps nothing.
    #[track_caller]
    fn refuses(&self, text: &[u8], more: &[&str], code: i32, words: &[&str]) {
        std::fs::write(self.folder.path().join("file"), text).unwrap();
        let done = self.run(&[&["import", "file"], more].concat());
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(code), "{done:?}");
        assert!(said.lines().count() == 1 && words.iter().all(|word| said.contains(word)), "{said}");
        assert!(done.stdout.is_empty() && !self.folder.path().join("tophalf-runs").exists(), "{done:?}");
    }
}

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(file)
}

fn metric<'a>(comparison: &'a Comparison, name: &str) -> &'a MetricComparison {
    comparison.metrics.iter().find(|metric| metric.metric == name).unwrap()
}

#[track_caller]
fn close(value: Option<f64>, expected: f64) {
    assert!(value.is_some_and(|value| (value - expected).abs() < 1e-4), "{value:?} is not {expected}");
}

/// Three against three are separated, and cannot be more than that: 4 a side could.
#[test]
fn the_ufs_report_is_separated_and_too_small() {
    let bench = Bench::new();
    assert_eq!(bench.import("reports/ufs-report.csv", &[])["imported"].as_array().unwrap().len(), 24);
    let comparison = bench.compare("5.15", "6.18");
    assert!(comparison.imported);
    let single = metric(&comparison, "mixed-st.score");
    close(single.change_percent, -27.6597);
    close(single.p_value, 0.1);
    assert_eq!(single.verdict, Verdict::Inconclusive);
    assert!(single.reason.contains('4'), "{}", single.reason);
    let resolution = single.resolution.unwrap();
    assert!((resolution.quantum - 290.69).abs() < 0.01 && (resolution.percent - 1.5957).abs() < 1e-3);
    for (name, change, p) in [("random.score", -0.6818, 0.7), ("mixed-mt.score", -2.5239, 0.6)] {
        let other = metric(&comparison, name);
        close(other.change_percent, change);
        close(other.p_value, p);
        assert!(!matches!(other.verdict, Verdict::Regression | Verdict::Improvement), "{other:?}");
        assert_eq!(other.resolution, None);
    }
}

/// The command says what the analysis does, in every format.
#[test]
fn the_command_compares_what_was_imported() {
    let bench = Bench::new();
    bench.import("reports/ufs-report.csv", &[]);
    let done = bench.run(&["compare", "5.15", "6.18", "--json"]);
    assert!(done.status.success(), "{done:?}");
    let said: Value = serde_json::from_slice(&done.stdout).unwrap();
    let single = &said["comparisons"][1];
    assert_eq!((&single["metric"], &single["verdict"]), (&"mixed-st.score".into(), &"inconclusive".into()));
    close(single["p_value"].as_f64(), 0.1);
    for (format, words) in [("benchfmt", "BenchmarkMixed-st.score 1 13372 score"), ("junit", "<skipped")] {
        let done = bench.run(&["compare", "5.15", "6.18", "--format", format]);
        assert!(done.status.success() && String::from_utf8_lossy(&done.stdout).contains(words), "{done:?}");
    }
}

/// 13372, 13081, 13081 against 14244, 13372, 13255 is not evidence, and two of the values are one step apart.
#[test]
fn the_follow_up_series_is_no_evidence() {
    let bench = Bench::new();
    let said = bench.import("reports/ufs-report.csv", &[]);
    let comparison = bench.compare("6.18", "6.18-f2fs-series");
    let single = metric(&comparison, "mixed-st.score");
    close(single.change_percent, 3.3819);
    close(single.p_value, 0.3);
    assert!(!matches!(single.verdict, Verdict::Regression | Verdict::Improvement), "{single:?}");
    let pooled = [&single.base.values[..], &single.new.values[..]].concat();
    assert!((quantum(&pooled).unwrap().step - 58.138).abs() < 0.01);
    // Without 13255 the step is five times that.
    let reverted = bench.compare("6.18", "6.18-reverted");
    let single = metric(&reverted, "mixed-st.score");
    close(single.change_percent, 40.4411);
    close(single.p_value, 0.1);
    assert_eq!(single.verdict, Verdict::Inconclusive);
    let pooled = [&single.base.values[..], &single.new.values[..]].concat();
    assert!((quantum(&pooled).unwrap().step - 290.69).abs() < 0.01);
    let audited = said["resolution"].as_array().unwrap();
    let steps: Vec<bool> = audited.iter().map(|metric| metric["quantum"].is_number()).collect();
    assert_eq!(steps, [false, true, false], "{audited:?}");
    assert_eq!(audited[1]["workload"], "mixed-st");
}

/// The cell that changes, and the one that must not: one run each, so values and nothing else.
#[test]
fn the_nvme_report_gives_values_of_single_runs() {
    let bench = Bench::new();
    bench.import("reports/nvme-fio.txt", &[]);
    let comparison = bench.compare("6.14.0-1015-gcp", "6.14.0-32-generic");
    for (cell, base, new) in [("nvme1n1+nvme3n1", 6146.0, 6141.0), ("nvme1n1+nvme10n1", 5254.0, 6147.0)] {
        let sum = metric(&comparison, &format!("{cell}.read_bw_mib_s"));
        assert_eq!((&sum.base.values[..], &sum.new.values[..]), (&[base][..], &[new][..]));
        assert_eq!((sum.change_percent, sum.p_value, sum.change_ci95_percent), (None, None, None));
        assert_eq!((sum.base.stddev_percent, sum.verdict), (None, Verdict::Inconclusive));
    }
    let job = metric(&comparison, "nvme1n1+nvme10n1.job1.read_bw_mib_s");
    assert_eq!((job.base.values[0], job.new.values[0]), (2618.0, 3072.0));
}

#[test]
fn the_pixel_report_gives_values_of_single_runs() {
    let bench = Bench::new();
    bench.import("reports/pixel6-fio.csv", &[]);
    let comparison = bench.compare("original", "threaded");
    assert_eq!(comparison.metrics.len(), 8);
    let one = metric(&comparison, "block/randread x1.iops_avg");
    assert_eq!((one.base.values[0], one.new.values[0]), (10356.69, 7143.21));
    assert_eq!((one.change_percent, one.p_value, one.verdict), (None, None, Verdict::Inconclusive));
}

/// The same file twice is one import, and that is said.
#[test]
fn a_file_is_imported_once() {
    let bench = Bench::new();
    let first = bench.import("fio/json.json", &["--variant", "6.12", "--run", "1"]);
    assert_eq!((&first["files"][0]["runs"], &first["files"][0]["there_already"]), (&1.into(), &0.into()));
    let again = bench.import("fio/json.json", &["--variant", "6.12", "--run", "1"]);
    assert_eq!(again["files"][0]["there_already"], 1);
    assert_eq!(again["imported"], first["imported"]);
    assert_eq!(bench.runs("6.12").len(), 1);
    // The same name with something else in it is refused, and the first stays.
    let path = data("fio/json.json").display().to_string();
    let other = bench.run(&["import", &path, "--variant", "6.12", "--run", "2"]);
    assert_eq!(other.status.code(), Some(2), "{other:?}");
    assert_eq!(bench.runs("6.12")[0].order, Some(1));
}

#[test]
fn runs_of_several_files_count_on() {
    let bench = Bench::new();
    let second = data("fio/json-plus-group.json").display().to_string();
    let said =
        bench.import("fio/json.json", &[&second, "--variant", "6.12", "--workload", "mix-4k", "--run", "5"]);
    let order: Vec<_> = said["imported"].as_array().unwrap().iter().map(|run| run["order"].clone()).collect();
    assert_eq!(order, [5, 6]);
    assert!(bench.runs("6.12").iter().all(|run| run.workload == "mix-4k"));
}

/// Nothing of a bad file is kept, and nothing is green.
#[test]
fn bad_files_are_refused_whole() {
    let bench = Bench::new();
    bench.refuses(b"", &[], 3, &["file is empty"]);
    bench.refuses(b"\x7fELF\x02\x01\x01\0\0\0", &[], 3, &["file", "line 1"]);
    bench.refuses(b"\xff\xfe\0", &[], 3, &["file", "line 1", "UTF-8"]);
    bench.refuses(b"Dear all,\n", &[], 3, &["neither output of fio nor a table"]);
    bench.refuses(b"variant,workload,score\na,w,1\na,w2,NaN\n", &[], 3, &["line 3", "NaN"]);
    bench.refuses(b"workload,score\nw,1\n", &[], 3, &["line 1", "variant"]);
    let json = std::fs::read(data("fio/json.json")).unwrap();
    bench.refuses(&json[..json.len() / 2], &["--variant", "x"], 3, &["line ", "cut off"]);
    bench.refuses(&json, &[], 2, &["--variant"]);
    bench.refuses(&json, &["--variant", "x", "--unit", "ns"], 2, &["--unit"]);
    // A good file beside a bad one is not kept either.
    let good = data("reports/ufs-report.csv").display().to_string();
    bench.refuses(b"variant,workload,score\na,w,\n", &[&good], 3, &["line 2"]);
    let folder = bench.run(&["import", "."]);
    assert_eq!(folder.status.code(), Some(2), "{folder:?}");
    assert_eq!(bench.run(&["import", "nothing"]).status.code(), Some(2));
    assert_eq!(bench.run(&["import"]).status.code(), Some(2));
}

/// What a reader sees.
#[test]
fn an_import_as_text() {
    let bench = Bench::new();
    std::fs::copy(data("reports/ufs-report.csv"), bench.folder.path().join("ufs-report.csv")).unwrap();
    let done = bench.run(&["import", "ufs-report.csv"]);
    insta::assert_snapshot!(String::from_utf8(done.stdout).unwrap());
}
