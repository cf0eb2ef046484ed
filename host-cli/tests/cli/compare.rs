//! Two sides by their names, and baselines that are none.

use crate::bench::Bench;
use std::fs;

#[test]
fn variants_folders_and_files_are_sides() {
    let bench = Bench::new();
    for variant in ["6.12", "6.18"] {
        bench.run("", &["run", "--runs", "2", "--variant", variant]).succeeds();
    }
    let file = bench.stored()[0].display().to_string();
    for (base, new) in [("6.12", "6.18"), ("tophalf-runs/6.12", "6.18"), (&file, "6.18")] {
        let done = bench.run("", &["compare", base, new, "--json"]);
        done.succeeds();
        assert_eq!(done.json()["comparisons"][0]["new"]["n"], 2, "{done:?}");
    }
}

/// nubo-db/dynoxide#170: a baseline that is missing or cannot be read is never green.
#[test]
fn a_baseline_that_is_none() {
    let bench = Bench::new();
    bench.run("", &["run", "--variant", "new"]).succeeds();
    bench.run("", &["compare", "old", "new"]).fails(2, &["old is no variant"]);
    fs::create_dir(bench.path("empty")).unwrap();
    bench.run("", &["compare", "empty", "new"]).fails(3, &["no finished run in empty"]);
    let good = fs::read(&bench.stored()[0]).unwrap();
    fs::write(bench.path("cut.tophalf"), &good[..10]).unwrap();
    bench.run("", &["compare", "cut.tophalf", "new"]).fails(3, &["cut.tophalf", "cut off"]);
    fs::write(bench.path("text.tophalf"), "fio-3.33\nStarting 1 process").unwrap();
    bench.run("", &["compare", "text.tophalf", "new"]).fails(3, &["text.tophalf", "no run file"]);
}

/// A torn tail costs the frames it hits; the rest reads, and the run is not used.
#[test]
fn a_torn_run_is_shown_and_left_out() {
    let bench = Bench::new();
    bench.run("", &["run", "--variant", "old"]).succeeds();
    let good = fs::read(&bench.stored()[0]).unwrap();
    bench.run("", &["run", "--variant", "new"]).succeeds();
    fs::write(bench.path("torn.tophalf"), &good[..good.len() - 40]).unwrap();
    let shown = bench.run("", &["show", "torn.tophalf"]);
    assert_eq!(shown.code, 3, "{shown:?}");
    assert!(shown.stdout.contains("INVALID"), "{shown:?}");
    let compared = bench.run("", &["compare", "torn.tophalf", "new"]);
    assert_eq!(compared.code, 3, "{compared:?}");
    assert!(compared.stdout.contains("left out"), "{compared:?}");
    // The same run on both sides, here a copy of it, would count as two.
    bench.run("", &["compare", "torn.tophalf", "old"]).fails(2, &["is there twice"]);
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 0x20;
    fs::write(bench.path("flipped.tophalf"), &flipped).unwrap();
    assert_eq!(bench.run("", &["show", "flipped.tophalf"]).code, 3);
}
