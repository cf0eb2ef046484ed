//! Runs that must not be believed, each with the sentence that says why.

use crate::scene::{Scene, events, header, recording};
use tophalf::analysis::{RunSummary, summarize};
use tophalf::recording::Recording;
use tophalf_wire::{
    Damage, Edge, EdgeSide, Event, Fault, LatencyBlock, Message, Outcome, Sample, Samples, Unavailable,
    Window,
};

fn edited(scene: &Scene, mut edit: impl FnMut(&mut Message)) -> RunSummary {
    let mut messages = scene.messages();
    messages.iter_mut().for_each(&mut edit);
    summarize(&header("r", "v"), &recording(&messages))
}

#[track_caller]
fn assert_fails(run: &RunSummary, words: &str) {
    assert!(!run.quality.valid);
    assert!(run.quality.failed.iter().any(|line| line.contains(words)), "{:#?}", run.quality.failed);
}

fn window(edit: impl Fn(&mut Window)) -> impl FnMut(&mut Message) {
    move |message| {
        if let Message::Window(window) = message {
            edit(window);
        }
    }
}

fn edge(edit: impl Fn(&mut Edge)) -> impl FnMut(&mut Message) {
    move |message| {
        if let Message::Edge(edge) = message {
            edit(edge);
        }
    }
}

#[test]
fn a_quiet_run_is_valid() {
    for scene in
        [Scene::hard(), Scene::threaded(), Scene::zram(), Scene { hops: Some(64), ..Scene::threaded() }]
    {
        let run = scene.summary("r", "v");
        assert!(run.quality.valid, "{:#?}", run.quality.failed);
        assert_eq!((run.device_ios, run.device_bytes), (Some(1000), Some(4_096_000)));
    }
}

// axboe/fio#752: a tool that counts what the device never saw. The ratio must lie within 0.99 and 1.01.
#[test]
fn the_device_must_have_counted_the_same() {
    for (ratio, valid) in [(0.985, false), (0.99, true), (1.01, true), (1.015, false), (0.109, false)] {
        let run = Scene { device_ios: ratio, device_bytes: ratio, ..Scene::hard() }.summary("r", "v");
        assert_eq!(run.quality.valid, valid, "{ratio}: {:#?}", run.quality.failed);
    }
    let run = Scene { device_ios: 1.5, device_bytes: 1.5, ..Scene::hard() }.summary("r", "v");
    assert_fails(&run, "1000 operations asked for 4096000 bytes and the device counted 6144000 in 1500 I/Os");
}

// One operation of 2 MiB in four device I/Os: two figures of two names, and a valid run.
#[test]
fn an_operation_may_be_several_device_ios() {
    let scene = Scene { block_bytes: 1 << 20, device_ios: 4.0, ..Scene::hard() };
    let run = scene.summary("r", "v");
    assert!(run.quality.valid, "{:#?}", run.quality.failed);
    assert_eq!((run.ops, run.device_ios), (Some(1000), Some(4000)));
    assert!(run.quality.notes[0].contains("each operation takes 4.00 device I/Os"));
    let run = Scene { block_bytes: 4096, ..scene }.summary("r", "v");
    assert_fails(&run, "1000 operations and 4000 device I/Os of the same bytes");
}

#[test]
fn the_page_cache_is_found_out() {
    let run = Scene { device_ios: 0.01, device_bytes: 0.01, ..Scene::hard() }.summary("r", "v");
    assert_fails(&run, "silently buffered: read operations asked for 4096000 bytes and 40960 reached");
    // Also where the disk's own count cannot be read.
    let scene = Scene { device_bytes: 0.01, ..Scene::hard() };
    let run =
        edited(&scene, edge(|edge| edge.block = Err(Unavailable::new("/sys/block: permission denied"))));
    assert_fails(&run, "silently buffered");
    assert_eq!(run.device_ios, None);
    assert_eq!(run.unavailable["device_ios"], "/sys/block: permission denied");
    assert_eq!(run.unavailable["quality.device_count"], "/sys/block: permission denied");
}

#[test]
fn buffered_io_must_have_been_allowed_and_is_marked() {
    let scene = Scene { device_ios: 0.0, device_bytes: 0.0, ..Scene::hard() };
    let buffered = |allowed: bool| {
        edited(&scene, move |message| match message {
            Message::Target(target) => target.direct = false,
            Message::Plan(plan) => {
                if let tophalf_wire::Job::Run(job) = &mut plan.job {
                    job.target.allow_buffered = allowed;
                }
            }
            _ => {}
        })
    };
    assert_fails(&buffered(false), "which was not allowed");
    let run = buffered(true);
    assert!(run.quality.valid, "{:#?}", run.quality.failed);
    assert!(run.quality.notes[0].starts_with("buffered: "));
    assert_eq!(run.target.direct, Some(false));
}

#[test]
fn operations_that_failed() {
    let run = edited(
        &Scene::hard(),
        window(|window| {
            window.errors = 3;
            window.first_error = Some((8192, 5));
            window.short = 2;
        }),
    );
    assert_fails(&run, "3 operations failed, the first at offset 8192 with errno 5");
    assert_fails(&run, "2 operations moved fewer bytes than asked");
}

#[test]
fn a_damaged_stream_is_described_once() {
    let mut events = events(&Scene::hard().messages());
    events.remove(2);
    events.insert(2, Event::Damaged { bytes: 40, damage: Damage::BadFrame });
    if let Event::Message { lost, .. } = &mut events[3] {
        *lost = 1;
    }
    let run = summarize(&header("r", "v"), &Recording::from_events(events));
    let told: Vec<&String> =
        run.quality.failed.iter().filter(|told| told.contains("40 bytes are no frame")).collect();
    assert_eq!(told.len(), 1, "{:#?}", run.quality.failed);
    assert!(told[0].contains("1 frames are missing, 1 pieces of the stream are damaged"), "{told:?}");
}

#[test]
fn a_stream_without_an_end() {
    let mut messages = Scene::hard().messages();
    messages.pop();
    let run = summarize(&header("r", "v"), &recording(&messages));
    assert_fails(&run, "the stream has no end");
    assert!(run.overhead.is_none() && run.unavailable.contains_key("overhead"));
    assert_eq!(run.ops, Some(1000), "what was sent before counts");
}

#[test]
fn a_run_that_was_stopped_or_failed() {
    let end = |outcome: Outcome| {
        edited(&Scene::hard(), move |message| {
            if let Message::End(end) = message {
                end.outcome = outcome.clone();
            }
        })
    };
    assert_fails(&end(Outcome::Stopped { reason: "SIGTERM".to_owned() }), "stopped early: SIGTERM");
    let failed = Outcome::Failed { fault: Fault::Device, message: "the disk is gone".to_owned() };
    assert_fails(&end(failed), "the agent failed: the disk is gone");
}

#[test]
fn the_io_thread_was_elsewhere() {
    let after = |edit: fn(&mut Edge)| {
        edited(
            &Scene::hard(),
            edge(move |edge| {
                if edge.side == EdgeSide::After {
                    edit(edge);
                }
            }),
        )
    };
    assert_fails(
        &after(|edge| edge.placement.cpu = 1),
        "window 0: the I/O thread was on CPU1 and not on CPU0",
    );
    assert_fails(&after(|edge| edge.placement.migrations = Ok(4)), "changed its CPU went from 3 to 4");
    assert_fails(&after(|edge| edge.placement.allowed = Ok(vec![0, 1])), "may use went from [0] to [0, 1]");
    assert_fails(
        &after(|edge| edge.placement.online = Ok(vec![0])),
        "the CPUs that run went from [0, 1] to [0]",
    );
}

#[test]
fn what_could_not_be_checked_is_said() {
    let run = edited(
        &Scene::hard(),
        edge(|edge| {
            edge.placement.migrations = Err(Unavailable::new("no line nr_migrations in /proc/500/sched"));
            edge.process_io = Err(Unavailable::new("no such file: /proc/self/io"));
        }),
    );
    assert!(run.quality.valid);
    assert!(run.unavailable["quality.migrations"].contains("nr_migrations"));
    assert!(run.unavailable["quality.page_cache"].contains("/proc/self/io"));
}

#[test]
fn latencies_must_be_all_there_and_fill_the_window() {
    assert_fails(
        &edited(&Scene::hard(), window(|window| window.reads += 1)),
        "1001 operations and 1000 latencies",
    );
    let run = edited(&Scene::hard(), window(|window| window.end_ns += 1_000_000));
    assert_fails(&run, "latencies add up to 34572800 ns in a window of 35572800 ns");
    let run = edited(&Scene::hard(), |message| {
        if let Message::Latencies(latencies) = message {
            latencies.first = 1;
        }
    });
    assert_fails(&run, "window 0: latencies are missing, came twice or are out of order");
    let run = edited(&Scene::hard(), |message| {
        if let Message::Latencies(latencies) = message {
            latencies.write_bits = vec![0];
        }
    });
    assert_fails(&run, "the kinds of operations do not fit");
}

#[test]
fn samples_cannot_have_seen_more_than_the_edges() {
    let samples = |counts: [u64; 2]| {
        let sample =
            |count| Sample { begin_ns: 0, end_ns: 0, irq_counts: vec![Some(count)], threads: vec![] };
        let mut messages = Scene::hard().messages();
        let end = messages.pop().unwrap();
        messages.push(Message::Samples(Samples {
            window: 0,
            irqs: vec![18],
            irq_source: Ok("per_cpu_count".to_owned()),
            threads: vec![],
            samples: counts.into_iter().map(sample).collect(),
        }));
        messages.push(end);
        summarize(&header("r", "v"), &recording(&messages))
    };
    assert!(samples([128, 1000]).quality.valid);
    assert_fails(&samples([128, 2000]), "interrupt 18: 1872 inside the window by samples, 1000 by its edges");
}

#[test]
fn a_hops_pass_that_broke_off_is_said() {
    let scene = Scene { hops: Some(64), ..Scene::threaded() };
    let run = edited(&scene, |message| {
        if let Message::Hops(hops) = message {
            hops.total_ns = LatencyBlock::pack(&[1; 60]);
        }
    });
    assert_fails(&run, "columns of the hops pass differ in length");
    assert_fails(&run, "64 I/Os of the hops pass were asked for and 0 came");
}
