//! The stream as bytes: exact expectations, and what every kind of damage costs.

use proptest::prelude::*;
use tophalf_wire::*;

fn log(text: &str) -> Message {
    Message::Log(LogLine { level: Level::Info, text: text.into() })
}

fn messages(events: &[Event]) -> Vec<&Message> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Message { message, .. } => Some(&**message),
            _ => None,
        })
        .collect()
}

fn read(session: Option<u32>, bytes: &[u8]) -> Vec<Event> {
    let mut reader = FrameReader::new(session);
    reader.feed(bytes);
    let mut events: Vec<Event> = std::iter::from_fn(|| reader.next_event()).collect();
    events.extend(reader.finish());
    events
}

fn stream(session: u32, sent: &[Message]) -> Vec<u8> {
    let mut writer = FrameWriter::new(session);
    sent.iter().flat_map(|message| writer.frame(message).unwrap()).collect()
}

fn greeted() -> Vec<Message> {
    vec![Message::Hello(Hello::new("0.1.0", "test")), log("one\ntwo"), log("three")]
}

#[test]
fn a_frame_is_these_bytes() {
    // kind 9, session 0x01020304, seq 0, level Info, "hi", CRC-32/ISO-HDLC as `python3 -c "import zlib;
    // print(hex(zlib.crc32(bytes([9,4,3,2,1,0,0,0,0,2,2,104,105]))))"` gives it: 0x314cf1dc.
    let expected: &[u8] = &[0, 6, 9, 4, 3, 2, 1, 1, 1, 1, 9, 2, 2, b'h', b'i', 0xdc, 0xf1, 0x4c, 0x31, 0];
    assert_eq!(stream(0x0102_0304, &[log("hi")]), expected);
}

#[test]
fn a_stream_is_read_back_in_pieces_of_any_size() {
    let bytes = stream(7, &greeted());
    for size in [1, 2, 3, 7, 64, 4096] {
        let mut reader = FrameReader::new(Some(7));
        let mut events = Vec::new();
        for piece in bytes.chunks(size) {
            reader.feed(piece);
            events.extend(std::iter::from_fn(|| reader.next_event()));
        }
        assert_eq!(messages(&events), greeted().iter().collect::<Vec<_>>());
        assert_eq!(reader.finish(), None);
    }
}

/// workload-automation#1035: adb's own words stand before the first frame.
#[test]
fn text_before_the_first_frame_is_passed_over_and_kept() {
    let mut bytes = b"adb server is out of date.  killing...\r\n* daemon started successfully\n".to_vec();
    bytes.extend(stream(7, &greeted()));
    let events = read(Some(7), &bytes);
    assert_eq!(
        events[0],
        Event::Damaged {
            bytes: 70,
            damage: Damage::LeadingText(
                "adb server is out of date.  killing...\u{fffd}\n* daemon started successfully".into()
            ),
        }
    );
    assert_eq!(messages(&events).len(), 3);
}

/// mu300-linux#2, jadb#53, tetherback#21: a terminal in between turns LF into CR LF.
#[test]
fn a_terminal_in_between_is_named_and_nothing_decoded() {
    let mut through_pty = Vec::new();
    for byte in stream(7, &greeted()) {
        if byte == b'\n' {
            through_pty.push(b'\r');
        }
        through_pty.push(byte);
    }
    let events = read(Some(7), &through_pty);
    assert!(matches!(&events[0], Event::Damaged { damage: Damage::PtyTranslation, .. }), "{events:?}");
}

#[test]
fn a_flipped_byte_costs_its_frame_and_no_other() {
    let sent = greeted();
    let good = stream(7, &sent);
    let second = 1 + good[1..].iter().position(|&b| b == 0).unwrap() + 4;
    let mut bytes = good.clone();
    bytes[second] ^= 0x10;
    let events = read(Some(7), &bytes);
    assert_eq!(messages(&events), [&sent[0], &sent[2]]);
    assert!(events.contains(&Event::Damaged { bytes: 23, damage: Damage::BadFrame }), "{events:?}");
    assert!(events.iter().any(|e| matches!(e, Event::Message { seq: 2, lost: 1, .. })));
}

#[test]
fn a_torn_tail_is_said() {
    let bytes = stream(7, &greeted());
    let events = read(Some(7), &bytes[..bytes.len() - 5]);
    assert_eq!(messages(&events).len(), 2);
    assert!(matches!(events.last(), Some(Event::Damaged { damage: Damage::BadFrame, .. })));
}

/// fio#515: frames of another device's stream are never taken for this one's.
#[test]
fn frames_of_another_session_are_refused() {
    let ours = stream(7, &greeted());
    let theirs = stream(8, &greeted());
    let both = [&ours[..], &theirs[..]].concat();
    let events = read(Some(7), &both);
    assert_eq!(messages(&events).len(), 3);
    let refused = |e: &&Event| matches!(e, Event::Damaged { damage: Damage::OtherSession { theirs: 8 }, .. });
    assert_eq!(events.iter().filter(refused).count(), 3);
}

/// postcard#75, #92: a newer sender is named, never misread.
#[test]
fn another_protocol_is_named_on_both_sides() {
    let hello = Hello { protocol: PROTOCOL + 1, ..Hello::new("9.9.9", "future") };
    let events = read(Some(7), &stream(0, &[Message::Hello(hello)]));
    let damage = Damage::OtherProtocol { theirs: PROTOCOL + 1 };
    assert!(matches!(&events[0], Event::Damaged { damage: d, .. } if *d == damage));

    let word = plan().to_word().unwrap();
    assert_eq!(Plan::from_word(&word), Ok(plan()));
    let newer = word.replacen("plan-1:", "plan-2:", 1);
    assert_eq!(Plan::from_word(&newer), Err(PlanError::OtherProtocol { theirs: 2 }));
    assert_eq!(Plan::from_word(&word[..word.len() - 4]), Err(PlanError::Malformed));
}

#[test]
fn a_plan_passes_a_shell_unquoted() {
    let word = plan().to_word().unwrap();
    assert!(word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == ':'), "{word}");
}

#[test]
fn endless_text_is_not_kept() {
    let mut reader = FrameReader::new(None);
    for _ in 0..40 {
        reader.feed(&[b'x'; 100_000]);
        assert_eq!(reader.next_event(), None);
    }
    reader.feed(&[0]);
    assert_eq!(reader.next_event(), Some(Event::Damaged { bytes: 4_000_000, damage: Damage::TooLong }));
    reader.feed(&stream(7, &greeted()));
    assert!(matches!(reader.next_event(), Some(Event::Message { .. })));
}

fn plan() -> Plan {
    Plan {
        session: 7,
        watch_stdin: true,
        job: Job::Run(RunJob {
            target: TargetSpec {
                path: "/dev/block/by-name/userdata".into(),
                span_bytes: Some(1 << 30),
                make_file: false,
                destroy_data_on: None,
                allow_buffered: false,
            },
            workload: Workload {
                engine: Engine::Psync,
                pattern: Pattern::Random,
                read_percent: 100,
                block_bytes: 4096,
                seed: 42,
            },
            cpu: Some(0),
            warmup_ns: 1_000_000_000,
            timed_ns: 10_000_000_000,
            window_ns: 1_000_000_000,
            sample_ns: 100_000_000,
            hops_ops: 2000,
        }),
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        read(None, &bytes);
    }

    #[test]
    fn any_damage_costs_only_what_it_hits(
        at in 0..2000usize, run in prop::collection::vec(1..=255u8, 1..40), insert: bool,
    ) {
        let sent: Vec<Message> = (0..40).map(|n| log(&format!("line {n}"))).collect();
        let mut bytes = stream(7, &sent);
        let at = at % bytes.len();
        let end = if insert { at } else { (at + run.len()).min(bytes.len()) };
        let hit = bytes[at..end].iter().filter(|&&b| b == 0).count() + 1;
        bytes.splice(at..end, run);
        let events = read(Some(7), &bytes);
        let got = messages(&events);
        prop_assert!(got.len() + hit >= sent.len(), "{} of {}, hit {hit}", got.len(), sent.len());
        prop_assert!(got.iter().all(|m| sent.contains(m)));
    }
}

/// Every length around the code lengths of COBS, with and without zeroes, survives the trip.
#[test]
fn frames_of_every_length_are_read_back() {
    for fill in [b'x', b'\0'] {
        for length in 0..1100 {
            let sent = [log(&String::from_utf8(vec![fill; length]).unwrap()), log("after")];
            let events = read(Some(7), &stream(7, &sent));
            assert_eq!(messages(&events), sent.iter().collect::<Vec<_>>(), "{length} of {fill}: {events:?}");
        }
    }
}
