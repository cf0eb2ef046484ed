//! A phone that does not stay as it is while it is measured: the run says so by name, and is not believed.

use crate::harness::{Answer, Rig};
use serde_json::Value;
use virtual_phone::BootOptions;

const TIMED: [&str; 8] = ["--seconds", "6", "--warmup", "0", "--cpu", "0", "--passes", "timed"];

/// The run is invalid, and a sentence that begins with the gate's name says why.
#[track_caller]
fn fails(answer: &Answer, gate: &str) {
    assert_eq!(answer.code, Some(3), "{answer:#?}");
    let run = answer.json()["runs"][0].clone();
    assert_eq!(run["quality"]["valid"], false, "{run:#}");
    let told = run["quality"]["failed"].as_array().into_iter().flatten().filter_map(Value::as_str);
    assert!(told.into_iter().any(|line| line.starts_with(&format!("{gate}: "))), "{run:#}");
    assert_eq!(passed(&run, gate), Some(false), "{run:#}");
}

fn passed(run: &Value, gate: &str) -> Option<bool> {
    let mut gates = run["quality"]["gates"].as_array().into_iter().flatten();
    gates.find(|found| found["name"] == gate)?["passed"].as_bool()
}

#[test]
fn a_phone_that_changes_meanwhile_is_not_believed() {
    let rig = Rig::boot(&BootOptions::new("6.12"));
    let run = rig.run(&TIMED).run();
    for gate in ["other-io", "irq-moved", "clock", "cpu-moved"] {
        assert_eq!(passed(&run, gate), Some(true), "{gate}: {run:#}");
    }
    assert_eq!(run["conditions"]["irq_cpus"], serde_json::json!([0]), "{run:#}");
    assert!(run["conditions"]["canary_ns"][0].as_u64().is_some_and(|ns| ns > 0), "{run:#}");
    assert!(run["conditions"]["controller"]["ufshci_capabilities/version"].is_string(), "{run:#}");
    // Debian's kernels do not tell how they were built, and QEMU has no thermal zones.
    assert!(run["unavailable"]["conditions.config"].is_string(), "{run:#}");

    // Another program reads the disk: it counts more than was asked for.
    let other = rig.run_meanwhile(&TIMED, |_| {
        rig.phone.shell("dd if=/dev/sda of=/dev/null bs=64k count=400 2>/dev/null").expect("dd");
    });
    fails(&other, "other-io");

    // The disk's interrupt is sent to the other CPU.
    let moved = rig.run_meanwhile(&TIMED, |_| {
        let line = "$(grep ufshcd /proc/interrupts | cut -d: -f1 | tr -d ' ')";
        rig.phone.shell(&format!("echo 2 > /proc/irq/{line}/smp_affinity")).expect("moved");
    });
    fails(&moved, "irq-moved");
}
