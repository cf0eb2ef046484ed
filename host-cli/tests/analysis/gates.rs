//! Did the device stay as it was during a run, and was it the same on both sides?

use crate::scene::state::{CONFIG, with_states};
use crate::scene::{Scene, header, recording};
use tophalf::analysis::{Asked, Gate, RunSummary, Verdict, compare, environment, gates, summarize};
use tophalf_wire::{EdgeSide, KernelConfig, Message, Reading, State, Unavailable};

/// A run of four windows on a phone, with the state at the windows' ends as `edit` leaves it.
fn run(edit: impl FnMut(&mut State)) -> RunSummary {
    run_of(&phone(), edit)
}

fn phone() -> Scene {
    Scene { windows: 4, emulated: false, ..Scene::threaded() }
}

fn run_of(scene: &Scene, edit: impl FnMut(&mut State)) -> RunSummary {
    summarize(&header("r", "v"), &recording(&with_states(scene, CONFIG, edit)))
}

fn after_window(state: &State, window: u32) -> bool {
    state.window == Some(window) && state.side == EdgeSide::After
}

fn passed(run: &RunSummary, gate: &str) -> Option<bool> {
    let found = run.quality.gates.iter().find(|found| found.name == gate);
    found.unwrap_or_else(|| panic!("no gate {gate}: {:#?}", run.quality.gates)).passed
}

/// The gate failed, said so in a sentence that begins with its name, and failed alone.
#[track_caller]
fn assert_fails(run: &RunSummary, gate: &str, words: &str) {
    assert_eq!(passed(run, gate), Some(false), "{:#?}", run.quality);
    assert!(!run.quality.valid);
    let failed: Vec<&str> = run
        .quality
        .gates
        .iter()
        .filter(|gate| gate.passed == Some(false))
        .map(|gate| gate.name.as_str())
        .collect();
    assert_eq!(failed, [gate]);
    let told = |line: &String| line.starts_with(&format!("{gate}: ")) && line.contains(words);
    assert!(run.quality.failed.iter().any(told), "{:#?}", run.quality.failed);
}

#[test]
fn a_phone_that_stays_as_it_is_passes_every_gate() {
    let run = run(|_| {});
    assert!(run.quality.valid, "{:#?}", run.quality.failed);
    for gate in ["other-io", "cpu-moved", "throttled", "irq-moved", "ufs-errors", "link-changed", "clock"] {
        assert_eq!(passed(&run, gate), Some(true), "{gate}: {:#?}", run.unavailable);
    }
    let conditions = &run.conditions;
    assert_eq!(conditions.mean_frequency_khz, Some(1_820_000.0));
    assert_eq!(conditions.canary_ns, Some([200_000, 200_000]));
    assert_eq!(conditions.irq_cpus.as_deref(), Some([0].as_slice()));
    let hottest = conditions.temperature.as_ref().unwrap();
    assert_eq!((hottest.zone.as_str(), hottest.first_c, hottest.highest_c), ("soc-thmzone", 40.0, 40.0));
    assert_eq!(conditions.config.as_ref().unwrap().options, 3);
    assert!(conditions.controller.keys().all(|name| !name.starts_with("errors.")));
}

// A run of an agent that did not look is neither good nor bad for it.
#[test]
fn a_run_without_states_says_that_it_was_not_checked() {
    let run = Scene::hard().summary("r", "v");
    assert!(run.quality.valid, "{:#?}", run.quality.failed);
    for gate in ["throttled", "irq-moved", "ufs-errors", "link-changed", "clock"] {
        assert_eq!(passed(&run, gate), None);
        assert!(!run.unavailable[&format!("quality.{gate}")].is_empty());
    }
    assert_eq!(run.conditions.temperature, None);
    assert_eq!(run.conditions.mean_frequency_khz, None);
    assert!(run.unavailable.contains_key("conditions.temperature"));
}

/// Slows the canary after the windows of `range`.
fn slower(percent: u64, range: std::ops::Range<u32>) -> impl Fn(&mut State) {
    move |state| {
        if state.window.is_some_and(|window| range.contains(&window))
            && let Some(canary) = &mut state.canary
        {
            canary.best_ns += canary.best_ns * percent / 100;
        }
    }
}

// The androidx benchmark library's rule, with its 12 % in one run.
#[test]
fn a_cpu_that_became_slower_is_throttled() {
    let throttled = run(slower(12, 2..4));
    assert_fails(&throttled, "throttled", "after windows 2, 3 of 4 the same work took up to 12.0 % longer");
    assert_fails(&run(slower(12, 0..2)), "throttled", "than after window 2");
    assert!(run(slower(4, 2..4)).quality.valid);
    let long = Scene { windows: 12, ..phone() };
    // Late in a run; and once, when something else had the CPU.
    assert_fails(&run_of(&long, slower(12, 10..12)), "throttled", "windows 10, 11 of 12");
    let once = run_of(&long, slower(12, 5..6));
    assert!(once.quality.valid, "{:#?}", once.quality.failed);
    assert!(once.quality.notes.iter().any(|note| note.contains("window 5 of 12")), "{:#?}", once.quality);
    // An emulator's CPU is a thread among the host's others: that proves nothing about the phone.
    let emulated = run_of(&Scene { emulated: true, ..phone() }, slower(12, 2..4));
    assert!(emulated.quality.valid, "{:#?}", emulated.quality.failed);
    assert!(emulated.quality.notes.iter().any(|note| note.contains("12.0 %")), "{:#?}", emulated.quality);
}

#[test]
fn a_governor_that_follows_the_load_is_not_taken_for_heat() {
    let governed = |governor: &str, range_khz| {
        let mut messages = with_states(&phone(), CONFIG, slower(12, 2..4));
        for message in &mut messages {
            if let Message::Facts(facts) = message {
                facts.system.cpus[0].governor = Ok(governor.to_owned());
                facts.system.cpus[0].frequency_range_khz = Ok(range_khz);
            }
        }
        summarize(&header("r", "v"), &recording(&messages))
    };
    let by_load = governed("schedutil", (614_400, 1_820_000));
    assert!(by_load.quality.valid, "{:#?}", by_load.quality.failed);
    assert_eq!(passed(&by_load, "throttled"), None);
    assert!(by_load.unavailable["quality.throttled"].contains("governor schedutil"));
    assert_fails(&governed("schedutil", (1_820_000, 1_820_000)), "throttled", "12.0 %");
    assert_fails(&governed("performance", (614_400, 1_820_000)), "throttled", "12.0 %");
}

#[test]
fn canaries_of_different_cpus_are_not_compared() {
    let moved = run_of(&phone(), |state| {
        if state.window >= Some(2) {
            state.canary = Some(tophalf_wire::Canary { cpu: 1, best_ns: 400_000 });
        }
    });
    assert_eq!(passed(&moved, "throttled"), None, "{:#?}", moved.quality);
}

#[test]
fn a_limit_that_the_kernel_set_against_heat() {
    let limited = run(|state| {
        if state.window >= Some(1) {
            state.cooling.as_mut().unwrap()[1].state = Ok(3);
        }
    });
    assert_fails(&limited, "throttled", "cpufreq-cpu6");
    // In force all the time, it is a condition of the run and no change in it.
    let always = run(|state| state.cooling.as_mut().unwrap()[1].state = Ok(3));
    assert!(always.quality.valid, "{:#?}", always.quality.failed);
}

#[test]
fn an_interrupt_that_went_to_another_cpu() {
    let moved = run(|state| {
        if after_window(state, 1) {
            state.irq_cpus[0].1 = Ok(vec![1]);
        }
    });
    assert_fails(&moved, "irq-moved", "interrupt 18");
    // A line more is not another CPU.
    let another = run(|state| {
        if after_window(state, 1) {
            state.irq_cpus.insert(0, (17, Ok(vec![1])));
        }
    });
    assert!(another.quality.valid, "{:#?}", another.quality.failed);
    let unknown = run(|state| state.irq_cpus[0].1 = Err(Unavailable::new("/proc/irq/18: permission denied")));
    assert!(unknown.quality.valid);
    assert_eq!(passed(&unknown, "irq-moved"), None);
    assert!(unknown.unavailable["quality.irq-moved"].contains("permission denied"));
}

fn controller<'a>(state: &'a mut State, name: &str) -> &'a mut Reading<String> {
    let entry = state.controller.iter_mut().find(|(entry, _)| entry == name);
    &mut entry.unwrap_or_else(|| panic!("no {name}")).1
}

const PA_ERRORS: &str = "errors.PHY Adapter Layer errors (except LINERESET)";

// commaai/vamOS#83: errors and recoveries of the UFS link during a run.
#[test]
fn errors_of_the_ufs_link() {
    let errors = run(|state| {
        if after_window(state, 3) {
            *controller(state, PA_ERRORS) = Ok("5".to_owned());
        }
    });
    assert_fails(&errors, "ufs-errors", "from 2 to 5");
    let unreadable = run(|state| state.controller.retain(|(name, _)| name != PA_ERRORS));
    assert!(unreadable.quality.valid);
    assert_eq!(passed(&unreadable, "ufs-errors"), None);
}

#[test]
fn a_link_that_changed_its_speed() {
    let slower = run(|state| {
        if state.window >= Some(2) {
            *controller(state, "power_info/gear") = Ok("HS_GEAR1".to_owned());
        }
    });
    assert_fails(&slower, "link-changed", "power_info/gear");
    // Down for one window, as after an error.
    let recovered = run(|state| {
        if after_window(state, 1) {
            *controller(state, "power_info/mode") = Ok("SLOW_MODE".to_owned());
        }
    });
    assert_fails(&recovered, "link-changed", "power_info/mode went from FAST_MODE to SLOW_MODE");
    let lost = run(|state| {
        if after_window(state, 1) {
            *controller(state, "power_info/link_state") = Ok("BROKEN".to_owned());
        }
    });
    assert_fails(&lost, "link-changed", "power_info/link_state was BROKEN");
    // Between windows an idle link may sleep: that is no fault.
    let asleep = run(|state| {
        if after_window(state, 3) {
            *controller(state, "power_info/link_state") = Ok("HIBERN8".to_owned());
        }
    });
    assert!(asleep.quality.valid, "{:#?}", asleep.quality.failed);
}

#[test]
fn clocks_that_do_not_go_together() {
    let fast = run(|state| state.clocks.raw_ns -= state.clocks.raw_ns / 200);
    assert_fails(&fast, "clock", "+5025 ppm");
    // As fast as NTP corrects a clock.
    let slewed = run(|state| state.clocks.raw_ns -= state.clocks.raw_ns / 2000);
    assert!(slewed.quality.valid, "{:#?}", slewed.quality.failed);
    let slept = run(|state| {
        if state.window >= Some(2) {
            state.clocks.boottime_ns += 3_000_000_000;
        }
    });
    assert_fails(&slept, "clock", "3000 ms");
    // An emulated CPU stands still while its host has other work.
    let emulated = run_of(&Scene { emulated: true, ..phone() }, |state| {
        state.clocks.boottime_ns += 20_000_000 * u64::from(state.window.unwrap_or_default());
    });
    assert!(emulated.quality.valid, "{:#?}", emulated.quality.failed);
    assert!(emulated.quality.notes.iter().any(|note| note.contains("20 ms")), "{:#?}", emulated.quality);
    let back = run(|state| {
        if after_window(state, 2) {
            state.clocks.monotonic_ns -= 2_000_000_000;
        }
    });
    assert_fails(&back, "clock", "went back");
}

#[test]
fn other_io_and_another_cpu_have_names() {
    let busy = run_of(&Scene { device_ios: 1.5, device_bytes: 1.5, ..phone() }, |_| {});
    assert_fails(&busy, "other-io", "other I/O went on");
    let mut messages = with_states(&phone(), CONFIG, |_| {});
    for message in &mut messages {
        if let Message::Edge(edge) = message
            && edge.side == EdgeSide::After
        {
            edge.placement.cpu = 1;
        }
    }
    let moved = summarize(&header("r", "v"), &recording(&messages));
    assert_fails(&moved, "cpu-moved", "was on CPU1 and not on CPU0");
}

/// Gates between four runs a side, the new side's states as `edit` leaves them.
fn between(edit: fn(&mut State), asked: Asked) -> Vec<Gate> {
    let [base, new] = [run(|_| {}), run(edit)];
    assert!(new.quality.valid, "{:#?}", new.quality.failed);
    gates(&[&base], &[&new], &asked)
}

const SAME_BASE: Asked = Asked { margin_percent: 1.0, same_base: true };

#[track_caller]
fn only(gates: &[Gate]) -> &Gate {
    assert_eq!(gates.len(), 1, "{gates:#?}");
    &gates[0]
}

#[test]
fn sides_that_are_alike_pass_every_gate() {
    assert_eq!(between(|_| {}, SAME_BASE), []);
}

#[test]
fn sides_of_another_temperature_get_no_verdict() {
    let warmer = |state: &mut State, degrees: i32| {
        state.zones.as_mut().unwrap()[0].millidegrees = Ok(40_000 + degrees * 1000);
    };
    let found = between(|state| state.zones.as_mut().unwrap()[0].millidegrees = Ok(46_000), Asked::default());
    assert_eq!((only(&found).name.as_str(), only(&found).blocks), ("temperature", true));
    assert!(only(&found).sentence.contains("40") && only(&found).sentence.contains("46"), "{found:?}");
    let [base, new] = [run(|_| {}), run(|state| warmer(state, 4))];
    assert_eq!(gates(&[&base], &[&new], &Asked::default()), []);
    // One that does not tell is not of another temperature.
    let silent = run(|state| state.zones = Err(Unavailable::new("no thermal zone")));
    assert_eq!(gates(&[&base], &[&silent], &Asked::default()), []);
}

#[test]
fn sides_of_another_frequency_get_no_verdict() {
    let slower = |state: &mut State| {
        let times = &mut state.time_in_state.as_mut().unwrap()[0].times;
        times[0].1 = times[1].1;
        times[1].1 = 9000;
    };
    let found = between(slower, Asked::default());
    assert_eq!((only(&found).name.as_str(), only(&found).blocks), ("frequency", true));
    assert!(only(&found).sentence.contains("1820 MHz") && only(&found).sentence.contains("614 MHz"));
}

#[test]
fn a_knob_is_only_said() {
    let found = between(|state| *controller(state, "wb_on") = Ok("0".to_owned()), Asked::default());
    assert_eq!((only(&found).name.as_str(), only(&found).blocks), ("wb_on", false));
    assert!(only(&found).sentence.contains("1 against 0"), "{found:?}");
}

#[test]
fn one_commit_needs_the_same_base_and_the_same_configuration() {
    let built = |config: &str, release: &str| {
        let mut messages = with_states(&phone(), config, |_| {});
        for message in &mut messages {
            if let Message::Facts(facts) = message {
                facts.system.kernel_release = release.to_owned();
            }
        }
        summarize(&header("r", "v"), &recording(&messages))
    };
    let base = built(CONFIG, "6.18.15-arm64");
    let patched = built(CONFIG, "6.18.15-arm64-reverted");
    assert_eq!(gates(&[&base], &[&patched], &SAME_BASE), []);
    let blocks = |new: &RunSummary, asked| {
        let found = gates(&[&base], &[new], &asked);
        (only(&found).name.clone(), only(&found).blocks)
    };
    let other_kernel = built(CONFIG, "5.15.178-arm64");
    assert_eq!(blocks(&other_kernel, Asked::default()), ("kernel-base".to_owned(), false));
    assert_eq!(blocks(&other_kernel, SAME_BASE), ("kernel-base".to_owned(), true));
    let realtime =
        built("CONFIG_HZ=250\n# CONFIG_PREEMPT is not set\nCONFIG_PREEMPT_RT=y\n", "6.18.15-arm64");
    assert_eq!(blocks(&realtime, Asked::default()), ("kernel-config".to_owned(), false));
    assert_eq!(blocks(&realtime, SAME_BASE), ("kernel-config".to_owned(), true));

    // What cannot be read does not count as the same.
    let mut messages = with_states(&phone(), CONFIG, |_| {});
    for message in &mut messages {
        if let Message::KernelConfig(KernelConfig { gzip }) = message {
            *gzip = Err(Unavailable::new("no such file: /proc/config.gz"));
        }
    }
    let unknown = summarize(&header("r", "v"), &recording(&messages));
    assert_eq!(unknown.unavailable["conditions.config"], "no such file: /proc/config.gz");
    let found = gates(&[&base], &[&RunSummary { system: base.system.clone(), ..unknown }], &SAME_BASE);
    assert_eq!((only(&found).name.as_str(), only(&found).blocks), ("kernel-config", true));
    assert!(only(&found).sentence.contains("cannot be checked"), "{found:?}");
}

#[test]
fn a_gate_that_blocks_leaves_figures_and_no_verdict() {
    let side = |boots: std::ops::Range<u32>, edit: fn(&mut State)| -> Vec<RunSummary> {
        boots
            .map(|boot| RunSummary { id: format!("r{boot}"), boot_id: Some(format!("b{boot}")), ..run(edit) })
            .collect()
    };
    let base = side(0..4, |_| {});
    let new = side(4..8, |state| state.zones.as_mut().unwrap()[0].millidegrees = Ok(60_000));
    let comparison = compare(&base, &new, &Asked::default()).unwrap();
    assert!(comparison.metrics.iter().all(|metric| metric.verdict == Verdict::Inconclusive));
    assert!(comparison.metrics[0].reason.starts_with("temperature: "), "{}", comparison.metrics[0].reason);
    assert_eq!(comparison.metrics[0].base.n, 4);
}

#[test]
fn the_environment_has_what_any_run_tells() {
    let [base, new] = [run(|_| {}), run(|state| *controller(state, "wb_on") = Ok("0".to_owned()))];
    let lines = environment(&[&base, &base], &[&new]);
    let line = |name: &str| {
        let line = lines.iter().find(|line| line.name == name);
        line.map(|line| (line.base.join("|"), line.new.join("|")))
    };
    let same = |text: &str| Some((text.to_owned(), text.to_owned()));
    assert_eq!(line("WriteBooster"), Some(("1".to_owned(), "0".to_owned())));
    assert_eq!(line("completion"), same("threaded"));
    assert_eq!(line("link"), same("HS_GEAR3 2 FAST_MODE"));
    assert_eq!(line("frequency"), same("1820 MHz"));
    // No run of the scene tells a governor.
    assert_eq!(line("governor"), None);
}
