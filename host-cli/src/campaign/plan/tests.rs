use super::*;
use crate::session::request::CpuChoice;

const KERNELS: &str = r#"
schema = 1
name = "t615"
devices = ["A", "B"]
[run]
workload = "randread-4k"
seconds = 2.5
hops_ops = 300
passes = ["timed", "hops"]
cpu = 0
allow_buffered = false
[cool_down]
below_c = 38
[[variant]]
name = "6.12"
boot = [{ host = "flash 6.12", timeout_s = 30 }]
[[variant]]
name = "6.18"
boot = [{ host = "flash 6.18" }, { host = "sleep 1" }]
"#;

const KNOBS: &str = r#"
schema = 1
name = "knob"
runs = 4
[[variant]]
name = "on"
prepare = [{ device = "echo 2 > /sys/block/sda/queue/rq_affinity" }]
[[variant]]
name = "off"
prepare = [{ device = "echo 1 > /sys/block/sda/queue/rq_affinity" }, { host = "true" }]
"#;

#[test]
fn kernels_take_the_defaults_of_boots() {
    let plan = parse(KERNELS).unwrap();
    assert_eq!((plan.boots, plan.runs, plan.retries, plan.order), (4, 3, 1, Order::Abba));
    assert_eq!(plan.devices, ["A", "B"]);
    assert_eq!((plan.run.timed_ns, plan.run.hops_ops), (2_500_000_000, 300));
    assert_eq!(plan.run.cpu, CpuChoice::Only(0));
    assert_eq!(plan.cool_down.unwrap().below_millidegrees, 38_000);
    assert_eq!(plan.variants[0].boot[0].limit, Duration::from_secs(30));
    assert_eq!(plan.variants[1].boot.len(), 2);
}

#[test]
fn knobs_without_boot_commands_are_measured_in_one_boot() {
    let plan = parse(KNOBS).unwrap();
    assert_eq!((plan.boots, plan.runs), (1, 4));
    assert_eq!(
        plan.variants[1].prepare.iter().map(|step| step.place).collect::<Vec<_>>(),
        [Place::Device, Place::Host]
    );
    let booted = KNOBS.replacen("runs = 4", "boot = [{ host = \"adb reboot\" }]", 1);
    assert_eq!(parse(&booted).unwrap().boots, 4);
}

/// The plan with `from` in place of `to` is refused in `line`, with `words`.
#[track_caller]
fn refused(plan: &str, from: &str, to: &str, line: usize, words: &str) {
    assert!(plan.contains(from), "{from}");
    let text = plan.replacen(from, to, 1);
    let said = parse(&text).expect_err("it was taken").at(&text, "p.toml");
    assert!(said.starts_with(&format!("p.toml:{line}:")) && said.contains(words), "{said}");
    assert!(!said.contains('\n'), "{said}");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    refused(KERNELS, "schema = 1", "schema = 2", 2, "schema 2");
    refused(KERNELS, "schema = 1", "shema = 1", 2, "unknown field `shema`");
    refused(KERNELS, "\"t615\"", "\"../t615\"", 3, "letters, digits");
    refused(KERNELS, "\"t615\"", "\"\"", 3, "letters, digits");
    refused(KERNELS, "\"B\"", "\"A\"", 4, "device \"A\" stands twice");
    refused(KERNELS, "randread-4k", "fast", 6, "is no workload");
    refused(KERNELS, "2.5", "nan", 7, "no number of seconds");
    refused(KERNELS, "2.5", "-1", 7, "no number of seconds");
    refused(KERNELS, "2.5", "0", 5, "measures nothing");
    refused(KERNELS, "hops_ops = 300", "hops_ops = 0", 8, "1..=1000000");
    refused(KERNELS, "hops_ops", "hop_ops", 8, "[run] has no \"hop_ops\"");
    refused(KERNELS, "hops_ops = 300", "variant = 'x'", 8, "[run] has no \"variant\"");
    refused(KERNELS, "\"timed\"", "\"trace\"", 9, "possible values: timed, hops");
    refused(KERNELS, "cpu = 0", "cpu = 70000", 10, "write a number or `any`");
    refused(KERNELS, "allow_buffered = false", "allow_buffered = 1", 11, "true or false");
    refused(KERNELS, "below_c = 38", "below_c = nan", 13, "no temperature");
    refused(KERNELS, "below_c = 38", "below_c = -inf", 13, "no temperature");
    refused(KERNELS, "below_c = 38", "below = 38", 13, "unknown field `below`");
    refused(KERNELS, "\"6.12\"", "\"6.18\"", 18, "variant \"6.18\" stands twice");
    refused(KERNELS, "\"6.12\"", "\"\"", 15, "without a name");
    refused(KERNELS, "timeout_s = 30", "timeout_s = 0", 16, "timeout_s = 0");
    refused(KERNELS, "{ host = \"sleep 1\" }", "{ device = \"reboot\" }", 19, "commands of the host");
    refused(KERNELS, "{ host = \"sleep 1\" }", "{ }", 19, "either `host");
    refused(KERNELS, "{ host = \"sleep 1\" }", "{ host = ' ' }", 19, "empty");
    refused(KERNELS, "boot = [{ host = \"flash 6.18\" }, { host = \"sleep 1\" }]", "", 18, "has no `boot`");
    refused(
        KERNELS,
        "boot = [{ host = \"flash 6.18\" }, { host = \"sleep 1\" }]",
        "boot = []",
        19,
        "empty list",
    );
    refused(KERNELS, "boot = [{ host = \"flash 6.18\" }", "boot = [{ host = \"flash 6.18\" ", 19, "");
    refused(KERNELS, "devices", "boot = [{ host = 'adb reboot' }]\ndevices", 4, "in its variants");
    refused(KNOBS, "runs = 4", "runs = 0", 4, "runs = 0: write 1 to 1000");
    refused(KNOBS, "runs = 4", "runs = -4", 4, "runs = -4");
    refused(KNOBS, "runs = 4", "runs = 4.5", 4, "invalid type");
    refused(KNOBS, "runs = 4", "boots = 4", 4, "needs `boot`");
    refused(KNOBS, "runs = 4", "retries = 10", 4, "retries = 10");
    refused(KNOBS, "runs = 4", "order = \"aabb\"", 4, "unknown variant `aabb`");
    refused(
        KNOBS,
        "prepare = [{ device = \"echo 2",
        "#prepare = [{ device = \"echo 2",
        6,
        "say what sets it back",
    );
    refused("schema = 1\nname = \"x\"\n", "x", "y", 1, "no [[variant]]");
}

#[test]
fn more_slots_than_have_numbers_are_refused() {
    let text = KNOBS.replacen("runs = 4", "runs = 1000\nboots = 6\nboot = [{ host = 'x' }]", 1);
    assert!(parse(&text).unwrap_err().message.contains("12000 runs"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_plan_or_has_a_line(cut in 0..KERNELS.len(), junk in "\\PC{0,12}") {
        let mut text = KERNELS.to_owned();
        text.insert_str(cut, &junk);
        if let Err(wrong) = parse(&text) {
            let said = wrong.at(&text, "p");
            let line: usize = said.split(':').nth(1).unwrap().parse().unwrap();
            proptest::prop_assert!(line >= 1 && line <= text.lines().count() + 1);
        }
    }
}
