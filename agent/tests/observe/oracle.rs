//! The same files give the same values to the `procfs` crate.

use crate::common::folder;
use procfs_core::{FromRead, process};
use std::fs;
use tophalf_agent::observe::{process_io, schedstat, task, text};

/// Folders of processes: those of a recorded tree, and whatever runs here. Processes come and go, so that
/// each file is read once and given to both.
fn files(name: &str) -> Vec<Vec<u8>> {
    let folders = [folder("t615-threaded").join("proc"), "/proc".into()];
    let processes = folders.into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = processes.filter_map(|entry| {
        let entry = entry.unwrap();
        text::number::<u32>(entry.file_name().as_encoded_bytes())?;
        fs::read(entry.path().join(name)).ok().filter(|bytes| !bytes.is_empty())
    });
    let files: Vec<_> = files.collect();
    assert!(files.len() > 1, "nothing to compare");
    files
}

#[test]
fn stat() {
    for bytes in files("stat") {
        let ours = task::parse_stat(&bytes).unwrap();
        let theirs = process::Stat::from_read(&bytes[..]).unwrap();
        assert_eq!(ours.comm, theirs.comm);
        assert_eq!(ours.state, theirs.state);
        assert_eq!(i64::from(ours.pid), i64::from(theirs.pid));
        assert_eq!(i64::from(ours.ppid), i64::from(theirs.ppid));
        assert_eq!(i64::from(ours.nice), theirs.nice);
        assert_eq!(Some(i32::from(ours.cpu)), theirs.processor);
        assert_eq!(Some(ours.rt_priority), theirs.rt_priority);
        assert_eq!(Some(ours.policy), theirs.policy);
    }
}

#[test]
fn status() {
    for bytes in files("status") {
        let ours = task::parse_status(&bytes);
        let theirs = process::Status::from_read(&bytes[..]).unwrap();
        assert_eq!(ours.uid, Some(theirs.euid));
        assert_eq!(ours.voluntary_switches, theirs.voluntary_ctxt_switches);
        assert_eq!(ours.nonvoluntary_switches, theirs.nonvoluntary_ctxt_switches);
        let theirs = theirs.cpus_allowed_list.map(|ranges| ranges.into_iter().flat_map(|(a, b)| a..=b));
        let theirs: Option<Vec<u32>> = theirs.map(Iterator::collect);
        assert_eq!(ours.cpus_allowed.map(|cpus| cpus.into_iter().map(u32::from).collect()), theirs);
    }
}

#[test]
fn schedstat() {
    for bytes in files("schedstat") {
        let ours = schedstat::parse(&bytes).unwrap();
        let theirs = process::Schedstat::from_read(&bytes[..]).unwrap();
        assert_eq!(
            (ours.run_ns, ours.wait_ns, ours.slices),
            (theirs.sum_exec_runtime, theirs.run_delay, theirs.pcount)
        );
    }
}

#[test]
fn io() {
    let bytes = fs::read("/proc/self/io").unwrap();
    let ours = process_io::parse(&bytes).unwrap();
    let theirs = process::Io::from_read(&bytes[..]).unwrap();
    assert_eq!((ours.rchar, ours.wchar), (theirs.rchar, theirs.wchar));
    assert_eq!((ours.read_bytes, ours.write_bytes), (theirs.read_bytes, theirs.write_bytes));
}
