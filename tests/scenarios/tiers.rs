//! Without root, and with each way of getting it.

use crate::harness::Rig;
use virtual_phone::{BootOptions, Su};

fn phone(su: Su) -> BootOptions {
    BootOptions { unprivileged: true, su, ..BootOptions::new("6.18") }
}

#[test]
fn without_root_a_block_device_is_refused_and_the_way_out_named() {
    let rig = Rig::boot(&phone(Su::None));
    rig.run(&["--target", "/dev/sda", "--seconds", "1"]).refused(2, &["/dev/sda", "root"]);
}

#[test]
fn su_of_either_kind_gives_root() {
    for su in [Su::Magisk, Su::Toybox] {
        let rig = Rig::boot(&phone(su));
        let run = rig.run(&["--seconds", "2", "--cpu", "0", "--hops-ops", "300"]).run();
        assert_eq!(run["completion"]["path"], "threaded", "{run:#}");
        assert_eq!(run["target"]["path"], "/dev/sda", "{run:#}");
    }
}

/// A file in the shell's own folder can be measured; what it cannot see is said.
#[test]
fn without_root_a_file_is_measured_and_nothing_is_left_behind() {
    let rig = Rig::boot(&phone(Su::None));
    let answer = rig.run(&["--seconds", "1", "--size", "8m"]);
    let run = &answer.json()["runs"][0];
    assert_eq!(run["target"]["block_device"], false, "{run:#}");
    assert!(run["ops"].as_u64().is_some_and(|ops| ops > 0), "{run:#}");
    // The guest's folder is a tmpfs: no interrupt of the UFS disk is claimed for it.
    assert_ne!(run["completion"]["path"], "threaded", "{run:#}");
    let left = rig.phone.shell("ls /data/local/tmp/tophalf").unwrap();
    assert!(!left.contains("scratch"), "{left}");
}
