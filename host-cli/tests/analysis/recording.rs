//! The decoder: whole streams, damaged ones, and any others.

use crate::scene::{SESSION, Scene, events, header, recording};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tophalf::analysis::summarize;
use tophalf::recording::Recording;
use tophalf_wire::{
    Damage, Edge, EdgeSide, Event, FrameReader, FrameWriter, InterruptRow, InterruptTable, Message,
};

#[test]
fn a_whole_stream_has_no_fault() {
    let recording = Scene { windows: 3, hops: Some(50), ..Scene::threaded() }.recording();
    assert!(recording.faults.none(), "{:?}", recording.faults);
    assert_eq!(recording.windows.len(), 4);
    assert!(recording.hello.is_some() && recording.facts.is_some() && recording.target.is_some());
    assert!(recording.run_job().is_some() && recording.end.is_some());
}

#[test]
fn rows_that_did_not_change_are_carried_on() {
    let recording = recording(&Scene::hard().messages());
    let after = recording.windows[0].after.as_ref().unwrap().interrupts.as_ref().unwrap();
    assert_eq!(after["18"].text, "GICv3  37 Level     ufshcd");
    assert_eq!(after["18"].per_cpu, BTreeMap::from([(0, 1064), (1, 64)]));
    assert_eq!((&after["Err"].per_cpu, after["Err"].unattributed), (&BTreeMap::new(), Some(0)));
}

fn edge(side: EdgeSide, cpus: &[u16], rows: &[(&str, &[u64])]) -> Message {
    let rows = rows.iter().map(|(label, counts)| InterruptRow {
        label: (*label).to_owned(),
        counts: counts.to_vec(),
        text: String::new(),
    });
    let table = InterruptTable { cpus: cpus.to_vec(), rows: rows.collect() };
    Message::Edge(Edge { interrupts: Ok(table), ..Scene::hard().edge(0, side, 0) })
}

// opendcdiag/opendcdiag#441: the eleventh column belongs to CPU20; columns move when a CPU goes off-line.
#[test]
fn columns_belong_to_the_cpus_of_their_header() {
    let recording = recording(&[
        edge(EdgeSide::Before, &[0, 1, 20], &[("18", &[1, 2, 3]), ("19", &[4, 5, 6])]),
        edge(EdgeSide::After, &[0, 20], &[("18", &[10, 30])]),
    ]);
    let after = recording.windows[0].after.as_ref().unwrap().interrupts.as_ref().unwrap();
    assert_eq!(after["18"].per_cpu, BTreeMap::from([(0, 10), (20, 30)]));
    assert_eq!(after["19"].per_cpu, BTreeMap::from([(0, 4), (20, 6)]), "CPU1 has no column any more");
}

#[test]
fn a_table_that_may_lack_rows_is_not_used() {
    let messages = Scene { windows: 2, ..Scene::hard() }.messages();
    let mut writer = FrameWriter::new(SESSION);
    let mut reader = FrameReader::new(Some(SESSION));
    for (number, message) in messages.iter().enumerate() {
        let frame = writer.frame(message).unwrap();
        if number != 6 {
            reader.feed(&frame);
        }
    }
    let recording = Recording::from_events(std::iter::from_fn(|| reader.next_event()));
    assert_eq!(recording.faults.lost_frames, 1);
    assert!(recording.windows[0].before.as_ref().unwrap().interrupts.is_ok());
    assert!(recording.windows[1].before.as_ref().unwrap().interrupts.is_err());
}

#[test]
fn a_banner_is_no_damage_and_a_terminal_in_between_is() {
    let leading = Event::Damaged { bytes: 9, damage: Damage::LeadingText("* daemon".to_owned()) };
    let stream = events(&Scene::hard().messages());
    let recording = Recording::from_events([leading].into_iter().chain(stream.clone()));
    assert!(recording.faults.none());
    assert_eq!(recording.faults.preamble, ["* daemon"]);
    let pty = Event::Damaged { bytes: 40, damage: Damage::PtyTranslation };
    let recording = Recording::from_events(stream.into_iter().chain([pty]));
    assert!(recording.faults.described[0].contains("pty translation"), "{:?}", recording.faults);
}

#[test]
fn frames_that_come_twice_count_once() {
    let stream = events(&Scene::hard().messages());
    let twice = stream.iter().chain(&stream).cloned();
    let recording = Recording::from_events(twice);
    assert_eq!(recording.faults.repeated_frames, stream.len() as u64);
    assert_eq!(recording.windows, Scene::hard().recording().windows);
}

fn any_event() -> impl Strategy<Value = Event> {
    let scene = Scene { windows: 2, ops: 300, hops: Some(40), ..Scene::threaded() };
    let known = events(&scene.messages());
    let message = (0..known.len(), any::<u32>(), 0..3u32, any::<bool>()).prop_map(
        move |(at, number, lost, renumber)| match known[at].clone() {
            Event::Message { message, .. } if renumber => Event::Message { seq: number, lost, message },
            event => event,
        },
    );
    let damage = prop_oneof![
        Just(Damage::BadFrame),
        Just(Damage::TooLong),
        Just(Damage::PtyTranslation),
        Just(Damage::LeadingText("text".to_owned())),
        any::<u8>().prop_map(|kind| Damage::Malformed { kind }),
        any::<u32>().prop_map(|theirs| Damage::OtherSession { theirs }),
        any::<u16>().prop_map(|theirs| Damage::OtherProtocol { theirs }),
    ];
    prop_oneof![
        8 => message,
        1 => (any::<u32>(), any::<u8>()).prop_map(|(seq, kind)| Event::UnknownKind { seq, kind }),
        1 => (any::<usize>(), damage).prop_map(|(bytes, damage)| Event::Damaged { bytes, damage }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Whatever comes in whatever order is decoded, judged and shown.
    #[test]
    fn any_events_make_a_report(events in prop::collection::vec(any_event(), 0..40)) {
        let recording = Recording::from_events(events);
        let summary = summarize(&header("r", "v"), &recording);
        if recording.end.is_none() || !recording.faults.none() {
            prop_assert!(!summary.quality.valid);
        }
        prop_assert!(tophalf::report::text::run(&summary).starts_with("completion: "));
        prop_assert!(tophalf::report::json::probe("d", &recording).is_object());
        tophalf::report::text::probe("d", &recording);
    }
}
