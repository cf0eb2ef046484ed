//! Files of other tools as they are met, and as they must not be.

mod csv;
mod fio;
mod out;
mod totality;

use super::{Format, Given, ImportError, Imported, read};
use crate::analysis::ImportedRun;

const UFS_REPORT: &str = include_str!("../../../tests/data/reports/ufs-report.csv");
const PIXEL_REPORT: &str = include_str!("../../../tests/data/reports/pixel6-fio.csv");
const NVME_REPORT: &str = include_str!("../../../tests/data/reports/nvme-fio.txt");
const JSON: &str = include_str!("../../../tests/data/fio/json.json");
const JSON_PLUS: &str = include_str!("../../../tests/data/fio/json-plus-group.json");
const TWO_JOBS: &str = include_str!("../../../tests/data/fio/two-jobs.json");
const STATUS: &str = include_str!("../../../tests/data/fio/status-interval.json");
const CLIENTS: &str = include_str!("../../../tests/data/fio/client-server.json");
const CLIENT_TEXT: &str = include_str!("../../../tests/data/fio/client-server.txt");
const TEXT: &str = include_str!("../../../tests/data/fio/fio-text.txt");

/// `text`, of a variant that the user tells.
fn import(text: &str) -> Result<Imported, ImportError> {
    read(text.as_bytes(), "file", None, &Given { variant: Some("x".to_owned()), ..Given::default() })
}

/// `text`, which tells everything itself.
fn whole(text: &str) -> Result<Imported, ImportError> {
    read(text.as_bytes(), "file", None, &Given::default())
}

/// The figure `name`; `None` if there is none.
fn figure(run: &ImportedRun, name: &str) -> Option<f64> {
    run.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value)
}

#[track_caller]
fn fails(result: Result<Imported, ImportError>, words: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn formats_are_told_by_their_content() {
    for (text, format) in [
        (UFS_REPORT, Some(Format::Csv)),
        (NVME_REPORT, Some(Format::FioText)),
        (TEXT, Some(Format::FioText)),
        (JSON, Some(Format::FioJson)),
        (CLIENTS, Some(Format::FioJson)),
        ("Dear all,\nplease find the log\n", None),
    ] {
        assert_eq!(Format::of(text), format);
    }
}

#[test]
fn files_that_are_none() {
    fails(import(""), "is empty");
    fails(import("\u{feff} \n"), "is empty");
    fails(import("#!/bin/sh\n"), "neither");
    fails(import("variant,run,score\n\0"), "line 2: has a zero byte");
    let binary = read(b"variant,score\na,1\n\xff\xfe", "file", None, &Given::default());
    fails(binary, "line 3: is no text");
    let long = vec![b'a'; super::MAX_FILE_BYTES + 1];
    fails(read(&long, "file", None, &Given::default()), "longer than");
}

#[test]
fn ids_tell_variants_and_files_apart_and_stay_the_same() {
    let ids =
        |text: &str| -> Vec<String> { whole(text).unwrap().runs.into_iter().map(|run| run.id).collect() };
    let first = ids(UFS_REPORT);
    assert_eq!(first, ids(UFS_REPORT));
    let mut distinct = first.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 24);
    let other = ids(&format!("{UFS_REPORT}random,T615,6.19,1,1\n"));
    assert!(!first.iter().any(|id| other.contains(id)));
}

#[test]
fn what_fio_tells_itself_is_not_to_be_said() {
    let given = Given { unit: Some("IOPS".to_owned()), ..Given::default() };
    fails(read(JSON.as_bytes(), "file", None, &given), "leave --unit");
    fails(whole(JSON), "give --variant");
}
