use super::*;

const TAIL: &str = "S 2 0 0 0 -1 2129984 0 0 0 0 0 1912 0 0 -51 0 1 0 60 0 0 18446744073709551615 0 0 0 0 0 0 0 2147483647 0 0 0 0 17 3 50 1 0 0 0 0 0 0 0 0 0 0 0";

fn stat(name: &str) -> Stat {
    parse_stat(format!("74 ({name}) {TAIL}\n").as_bytes()).unwrap()
}

#[test]
fn the_fields_of_an_interrupt_thread() {
    let found = stat("irq/18-ufshcd");
    let expected = Stat {
        pid: 74,
        comm: "irq/18-ufshcd".to_owned(),
        state: 'S',
        ppid: 2,
        nice: 0,
        cpu: 3,
        rt_priority: 50,
        policy: 1,
    };
    assert_eq!(found, expected);
}

#[test]
fn sysstat_28_a_name_with_blanks() {
    let found =
        parse_stat(format!("5768 (Plex New Transc) {TAIL}").replace("S 2", "S 1264").as_bytes()).unwrap();
    assert_eq!(
        (found.pid, found.comm.as_str(), found.state, found.ppid),
        (5768, "Plex New Transc", 'S', 1264)
    );
}

#[test]
fn a_name_with_parentheses() {
    assert_eq!(stat("a) R 1 (b").comm, "a) R 1 (b");
    assert_eq!(stat("(sd-pam)").comm, "(sd-pam)");
    assert_eq!(stat("").comm, "");
}

#[test]
fn a_stat_that_is_cut_short_is_refused() {
    let whole = format!("74 (x) {TAIL}");
    assert!(parse_stat(whole.as_bytes()).is_some());
    assert_eq!(parse_stat(&whole.as_bytes()[..40]), None);
    assert_eq!(parse_stat(b") 1 ("), None);
    assert_eq!(parse_stat(b")("), None);
}

#[test]
fn names_of_interrupt_threads_of_older_and_newer_kernels() {
    assert_eq!(irq_of_thread("irq/205-2020000"), Some((205, false)));
    assert_eq!(irq_of_thread("irq/205-s-ufshc"), Some((205, true)));
    assert_eq!(irq_of_thread("irq/205-20200000.ufs"), Some((205, false)));
    assert_eq!(irq_of_thread("irq/205-s-ufshcd"), Some((205, true)));
    for name in ["irq/205", "irq/-ufshcd", "irq/x-ufshcd", "irqbalance", "irq/99999999999-a", ""] {
        assert_eq!(irq_of_thread(name), None, "{name}");
    }
    assert_eq!(cpu_of_ksoftirqd("ksoftirqd/7"), Some(7));
    assert_eq!(cpu_of_ksoftirqd("ksoftirqd"), None);
}

#[test]
fn procfs_94_a_negative_number_without_its_sign_is_no_count() {
    let status = parse_status(
        b"voluntary_ctxt_switches:\t18446744073709551615\nnonvoluntary_ctxt_switches:\t99999999999999999999999\n",
    );
    assert_eq!(status.voluntary_switches, None);
    assert_eq!(status.nonvoluntary_switches, None);
    assert_eq!(status.switches(), None);
}

#[test]
fn procfs_15_lines_that_are_not_known_are_passed_over() {
    let status = parse_status(
        b"Name:\ta\nTHP_enabled:\t1\nx86_Thread_features:\nUid:\t0\t2000\t0\t0\nnothing here\nCpus_allowed:\t4f\n\
          Cpus_allowed_list:\t0-3,6\nvoluntary_ctxt_switches:\t716\nnonvoluntary_ctxt_switches:\t4\n",
    );
    let expected = Status {
        uid: Some(2000),
        cpus_allowed: Some(vec![0, 1, 2, 3, 6]),
        voluntary_switches: Some(716),
        nonvoluntary_switches: Some(4),
    };
    assert_eq!(status, expected);
    assert_eq!(status.switches(), Some(720));
}

#[test]
fn migrations_among_the_other_statistics() {
    let text = b"irq/18-ufshcd (74, #threads: 1)\n-----------------------\n\
        se.exec_start                                :        184213.771923\n\
        se.nr_migrations                             :                    4\n";
    assert_eq!(parse_migrations(text), Some(4));
    assert_eq!(parse_migrations(b"se.exec_start : 1\n"), None);
}
