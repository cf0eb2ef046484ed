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

    // A disk that somebody claimed is never written to, not even by permission.
    rig.phone.shell("mkswap /dev/zram0 && swapon /dev/zram0").unwrap();
    let zram = ["-w", "randwrite-4k", "--target", "/dev/zram0", "--destroy-data-on"];
    rig.run(&[&zram[..], &["/dev/zram0"]].concat()).refused(2, &["/dev/zram0", "in use"]);
    rig.phone.shell("swapoff /dev/zram0").unwrap();
    rig.run(&[&zram[..], &["/dev/sda"]].concat()).refused(2, &["--destroy-data-on"]);

    assert_eq!(rig.files(), Vec::<std::path::PathBuf>::new(), "nothing was measured");
}

/// KDiskMark#108, resource-agents#1797: without direct I/O there is no run, unless it is asked for, and then it
/// is marked in every output.
#[test]
fn a_file_system_without_direct_io_is_refused_or_marked() {
    let rig = Rig::boot(&BootOptions::new("6.12"));
    rig.phone.shell("mkdir -p /tmp/ram && mount -t ramfs none /tmp/ram && chmod 777 /tmp/ram").unwrap();
    let file = ["--target", "/tmp/ram/file", "--make-file", "--size", "4m", "--seconds", "1"];
    rig.run(&file).refused(2, &["/tmp/ram/file", "O_DIRECT", "--allow-buffered"]);

    let buffered = rig.run(&[&file[..], &["--allow-buffered"]].concat());
    let run = &buffered.json()["runs"][0];
    assert_eq!(run["target"]["direct"], false, "{run:#}");
    let text = rig.tophalf(&["show", &rig.only_file()]);
    assert!(text.stdout.contains("page cache"), "{text:#?}");
    assert_eq!(rig.phone.shell("ls /tmp/ram").unwrap().trim(), "", "the file is gone");
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
