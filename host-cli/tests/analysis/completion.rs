//! The verdict on every row of the measured table, and on what could mislead it.

use crate::scene::facts::kernel_thread;
use crate::scene::{IRQ_THREAD_PID, Scene, SceneThread};
use std::collections::BTreeMap;
use tophalf::analysis::{Completion, CompletionPath};
use tophalf_wire::{ControllerKind, Message, Reading, SchedStat, Unavailable};

fn verdict(scene: &Scene) -> Completion {
    scene.summary("r", "v").completion
}

fn verdict_of(messages: &[Message]) -> Completion {
    let recording = crate::scene::recording(messages);
    tophalf::analysis::summarize(&crate::scene::header("r", "v"), &recording).completion
}

#[track_caller]
fn assert_path(scene: &Scene, expected: CompletionPath) -> Completion {
    let completion = verdict(scene);
    assert_eq!(completion.path, expected, "{:#?}", completion.evidence);
    completion
}

#[track_caller]
fn assert_says(completion: &Completion, words: &str) {
    assert!(completion.evidence.iter().any(|line| line.contains(words)), "{:#?}", completion.evidence);
}

fn cpus(cpu0: f64, cpu1: f64) -> BTreeMap<u16, f64> {
    BTreeMap::from([(0, cpu0), (1, cpu1)])
}

fn line(
    irq: u32,
    actions: &[&'static str],
    cpu0: f64,
    cpu1: f64,
) -> (u32, Vec<&'static str>, BTreeMap<u16, f64>) {
    (irq, actions.to_vec(), cpus(cpu0, cpu1))
}

/// Rows of the table measured on Debian's arm64 kernels 6.12, 6.18 and 7.3.
mod measured {
    use super::*;

    #[test]
    fn hard_on_the_same_cpu() {
        let completion = assert_path(&Scene { ops: 1883, ..Scene::hard() }, CompletionPath::Hard);
        assert_says(&completion, "interrupt 18 (ufshcd) came 1.00 times per I/O: 1883 on CPU0");
        assert_says(&completion, "no thread exists for these lines");
        assert_eq!((completion.irq, completion.thread), (Some(18), None));
    }

    #[test]
    fn hard_with_completion_on_the_submitters_cpu_and_polling() {
        let scene = Scene {
            ops: 469,
            io_cpu: 1,
            lines: vec![line(18, &["ufshcd"], 0.28, 0.0)],
            block_softirqs: cpus(0.0, 1.0),
            ksoftirqd: cpus(0.0, 0.0),
            calls: cpus(0.0, 1.0),
            ..Scene::hard()
        };
        let completion = assert_path(&scene, CompletionPath::Hard);
        assert_says(&completion, "most of them on CPU1");
    }

    #[test]
    fn threaded_on_the_same_cpu() {
        let completion = assert_path(&Scene { ops: 1127, ..Scene::threaded() }, CompletionPath::Threaded);
        assert_says(&completion, "irq/18-ufshcd (pid 82, SCHED_FIFO 50) ran 1.00 times per I/O");
        assert_says(&completion, "ksoftirqd/0 1.00 times: a second thread completes the request");
        assert_says(&completion, "nothing threads handlers by force");
    }

    #[test]
    fn threaded_seen_from_another_cpu() {
        let scene = Scene { ops: 363, io_cpu: 1, calls: cpus(0.0, 1.1), ..Scene::threaded() };
        assert_path(&scene, CompletionPath::Threaded);
    }

    #[test]
    fn threaded_and_handed_to_the_submitters_cpu() {
        let scene = Scene {
            ops: 459,
            io_cpu: 1,
            lines: vec![line(18, &["ufshcd"], 0.48, 0.0)],
            thread: Some(SceneThread { comm: "irq/18-ufshcd", irq: 18, slices: 0.48 }),
            ksoftirqd: cpus(0.02, 0.0),
            block_softirqs: cpus(0.0, 1.0),
            calls: cpus(0.0, 1.2),
            ..Scene::threaded()
        };
        let completion = assert_path(&scene, CompletionPath::Threaded);
        assert_says(&completion, "hands completions to another CPU");
    }

    #[test]
    fn threaded_with_many_queues_and_one_line() {
        let scene = Scene {
            ops: 1957,
            io_cpu: 1,
            ksoftirqd: cpus(0.0, 0.0),
            block_softirqs: cpus(0.0, 0.0),
            hardware_queues: 8,
            calls: cpus(0.0, 0.09),
            ..Scene::threaded()
        };
        let completion = assert_path(&scene, CompletionPath::Threaded);
        assert_says(&completion, "the thread completes requests itself");
        assert_eq!(completion.hardware_queues, Some(8));
    }

    #[test]
    fn hard_with_many_queues_and_one_line() {
        let scene = Scene { block_softirqs: cpus(0.0, 0.0), hardware_queues: 8, ..Scene::hard() };
        let completion = assert_path(&scene, CompletionPath::Hard);
        assert_says(&completion, "no BLOCK softirq ran");
    }

    #[test]
    fn forced_on_the_same_cpu() {
        let completion = assert_path(&Scene { ops: 1091, ..Scene::forced() }, CompletionPath::ForcedThreaded);
        assert_says(&completion, "ksoftirqd/0 0.16 times: the interrupt thread runs them itself");
        assert_says(&completion, "the kernel command line has threadirqs, and 2 other handlers have threads");
    }

    #[test]
    fn memory_is_inline() {
        let completion = assert_path(&Scene::zram(), CompletionPath::Inline);
        assert_says(&completion, "sda has no controller above it");
    }
}

/// The lines of a controller in multi-queue mode whose queues signal for themselves.
fn esi() -> Scene {
    Scene {
        lines: vec![
            line(18, &["ufshcd"], 0.01, 0.0),
            line(40, &["qcom-mcq-esi"], 0.0, 0.0),
            line(41, &["qcom-mcq-esi"], 0.0, 1.0),
        ],
        thread: Some(SceneThread { comm: "irq/18-ufshcd", irq: 18, slices: 0.0 }),
        block_softirqs: cpus(0.0, 0.0),
        ksoftirqd: cpus(0.0, 0.0),
        hardware_queues: 8,
        io_cpu: 1,
        ..Scene::hard()
    }
}

#[test]
fn queue_lines_are_seen_by_their_counts_though_the_thread_exists() {
    let completion = assert_path(&esi(), CompletionPath::McqEsi);
    assert_eq!(completion.irq, Some(41));
    assert_says(&completion, "came on lines other than the controller's first, of 3 in all");
}

#[test]
fn queue_lines_that_stay_silent_are_no_evidence() {
    let lines = vec![line(18, &["ufshcd"], 1.0, 0.0), line(40, &["ufshcd"], 0.0, 0.0)];
    assert_path(&Scene { lines, thread: None, ..esi() }, CompletionPath::Hard);
}

#[test]
fn many_lines_of_another_kind_of_controller_are_hard() {
    assert_path(&Scene { controller: Some(ControllerKind::Nvme), ..esi() }, CompletionPath::Hard);
}

#[test]
fn a_thread_that_exists_and_stays_idle_is_hard() {
    let thread = Some(SceneThread { comm: "irq/18-ufshcd", irq: 18, slices: 0.0 });
    let completion = assert_path(&Scene { thread, ..Scene::hard() }, CompletionPath::Hard);
    assert_says(&completion, "ran 0.00 times per I/O");
    assert_eq!(completion.thread.unwrap().pid, IRQ_THREAD_PID);
}

#[test]
fn a_handler_with_a_thread_of_its_own_on_a_system_that_forces_threads() {
    let scene = Scene {
        cmdline: Ok("quiet threadirqs".to_owned()),
        other_threads: vec!["irq/13-uart-pl0"],
        ksoftirqd: cpus(1.16, 0.0),
        timer_softirqs: cpus(0.16, 0.1),
        ..Scene::threaded()
    };
    let completion = assert_path(&scene, CompletionPath::Threaded);
    assert_says(&completion, "the driver asked for this thread");
}

#[test]
fn a_slow_disk_under_forced_threads_is_not_mistaken_for_an_own_thread() {
    // Ticks alone wake ksoftirqd about once per I/O here.
    let scene = Scene { ksoftirqd: cpus(0.95, 0.0), timer_softirqs: cpus(0.94, 0.9), ..Scene::forced() };
    assert_path(&scene, CompletionPath::ForcedThreaded);
}

#[test]
fn a_real_time_kernel_forces_threads() {
    let scene = Scene {
        cmdline: Ok("quiet".to_owned()),
        kernel_version: "#1 SMP PREEMPT_RT Debian".to_owned(),
        ..Scene::forced()
    };
    assert_path(&scene, CompletionPath::ForcedThreaded);
}

#[test]
fn threadirqs_must_be_a_word_of_the_command_line() {
    let scene = Scene { cmdline: Ok("nothreadirqs console=threadirqs0".to_owned()), ..Scene::threaded() };
    assert_path(&scene, CompletionPath::Threaded);
}

#[test]
fn forced_threads_show_without_a_readable_command_line() {
    let hidden: Reading<String> = Err(Unavailable::new("/proc/cmdline: permission denied"));
    assert_path(&Scene { cmdline: hidden.clone(), ..Scene::forced() }, CompletionPath::ForcedThreaded);
    let completion = assert_path(&Scene { cmdline: hidden, ..Scene::threaded() }, CompletionPath::Threaded);
    assert_says(&completion, "permission denied");
}

#[test]
fn threadirqs_with_nothing_threaded_is_hard() {
    let cmdline = Ok("threadirqs".to_owned());
    assert_path(&Scene { cmdline, ..Scene::hard() }, CompletionPath::Hard);
}

#[test]
fn some_interrupts_that_wake_the_thread_are_mixed() {
    for (share, expected) in [
        (0.08, CompletionPath::Hard),
        (0.12, CompletionPath::Mixed),
        (0.5, CompletionPath::Mixed),
        (0.88, CompletionPath::Mixed),
        (0.92, CompletionPath::Threaded),
    ] {
        let thread = Some(SceneThread { comm: "irq/18-ufshcd", irq: 18, slices: share });
        assert_path(&Scene { thread, ..Scene::hard() }, expected);
    }
}

#[test]
fn other_work_of_the_controller_in_hard_interrupts_is_mixed() {
    let scene = Scene { lines: vec![line(18, &["ufshcd"], 3.0, 0.0)], ..Scene::threaded() };
    let completion = assert_path(&scene, CompletionPath::Mixed);
    assert_says(&completion, "33 % of the interrupts woke the thread");
}

#[test]
fn extra_runs_of_the_thread_do_not_matter() {
    let thread = Some(SceneThread { comm: "irq/18-ufshcd", irq: 18, slices: 1.4 });
    assert_path(&Scene { thread, ..Scene::threaded() }, CompletionPath::Threaded);
}

mod shared_line {
    use super::*;

    #[test]
    fn another_devices_interrupts_do_not_hide_the_thread() {
        let scene = Scene { lines: vec![line(18, &["ufshcd", "dma"], 5.0, 0.0)], ..Scene::threaded() };
        let completion = assert_path(&scene, CompletionPath::Threaded);
        assert_says(&completion, "the line is shared");
        assert_says(&completion, "interrupt 18 (ufshcd, dma) came 5.00 times per I/O");
    }

    #[test]
    fn another_devices_thread_is_not_ours() {
        let scene = Scene {
            lines: vec![line(18, &["DDOMAIN ISR", "ufshcd"], 2.0, 0.0)],
            thread: Some(SceneThread { comm: "irq/18-DDOMAIN", irq: 18, slices: 1.0 }),
            ..Scene::hard()
        };
        let completion = assert_path(&scene, CompletionPath::Hard);
        assert_says(&completion, "irq/18-DDOMAIN belongs to another device on the line");
        let per_op = scene.summary("r", "v").per_op;
        assert_eq!((per_op.interrupts, per_op.irq_thread_switches), (Some(2.0), Some(0.0)));
    }

    #[test]
    fn what_cannot_be_told_apart_is_unknown() {
        let scene = Scene {
            lines: vec![line(18, &["ufshcd", "dma"], 2.0, 0.0)],
            thread: Some(SceneThread { comm: "irq/18-ufshcd", irq: 18, slices: 0.5 }),
            ..Scene::hard()
        };
        let completion = assert_path(&scene, CompletionPath::Unknown);
        assert_says(&completion, "they cannot be told apart");
    }
}

mod missing {
    use super::*;

    #[test]
    fn too_few_operations() {
        let completion = assert_path(&Scene { ops: 199, ..Scene::threaded() }, CompletionPath::Unknown);
        assert_says(&completion, "199 I/Os were counted; a verdict needs at least 200");
        assert_path(&Scene { ops: 200, ..Scene::threaded() }, CompletionPath::Threaded);
    }

    fn edited(scene: &Scene, edit: impl Fn(&mut Message)) -> Completion {
        let mut messages = scene.messages();
        messages.iter_mut().for_each(edit);
        verdict_of(&messages)
    }

    #[test]
    fn unreadable_interrupts() {
        for scene in [Scene::threaded(), Scene::zram()] {
            let completion = edited(&scene, |message| {
                if let Message::Edge(edge) = message {
                    edge.interrupts = Err(Unavailable::new("/proc/interrupts: permission denied"));
                }
            });
            assert_eq!(completion.path, CompletionPath::Unknown);
            assert_says(&completion, "/proc/interrupts: permission denied");
        }
    }

    // No CONFIG_SCHED_INFO: the file is there and says 0 0 0 while the threads run.
    fn without_sched_info(message: &mut Message) {
        if let Message::Edge(edge) = message {
            edge.threads.iter_mut().for_each(|thread| thread.schedstat = Ok(SchedStat::default()));
        }
    }

    #[test]
    fn scheduler_statistics_that_are_not_kept() {
        let completion = edited(&Scene::threaded(), without_sched_info);
        assert_eq!(completion.path, CompletionPath::Unknown);
        assert_says(&completion, "CONFIG_SCHED_INFO");
        // Where no thread exists, none can have run.
        assert_eq!(edited(&Scene::hard(), without_sched_info).path, CompletionPath::Hard);
    }

    #[test]
    fn kernel_threads_that_are_hidden() {
        let completion = edited(&Scene::hard(), |message| {
            if let Message::Facts(facts) = message {
                facts.ksoftirqd.clear();
            }
        });
        assert_eq!(completion.path, CompletionPath::Unknown);
        assert_says(&completion, "no kernel thread can be seen");
    }

    #[test]
    fn a_thread_that_was_not_watched() {
        let completion = edited(&Scene::hard(), |message| {
            if let Message::Facts(facts) = message {
                facts.irq_threads.push(kernel_thread("irq/18-ufshcd", 99, 1, 50));
            }
        });
        assert_eq!(completion.path, CompletionPath::Unknown);
        assert_says(&completion, "99 was not watched");
    }

    #[test]
    fn a_controller_that_cannot_be_seen() {
        let completion = edited(&Scene::threaded(), |message| {
            if let Message::Facts(facts) = message {
                facts.disks = Err(Unavailable::new("/sys/block: permission denied"));
                facts.controllers = Err(Unavailable::new("/sys/devices: permission denied"));
            }
        });
        assert_eq!(completion.path, CompletionPath::Threaded);
        assert_says(&completion, "lines named after UFS are taken for its lines");
    }

    #[test]
    fn interrupts_that_do_not_come() {
        let scene = Scene { lines: vec![line(18, &["ufshcd"], 0.004, 0.0)], ..Scene::hard() };
        let completion = assert_path(&scene, CompletionPath::Unknown);
        assert_says(&completion, "4 interrupts of the controller for 1000 I/Os");
    }

    #[test]
    fn no_controller_and_yet_an_interrupt() {
        let scene = Scene { timer_softirqs: cpus(1.0, 0.0), ..Scene::zram() };
        let completion = assert_path(&scene, CompletionPath::Unknown);
        assert_says(&completion, "yet interrupt 11");
    }

    #[test]
    fn everything() {
        assert_eq!(verdict_of(&[]).path, CompletionPath::Unknown);
    }
}
