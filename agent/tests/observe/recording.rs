//! A recording holds what the agent reads, answers as the device did, and proves what was not touched.

use crate::common::{folder, own, tree};
use std::{fs, os::unix::fs::symlink, path::Path, sync::mpsc, time::Duration};
use tophalf_agent::observe::{facts, tree::Tree};
use tophalf_wire::{Recorded, RecordedContent};

const TREES: [&str; 5] = ["t615-threaded", "qcom-mcq-esi", "emmc-phone", "shell-tier", "arm64-7.3-format"];
/// Folders of a UFS controller whose files send queries to the device.
const FORBIDDEN: [&str; 4] = ["_descriptor", "/attributes", "/flags", "/string_descriptors"];

fn unpack(things: &[Recorded], into: &Path) {
    for thing in things {
        let place = into.join(thing.path.trim_start_matches('/'));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        match &thing.content {
            RecordedContent::File(bytes) => fs::write(place, bytes).unwrap(),
            RecordedContent::Link(target) => symlink(target, place).unwrap(),
            RecordedContent::Folder => fs::create_dir_all(place).unwrap(),
        }
    }
}

#[test]
fn a_replay_finds_what_the_recording_found() {
    for name in TREES {
        let original = tree(name).recording();
        let facts = facts::read(&original, &own());
        let things = original.into_recorded();
        let replay = tempfile::tempdir().unwrap();
        unpack(&things, replay.path());
        assert_eq!(facts::read(&Tree::at(replay.path()), &own()), facts, "{name}");
        assert_eq!(facts, facts::read(&tree(name), &own()), "{name}: recording changes nothing");
    }
}

#[test]
fn a_recording_has_no_other_processes() {
    let original = tree("t615-threaded").recording();
    facts::read(&original, &own());
    let things = original.into_recorded();
    assert!(things.iter().any(|thing| thing.path == "/proc/74/stat"));
    for pid in [1, 2, 5768, 5769] {
        let other = things.iter().find(|thing| thing.path.starts_with(&format!("/proc/{pid}/")));
        assert_eq!(other, None);
    }
}

#[test]
fn sbc_bench_133_nothing_that_asks_the_ufs_device_is_read() {
    for name in TREES {
        let original = tree(name).recording();
        facts::read(&original, &own());
        for thing in original.into_recorded() {
            assert!(!FORBIDDEN.iter().any(|part| thing.path.contains(part)), "{name}: {}", thing.path);
        }
    }
}

/// Opening a FIFO that nobody writes to never returns.
#[test]
fn sbc_bench_133_a_tripwire_is_never_opened() {
    let copy = tempfile::tempdir().unwrap();
    copy_tree(&folder("t615-threaded"), copy.path());
    let controller = copy.path().join("sys/devices/platform/soc/soc:ap-apb/20200000.ufs");
    for group in ["geometry_descriptor", "device_descriptor", "attributes", "flags"] {
        for file in fs::read_dir(controller.join(group)).unwrap() {
            let path = file.unwrap().path();
            fs::remove_file(&path).unwrap();
            nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        }
    }
    let tree = Tree::at(copy.path());
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || done.send(Box::new(facts::read(&tree, &own()))));
    let facts = wait.recv_timeout(Duration::from_secs(20)).expect("a tripwire was opened");
    assert!(facts.controllers.is_ok());
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        let place = to.join(entry.file_name());
        if kind.is_dir() {
            copy_tree(&entry.path(), &place);
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path()).unwrap(), place).unwrap();
        } else {
            fs::copy(entry.path(), place).unwrap();
        }
    }
}

#[test]
fn this_machine_gives_facts_and_a_recording_of_them() {
    let live = Tree::live().recording();
    let facts = facts::read(&live, &own());
    assert!(facts.system.cpus_possible.is_ok(), "{:?}", facts.system.cpus_possible);
    assert_ne!(facts.system.page_bytes, 1);
    let replay = tempfile::tempdir().unwrap();
    unpack(&live.into_recorded(), replay.path());
    let again = facts::read(&Tree::at(replay.path()), &own());
    assert_eq!(again.system.kernel_release, facts.system.kernel_release);
    assert_eq!(again.system.cpus, facts.system.cpus.clone());
    assert_eq!(again.controllers.map_err(|_| ()), facts.controllers.map_err(|_| ()));
}
