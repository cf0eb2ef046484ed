//! No parser panics, whatever a kernel prints.

use crate::common::folder;
use proptest::prelude::*;
use std::fs;
use tophalf_agent::observe::{block, cpu, interrupts, kernel, process_io, schedstat, softirqs, task, text};

/// Every parser on the same bytes.
fn parse_all(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(table) = interrupts::parse(bytes) {
        assert!(table.rows.iter().all(|row| !row.counts.is_empty() && row.counts.len() <= table.cpus.len()));
        for row in &table.rows {
            interrupts::describe(&row.text);
        }
        assert!(
            interrupts::changes(&table, &interrupts::changes(&Default::default(), &table)).rows.len()
                <= table.rows.len()
        );
    }
    let described = interrupts::describe(&text);
    assert!(described.chip.len() + described.actions.concat().len() <= text.len());
    interrupts::total(bytes, 18);
    interrupts::per_cpu_total(bytes);
    schedstat::parse(bytes);
    softirqs::parse(bytes);
    process_io::parse(bytes);
    task::parse_stat(bytes);
    task::parse_status(bytes);
    task::parse_migrations(bytes);
    task::irq_of_thread(&text);
    task::cpu_of_ksoftirqd(&text);
    block::parse_stat(bytes);
    block::parse_dev(bytes);
    block::parse_scheduler(bytes);
    kernel::parse_banner(bytes);
    kernel::parse_page_bytes(bytes);
    text::one_number::<u16>(bytes);
    text::cpu_columns(bytes);
    if let Some(cpus) = cpu::parse_list(bytes) {
        assert!(cpus.is_sorted());
        assert_eq!(cpu::parse_list(cpu::format_list(&cpus).as_bytes()), Some(cpus));
    }
}

/// Real files, to start from.
fn real_files() -> Vec<Vec<u8>> {
    let files = [
        ("t615-threaded", "proc/interrupts"),
        ("arm64-7.3-format", "proc/interrupts"),
        ("t615-threaded", "proc/softirqs"),
        ("t615-threaded", "proc/74/stat"),
        ("t615-threaded", "proc/74/status"),
        ("t615-threaded", "proc/74/sched"),
        ("t615-threaded", "proc/74/schedstat"),
        ("t615-threaded", "proc/4711/io"),
        ("t615-threaded", "proc/version"),
        ("t615-threaded", "sys/block/sda/stat"),
        ("t615-threaded", "sys/block/sda/mq/0/cpu_list"),
        ("t615-threaded", "sys/block/sda/queue/scheduler"),
    ];
    files.iter().map(|(tree, path)| fs::read(folder(tree).join(path)).unwrap()).collect()
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        parse_all(&bytes);
    }

    #[test]
    fn any_bytes_of_these_files(text in "[ 0-9,\n:()\\-\\[\\]/aCPUirqsLevl.]{0,400}") {
        parse_all(text.as_bytes());
    }

    #[test]
    fn real_files_with_damage(
        file in prop::sample::select(real_files()),
        cut in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let mut bytes = file;
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        parse_all(&bytes[..cut.index(bytes.len() + 1)]);
    }
}
