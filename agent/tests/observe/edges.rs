//! The counters at the ends of windows.

use crate::common::{folder, tree};
use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering},
};
use tophalf_agent::observe::{edge::EdgeReader, tree::Tree};
use tophalf_wire::{EdgeSide, ThreadRole, Unavailable};

/// A clock that goes on by one at each look.
fn clock() -> u64 {
    static NOW: AtomicU64 = AtomicU64::new(1);
    NOW.fetch_add(1, Ordering::Relaxed)
}

const THREADS: [(ThreadRole, u32); 3] = [
    (ThreadRole::IrqThread { irq: 205 }, 74),
    (ThreadRole::Ksoftirqd { cpu: 0 }, 15),
    (ThreadRole::Submitter, 4711),
];

#[test]
fn an_edge_has_every_counter() {
    let tree = tree("t615-threaded");
    let mut reader = EdgeReader::new(&tree, Ok("sda".to_owned()), THREADS.to_vec(), 4711, clock);
    let edge = reader.read(3, EdgeSide::Before, 6);
    assert_eq!((edge.window, edge.side), (3, EdgeSide::Before));
    assert!(edge.begin_ns < edge.end_ns);
    let table = edge.interrupts.unwrap();
    assert_eq!((table.cpus.len(), table.rows.len()), (8, 16));
    assert!(table.rows.iter().any(|row| row.label == "205" && row.text.ends_with("ufshcd")));
    let softirqs = edge.softirqs.unwrap();
    let block = softirqs.rows.iter().find(|(name, _)| name == "BLOCK").unwrap();
    assert_eq!((block.1[0], block.1[6]), (183_190, 1204));
    let slices: Vec<u64> =
        edge.threads.iter().map(|thread| thread.schedstat.as_ref().unwrap().slices).collect();
    assert_eq!(slices, [183_211, 184_002, 3]);
    assert_eq!(edge.block.unwrap().reads, 183_211);
    assert_eq!(edge.process_io.unwrap().read_bytes, 6_160_384);
    let frequencies: Vec<u64> = edge.cpus.iter().map(|cpu| *cpu.frequency_khz.as_ref().unwrap()).collect();
    assert_eq!((frequencies.len(), frequencies[0], frequencies[7]), (8, 614_400, 768_000));
    assert_eq!(edge.placement.cpu, 6);
    assert_eq!(edge.placement.migrations, Ok(4));
    assert_eq!(edge.placement.allowed, edge.placement.online);
}

#[test]
fn later_edges_have_only_the_interrupts_that_came() {
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir(copy.path().join("proc")).unwrap();
    let file = copy.path().join("proc/interrupts");
    let text = fs::read_to_string(folder("t615-threaded").join("proc/interrupts")).unwrap();
    fs::write(&file, &text).unwrap();
    let tree = Tree::at(copy.path());
    let mut reader = EdgeReader::new(&tree, Err(Unavailable::new("none")), Vec::new(), 1, clock);
    assert_eq!(reader.read(0, EdgeSide::Before, 0).interrupts.unwrap().rows.len(), 16);
    assert!(reader.read(0, EdgeSide::After, 0).interrupts.unwrap().rows.is_empty());
    fs::remove_file(&file).unwrap();
    assert!(reader.read(1, EdgeSide::Before, 0).interrupts.is_err());
    fs::write(&file, text.replace("183211", "183999")).unwrap();
    let rows = reader.read(1, EdgeSide::After, 0).interrupts.unwrap().rows;
    assert_eq!(rows.len(), 1, "against the last edge that had any");
    assert_eq!((rows[0].label.as_str(), rows[0].counts[0], rows[0].text.as_str()), ("205", 183_999, ""));
}

#[test]
fn a_shell_has_reasons_instead_of_the_disk() {
    let tree = tree("shell-tier");
    let refused = Unavailable::new("list /sys/block: Permission denied (os error 13)");
    let mut reader = EdgeReader::new(&tree, Err(refused.clone()), THREADS.to_vec(), 9120, clock);
    let edge = reader.read(0, EdgeSide::Before, 0);
    assert_eq!(edge.block, Err(refused));
    assert!(edge.interrupts.is_ok() && edge.softirqs.is_ok() && edge.process_io.is_ok());
    assert_eq!(edge.threads[0].schedstat.as_ref().unwrap().slices, 183_211);
    let reason = &edge.threads[2].schedstat.as_ref().unwrap_err().reason;
    assert_eq!(reason, "read /proc/4711/schedstat: No such file or directory (os error 2)");
}

#[test]
fn zeros_of_a_thread_that_ran_are_no_figures() {
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir_all(copy.path().join("proc/74")).unwrap();
    fs::write(copy.path().join("proc/74/schedstat"), "0 0 0\n").unwrap();
    fs::write(
        copy.path().join("proc/74/status"),
        "voluntary_ctxt_switches:\t716\nnonvoluntary_ctxt_switches:\t0\n",
    )
    .unwrap();
    let tree = Tree::at(copy.path());
    let mut reader = EdgeReader::new(&tree, Err(Unavailable::new("none")), THREADS[..1].to_vec(), 74, clock);
    let edge = reader.read(0, EdgeSide::Before, 0);
    let reason = &edge.threads[0].schedstat.as_ref().unwrap_err().reason;
    assert!(reason.starts_with("read /proc/74/schedstat: all zero although"), "{reason}");
}
