use super::*;

fn row<'a>(table: &'a InterruptTable, label: &str) -> &'a InterruptRow {
    table.rows.iter().find(|row| row.label == label).expect("the row")
}

fn actions(text: &str) -> Vec<String> {
    describe(text).actions
}

#[test]
fn opendcdiag_441_columns_belong_to_the_cpus_of_the_header() {
    let text = b"  CPU0 CPU1 CPU2 CPU3 CPU4 CPU5 CPU6 CPU7 CPU8 CPU9 CPU20 CPU21\n\
                 18: 0 1 2 3 4 5 6 7 8 9 200 210  GICv3 37 Level ufshcd\n";
    let table = parse(text).unwrap();
    assert_eq!(table.cpus[10], 20);
    assert_eq!(row(&table, "18").counts[10], 200);
}

#[test]
fn node_exporter_720_eight_cpus_give_eight_counts() {
    let text =
        b"       CPU0 CPU1 CPU2 CPU3 CPU4 CPU5 CPU6 CPU7       \n  1: 1 2 3 4 5 6 7 8   GICv3  27 Level  x\n";
    let table = parse(text).unwrap();
    assert_eq!(table.cpus, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(row(&table, "1").counts, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn node_exporter_2557_arm64_rows() {
    let text = b"           CPU0       CPU1       CPU2       CPU3       CPU4       CPU5       CPU6       CPU7\n \
        10: 3287008667 3310445093 3225020441 3225020440 3225020439 3225020438 3225020437 3225020442     GICv3  27 Level     arch_timer\n\
        IPI0:  1 2 3 4 5 6 7 8       Rescheduling interrupts\n\
        Err:          0\n";
    let table = parse(text).unwrap();
    let timer = row(&table, "10");
    assert_eq!((timer.counts[0], timer.counts[7], timer.counts.len()), (3_287_008_667, 3_225_020_442, 8));
    let parts = describe(&timer.text);
    assert_eq!((parts.chip.as_str(), parts.hwirq.as_str(), parts.trigger.as_str()), ("GICv3", "27", "Level"));
    assert_eq!(parts.actions, ["arch_timer"]);
    let ipi = row(&table, "IPI0");
    assert_eq!((ipi.counts.len(), ipi.text.as_str()), (8, "Rescheduling interrupts"));
    assert_eq!(row(&table, "Err").counts, [0]);
}

#[test]
fn irqbalance_253_a_handler_name_keeps_its_blank() {
    let parts = describe("MSI-INTA 1716234 Level     485c0100.dma-controller chan6");
    assert_eq!(parts.hwirq, "1716234");
    assert_eq!(parts.actions, ["485c0100.dma-controller chan6"]);
}

#[test]
fn bcc_3733_a_shared_line_has_one_count_and_two_actions() {
    let text = b"        CPU0\n 13:     385248     GICv3  39 Level     DDOMAIN ISR, gdma\n";
    let table = parse(text).unwrap();
    assert_eq!(row(&table, "13").counts, [385_248]);
    assert_eq!(actions(&row(&table, "13").text), ["DDOMAIN ISR", "gdma"]);
}

#[test]
fn sysstat_314_the_sum_is_over_all_cpus() {
    let text = b"      CPU0 CPU1 CPU2 CPU3\n 24: 395027 399987 365727 303783  GICv3 9 Edge  eth0\n";
    assert_eq!(total(text, 24), Some(1_464_524));
    assert_eq!(total(text, 25), None);
}

#[test]
fn offline_cpus_have_no_column_but_a_field() {
    let text = b"       CPU0 CPU1 CPU2 CPU3 CPU6 CPU7\n 18: 10 11 12 13 16 17  GICv3 37 Level ufshcd\n";
    let table = parse(text).unwrap();
    assert_eq!((table.cpus[4], row(&table, "18").counts[4]), (6, 16));
    assert_eq!(per_cpu_total(b"10,11,12,13,0,0,16,17\n"), total(text, 18));
}

#[test]
fn changes_leave_out_what_stood_still() {
    let first =
        parse(b" CPU0 CPU1\n 18: 5 0 GICv3 37 Level ufshcd\n 19: 1 1 GICv3 38 Level mmc0\nErr: 0\n").unwrap();
    let second = parse(b" CPU0 CPU1\n 18: 6 0 GICv3 37 Level ufshcd\n 19: 1 1 GICv3 38 Level mmc0\n 20: 0 0 GICv3 39 Level new\nErr: 0\n")
        .unwrap();
    let changed = changes(&first, &second);
    let labels: Vec<&str> = changed.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["18", "20"]);
    assert_eq!(changed.rows[0].text, "", "known already");
    assert!(changed.rows[1].text.contains("new"), "not known yet");
    let fewer = parse(b" CPU0\n 18: 6 GICv3 37 Level ufshcd\nErr: 0\n").unwrap();
    assert_eq!(changes(&second, &fewer).rows.len(), 2, "other columns: every row has to be told again");
}

#[test]
fn both_column_formats_say_the_same() {
    let old =
        b"           CPU0       CPU1       \n 18:         64          0     GICv3  37 Level     ufshcd\n";
    let new =
        b"            CPU0       CPU1       \n  18:         64          0  GICv3      37 Level     ufshcd\n";
    let [old, new] = [&old[..], &new[..]].map(|text| parse(text).unwrap());
    assert_eq!(old.cpus, new.cpus);
    assert_eq!(old.rows[0].counts, new.rows[0].counts);
    assert_eq!(describe(&old.rows[0].text), describe(&new.rows[0].text));
    assert_eq!(actions(&new.rows[0].text), ["ufshcd"]);
}

#[test]
fn texts_of_many_machines() {
    let parts = |text: &str| {
        let found = describe(text);
        (found.chip, found.hwirq, found.trigger, found.actions.join("|"))
    };
    let is = |chip: &str, hwirq: &str, trigger: &str, actions: &str| {
        (chip.to_owned(), hwirq.to_owned(), trigger.to_owned(), actions.to_owned())
    };
    assert_eq!(
        parts("PCI-MSIX-0000:00:01.0   0-edge      virtio0-config"),
        is("PCI-MSIX-0000:00:01.0", "0", "edge", "virtio0-config")
    );
    assert_eq!(parts("IO-APIC   5-edge      ACPI:Ged"), is("IO-APIC", "5", "edge", "ACPI:Ged"));
    assert_eq!(
        parts("IO-APIC   9-fasteoi   acpi, i801_smbus"),
        is("IO-APIC", "9", "fasteoi", "acpi|i801_smbus")
    );
    assert_eq!(
        parts("ITS-MSI 9961472 Edge      qcom-mcq-esi"),
        is("ITS-MSI", "9961472", "Edge", "qcom-mcq-esi")
    );
    assert_eq!(parts("SiFive PLIC   5 Edge      virtio0"), is("SiFive PLIC", "5", "Edge", "virtio0"));
    assert_eq!(parts("bcm-gpio  27 Edge    -edge      button"), is("bcm-gpio", "27", "Edge", "button"));
    assert_eq!(parts("GICv3  93 Level"), is("GICv3", "93", "Level", ""));
    assert_eq!(parts("None     Level     dummy 5"), is("None", "", "Level", "dummy 5"));
    assert_eq!(parts("-"), is("-", "", "", ""));
    assert_eq!(parts(""), is("", "", "", ""));
}

#[test]
fn a_number_that_is_no_count_is_left_to_the_text() {
    let table =
        parse(b" CPU0 CPU1\n 18: 18446744073709551615 1 x\n 19: 7 99999999999999999999999 y\n").unwrap();
    assert_eq!(table.rows.len(), 1);
    assert_eq!(
        (table.rows[0].counts.as_slice(), table.rows[0].text.as_str()),
        (&[7][..], "99999999999999999999999 y")
    );
    assert_eq!(parse(b"no header\n 18: 1\n"), None);
    assert_eq!(parse(b""), None);
}
