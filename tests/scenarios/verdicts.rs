//! How completions are delivered, on the real driver: each kernel's way, with its evidence and its counts.
//!
//! The counts are those that were measured by hand on the same kernels with shell tools before tophalf
//! existed; times under emulation say nothing and are not looked at.

use crate::harness::Rig;
use serde_json::Value;
use virtual_phone::BootOptions;

/// Counts an I/O, each with how far off it may be.
struct Expected {
    path: &'static str,
    interrupts: (f64, f64),
    irq_thread: Option<(f64, f64)>,
    ksoftirqd: (f64, f64),
    block_softirqs: (f64, f64),
}

/// Hard interrupt, softirq at its end: no thread is scheduled.
const HARD: Expected = Expected {
    path: "hard",
    interrupts: (1.0, 0.02),
    irq_thread: None,
    ksoftirqd: (0.0, 0.1),
    block_softirqs: (1.0, 0.02),
};
/// An explicitly threaded handler raises the softirq from a thread, and ksoftirqd runs it.
const THREADED: Expected = Expected {
    path: "threaded",
    interrupts: (1.0, 0.02),
    irq_thread: Some((1.0, 0.02)),
    ksoftirqd: (1.0, 0.1),
    block_softirqs: (1.0, 0.02),
};
/// A handler threaded by force runs the softirq itself.
const FORCED: Expected = Expected {
    path: "forced-threaded",
    interrupts: (1.0, 0.02),
    irq_thread: Some((1.0, 0.02)),
    ksoftirqd: (0.1, 0.25),
    block_softirqs: (1.0, 0.02),
};
/// With several hardware queues the thread completes requests without a softirq.
const THREADED_MCQ: Expected = Expected {
    path: "threaded",
    interrupts: (1.0, 0.02),
    irq_thread: Some((1.0, 0.02)),
    ksoftirqd: (0.0, 0.1),
    block_softirqs: (0.0, 0.02),
};

#[track_caller]
fn near(run: &Value, name: &str, (expected, tolerance): (f64, f64)) {
    let got = run["per_op"][name].as_f64().unwrap_or_else(|| panic!("no {name}: {run:#}"));
    assert!((got - expected).abs() <= tolerance, "{name}: {got}, expected {expected} ± {tolerance}: {run:#}");
}

#[track_caller]
fn check(run: &Value, expected: &Expected) {
    let completion = &run["completion"];
    assert_eq!(completion["path"], expected.path, "{run:#}");
    assert!(completion["evidence"].as_array().is_some_and(|evidence| evidence.len() >= 2), "{run:#}");
    near(run, "interrupts", expected.interrupts);
    near(run, "ksoftirqd_switches", expected.ksoftirqd);
    near(run, "block_softirqs", expected.block_softirqs);
    match expected.irq_thread {
        Some(switches) => {
            near(run, "irq_thread_switches", switches);
            assert_eq!(completion["thread"]["policy"], "SCHED_FIFO");
            assert_eq!(completion["thread"]["priority"], 50);
        }
        None => assert_eq!(completion["thread"], Value::Null),
    }
    // The device counted what was done, exactly, and each interrupt arrived on some CPU.
    assert_eq!(run["ops"], run["device_ios"], "{run:#}");
    let ops = run["ops"].as_f64().expect("ops");
    let on_cpus: f64 =
        run["per_cpu"].as_array().into_iter().flatten().filter_map(|cpu| cpu["interrupts"].as_f64()).sum();
    let in_all = run["per_op"]["interrupts"].as_f64().expect("interrupts") * ops;
    assert!((on_cpus - in_all).abs() < 0.5, "{on_cpus} on CPUs, {in_all} in all: {run:#}");
    // What was promised of the stream and the agent.
    let overhead = &run["overhead"];
    assert!(overhead["latency_bytes_per_op"].as_f64().is_some_and(|bytes| bytes <= 2.5), "{overhead:#}");
    assert!(overhead["peak_rss_bytes"].as_u64().is_some_and(|bytes| bytes <= 8 << 20), "{overhead:#}");
    assert_eq!(run["system"]["emulated"], true);
}

/// Boots, measures on the CPU that takes the interrupt, checks.
fn on_interrupt_cpu(options: &BootOptions, expected: &Expected) -> Rig {
    let rig = Rig::boot(options);
    let run = rig.run(&["--seconds", "3", "--cpu", "0", "--hops-ops", "300"]).run();
    check(&run, expected);
    rig
}

fn threadirqs(kernel: &str) -> BootOptions {
    BootOptions { threadirqs: true, ..BootOptions::new(kernel) }
}

#[test]
fn before_the_change_completion_is_hard() {
    let rig = on_interrupt_cpu(&BootOptions::new("6.12"), &HARD);
    // From the other CPU as well; where the handler collects several completions there are fewer interrupts.
    let run = rig.run(&["--seconds", "3", "--cpu", "1", "--hops-ops", "300"]).run();
    assert_eq!(run["completion"]["path"], "hard", "{run:#}");
    assert_eq!(run["ops"], run["device_ios"], "{run:#}");

    // ioping#8: an operation of 16 KiB is 32 sectors of the device's own count.
    let large = rig.run(&["--seconds", "1", "--bs", "16k", "--passes", "timed"]).run();
    let count = |name: &str| large[name].as_u64().unwrap_or_else(|| panic!("no {name}: {large:#}"));
    assert_eq!((count("device_ios"), count("device_bytes")), (count("ops"), count("ops") * 32 * 512));

    // All of a mix is done as asked, and each kind has its own latencies.
    let mixed = ["--target", "/dev/sda", "--destroy-data-on", "/dev/sda", "-w", "mixed-4k"];
    let mixed = rig.run(&[&mixed[..], &["--seconds", "2", "--passes", "timed"]].concat()).run();
    let of_kind =
        |name: &str| mixed[name]["count"].as_u64().unwrap_or_else(|| panic!("no {name}: {mixed:#}"));
    let (reads, writes) = (of_kind("latency_read_ns"), of_kind("latency_write_ns"));
    assert_eq!(Some(reads + writes), mixed["ops"].as_u64());
    assert!(reads.abs_diff(writes) * 5 < reads + writes, "{reads} reads, {writes} writes");
}

#[test]
fn with_the_change_completion_is_threaded_and_takes_two_hops() {
    let rig = on_interrupt_cpu(&BootOptions::new("6.18"), &THREADED);
    let other = rig.run(&["--seconds", "3", "--cpu", "1", "--hops-ops", "300"]).run();
    assert_eq!(other["completion"]["path"], "threaded", "{other:#}");

    // Each thread on the way ran once for each single I/O, and the hops fit into it.
    let run = rig.run(&["--seconds", "2", "--cpu", "0", "--hops-ops", "500"]).run();
    let hops = run["hops"].as_array().expect("hops");
    let mean = |name: &str| {
        let hop = hops.iter().find(|hop| hop["name"] == name).unwrap_or_else(|| panic!("no {name}: {run:#}"));
        (hop["mean_ns"].as_f64().expect("a mean"), hop["slices_per_op"].as_f64())
    };
    let parts = ["irq-thread-wake", "irq-thread-run", "ksoftirqd-wake", "ksoftirqd-run", "submitter-wake"];
    for part in parts {
        let slices = mean(part).1.expect("slices");
        assert!((0.9..1.2).contains(&slices), "{part} ran {slices} times an I/O");
    }
    let sum: f64 = parts.iter().map(|part| mean(part).0).sum();
    assert!(sum > 0.0 && sum < mean("total").0, "{run:#}");

    // zram needs no interrupt at all.
    let zram = rig.run(&["--seconds", "1", "--target", "/dev/zram0", "--size", "32m"]).run();
    assert_eq!(zram["completion"]["path"], "inline", "{zram:#}");

    // Too few I/Os prove nothing.
    let few = rig.run(&["--passes", "hops", "--hops-ops", "150", "--cpu", "0"]);
    assert_eq!(few.json()["runs"][0]["completion"]["path"], "unknown", "{few:#?}");
}

#[test]
fn after_the_revert_completion_is_hard_again() {
    on_interrupt_cpu(&BootOptions::new("7"), &HARD);
}

#[test]
fn threadirqs_threads_the_old_kernel_by_force() {
    on_interrupt_cpu(&threadirqs("6.12"), &FORCED);
}

#[test]
fn threadirqs_threads_the_reverted_kernel_by_force() {
    on_interrupt_cpu(&threadirqs("7"), &FORCED);
}

/// QEMU's controller has multi-circular queues but no ESI, so the line is threaded as with one doorbell; the
/// requests complete in the thread, without a softirq.
#[test]
fn multi_circular_queues_without_esi_are_threaded_with_one_hop() {
    let rig = on_interrupt_cpu(&BootOptions { mcq: true, ..BootOptions::new("6.18") }, &THREADED_MCQ);
    let run = rig.run(&["--seconds", "2", "--cpu", "1", "--hops-ops", "300"]).run();
    assert_eq!(run["completion"]["path"], "threaded", "{run:#}");
    assert!(run["completion"]["hardware_queues"].as_u64().is_some_and(|queues| queues > 1), "{run:#}");
}
