use super::*;
use crate::analysis::{Better, ImportSource, ImportedMetric};
use crate::failure::{EXIT_INVALID, EXIT_USAGE, exit_code};
use proptest::prelude::*;
use tophalf_wire::{Event, FrameWriter, Hello, Level, LogLine, Message};

fn header(id: &str, variant: &str) -> RunHeader {
    RunHeader {
        id: id.to_owned(),
        begun_unix_ns: 1_764_565_200_000_000_000,
        host_version: "0.1.0".to_owned(),
        device: "T615".to_owned(),
        transport: "adb shell -T, su -c".to_owned(),
        variant: variant.to_owned(),
        workload_name: "randread-4k".to_owned(),
        session: 7,
    }
}

fn frames(session: u32) -> Vec<u8> {
    let mut writer = FrameWriter::new(session);
    let log = Message::Log(LogLine { level: Level::Info, text: "hello".to_owned() });
    [Message::Hello(Hello::new("0.1.0", "test")), log]
        .iter()
        .flat_map(|message| writer.frame(message).unwrap())
        .collect()
}

fn stored(folder: &Path, id: &str, variant: &str) -> PathBuf {
    let mut run = Store::new(folder).begin(&header(id, variant)).unwrap();
    run.append(&frames(7)).unwrap();
    run.keep().unwrap()
}

fn messages(path: &Path) -> usize {
    let mut run = StoredRun::open(path).unwrap();
    let count = run.events.by_ref().filter(|event| matches!(event, Event::Message { .. })).count();
    run.events.finish().unwrap();
    count
}

#[test]
fn the_head_is_these_bytes() {
    let head = run_file::encode_head(&header("id", "6.18")).unwrap();
    // The body is postcard: strings with their length before them, the time as a zigzag varint.
    let body = b"\x02id\x80\x80\xa1\x90\xe9\xac\xff\xfc\x30\x050.1.0\x04T615\x13adb shell -T, su -c\x046.18\x0brandread-4k\x07";
    let mut expected = b"TOPHALF\n\x01\x00".to_vec();
    expected.extend([u8::try_from(body.len()).unwrap(), 0, 0, 0]);
    expected.extend(body);
    // As `python3 -c "import zlib; print(hex(zlib.crc32(body)))"` gives it.
    expected.extend(0xd81e3d0c_u32.to_le_bytes());
    assert_eq!(head, expected);
}

#[test]
fn a_run_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = stored(folder.path(), "20261201T052000Z-T615-0a1b", "6.18");
    assert_eq!(path, folder.path().join("6.18/20261201T052000Z-T615-0a1b.tophalf"));
    let run = StoredRun::open(&path).unwrap();
    assert_eq!(run.header, header("20261201T052000Z-T615-0a1b", "6.18"));
    assert!(!run.partial);
    assert_eq!(messages(&path), 2);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_run_that_was_never_finished_is_read_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Store::new(folder.path()).begin(&header("one", "v")).unwrap();
    run.append(&frames(7)[..300]).unwrap();
    drop(run);
    let path = folder.path().join("v/one.tophalf.partial");
    assert!(StoredRun::open(&path).unwrap().partial);
    assert_eq!(messages(&path), 1);
    assert!(Store::new(folder.path()).find("v").is_err(), "a partial run is not part of a variant");
}

#[test]
fn a_run_never_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = stored(folder.path(), "one", "v");
    let before = fs::read(&path).unwrap();
    let again = Store::new(folder.path()).begin(&header("one", "v")).unwrap();
    assert!(again.keep().unwrap_err().to_string().contains("one.tophalf.partial"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn damage_to_the_head_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read(stored(folder.path(), "one", "v")).unwrap();
    let path = folder.path().join("bad.tophalf");
    let says = |bytes: &[u8], words: &str| {
        fs::write(&path, bytes).unwrap();
        let error = StoredRun::open(&path).unwrap_err();
        assert_eq!(exit_code(&error), EXIT_INVALID);
        assert!(error.to_string().contains("bad.tophalf") && error.to_string().contains(words), "{error}");
    };
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x40;
        bytes
    };
    says(b"", "cut off");
    says(&good[..20], "cut off");
    says(&flipped(0), "no run file");
    says(&flipped(8), "format 65");
    says(&flipped(12), "length is not possible");
    says(&flipped(16), "check sum");
}

#[test]
fn every_cut_and_every_flip_gives_an_error_or_frames() {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read(stored(folder.path(), "one", "v")).unwrap();
    let path = folder.path().join("bad.tophalf");
    for at in 0..good.len() {
        let mut flipped = good.clone();
        flipped[at] ^= 0x10;
        for bytes in [&good[..at], &flipped] {
            fs::write(&path, bytes).unwrap();
            if let Ok(run) = StoredRun::open(&path) {
                assert!(run.events.count() <= 4);
            }
        }
    }
}

#[test]
fn files_of_a_variant_are_listed_finished_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    assert_eq!(store.files_of("v").unwrap(), [] as [PathBuf; 0]);
    let finished = stored(folder.path(), "b", "v");
    drop(store.begin(&header("a", "v")).unwrap());
    assert_eq!(store.files_of("v").unwrap(), [folder.path().join("v/a.tophalf.partial"), finished]);
}

#[test]
fn what_a_name_means() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let one = stored(folder.path(), "one", "6.12");
    let two = stored(folder.path(), "two", "6.12");
    let other = stored(folder.path(), "three", "../etc/passwd");
    assert!(other.starts_with(folder.path()), "{}", other.display());
    assert_eq!(store.find("6.12").unwrap().runs, [one.clone(), two.clone()]);
    assert_eq!(store.find("../etc/passwd").unwrap().runs, [other]);
    assert_eq!(store.find("two").unwrap().runs, [two]);
    assert_eq!(store.find(one.to_str().unwrap()).unwrap().runs, [one]);
    assert_eq!(store.find(folder.path().to_str().unwrap()).unwrap().runs.len(), 3);
    assert_eq!(exit_code(&store.find("7.3").unwrap_err()), EXIT_USAGE);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(exit_code(&store.find(empty.path().to_str().unwrap()).unwrap_err()), EXIT_INVALID);
}

fn imported(id: &str, value: f64) -> ImportedRun {
    ImportedRun {
        id: id.to_owned(),
        variant: "5.15".to_owned(),
        workload: "mixed-st".to_owned(),
        device: None,
        boot: None,
        kernel: None,
        order: Some(1),
        metrics: vec![ImportedMetric {
            name: "score".to_owned(),
            unit: "score".to_owned(),
            better: Better::Higher,
            value,
        }],
        source: ImportSource {
            format: "csv".to_owned(),
            file: "ufs-report.csv".to_owned(),
            crc32: "9ae0daaf".to_owned(),
            line: Some(2),
        },
    }
}

#[test]
fn an_imported_run_is_kept_once_and_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    // A value whose nearest neighbours differ in the last digit alone.
    let run = imported("ufs-report-1", 18_217.290_000_000_003);
    let path = store.keep_imported(&run).unwrap();
    assert_eq!(path, folder.path().join("5.15/ufs-report-1.imported.json"));
    assert_eq!(read_imported(&path).unwrap(), run);
    assert_eq!(store.keep_imported(&run).unwrap(), path, "the same again");
    let before = fs::read(&path).unwrap();
    let error = store.keep_imported(&imported("ufs-report-1", 18218.0)).unwrap_err();
    assert_eq!(exit_code(&error), EXIT_USAGE);
    assert!(error.to_string().contains("another run"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
    for value in [f64::NAN, f64::INFINITY] {
        assert_eq!(exit_code(&store.keep_imported(&imported("other", value)).unwrap_err()), EXIT_USAGE);
    }
    assert_eq!(store.find("5.15").unwrap().runs, std::slice::from_ref(&path));
    assert_eq!(store.find("ufs-report-1").unwrap().runs, [path]);
}

#[test]
fn what_is_not_exactly_an_imported_run_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = Store::new(folder.path()).keep_imported(&imported("one", 2.5)).unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let says = |text: &str, words: &[&str]| {
        fs::write(&path, text).unwrap();
        let error = read_imported(&path).unwrap_err();
        assert_eq!(exit_code(&error), EXIT_INVALID);
        for word in ["one.imported.json"].iter().chain(words) {
            assert!(error.to_string().contains(word), "{word:?} is not in {error}");
        }
    };
    says("", &["no imported run", "line 1"]);
    says(&good[..good.len() / 2], &["no imported run", "line"]);
    says(&good.replace("2.5", "NaN"), &["line 16"]);
    says(&good.replace("2.5", "1e999"), &["line 16", "number out of range"]);
    says(&good.replace("2.5", "null"), &["line 16", "invalid type"]);
    says(&good.replace("\"workload\"", "\"work\""), &["unknown field `work`", "line 6"]);
    says(&good.replace("\"schema\": 1", "\"schema\": 2, \"new\": 0"), &["schema 2"]);
    says(&format!("{good}{good}"), &["trailing characters", "line"]);
    says(&" ".repeat(5 << 20), &["too long"]);
}

#[test]
fn files_of_something_else_are_counted_and_never_taken_for_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    fs::create_dir_all(folder.path().join("v/below")).unwrap();
    for name in ["v/fio.json", "v/notes.txt", "v/below/tophalf", "v/.hidden", "v/two.tophalf.partial"] {
        fs::write(folder.path().join(name), "x").unwrap();
    }
    let error = store.find("v").unwrap_err();
    assert_eq!(exit_code(&error), EXIT_INVALID);
    assert!(error.to_string().contains("only 3 files of something else"), "{error}");
    let run = stored(folder.path(), "one", "v");
    fs::create_dir(folder.path().join("campaigns")).unwrap();
    fs::write(folder.path().join("campaigns/plan.toml"), "schema = 1").unwrap();
    let whole = store.find(folder.path().to_str().unwrap()).unwrap();
    assert_eq!(whole, Found { runs: vec![run], foreign: 3 });
}

#[test]
fn names_of_files_are_harmless_and_distinct() {
    for text in ["", ".", "..", "a/b", "a_b", "a b", "\u{1b}[2J", &"n".repeat(300), &"n".repeat(301)] {
        let name = file_name(text);
        assert!(
            name.len() <= 120 && !name.starts_with('.') && !name.contains(['/', ' ', '\u{1b}']),
            "{name}"
        );
    }
    assert_ne!(file_name("a/b"), file_name("a_b"));
    assert_ne!(file_name(&"n".repeat(300)), file_name(&"n".repeat(301)));
    assert_eq!(file_name("6.18.15+deb13-arm64"), "6.18.15+deb13-arm64");
    assert_eq!(id_part("127.0.0.1:15555"), "127.0.0.1_15555");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    // Whatever a variant is called, its runs lie in the store, are found by that name, and are nobody else's.
    #[test]
    fn a_variant_of_any_name_is_found_by_it(
        names in prop::collection::btree_set(
            prop_oneof![any::<String>(), "[./_a-b]{0,4}", "(\\.\\./){1,3}[a-z/]{0,9}", "[a-z/ ]{90,130}"], 2..4,
        ),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("runs"));
        let mut expected = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let run = ImportedRun { variant: name.clone(), ..imported(&format!("run-{number}"), 1.0) };
            let path = store.keep_imported(&run).unwrap();
            prop_assert_eq!(path.parent().unwrap().parent().unwrap(), store.folder());
            expected.push((name, path));
        }
        for (name, path) in expected {
            prop_assert_eq!(store.find(name).unwrap(), Found { runs: vec![path], foreign: 0 });
        }
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside the store");
    }
}
