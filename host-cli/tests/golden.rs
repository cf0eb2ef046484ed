//! Run files of every released wire version, which must read for ever.
//!
//! When a test here breaks, the reader has forgotten a version: mend the reader, never the file. A new wire
//! version adds files, recorded on the virtual phones by
//! `tophalf run --seconds 1 --cpu 0 --hops-ops 250 --sample-ms 200`.

use std::path::PathBuf;
use tophalf::analysis::{RunSummary, summarize};
use tophalf::load::{FigureCache, Stored, load_with};
use tophalf::recording::Recording;
use tophalf::store::{Store, StoredRun};

fn load(name: &str) -> RunSummary {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/runs").join(name);
    let mut run = StoredRun::open(&path).unwrap();
    let recording = Recording::from_events(run.events.by_ref());
    run.events.finish().unwrap();
    summarize(&run.header, &recording)
}

/// The figures that a script would read, as JSON has them.
#[test]
fn version_1_gives_the_figures_it_gave() {
    let figures: Vec<serde_json::Value> =
        ["v1-hard-6.12.tophalf", "v1-threaded-6.18.tophalf", "v1-hard-7.3.tophalf"]
            .map(|name| {
                let run = serde_json::to_value(load(name)).unwrap();
                serde_json::json!({
                    "file": name,
                    "path": run["completion"]["path"],
                    "ops": run["ops"],
                    "device_ios": run["device_ios"],
                    "elapsed_ns": run["elapsed_ns"],
                    "latency_ns": run["latency_ns"],
                    "per_op": run["per_op"],
                    "valid": run["quality"]["valid"],
                })
            })
            .into();
    insta::assert_snapshot!(serde_json::to_string_pretty(&figures).unwrap());
}

/// With a cache of figures or without, the first time or the second.
#[test]
fn kept_figures_are_those_of_the_files() {
    let runs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/runs");
    let found = Store::new("none").find(runs.to_str().unwrap()).unwrap();
    let computed: Vec<Stored> = found
        .runs
        .iter()
        .map(|path| load(path.file_name().unwrap().to_str().unwrap()))
        .map(|run| Stored::Measured(Box::new(run)))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let cache = FigureCache::new(folder.path().to_owned()).unwrap();
    for cache in [None, Some(&cache), Some(&cache)] {
        assert_eq!(load_with(&found, cache).unwrap(), computed);
    }
}
