//! What breaks in the middle: said, stored as far as it came, and no other run touched.

use crate::harness::{Answer, Rig};
use serde_json::json;
use std::process::Command;
use virtual_phone::{BootOptions, Disk};

/// The run failed, its file is kept, `show` reads it and says that the end is missing.
#[track_caller]
fn kept_but_invalid(rig: &Rig, answer: &Answer) {
    assert_eq!(answer.code, Some(3), "{answer:#?}");
    let shown = rig.tophalf(&["show", &rig.only_file(), "--json"]);
    let run = &shown.json()["runs"][0];
    assert_eq!(run["quality"]["valid"], false, "{run:#}");
    assert!(run["ops"].as_u64().is_some_and(|ops| ops > 0), "{run:#}");
}

fn a_phone() -> Rig {
    Rig::boot(&BootOptions::new("6.12"))
}

#[test]
fn a_killed_agent_loses_only_what_it_had_not_sent() {
    let rig = a_phone();
    let answer = rig.run_until(|_| {
        rig.phone
            .shell("kill -9 $(pidof $(basename $(ls /data/local/tmp/tophalf/*agent* | head -n 1)))")
            .expect("killed");
    });
    kept_but_invalid(&rig, &answer);
}

#[test]
fn a_cut_link_loses_only_what_was_on_it() {
    let rig = a_phone();
    let answer = rig.run_until(|_| {
        Command::new("adb").args(["disconnect", rig.phone.serial()]).output().expect("cut");
    });
    kept_but_invalid(&rig, &answer);
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_leaves_nothing_running() {
    let rig = a_phone();
    let answer = rig.run_until(|tophalf| {
        Command::new("kill").args(["-INT", &tophalf.id().to_string()]).status().expect("interrupted");
    });
    kept_but_invalid(&rig, &answer);
    let running = rig.phone.shell("ps | grep '[t]ophalf-agent' | wc -l").expect("a shell");
    assert_eq!(running.trim(), "0");
}

#[test]
fn a_failing_disk_ends_the_run_with_its_errno() {
    let faulty = json!({
        "driver": "blkdebug",
        "image": {"driver": "null-co", "size": 1_073_741_824_u64, "read-zeroes": true},
        "inject-error": [{"event": "none", "iotype": "read", "errno": 5, "once": false, "sector": 64}],
    });
    let rig = Rig::boot(&BootOptions { disk: Disk::Node(faulty), ..BootOptions::new("6.12") });
    // One block of 64 is bad: the run goes on, and is not valid.
    let answer = rig.run(&["--seconds", "4", "--size", "256k", "--warmup", "0"]);
    let failed = answer.json()["runs"][0]["quality"]["failed"].to_string();
    assert!(failed.contains("32768") && failed.contains("errno 5"), "{failed}");
    kept_but_invalid(&rig, &answer);
}
