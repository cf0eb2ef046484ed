//! What is read while I/O goes on allocates nothing.

use crate::common::tree;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    time::Duration,
};
use tophalf_agent::observe::{
    live::{IrqCountReader, SchedstatReader},
    tree::Tree,
};
use tophalf_wire::SchedStat;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged; the count is a thread's own number,
// which has no destructor and needs no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above; `memory` came from `System`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` gives, and the allocations it made on this thread.
fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATIONS.get();
    let result = work();
    (result, ALLOCATIONS.get() - before)
}

#[test]
fn the_counter_counts() {
    assert_eq!(counted(|| Vec::<u8>::with_capacity(1)).1, 1);
}

#[test]
fn a_schedstat_read_again_and_again() {
    let mut reader = SchedstatReader::open(&tree("t615-threaded"), 74).unwrap();
    let expected = SchedStat { run_ns: 1_840_211_903, wait_ns: 911_204_418, slices: 183_211 };
    for _ in 0..3 {
        assert_eq!(counted(|| reader.read()), (Some(expected), 0));
    }
}

#[test]
fn interrupt_counts_by_line() {
    let irqs: Vec<u32> = (172..=180).collect();
    let mut reader = IrqCountReader::open(&tree("qcom-mcq-esi"), &irqs);
    assert_eq!(reader.source(), Ok("per_cpu_count"));
    let mut counts = vec![None; irqs.len()];
    for _ in 0..3 {
        assert_eq!(counted(|| reader.read(&mut counts)).1, 0);
        assert_eq!((counts[0], counts[1], counts[8]), (Some(40), Some(70_012), Some(63_012)));
    }
}

#[test]
fn interrupt_counts_out_of_the_table() {
    let mut reader = IrqCountReader::open(&tree("shell-tier"), &[205, 31, 999]);
    assert_eq!(reader.source(), Ok("/proc/interrupts"));
    assert_eq!(reader.irqs(), [205, 31, 999]);
    let mut counts = [None; 3];
    for _ in 0..3 {
        assert_eq!(counted(|| reader.read(&mut counts)).1, 0);
        assert_eq!(counts, [Some(183_211), Some(1712), None]);
    }
}

#[test]
fn without_any_source_there_is_a_reason_and_no_count() {
    let empty = tempfile::tempdir().unwrap();
    let mut reader = IrqCountReader::open(&Tree::at(empty.path()), &[18]);
    assert!(reader.source().unwrap_err().reason.starts_with("read /proc/interrupts: "));
    let mut counts = [Some(7)];
    reader.read(&mut counts);
    assert_eq!(counts, [None]);
}

#[test]
fn netdata_1416_a_sample_reads_less_than_200_bytes_a_line() {
    for (name, irq) in [("t615-threaded", 205), ("qcom-mcq-esi", 180)] {
        let tree = tree(name);
        assert!(tree.read(&format!("/sys/kernel/irq/{irq}/per_cpu_count")).unwrap().len() < 200);
        assert_eq!(
            IrqCountReader::open(&tree, &[irq]).source(),
            Ok("per_cpu_count"),
            "by one system call a line"
        );
    }
}

#[test]
fn xtools_14_a_thread_has_its_own_figures_and_not_its_process() {
    let slices_after_sleeps = |sleeps: u32| {
        let work = move || {
            let mut reader = SchedstatReader::open(&Tree::live(), own_tid()).ok()?;
            (0..sleeps).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
            reader.read().map(|stat| stat.slices)
        };
        std::thread::spawn(work).join().unwrap()
    };
    let (Some(few), Some(many)) = (slices_after_sleeps(0), slices_after_sleeps(40)) else {
        eprintln!("skipped: this kernel has no schedstat");
        return;
    };
    assert!(many >= 40 && few < many, "{few} {many}");
}

fn own_tid() -> u32 {
    let own = std::fs::read_link("/proc/thread-self").unwrap();
    own.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// This thread's statistics on the running system: files of the kernel, not of a disk.
#[test]
fn a_live_schedstat_moves_on_without_being_opened_again() {
    let Ok(mut reader) = SchedstatReader::open(&Tree::live(), own_tid()) else {
        eprintln!("skipped: this kernel has no schedstat");
        return;
    };
    let before = reader.read().unwrap();
    std::thread::sleep(Duration::from_millis(5));
    let (after, allocations) = counted(|| reader.read());
    assert!(after.unwrap().slices > before.slices);
    assert_eq!(allocations, 0);
}
