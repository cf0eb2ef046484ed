//! Which device is meant, how the agent gets there, and by which means it becomes root.

use crate::bench::{Bench, ONE_PHONE};
use std::fs;

const NONE: &str = "List of devices attached\n\n";
const TWO: &str = "List of devices attached\nAAAA  device usb:1-1 model:T615 transport_id:1\nBBBB  device \
                   usb:1-2 model:T616 transport_id:2\n\n";

#[test]
fn no_device() {
    let bench = Bench::new();
    bench.write("devices", NONE);
    bench.run("", &["run"]).fails(3, &["no device is attached", "-d local"]);
    bench.run("", &["run", "-d", "AAAA"]).fails(3, &["no device AAAA is attached"]);
    let devices = bench.run("", &["devices"]);
    devices.succeeds();
    assert!(devices.stdout.contains("No device is attached"), "{devices:?}");
}

#[test]
fn two_devices_and_none_named() {
    let bench = Bench::new();
    bench.write("devices", TWO);
    bench.run("", &["run"]).fails(2, &["2 devices are attached", "-d", "AAAA", "BBBB"]);
    bench.run("", &["probe", "-d", "BBBB"]).succeeds();
    assert!(bench.adb_log().contains("push"), "the agent went to the one that was named");
}

#[test]
fn the_variable_of_adb_names_a_device() {
    let bench = Bench::new();
    bench.write("devices", TWO);
    let mut command = bench.command_of(crate::bench::TOPHALF, "");
    let done = command.env("ANDROID_SERIAL", "BBBB").args(["probe", "--json"]).output().unwrap();
    let done = crate::bench::Done::of(&done);
    done.succeeds();
    assert!(done.stdout.contains("BBBB"), "{done:?}");
}

#[test]
fn devices_that_cannot_be_used() {
    let bench = Bench::new();
    for (state, words) in [
        ("unauthorized", "unlock its screen"),
        ("offline", "adb reconnect offline"),
        ("no permissions (user in plugdev group; are your udev rules wrong?)", "udev rules"),
        ("sideload", "gives no shell"),
    ] {
        bench.write("devices", &ONE_PHONE.replace("device usb", &format!("{state} usb")));
        bench.run("", &["run"]).fails(3, &["T615-0001", words]);
        let listed = bench.run("", &["devices"]);
        listed.succeeds();
        assert!(listed.stdout.contains(words), "{listed:?}");
    }
}

#[test]
fn no_adb() {
    let bench = Bench::new();
    fs::remove_file(bench.path("adb")).unwrap();
    bench.run("", &["run"]).fails(3, &["was not found", "apt-get install adb", "ADB="]);
}

#[test]
fn what_is_attached() {
    let bench = Bench::new();
    bench.write(
        "devices",
        &format!(
            "{}ZX1  unauthorized usb:1-4 transport_id:5\n",
            ONE_PHONE.trim_end_matches('\n').to_owned() + "\n"
        ),
    );
    let done = bench.run("", &["devices", "--json"]);
    done.succeeds();
    let json = done.json();
    assert_eq!(json["schema"], 1);
    let (first, second) = (&json["devices"][0], &json["devices"][1]);
    assert_eq!((&first["device"], &first["root"]), (&"T615-0001".into(), &"uid 0".into()));
    assert_eq!((&first["model"], &first["storage"]), (&"T615".into(), &"UFS (ufshcd)".into()));
    assert_eq!(first["kernel"], "6.12.1-arm64");
    assert_eq!(second["state"], "unauthorized");
    assert!(second["unavailable"].as_str().unwrap().contains("unlock its screen"));
}

/// `su -c`, `su 0`, a `su` that reads commands, and no `su` although the user is root already.
#[test]
fn root_by_every_su() {
    const SHELL_USER: &str = "#!/bin/sh\n[ -n \"$AS_ROOT\" ] && echo 0 || echo 2000\n";
    let ways = [
        ("su -c", "#!/bin/sh\n[ \"$1\" = -c ] || exit 1\nAS_ROOT=1 exec sh -c \"$2\"\n"),
        (
            "su 0",
            "#!/bin/sh\n[ \"$1\" = 0 ] || { echo \"su: invalid uid/gid '$1'\" >&2; exit 1; }\nshift\nAS_ROOT=1 exec \"$@\"\n",
        ),
        ("piped su", "#!/bin/sh\n[ $# = 0 ] || exit 1\nAS_ROOT=1 exec sh\n"),
    ];
    for (name, su) in ways {
        let bench = Bench::new();
        bench.program("phone/bin/id", SHELL_USER);
        bench.program("phone/bin/su", su);
        let done = bench.run("", &["devices", "--json"]);
        done.succeeds();
        assert_eq!(done.json()["devices"][0]["root"], name, "{done:?}");
        bench.run("", &["run"]).succeeds();
    }
    let bench = Bench::new();
    bench.run("", &["run"]).succeeds();
    assert!(!bench.adb_log().contains("su"), "{}", bench.adb_log());
}

#[test]
fn adb_is_never_restarted() {
    let bench = Bench::new();
    bench.program("phone/bin/id", "#!/bin/sh\necho 2000\n");
    bench.program("phone/bin/su", "#!/bin/sh\necho 'Permission denied' >&2\nexit 13\n");
    bench.run("shell", &["run", "--target", "/dev/block/sda"]).fails(2, &["needs root", "adb root"]);
    let done = bench.run("shell", &["run"]);
    done.succeeds();
    assert!(done.stderr.contains("/data/local/tmp/tophalf/scratch.bin"), "{done:?}");
    assert!(!bench.adb_log().lines().any(|line| line == "root"), "{}", bench.adb_log());
}

#[test]
fn the_agent_is_pushed_once() {
    let bench = Bench::new();
    bench.run("", &["probe"]).succeeds();
    bench.run("", &["probe"]).succeeds();
    let pushes = bench.adb_log().lines().filter(|line| line.starts_with("push ")).count();
    assert_eq!(pushes, 1, "{}", bench.adb_log());
    let there = fs::read_dir(bench.path("phone/data/local/tmp/tophalf")).unwrap();
    assert_eq!(there.count(), 1, "nothing half pushed is left");
}

#[test]
fn agents_that_do_not_fit() {
    let bench = Bench::new();
    bench
        .run("other-version", &["run"])
        .fails(2, &["newer than this tophalf", "protocol 9 against 1", "ndk-build"]);
    bench.run("no-agent", &["run"]).fails(2, &["is no tophalf agent", "BusyBox"]);
    bench.run("other-version", &["run", "-d", "local", "--target", "/x"]).fails(2, &["protocol 9 against 1"]);
    bench.run("", &["run", "--agent", "/nonexistent"]).fails(2, &["--agent", "/nonexistent"]);
    bench.program("phone/bin/uname", "#!/bin/sh\necho armv8l\n");
    bench.run("", &["run"]).fails(3, &["32-bit"]);
    bench.program("phone/bin/uname", "#!/bin/sh\necho riscv64\n");
    bench.run("", &["run"]).fails(3, &["riscv64", "aarch64 and x86_64"]);
    assert_eq!(bench.stored().len(), 0);
}
