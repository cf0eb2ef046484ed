//! The fio command.

use crate::scene::Scene;
use std::process::Command;
use tophalf::report::fio_command::fio_command;

#[test]
fn it_makes_the_load_of_the_run() {
    let run = Scene::threaded().summary("r", "v");
    let command = fio_command(&run).unwrap().join(" ");
    let load = run.load.as_ref().unwrap();
    for part in [
        "fio --name=",
        "--rw=randread --bs=4096 --direct=1 --ioengine=psync --iodepth=1 --numjobs=1 --time_based --runtime=",
        &format!("--size={}", run.target.span_bytes.unwrap()),
        &format!("--cpus_allowed={}", load.cpu.unwrap()),
        &format!("--randseed={}", load.seed),
    ] {
        assert!(command.contains(part), "{part} in {command}");
    }
}

#[test]
fn a_mix_names_its_reads_and_writes_alone_are_writes() {
    let mut run = Scene::threaded().summary("r", "v");
    let mut with = |read_percent, pattern| {
        let load = run.load.as_mut().unwrap();
        (load.read_percent, load.pattern) = (read_percent, pattern);
        fio_command(&run).unwrap().join(" ")
    };
    assert!(with(70, "random").contains("--rw=randrw --rwmixread=70"));
    assert!(with(70, "sequential").contains("--rw=readwrite --rwmixread=70"));
    assert!(with(0, "random").contains("--rw=randwrite --bs"));
    assert!(with(100, "sequential").contains("--rw=read --bs"));
}

#[test]
fn a_run_that_lost_its_plan_has_none() {
    let mut run = Scene::threaded().summary("r", "v");
    run.load = None;
    assert_eq!(fio_command(&run), None);
}

#[test]
fn fio_takes_it() {
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("SKIPPED: fio is not installed, its command is not checked");
        return;
    }
    let mut run = Scene::threaded().summary("r", "v");
    run.target.real_path = Some("/tmp/it's a:file $(touch x)".to_owned());
    let command = fio_command(&run).unwrap().join(" ").replacen("fio ", "fio --parse-only ", 1);
    let done = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(done.status.success(), "{command}: {done:?}");
}
