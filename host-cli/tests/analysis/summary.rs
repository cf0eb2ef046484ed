//! One run's figures.

use crate::scene::{Scene, header, recording};
use tophalf::analysis::{PerCpu, summarize};
use tophalf::load::Stored;
use tophalf_wire::{Edge, Latencies, LatencyBlock, Message};

#[test]
fn the_timed_pass() {
    let run = Scene { windows: 2, ..Scene::hard() }.summary("r", "v");
    assert_eq!((run.ops, run.errors, run.elapsed_ns), (Some(2000), Some(0), Some(69_145_600)));
    let latency = run.latency_ns.unwrap();
    assert_eq!((latency.count, latency.min, latency.p50, latency.max), (2000, 33_200, 33_216, 40_000));
    // At depth one and without a gap between operations, one is the other's reciprocal.
    assert!((run.iops.unwrap() - 1e9 / latency.mean).abs() < 1e-6);
    assert_eq!(run.windows.len(), 2);
    assert!((run.windows[0].iops.unwrap() - run.iops.unwrap()).abs() < 1e-6);
}

#[test]
fn counts_by_operation_and_by_cpu() {
    let run = Scene { windows: 2, ..Scene::threaded() }.summary("r", "v");
    assert_eq!(run.per_op.interrupts, Some(1.0));
    assert_eq!(run.per_op.irq_thread_switches, Some(1.0));
    assert_eq!(run.per_op.ksoftirqd_switches, Some(1.0));
    assert_eq!(run.per_op.block_softirqs, Some(1.0));
    assert_eq!(run.per_op.function_call_interrupts, Some(0.0));
    let cpu0 = PerCpu {
        cpu: 0,
        interrupts: Some(2000),
        block_softirqs: Some(2000),
        ksoftirqd_switches: Some(2000),
        function_call_interrupts: Some(0),
    };
    assert_eq!(run.per_cpu[0], cpu0);
    let total: u64 = run.per_cpu.iter().filter_map(|cpu| cpu.interrupts).sum();
    assert_eq!(total, 2000);
}

/// `/proc/softirqs` has every possible CPU, `/proc/interrupts` only those that run.
#[test]
fn a_cpu_without_a_column_has_no_interrupts_and_not_zero() {
    let mut messages = Scene::hard().messages();
    for message in &mut messages {
        if let Message::Edge(Edge { softirqs: Ok(table), .. }) = message {
            table.cpus.push(2);
            table.rows.iter_mut().for_each(|(_, counts)| counts.push(0));
        }
    }
    let run = summarize(&header("r", "v"), &recording(&messages));
    let interrupts: Vec<_> = run.per_cpu.iter().map(|cpu| (cpu.cpu, cpu.interrupts)).collect();
    assert_eq!(interrupts, [(0, Some(1000)), (1, Some(0)), (2, None)]);
}

#[test]
fn a_thread_that_does_not_exist_ran_zero_times() {
    let run = Scene::hard().summary("r", "v");
    assert_eq!(run.per_op.irq_thread_switches, Some(0.0));
    assert_eq!(run.per_op.ksoftirqd_switches, Some(0.02));
}

#[test]
fn the_hops_pass() {
    let run = Scene { hops: Some(100), ..Scene::threaded() }.summary("r", "v");
    let means: Vec<(&str, f64)> = run.hops.iter().map(|hop| (hop.name, hop.mean_ns)).collect();
    assert_eq!(
        means,
        [
            ("irq-thread-wake", 3000.0),
            ("irq-thread-run", 4000.0),
            ("ksoftirqd-wake", 2500.0),
            ("ksoftirqd-run", 3500.0),
            ("submitter-wake", 1500.0),
            ("total", 57_596.8),
        ]
    );
    assert!((run.hops_outside_ns.unwrap() - 43_096.8).abs() < 1e-6);
    assert_eq!(run.hops_notes, Vec::<String>::new());
}

#[test]
fn hops_that_are_not_there_are_not_zero() {
    let run = Scene { hops: Some(100), ..Scene::hard() }.summary("r", "v");
    let names: Vec<&str> = run.hops.iter().map(|hop| hop.name).collect();
    assert_eq!(names, ["ksoftirqd-wake", "ksoftirqd-run", "submitter-wake", "total"]);
    assert_eq!(run.hops_notes, Vec::<String>::new(), "two runs in a hundred are not on the way");
}

#[test]
fn a_thread_that_did_not_run_once_each_is_said() {
    let ksoftirqd = std::collections::BTreeMap::from([(0, 0.5), (1, 0.0)]);
    let run = Scene { hops: Some(100), ksoftirqd, ..Scene::threaded() }.summary("r", "v");
    let note =
        "ksoftirqd ran exactly once for only 50 % of the I/Os: its figures are per I/O, not per wake-up";
    assert_eq!(run.hops_notes, [note]);
}

#[test]
fn what_was_not_measured_is_null_with_a_reason() {
    let run = Scene::hard().summary("r", "v");
    let json = serde_json::to_value(&run).unwrap();
    assert!(json["hops"].as_array().unwrap().is_empty());
    assert_eq!(json["unavailable"]["hops"], "this pass was not asked for");
    let nothing = summarize(&header("r", "v"), &recording(&[]));
    let json = serde_json::to_value(&nothing).unwrap();
    for name in [
        "ops",
        "iops",
        "errors",
        "elapsed_ns",
        "latency_ns",
        "boot_id",
        "device_ios",
        "device_bytes",
        "overhead",
    ] {
        assert!(json[name].is_null(), "{name}");
        assert!(json["unavailable"][name].is_string(), "{name}");
    }
    for name in ["interrupts", "irq_thread_switches", "ksoftirqd_switches", "block_softirqs"] {
        assert!(json["per_op"][name].is_null(), "{name}");
        assert!(json["unavailable"][format!("per_op.{name}")].is_string(), "{name}");
    }
}

#[test]
fn reads_and_writes_have_their_own_distributions() {
    let mut messages = Scene { ops: 4, latency_ns: vec![10, 20, 30, 40], ..Scene::hard() }.messages();
    for message in &mut messages {
        match message {
            Message::Window(window) => (window.reads, window.writes) = (2, 2),
            Message::Latencies(latencies) => {
                *latencies = Latencies {
                    write_bits: vec![0b1010],
                    block: LatencyBlock::pack(&[10, 20, 30, 40]),
                    ..latencies.clone()
                }
            }
            _ => {}
        }
    }
    let run = summarize(&header("r", "v"), &recording(&messages));
    assert_eq!(run.latency_ns.unwrap().mean, 25.0);
    assert_eq!(run.latency_read_ns.unwrap().mean, 20.0);
    assert_eq!(run.latency_write_ns.unwrap().mean, 30.0);
}

/// Names that scripts rely on.
#[test]
fn the_json_has_the_names_of_the_contract() {
    let run = Scene { hops: Some(100), ..Scene::threaded() }.summary("r", "v");
    let document = tophalf::report::json::stored(&[Stored::Measured(Box::new(run))]);
    assert_eq!(document["schema"], 1);
    let run = &document["runs"][0];
    for name in [
        "/id",
        "/device",
        "/variant",
        "/boot_id",
        "/workload",
        "/target/path",
        "/target/span_bytes",
        "/target/logical_block_bytes",
        "/ops",
        "/errors",
        "/elapsed_ns",
        "/iops",
        "/latency_ns/min",
        "/latency_ns/mean",
        "/latency_ns/p50",
        "/latency_ns/p90",
        "/latency_ns/p99",
        "/latency_ns/p999",
        "/latency_ns/max",
        "/completion/path",
        "/completion/irq",
        "/completion/thread/pid",
        "/completion/thread/comm",
        "/completion/thread/policy",
        "/completion/thread/priority",
        "/completion/thread/cpu",
        "/completion/hardware_queues",
        "/completion/evidence/0",
        "/per_op/interrupts",
        "/per_op/irq_thread_switches",
        "/per_op/ksoftirqd_switches",
        "/per_op/block_softirqs",
        "/hops/0/name",
        "/hops/0/mean_ns",
        "/hops/0/p50_ns",
        "/hops/0/p99_ns",
        "/hops/0/max_ns",
        "/quality/valid",
        "/quality/failed",
        "/overhead/sampler_cpu_ns",
        "/unavailable",
    ] {
        assert!(run.pointer(name).is_some_and(|value| !value.is_null()), "{name}");
    }
    assert_eq!(run["completion"]["path"], "threaded");
    assert_eq!(run["workload"], "randread-4k");
}
