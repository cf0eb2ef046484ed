use super::*;
use crate::failure::{EXIT_INVALID, EXIT_USAGE, exit_code};
use tophalf_wire::{FrameWriter, Hello, Level, LogLine, Message};

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
    let head = encode_head(&header("id", "6.18")).unwrap();
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
    assert_eq!(store.find("6.12").unwrap(), [one.clone(), two.clone()]);
    assert_eq!(store.find("../etc/passwd").unwrap(), [other]);
    assert_eq!(store.find("two").unwrap(), [two]);
    assert_eq!(store.find(one.to_str().unwrap()).unwrap(), [one]);
    assert_eq!(store.find(folder.path().to_str().unwrap()).unwrap().len(), 3);
    assert_eq!(exit_code(&store.find("7.3").unwrap_err()), EXIT_USAGE);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(exit_code(&store.find(empty.path().to_str().unwrap()).unwrap_err()), EXIT_INVALID);
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
