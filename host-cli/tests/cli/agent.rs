//! A stand-in for `tophalf-agent`: answers a plan with made-up frames, as `$FAKE_AGENT` says. The real agent is
//! met in the scenarios of the `virtual-phone` crate.
//!
//! So that no other program has to be built first, it is this test program itself: the agent's file is a
//! script that runs [`stand_in`], with the stream in place of the test's own output.

use crate::scene::Scene;
use std::{
    fs::OpenOptions,
    io::{Read, Write},
};
use tophalf_wire::{
    ControllerKind, End, Fault, FrameWriter, Hello, Job, Level, LogLine, Message, Outcome, Overhead, Plan,
    Unavailable,
};

/// The file that is given to `tophalf` as an agent.
pub(crate) fn script() -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        "#!/bin/sh\nFAKE_AGENT_ARGUMENT=$1 exec {} --ignored --exact agent::stand_in --nocapture 3>&1 >/dev/null\n",
        program.display()
    )
}

#[test]
#[ignore = "it is no test, but the agent of the others"]
fn stand_in() {
    let Ok(word) = std::env::var("FAKE_AGENT_ARGUMENT") else { return };
    let scenario = std::env::var("FAKE_AGENT").unwrap_or_default();
    let mut stdout = OpenOptions::new().append(true).open("/dev/fd/3").unwrap();
    if word == "--version" {
        let version = match scenario.as_str() {
            "other-version" => "tophalf-agent 9.0.0 (protocol 9, fake)".to_owned(),
            "no-agent" => "\u{1b}[31mBusyBox v1.36\u{1b}[0m".to_owned(),
            _ => format!("tophalf-agent 0.1.0 (protocol {}, fake)", tophalf_wire::PROTOCOL),
        };
        writeln!(stdout, "{version}").unwrap();
        return;
    }
    let plan = Plan::from_word(&word).unwrap();
    let mut messages = answer(&plan, &scenario);
    let first_window = messages.iter().position(|message| matches!(message, Message::Window(_)));
    if let Some(at) = first_window {
        match scenario.as_str() {
            "cut" | "killed" | "waits" => messages.truncate(at + 3),
            "cut-early" => messages.truncate(at),
            _ => {}
        }
    }
    if scenario == "other-session" {
        let mut theirs = FrameWriter::new(plan.session.wrapping_add(1));
        stdout.write_all(&theirs.frame(&messages[0]).unwrap()).unwrap();
    }
    let mut writer = FrameWriter::new(plan.session);
    for message in &messages {
        stdout.write_all(&writer.frame(message).unwrap()).unwrap();
    }
    if first_window.is_none() {
        return;
    }
    match scenario.as_str() {
        "killed" => std::process::abort(),
        "waits" => {
            std::fs::write(std::env::var_os("FAKE_AGENT_WAITS").unwrap(), "").unwrap();
            // Until the host closes it.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            let outcome = Outcome::Stopped { reason: "standard input ended".to_owned() };
            let end = End { outcome, frames: writer.frames(), overhead: Overhead::default() };
            stdout.write_all(&writer.frame(&Message::End(end)).unwrap()).unwrap();
        }
        _ => {}
    }
}

fn answer(plan: &Plan, scenario: &str) -> Vec<Message> {
    let controller = if scenario == "emmc" { ControllerKind::Mmc } else { ControllerKind::Ufs };
    let hops = match &plan.job {
        Job::Run(job) => Some(job.hops_ops).filter(|&ops| ops > 0),
        Job::Probe(_) => None,
    };
    let scene = Scene { controller: Some(controller), windows: 2, hops, boot_id: boot_id(), ..Scene::hard() };
    let mut facts = scene.facts();
    if scenario == "shell" {
        let denied = || Unavailable::new("read /sys/block: Permission denied (os error 13)");
        (facts.disks, facts.controllers) = (Err(denied()), Err(denied()));
        facts.system.uid = 2000;
    }
    let job = match &plan.job {
        Job::Probe(_) => {
            let messages = vec![
                Message::Hello(Hello::new("0.1.0", "fake")),
                Message::Plan(plan.clone()),
                Message::Facts(facts),
            ];
            return ended(messages, Outcome::Done);
        }
        Job::Run(job) => job,
    };
    let mut messages = scene.messages();
    messages[1] = Message::Plan(plan.clone());
    messages[2] = Message::Facts(facts);
    if let Message::Target(target) = &mut messages[3] {
        target.path.clone_from(&job.target.path);
    }
    let message = "open /dev/sda: \u{1b}[2JDevice or resource busy".to_owned();
    match scenario {
        "usage" => ended(messages[..3].to_vec(), Outcome::Failed { fault: Fault::Usage, message }),
        "device" => {
            messages.truncate(10);
            ended(messages, Outcome::Failed { fault: Fault::Device, message })
        }
        "talks" => {
            let log = LogLine { level: Level::Warn, text: "\u{1b}[2Jthe battery is low".to_owned() };
            messages.insert(3, Message::Log(log));
            messages
        }
        _ => messages,
    }
}

/// The boot that the device is in: `$FAKE/boot-id` where a test makes boots.
fn boot_id() -> String {
    let folder = std::env::var_os("FAKE").map(std::path::PathBuf::from).unwrap_or_default();
    std::fs::read_to_string(folder.join("boot-id"))
        .map_or_else(|_| "b-1".to_owned(), |id| id.trim().to_owned())
}

fn ended(mut messages: Vec<Message>, outcome: Outcome) -> Vec<Message> {
    let frames = u32::try_from(messages.len()).unwrap();
    messages.push(Message::End(End { outcome, frames, overhead: Overhead::default() }));
    messages
}
