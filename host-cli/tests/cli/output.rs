//! What scripts rely on: exit codes, and exactly one document.

use crate::bench::Bench;

/// axboe/fio#1333, #364, #672.
#[test]
fn json_is_exactly_one_document() {
    let bench = Bench::new();
    let run = bench.run("", &["run", "--runs", "3", "--variant", "v", "--json"]);
    run.succeeds();
    assert_eq!(run.json()["schema"], 1);
    let runs = run.json()["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 3, "as many as were asked for");
    assert!(runs.iter().all(|run| run["variant"] == "v" && run["device"] == "T615-0001"));
    for arguments in [
        &["probe", "--json"][..],
        &["devices", "--json"],
        &["show", "v", "--json"],
        &["compare", "v", "v", "--json"],
    ] {
        let done = bench.run("", arguments);
        assert_eq!(done.json()["schema"], 1, "{arguments:?}");
    }
    for arguments in
        [&["show", "none", "--json"][..], &["compare", "none", "v", "--json"], &["run", "-d", "X", "--json"]]
    {
        let done = bench.run("", arguments);
        assert_eq!(done.json()["error"]["exit_code"], done.code, "{arguments:?}");
        assert_ne!(done.code, 0);
    }
}

#[test]
fn names_of_300_characters_are_whole() {
    let bench = Bench::new();
    let (serial, variant) = ("S".repeat(300), "v".repeat(300));
    bench.write("devices", &crate::bench::ONE_PHONE.replace("T615-0001", &serial));
    let run = bench.run("", &["run", "--variant", &variant, "--json"]);
    run.succeeds();
    assert_eq!(run.json()["runs"][0]["device"], serial);
    assert_eq!(run.json()["runs"][0]["variant"], variant);
    let shown = bench.run("", &["show", &variant, "--json"]);
    assert_eq!(shown.stdout, run.stdout);
    bench.run("", &["run", "-d", &"x".repeat(300)]).fails(3, &[&"x".repeat(300)]);
}

#[test]
fn usage_errors_are_2_and_touch_nothing() {
    let bench = Bench::new();
    for (arguments, words) in [
        (&["--bs", "4kB"][..], "powers of 1000"),
        (&["--bs", "2m"], "--bs 2097152"),
        (&["--bs", "512"], "logical block 4096, asked 512"),
        (&["--size", "2g"], "span 2147483648 bytes, size 1073741824 bytes"),
        (&["--cpu", "7"], "Cpus_allowed_list"),
        (&["--cpu", "x"], "write a number"),
        (&["-w", "randread"], "is no workload"),
        (&["--rwmixread", "30"], "needs a mix"),
        (&["--seconds", "0"], "measures nothing"),
        (&["--rw", "write", "--target", "/dev/sda"], "--destroy-data-on /dev/sda"),
        (&["--rw", "write", "--target", "/dev/sda", "--destroy-data-on", "/dev/sdb"], "repeat it exactly"),
        (&["--destroy-data-on", "/dev/sda"], "as --target"),
        (&["--engine", "aio"], "--engine"),
    ] {
        let done = bench.run("", &[&["run"][..], arguments].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
        assert!(done.stderr.starts_with("error: ") || done.stderr.contains("\nerror: "), "{done:?}");
        assert!(done.stderr.contains(words), "{done:?}");
    }
    assert_eq!(bench.stored().len(), 0);
}

#[test]
fn a_probe_is_recorded_and_replayed() {
    let bench = Bench::new();
    bench.run("", &["probe", "--record", "phone.tar"]).succeeds();
    assert!(bench.path("phone.tar").exists());
    bench
        .run("", &["probe", "--record", "no/such/folder.tar"])
        .fails(3, &["cannot write no/such/folder.tar"]);
    bench.run("", &["probe", "--replay", "none.tar"]).fails(2, &["none.tar"]);
    bench.write("text.tar", &"certainly no tar file\n".repeat(100));
    bench.run("", &["probe", "--replay", "text.tar"]).fails(3, &["text.tar", "no tar file"]);
}
