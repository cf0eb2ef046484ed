use super::*;
use std::os::unix::fs::symlink;

/// A tree with `/sys/block/sda` as it is in sysfs, and links that lead out of it.
fn example() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::create_dir_all(at("sys/devices/ufs/block/sda")).unwrap();
    fs::create_dir_all(at("sys/block")).unwrap();
    fs::create_dir_all(at("sys/bus/drivers/sd")).unwrap();
    fs::write(at("sys/devices/ufs/block/sda/size"), "8\n").unwrap();
    fs::write(at("etc"), "inside").unwrap();
    symlink("../devices/ufs/block/sda", at("sys/block/sda")).unwrap();
    symlink("/sys/devices/ufs", at("sys/absolute")).unwrap();
    symlink("../../../../../../../../etc", at("sys/out")).unwrap();
    symlink("loop", at("sys/loop")).unwrap();
    symlink("../../../bus/drivers/sd", at("sys/devices/ufs/block/driver")).unwrap();
    folder
}

#[test]
fn links_are_followed_inside_the_root() {
    let folder = example();
    let tree = Tree::at(folder.path());
    assert_eq!(tree.resolve("/sys/block/sda").unwrap(), "/sys/devices/ufs/block/sda");
    assert_eq!(tree.resolve("/sys/absolute/block//./sda/..").unwrap(), "/sys/devices/ufs/block");
    assert_eq!(tree.read_text("/sys/absolute/block/sda/size").unwrap(), "8");
    assert_eq!(tree.read_text("/sys/block/sda/size").unwrap(), "8");
    assert_eq!(tree.resolve("/").unwrap(), "");
}

#[test]
fn nothing_leads_out_of_the_root() {
    let folder = example();
    let tree = Tree::at(folder.path());
    assert_eq!(tree.read_text("/sys/out").unwrap(), "inside");
    assert_eq!(tree.read_text("/../../../etc").unwrap(), "inside");
    let error = tree.resolve("/sys/loop").unwrap_err();
    assert_eq!(error.reason, "follow /sys/loop: too many links");
}

#[test]
fn a_reason_is_one_sentence() {
    let folder = example();
    let tree = Tree::at(folder.path());
    let reason = tree.read("/proc/irq/18/effective_affinity_list").unwrap_err().reason;
    assert_eq!(reason, "read /proc/irq/18/effective_affinity_list: No such file or directory (os error 2)");
    let reason = tree.list("/proc").unwrap_err().reason;
    assert_eq!(reason, "list /proc: No such file or directory (os error 2)");
    let reason = tree.parse("/etc", text::one_number::<u32>).unwrap_err().reason;
    assert_eq!(reason, "read /etc: not understood: \"inside\"");
    assert!(!tree.exists("/sys/nothing"));
}

#[test]
fn a_file_that_is_too_long_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let tree = Tree::at(folder.path());
    fs::write(folder.path().join("fits"), vec![b'x'; Tree::FILE_LIMIT]).unwrap();
    fs::write(folder.path().join("long"), vec![b'x'; Tree::FILE_LIMIT + 1]).unwrap();
    assert_eq!(tree.read("/fits").unwrap().len(), Tree::FILE_LIMIT);
    assert_eq!(tree.read("/long").unwrap_err().reason, "read /long: longer than 1 MiB");
}

#[test]
fn links_tell_where_they_point() {
    let folder = example();
    let tree = Tree::at(folder.path());
    assert_eq!(tree.link("/sys/absolute").unwrap(), "/sys/devices/ufs");
    assert_eq!(tree.link_name("/sys/block/../absolute/block/driver").unwrap(), "sd");
    assert!(tree.link("/etc").unwrap_err().reason.starts_with("follow /etc: "));
}

#[test]
fn what_was_read_is_remembered_in_order_and_once() {
    let folder = example();
    let tree = Tree::at(folder.path()).recording();
    assert!(tree.exists("/sys/block/sda/size"));
    tree.list("/sys/block").unwrap();
    for _ in 0..2 {
        tree.read("/sys/block/sda/size").unwrap();
    }
    tree.peek("/etc").unwrap();
    tree.read("/sys/nothing").unwrap_err();
    tree.link("/sys/absolute").unwrap();
    let things = tree.into_recorded();
    let expected = [
        ("/sys/block/sda", RecordedContent::Link("../devices/ufs/block/sda".to_owned())),
        ("/sys/devices/ufs/block/sda/size", RecordedContent::File(b"8\n".to_vec())),
        ("/sys/block", RecordedContent::Folder),
        ("/sys/absolute", RecordedContent::Link("/sys/devices/ufs".to_owned())),
    ];
    let expected = expected.map(|(path, content)| Recorded { path: path.to_owned(), content });
    assert_eq!(things, expected);
    assert!(Tree::at(folder.path()).into_recorded().is_empty());
}
