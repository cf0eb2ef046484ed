//! What the link and the agent can do to a stream, and what is kept of it.

use crate::bench::{Bench, Done, TOPHALF};
use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tophalf::store::StoredRun;
use tophalf_wire::Event;

#[test]
fn a_run_is_measured_shown_and_stored() {
    let bench = Bench::new();
    let run = bench.run("", &["run", "--variant", "6.12"]);
    run.succeeds();
    assert!(run.stdout.contains("completion: hard"), "{run:?}");
    let stored = bench.stored();
    assert_eq!(stored.len(), 1);
    assert!(stored[0].parent().unwrap().ends_with("tophalf-runs/6.12"), "{stored:?}");
    let shown = bench.run("", &["show", "6.12"]);
    assert_eq!(shown.stdout, run.stdout);
    let id = stored[0].file_stem().unwrap().to_str().unwrap();
    assert_eq!(bench.run("", &["show", id]).stdout, run.stdout);
}

#[test]
fn this_machine_is_measured_the_same_way() {
    let bench = Bench::new();
    bench.run("", &["run", "-d", "local", "--target", "/dev/sda"]).succeeds();
    bench.run("", &["run", "-d", "local"]).fails(2, &["needs --target", "sda"]);
    assert_eq!(bench.adb_log(), "");
}

/// yume-chan/ya-webadb#412, JeffLIrion/adb_shell#217: adb says 0 although the agent failed.
#[test]
fn the_end_frame_decides() {
    let bench = Bench::new();
    bench.run("usage", &["run"]).fails(2, &["Device or resource busy"]);
    assert_eq!(bench.stored().len(), 0, "nothing was measured");
    bench.run("device", &["run"]).fails(3, &["Device or resource busy"]);
    assert_eq!(bench.stored().len(), 1, "a window was");
}

#[test]
fn an_agent_that_is_killed_and_a_link_that_is_cut() {
    let bench = Bench::new();
    for scenario in ["killed", "cut"] {
        let before = bench.stored().len();
        let done = bench.run(scenario, &["run", "--json"]);
        done.fails(3, &["broke off before its end frame"]);
        assert_eq!(done.json()["runs"].as_array().unwrap().len(), 1);
        assert_eq!(done.json()["runs"][0]["quality"]["valid"], false);
        assert_eq!(done.json()["error"]["exit_code"], 3);
        assert_eq!(bench.stored().len(), before + 1, "what was received is kept");
    }
    bench.run("cut-early", &["run"]).fails(3, &["broke off before its end frame"]);
    assert_eq!(bench.stored().len(), 2, "nothing was measured");
    // Longer than a probe, shorter than a run: a frame is cut in two.
    bench.write("cut", "4000");
    bench.run("", &["run"]).fails(3, &["broke off before its end frame"]);
    assert_eq!(bench.stored().len(), 3);
}

/// ARM-software/workload-automation#1035.
#[test]
fn words_of_adb_before_the_first_frame() {
    let bench = Bench::new();
    bench.write("junk", "adb server is out of date.  killing...\r\n* daemon started successfully\n");
    let done = bench.run("", &["run"]);
    done.succeeds();
    assert!(done.stderr.contains("before the first frame: adb server is out of date"), "{done:?}");
    bench.run("", &["show", bench.stored()[0].to_str().unwrap()]).succeeds();
}

/// dikeckaan/mu300-linux#2, vidstige/jadb#53, dlenski/tetherback#21.
#[test]
fn a_terminal_in_between() {
    let bench = Bench::new();
    bench.write("pty", "");
    let done = bench.run("", &["run"]);
    done.succeeds();
    assert!(done.stderr.contains("pty translation by adb shell -T, uid 0: trying adb exec-out"), "{done:?}");
    assert!(bench.adb_log().lines().filter(|line| line.starts_with("exec-out")).count() >= 2);
    bench.write("pty-all", "");
    bench.run("", &["run"]).fails(3, &["pty translation", "adb exec-out"]);
    assert_eq!(bench.stored().len(), 1);
}

#[test]
fn a_device_without_shell_v2() {
    let bench = Bench::new();
    bench.write("features", "cmd\n");
    bench.run("", &["run"]).succeeds();
    assert!(!bench.adb_log().contains("shell -T"), "{}", bench.adb_log());
}

/// axboe/fio#515, #673: what belongs to another stream is never counted with this one.
#[test]
fn frames_of_another_stream() {
    let bench = Bench::new();
    let done = bench.run("other-session", &["run", "--json"]);
    assert_eq!(done.code, 3, "{done:?}");
    let run = &done.json()["runs"][0];
    assert_eq!(run["ops"], 2000);
    assert_eq!(run["quality"]["valid"], false);
}

#[test]
fn what_a_device_says_does_not_act_on_the_terminal() {
    let bench = Bench::new();
    let done = bench.run("talks", &["run"]);
    done.succeeds();
    assert!(done.stderr.contains("T615-0001: \u{fffd}[2Jthe battery is low"), "{done:?}");
}

#[test]
fn storage_that_is_no_ufs() {
    let bench = Bench::new();
    bench.run("emmc", &["run"]).fails(2, &["no UFS: storage is eMMC (sda)", "--target"]);
    bench.run("", &["run", "--target", "/dev/block/sdq"]).fails(2, &["no disk /dev/block/sdq (disks: sda)"]);
}

/// Whole frames in the only run file.
fn messages(stored: &[PathBuf]) -> usize {
    let run = stored.first().and_then(|path| StoredRun::open(path).ok());
    run.map_or(0, |run| run.events.filter(|event| matches!(event, Event::Message { .. })).count())
}

/// A run that has got as far as its first window, and waits.
fn waiting(bench: &Bench) -> Child {
    let mut command = bench.command_of(TOPHALF, "waits");
    let child = command
        .args(["run", "--runs", "3"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    // The agent has sent a window and waits, and the host has stored it.
    while !bench.path("waits").exists() || messages(&bench.stored()) < 7 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the run never began");
        thread::sleep(Duration::from_millis(20));
    }
    child
}

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let bench = Bench::new();
    let child = waiting(&bench);
    interrupt(&child);
    let done = Done::of(&child.wait_with_output().unwrap());
    done.fails(3, &["run 1 of 3: stopped on request"]);
    assert!(done.stdout.contains("INVALID"), "{done:?}");
    let stored = bench.stored();
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].extension().unwrap(), "tophalf");
}

#[test]
fn a_host_that_dies_leaves_a_file_that_can_be_read() {
    let bench = Bench::new();
    let mut child = waiting(&bench);
    child.kill().unwrap();
    child.wait().unwrap();
    let stored = bench.stored();
    assert!(stored[0].to_str().unwrap().ends_with(".tophalf.partial"), "{stored:?}");
    let shown = bench.run("", &["show", stored[0].to_str().unwrap()]);
    assert_eq!(shown.code, 3, "{shown:?}");
    assert!(shown.stderr.contains("incomplete"), "{shown:?}");
    assert!(shown.stdout.contains("1000 I/Os"), "{shown:?}");
}

/// The limit on the size of files stands for a full disk: the write fails in the middle of a run.
#[test]
fn a_full_disk_loses_no_stored_run() {
    let bench = Bench::new();
    bench.run("", &["run", "-d", "local", "--target", "/dev/sda", "--variant", "v"]).succeeds();
    let first = bench.stored();
    let before = fs::read(&first[0]).unwrap();
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec {TOPHALF} run -d local --target /dev/sda --variant v --json"
    );
    let done = Done::of(&bench.command_of("sh", "").args(["-c", &script]).output().unwrap());
    done.fails(3, &["cannot write to", "free some space"]);
    assert_eq!(done.json()["runs"].as_array().unwrap().len(), 0);
    assert_eq!(fs::read(&first[0]).unwrap(), before);
    let shown = bench.run("", &["show", "v", "--json"]);
    assert_eq!(shown.json()["runs"].as_array().unwrap().len(), 1);
}
