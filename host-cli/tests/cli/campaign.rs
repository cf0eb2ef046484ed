//! Many runs by a plan: their order, what is said of those that are missing, and that no crash loses or repeats one.

use crate::bench::{Bench, Done, ONE_PHONE, TOPHALF};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Two knobs on this machine; each run notes which of them was set for it.
const KNOBS: &str = r#"
schema = 1
name = "knobs"
devices = ["local"]
runs = 4
[run]
target = "/dev/sda"
seconds = 1
[[variant]]
name = "on"
prepare = [{ host = 'echo "$TOPHALF_VARIANT $TOPHALF_RUN" >> set' }, { device = "test -n on" }]
[[variant]]
name = "off"
prepare = [{ host = 'echo "$TOPHALF_VARIANT $TOPHALF_RUN" >> set' }, { device = "test -n 'off'" }]
"#;

/// Two kernels on the phone; a boot changes its boot ID, and is noted.
const KERNELS: &str = r#"
schema = 1
name = "kernels"
devices = ["T615-0001"]
boots = 2
runs = 2
boot_timeout_s = 3
[run]
seconds = 1
[[variant]]
name = "6.12"
boot = [{ host = 'echo "$TOPHALF_VARIANT $TOPHALF_SERIAL $ANDROID_SERIAL" >> boots; wc -l < boots > boot-id' }]
[[variant]]
name = "6.18"
boot = [{ host = 'echo "$TOPHALF_VARIANT $TOPHALF_SERIAL $ANDROID_SERIAL" >> boots; wc -l < boots > boot-id' }]
"#;

impl Bench {
    fn campaign(&self, scenario: &str, more: &[&str]) -> Done {
        self.run(scenario, &[&["campaign", "plan.toml", "--json"], more].concat())
    }

    /// A bench whose phone tells the boot ID that the fake agent tells.
    fn with_plan(plan: &str) -> Self {
        let bench = Self::new();
        bench.write("plan.toml", plan);
        bench.program("phone/bin/cat", "#!/bin/sh\nexec /bin/cat \"$FAKE/boot-id\"\n");
        bench
    }

    fn lines(&self, file: &str) -> Vec<String> {
        fs::read_to_string(self.path(file)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn begin(&self, scenario: &str, more: &[&str]) -> Child {
        let mut command = self.command_of(TOPHALF, scenario);
        command.args(["campaign", "plan.toml", "--json"]).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

fn slots(done: &Done) -> Vec<Value> {
    done.json()["campaign"]["slots"].as_array().unwrap().clone()
}

/// Slots with what must be the same of two campaigns of one plan, however often one of them was interrupted.
fn asked_and_got(done: &Done) -> Vec<(u64, String, u64, u64, String)> {
    let text = |slot: &Value, name: &str| slot[name].as_str().unwrap().to_owned();
    let number = |slot: &Value, name: &str| slot[name].as_u64().unwrap();
    slots(done)
        .iter()
        .map(|slot| {
            (
                number(slot, "slot"),
                text(slot, "variant"),
                number(slot, "boot"),
                number(slot, "run"),
                text(slot, "state"),
            )
        })
        .collect()
}

/// Finished run files.
fn finished(bench: &Bench) -> Vec<String> {
    let runs =
        bench.stored().into_iter().filter(|path| path.extension().is_some_and(|name| name == "tophalf"));
    runs.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn knobs_take_turns_within_a_boot_and_every_run_is_there() {
    let bench = Bench::with_plan(KNOBS);
    let done = bench.campaign("", &[]);
    done.succeeds();
    let variants: Vec<String> =
        bench.lines("set").iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(variants, ["on", "off", "off", "on", "off", "on", "on", "off"]);
    let json = done.json();
    let campaign = &json["campaign"];
    assert_eq!((&campaign["complete"], &campaign["order"]), (&true.into(), &"abba".into()));
    assert_eq!(campaign["tallies"][0]["valid"], 4);
    assert_eq!((slots(&done).len(), finished(&bench).len()), (8, 8));
    // Each slot names its run, and its run names the slot.
    for slot in slots(&done) {
        let id = slot["id"].as_str().unwrap();
        assert!(id.contains(&format!("-knobs-s{:04}-a1-local-", slot["slot"].as_u64().unwrap())), "{id}");
        assert!(finished(&bench).contains(&id.to_owned()));
    }
    let shown = bench.run("", &["show", "on", "--json"]).json();
    assert_eq!(shown["runs"].as_array().unwrap().len(), 4);
    assert_eq!(bench.run("", &["show", finished(&bench)[0].as_str()]).code, 0);
}

#[test]
fn a_dry_run_says_who_comes_when_and_touches_nothing() {
    let bench = Bench::with_plan(KNOBS);
    let done = bench.run("", &["campaign", "plan.toml", "--dry-run"]);
    done.succeeds();
    assert!(done.stdout.contains("order: each forth and back (abba)"), "{done:?}");
    assert_eq!(done.stdout.lines().filter(|line| line.contains("local")).count(), 8, "{done:?}");
    assert!(bench.stored().is_empty() && bench.lines("set").is_empty() && bench.adb_log().is_empty());
    bench.write("plan.toml", &KNOBS.replace("runs = 4", "runs = 4\norder = 'random'\nseed = 7"));
    let random = bench.run("", &["campaign", "plan.toml", "--dry-run"]);
    assert!(random.stdout.contains("order: random, seed 7"), "{random:?}");
}

#[test]
fn a_bad_plan_is_refused_with_its_line_before_any_device_is_touched() {
    let bench = Bench::with_plan(KNOBS);
    for (from, to, words) in [
        ("runs = 4", "rums = 4", "plan.toml:5:1: unknown field `rums`"),
        ("runs = 4", "runs = 0", "plan.toml:5:8: runs = 0"),
        ("\"off\"", "\"on\"", "plan.toml:13:8: variant \"on\" stands twice"),
        ("seconds = 1", "seconds = nan", "plan.toml:8:11: invalid value 'NaN'"),
    ] {
        bench.write("plan.toml", &KNOBS.replace(from, to));
        bench.campaign("", &[]).fails(2, &[words]);
    }
    fs::remove_file(bench.path("plan.toml")).unwrap();
    bench.campaign("", &[]).fails(2, &["cannot read the plan plan.toml"]);
    bench.write("plan.toml", &KNOBS.replace("devices = [\"local\"]\n", ""));
    bench.campaign("", &["-d", "local", "-d", "local"]).fails(2, &["stands twice"]);
    assert!(bench.stored().is_empty() && bench.adb_log().is_empty());
}

#[test]
fn a_campaign_is_not_begun_twice_and_not_gone_on_with_by_another_plan() {
    let bench = Bench::with_plan(KNOBS);
    bench.campaign("", &[]).succeeds();
    let runs = finished(&bench);
    bench.campaign("", &[]).fails(2, &["was begun before (8 runs", "--resume"]);
    bench.campaign("", &["--resume"]).succeeds();
    bench.write("plan.toml", &KNOBS.replace("runs = 4", "runs = 5"));
    bench.campaign("", &["--resume"]).fails(2, &["another plan", "runs was 4 and is 5"]);
    assert_eq!(finished(&bench), runs);
}

#[test]
fn kernels_take_turns_from_boot_to_boot() {
    let bench = Bench::with_plan(KERNELS);
    let done = bench.campaign("", &[]);
    done.succeeds();
    let both = |kernel: &str| format!("{kernel} T615-0001 T615-0001");
    assert_eq!(bench.lines("boots"), [both("6.12"), both("6.18"), both("6.18"), both("6.12")]);
    let boots: Vec<String> =
        slots(&done).iter().map(|slot| slot["boot_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(boots, ["1", "1", "2", "2", "3", "3", "4", "4"]);
}

#[test]
fn commands_that_make_no_new_boot_are_noticed() {
    let bench = Bench::with_plan(&KERNELS.replace("; wc -l < boots > boot-id", ""));
    bench.write("boot-id", "same\n");
    let done = bench.campaign("", &[]);
    done.fails(3, &["0 of 8 runs are there and valid", "--resume"]);
    let slots = slots(&done);
    assert!(slots[0]["reason"].as_str().unwrap().contains("still in an earlier boot"), "{slots:?}");
    assert!(slots[7]["reason"].as_str().unwrap().contains("not tried"), "{slots:?}");
    assert!(finished(&bench).is_empty());
}

#[test]
fn a_boot_command_that_fails_is_the_reason_of_its_boot_only() {
    // The first try at 6.18 fails, and with it, since retries is 0, the second boot.
    let failing = "boot = [{ host = 'test -e second || { touch second; echo no partition boot_c >&2; exit 4; }' }, { host =";
    let plan = KERNELS.replace("runs = 2", "runs = 2\nretries = 0");
    let (before, after) = plan.split_at(plan.find("name = \"6.18\"").unwrap());
    let bench = Bench::with_plan(&format!("{before}{}", after.replace("boot = [{ host =", failing)));
    let done = bench.campaign("", &[]);
    done.fails(3, &["6 of 8 runs"]);
    let states: Vec<Value> = slots(&done).iter().map(|slot| slot["state"].clone()).collect();
    assert_eq!(states, ["valid", "valid", "missing", "missing", "valid", "valid", "valid", "valid"]);
    let reason = slots(&done)[2]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("exit status: 4") && reason.contains("no partition boot_c"), "{reason}");
    // What is missing is made afterwards, in a boot of its own.
    let resumed = bench.campaign("", &["--resume"]);
    resumed.succeeds();
    assert_eq!(slots(&resumed)[2]["boot_id"], "4");
    assert_eq!(finished(&bench).len(), 8);
}

#[test]
fn a_run_that_breaks_off_is_kept_and_its_slot_measured_again() {
    let bench = Bench::with_plan(KERNELS);
    let done = bench.campaign("killed", &[]);
    done.fails(3, &["0 of 8 runs"]);
    assert!(slots(&done)[0]["reason"].as_str().unwrap().contains("end"), "{done:?}");
    let broken = finished(&bench).len();
    assert_eq!(broken, 16, "each slot was tried twice");
    bench.campaign("", &["--resume"]).succeeds();
    assert_eq!(finished(&bench).len(), broken + 8);
}

#[test]
fn a_device_that_is_missing_does_not_stop_the_others() {
    let bench = Bench::with_plan(&KNOBS.replace("[\"local\"]", "[\"GONE\", \"T615-0001\", \"local\"]"));
    let done = bench.campaign("", &[]);
    done.fails(3, &["16 of 24 runs"]);
    let of = |device: &str, state: &str| {
        slots(&done).iter().filter(|slot| slot["device"] == device && slot["state"] == state).count()
    };
    assert_eq!((of("GONE", "missing"), of("T615-0001", "valid"), of("local", "valid")), (8, 8, 8));
    assert!(slots(&done)[0]["reason"].as_str().unwrap().contains("no device GONE"), "{done:?}");
    bench.write(
        "devices",
        &format!(
            "{}GONE  device usb:1-4 transport_id:5\n",
            ONE_PHONE.trim_end_matches('\n').to_owned() + "\n"
        ),
    );
    let resumed = bench.campaign("", &["--resume"]);
    resumed.succeeds();
    assert_eq!(finished(&bench).len(), 24);
}

#[test]
fn a_knob_that_cannot_be_set_leaves_its_runs_out() {
    let bench = Bench::with_plan(&KNOBS.replace("test -n 'off'", "echo read-only >&2; exit 5"));
    let done = bench.run("", &["campaign", "plan.toml"]);
    done.fails(3, &["4 of 8 runs"]);
    assert!(done.stdout.contains("exit code 5; it said: read-only"), "{done:?}");
    assert!(done.stdout.contains("slot 2, 3, 5, 8: prepare:"), "{done:?}");
}

#[test]
fn a_device_that_tells_no_temperature_is_not_waited_for() {
    let bench = Bench::with_plan(
        &KNOBS.replace("[[variant]]\nname = \"on\"", "[cool_down]\nbelow_c = 38\n[[variant]]\nname = \"on\""),
    );
    let done = bench.campaign("", &[]);
    done.fails(3, &["0 of 8 runs"]);
    assert!(slots(&done)[0]["reason"].as_str().unwrap().contains("cool_down cannot wait"), "{done:?}");
    assert!(finished(&bench).is_empty());
}

#[test]
fn ctrl_c_stops_and_says_how_to_go_on() {
    let bench = Bench::with_plan(KNOBS);
    let child = bench.begin("waits", &[]);
    let begun = Instant::now();
    while !bench.path("waits").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no run began");
        thread::sleep(Duration::from_millis(20));
    }
    // Meanwhile nobody else may work on it.
    bench.campaign("", &["--resume"]).fails(2, &["another tophalf is at work on the campaign knobs"]);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let done = Done::of(&child.wait_with_output().unwrap());
    done.fails(3, &["stopped on request: 0 of 8 runs", "--resume"]);
    assert_eq!(finished(&bench).len(), 1, "what was measured is kept");
    let resumed = bench.campaign("", &["--resume"]);
    resumed.succeeds();
    assert_eq!(finished(&bench).len(), 9);
}

/// SIGKILL at many moments; each time the campaign goes on, until it is done.
fn survives_kills(plan: &str) {
    let undisturbed = Bench::with_plan(plan);
    let expected = asked_and_got(&undisturbed.campaign("", &[]));
    assert!(expected.iter().all(|slot| slot.4 == "valid"), "{expected:?}");

    let bench = Bench::with_plan(plan);
    let mut kills = 0;
    let mut before: BTreeSet<String> = BTreeSet::new();
    for round in 0_u64.. {
        assert!(round < 200, "it does not get on");
        let mut child = bench.begin("", &["--resume"]);
        // From before the plan is kept to some runs later; later from round to round, since on a busy machine nothing
        // may be done in the time that a first round has.
        thread::sleep(Duration::from_millis(20 + round * 137 % (700 + 100 * round)));
        if child.try_wait().unwrap().is_some_and(|status| status.success()) {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        // Nothing that was there is gone or changed its name.
        let now: BTreeSet<String> = finished(&bench).into_iter().collect();
        assert!(now.is_superset(&before), "{before:?} {now:?}");
        before = now;
    }
    assert!(kills >= 3, "{kills} kills");
    let done = bench.campaign("", &["--resume"]);
    done.succeeds();
    assert_eq!(asked_and_got(&done), expected);
    let ids: BTreeSet<String> =
        slots(&done).iter().map(|slot| slot["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, finished(&bench).into_iter().collect(), "a run was made twice");
}

#[test]
fn a_host_that_is_killed_again_and_again_loses_and_repeats_no_run() {
    survives_kills(KNOBS);
}

#[test]
fn nor_does_it_between_boots() {
    survives_kills(KERNELS);
}
