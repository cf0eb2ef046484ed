//! What people read, whole.

use crate::scene::{Scene, header, recording};
use tophalf::analysis::{Asked, RunSummary, compare, summarize};
use tophalf::report::{json, text};
use tophalf_wire::{Message, Unavailable};

fn runs(scene: &Scene, variant: &str) -> Vec<RunSummary> {
    (0..2).map(|number| scene.summary(&format!("{variant}-{number}"), variant)).collect()
}

#[test]
fn a_threaded_run() {
    let scene = Scene { ops: 2000, windows: 2, hops: Some(100), ..Scene::threaded() };
    insta::assert_snapshot!(text::run(&scene.summary("20261019-101112-6.18", "6.18")));
}

#[test]
fn an_invalid_run_on_a_phone() {
    let scene = Scene { emulated: false, device_ios: 0.5, device_bytes: 0.5, ..Scene::hard() };
    insta::assert_snapshot!(text::run(&scene.summary("20261019-101112-6.12", "6.12")));
}

#[test]
fn a_stream_with_nothing_in_it() {
    insta::assert_snapshot!(text::run(&summarize(&header("r", "v"), &recording(&[]))));
}

#[test]
fn a_probe() {
    let recording = Scene::threaded().recording();
    insta::assert_snapshot!(text::probe("127.0.0.1:15555", &recording));
}

#[test]
fn a_probe_of_a_phone_without_ufs() {
    let recording = Scene { emulated: false, ..Scene::zram() }.recording();
    let text = text::probe("R58M", &recording);
    assert!(text.starts_with("R58M: no UFS controller; disks: sda\n"), "{text}");
}

#[test]
fn a_comparison() {
    let hops = |scene: Scene| Scene { hops: Some(100), ..scene };
    let mut new = runs(&hops(Scene::threaded()), "6.18");
    new.extend(runs(&Scene { device_ios: 0.1, device_bytes: 0.1, ..Scene::hard() }, "bad").drain(..1));
    let comparison = compare(&runs(&hops(Scene::hard()), "6.12"), &new, &Asked::default()).unwrap();
    insta::assert_snapshot!(text::comparison(&comparison));
    let document = json::comparison(&comparison);
    for name in [
        "/schema",
        "/comparisons/0/metric",
        "/comparisons/0/base/n",
        "/comparisons/0/base/boots",
        "/comparisons/0/base/mean",
        "/comparisons/0/base/median",
        "/comparisons/0/new/mean",
        "/comparisons/0/change_percent",
        "/comparisons/0/change_ci95_percent",
        "/comparisons/0/added_us_per_op",
        "/comparisons/0/added_us_ci95",
        "/comparisons/0/p_value",
        "/comparisons/0/test",
        "/comparisons/0/verdict",
        "/comparisons/0/smallest_visible_percent",
        "/comparisons/0/explained/by_hops_us",
        "/comparisons/0/explained/fraction",
    ] {
        assert!(document.pointer(name).is_some(), "{name}");
    }
}

#[test]
fn a_probe_as_json_has_figures_or_reasons() {
    let document = json::probe("d", &Scene::threaded().recording());
    let probe = &document["probes"][0];
    assert_eq!(probe["disks"][0]["size_bytes"], 1 << 30);
    assert!(probe["system"]["selinux_context"].is_null());
    assert_eq!(probe["unavailable"]["system.selinux_context"], "no such file: /proc/self/attr/current");
    assert_eq!(probe["unavailable"]["controllers.0.attributes.1.auto_hibern8"], "permission denied");
    assert_eq!(probe["controllers"][0]["attributes"][0][1], "1");
}

#[test]
fn what_a_device_says_cannot_act_on_the_terminal() {
    let mut messages = Scene::hard().messages();
    for message in &mut messages {
        if let Message::Facts(facts) = message {
            facts.system.model = Ok("phone\u{1b}[2J".to_owned());
            facts.system.kernel_release = "6.12\u{7}".to_owned();
            facts.system.boot_id = Err(Unavailable::new("\u{1b}]0;title\u{7}"));
        }
    }
    let recording = recording(&messages);
    for text in [text::run(&summarize(&header("r", "v"), &recording)), text::probe("d", &recording)] {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
    }
}

#[test]
fn lines_fit_a_mail() {
    let scene = Scene { hops: Some(100), ..Scene::threaded() };
    for line in text::run(&scene.summary("r", "v")).lines() {
        assert!(line.chars().count() <= text::WIDTH, "{line}");
    }
}
