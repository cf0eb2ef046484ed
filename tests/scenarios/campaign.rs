//! A campaign on a virtual phone, interrupted in every way: the agent is killed, the host is killed, the phone is
//! killed. It goes on each time, and in the end the same runs are there as were asked for.

use crate::harness::{Answer, tophalf, workspace};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SERIAL: &str = "127.0.0.1:15611";

/// Two knobs in two boots, each of which ends the phone of the one before.
const PLAN: &str = r#"
schema = 1
name = "interrupted"
devices = ["127.0.0.1:15611"]
boots = 2
runs = 2
retries = 0
boot = [{ host = '"$VIRTUAL_PHONE" boot --kernel 6.12 --adb-port 15611 --detach phone' }]
[run]
seconds = 2
warmup = 0
hops_ops = 200
[[variant]]
name = "rq_affinity-1"
prepare = [{ device = "echo 1 > /sys/block/sda/queue/rq_affinity" }]
[[variant]]
name = "rq_affinity-2"
prepare = [{ device = "echo 2 > /sys/block/sda/queue/rq_affinity" }]
"#;

struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("plan.toml"), PLAN).expect("the plan");
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn begin(&self) -> Child {
        tophalf()
            .args(["campaign", "plan.toml", "--resume", "--json"])
            .current_dir(self.path())
            .env("VIRTUAL_PHONE", workspace().join("target/release/virtual-phone"))
            .env("VIRTUAL_PHONE_DIR", workspace().join("target/virtual-phone"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("tophalf starts")
    }

    /// Names of run files with this end.
    fn files(&self, suffix: &str) -> BTreeSet<String> {
        let variants =
            ["rq_affinity-1", "rq_affinity-2"].map(|name| self.path().join("tophalf-runs").join(name));
        let entries = variants.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter_map(|name| name.strip_suffix(suffix).map(str::to_owned)).collect()
    }

    /// Waits until `count` runs are finished and another one is being made.
    #[track_caller]
    fn wait_for_run_after(&self, count: usize) {
        let until = Instant::now() + Duration::from_secs(400);
        while self.files(".tophalf").len() < count || self.files(".tophalf.partial").is_empty() {
            assert!(Instant::now() < until, "{:?}", self.files(".tophalf"));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn phone_pid(&self) -> String {
        fs::read_to_string(self.path().join("phone")).expect("the phone's number").trim().to_owned()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // A phone that stays would be in the way of the next test only by its port.
        let _ = Command::new(workspace().join("target/release/virtual-phone"))
            .arg("stop")
            .arg(self.path().join("phone"))
            .status();
    }
}

fn kill(pid: &str) {
    assert!(Command::new("kill").args(["-9", pid]).status().expect("kill").success());
}

#[test]
fn a_campaign_goes_on_after_the_agent_the_host_and_the_phone_were_killed() {
    let lab = Lab::new();

    // The agent: this session tries the boot's other runs, and leaves the slot open, since there are no retries.
    let child = lab.begin();
    lab.wait_for_run_after(1);
    let agent = "kill -9 $(pidof $(basename $(ls /data/local/tmp/tophalf/*agent* | head -n 1)))";
    let killed = Command::new("adb").args(["-s", SERIAL, "shell", agent]).status().expect("adb");
    assert!(killed.success());

    // The host: in the middle of a run, whose file stays unfinished.
    lab.wait_for_run_after(3);
    let before = lab.files(".tophalf");
    kill(&child.id().to_string());
    let mut child = child;
    child.wait().expect("gone");
    let unfinished = lab.files(".tophalf.partial");
    assert_eq!(unfinished.len(), 1);

    // The phone, with all that was in it; the host as well, so that the next session finds neither.
    let mut child = lab.begin();
    lab.wait_for_run_after(before.len() + 1);
    kill(&lab.phone_pid());
    child.kill().expect("killed");
    child.wait().expect("gone");

    let answer: Answer = lab.begin().wait_with_output().expect("it ends").into();
    assert_eq!(answer.code, Some(0), "{answer:#?}");
    let campaign = &answer.json()["campaign"];
    let slots = campaign["slots"].as_array().expect("slots");
    assert_eq!(slots.len(), 8);
    assert!(slots.iter().all(|slot| slot["state"] == "valid"), "{campaign:#}");
    let variants: Vec<&Value> = slots.iter().map(|slot| &slot["variant"]).collect();
    let order = [1, 2, 2, 1, 2, 1, 1, 2].map(|knob| Value::from(format!("rq_affinity-{knob}")));
    assert_eq!(variants, order.iter().collect::<Vec<_>>());
    // What was there stayed; only the run whose agent was killed has a second one.
    let finished = lab.files(".tophalf");
    assert!(finished.is_superset(&before) && lab.files(".tophalf.partial").is_superset(&unfinished));
    let counted: BTreeSet<String> =
        slots.iter().filter_map(|slot| slot["id"].as_str().map(str::to_owned)).collect();
    assert_eq!(counted.len(), 8, "{campaign:#}");
    let others: Vec<&String> = finished.difference(&counted).collect();
    assert!(others.len() <= 2, "the killed agent's run, and one that the phone's end broke off: {others:?}");
    let boots: BTreeSet<&str> = slots.iter().filter_map(|slot| slot["boot_id"].as_str()).collect();
    assert!(boots.len() >= 2, "{campaign:#}");
}
