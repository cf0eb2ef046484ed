//! A user's phone becomes a test case: what a probe recorded answers as the phone did.

use crate::harness::Rig;
use virtual_phone::BootOptions;

#[test]
fn a_recording_is_probed_as_the_phone_was() {
    let rig = Rig::boot(&BootOptions::new("6.18"));
    let tar = rig.store().join("phone.tar");
    let tar = tar.to_str().unwrap();
    let live = rig.tophalf(&["probe", "-d", rig.phone.serial(), "--record", tar, "--json"]);
    assert_eq!(live.code, Some(0), "{live:#?}");
    let replayed = rig.tophalf(&["probe", "--replay", tar, "--json"]);
    assert_eq!(replayed.code, Some(0), "{replayed:#?}");
    let (live, replayed) = (live.json()["probes"][0].clone(), replayed.json()["probes"][0].clone());
    for part in ["controllers", "irqs", "disks", "irq_threads"] {
        assert_eq!(live[part], replayed[part], "{part}");
    }
    assert!(live["controllers"].as_array().is_some_and(|found| !found.is_empty()), "{live:#}");
}
