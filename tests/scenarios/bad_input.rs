//! What cannot be: one sentence that says what to do, the right exit code, and nothing stored.

use crate::harness::{Rig, tophalf};
use virtual_phone::BootOptions;

#[test]
fn what_cannot_be_is_refused_before_any_io() {
    let rig = Rig::boot(&BootOptions::new("6.18"));
    // fio#186: 512 bytes on 4096-byte blocks.
    rig.run(&["--bs", "512"]).refused(2, &["logical block 4096, asked 512"]);
    rig.run(&["--bs", "6k"]).refused(2, &["logical block 4096, asked 6144"]);
    rig.run(&["--target", "/dev/sdz"]).refused(2, &["/dev/sdz"]);
    rig.run(&["--target", "/proc/version"]).refused(2, &["/proc/version"]);
    rig.run(&["--size", "2g"]).refused(2, &["span 2147483648", "1073741824"]);
    rig.run(&["--cpu", "9"]).refused(2, &["CPU 9", "0-1"]);
    rig.run(&["-w", "randwrite-4k", "--target", "/dev/sda"]).refused(2, &["--destroy-data-on"]);

    // util-linux#413: an offline CPU is named with the ones that can be had.
    rig.phone.shell("echo 0 > /sys/devices/system/cpu/cpu1/online").unwrap();
    rig.run(&["--cpu", "1"]).refused(2, &["CPU 1", "online"]);
    rig.phone.shell("echo 1 > /sys/devices/system/cpu/cpu1/online").unwrap();

    // A claimed disk is never written to.
    rig.phone
        .shell("mkdir -p /tmp/m; mke2fs -q /dev/sda >/dev/null 2>&1; mount -t ext2 /dev/sda /tmp/m || true")
        .unwrap();
    let written = rig.run(&["-w", "randwrite-4k", "--target", "/dev/zram0", "--destroy-data-on", "/dev/sda"]);
    written.refused(2, &["--destroy-data-on"]);

    assert_eq!(rig.files(), Vec::<std::path::PathBuf>::new(), "nothing was measured");
}

#[test]
fn two_phones_and_no_choice() {
    let first = Rig::boot(&BootOptions::new("6.12"));
    let second = Rig::boot(&BootOptions::new("6.12"));
    let answer = first.tophalf(&["run", "--seconds", "1"]);
    answer.refused(2, &["-d", first.phone.serial(), second.phone.serial()]);
    drop((first, second));
    let none = tophalf().args(["run", "--seconds", "1"]).output().unwrap();
    let none = crate::harness::Answer::from(none);
    assert_eq!(none.code, Some(3), "{none:#?}");
}

#[test]
fn a_phone_with_emmc_is_told_so() {
    let rig = Rig::boot(&BootOptions { no_ufs: true, ..BootOptions::new("6.18") });
    rig.run(&["--seconds", "1"]).refused(2, &["UFS", "mmcblk0"]);
}
