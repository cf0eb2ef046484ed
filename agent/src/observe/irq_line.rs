//! `/proc/irq/N`: where one interrupt line is delivered.

use super::{cpu, interrupts, task, text, tree::Tree};
use tophalf_wire::{InterruptTable, IrqFacts, ThreadFacts};

/// All that is known of those of `irqs` that have a row in `/proc/interrupts`; a line without one has no
/// handler.
pub fn read_lines(
    tree: &Tree,
    irqs: &[u32],
    table: &InterruptTable,
    irq_threads: &[ThreadFacts],
) -> Vec<IrqFacts> {
    let lines = numbered_rows(table).filter(|(irq, _)| irqs.contains(irq)).map(|(irq, row)| {
        let list = |name| tree.parse(&format!("/proc/irq/{irq}/{name}"), cpu::parse_list);
        let serves = |thread: &&ThreadFacts| {
            task::irq_of_thread(&thread.comm).is_some_and(|(of_thread, _)| of_thread == irq)
        };
        IrqFacts {
            irq,
            chip: row.chip,
            hwirq: row.hwirq,
            actions: row.actions,
            affinity: list("smp_affinity_list"),
            effective_affinity: list("effective_affinity_list"),
            threads: irq_threads.iter().filter(serves).cloned().collect(),
        }
    });
    lines.collect()
}

/// Numbers of the lines that have a handler whose name fits.
pub fn with_action(table: &InterruptTable, fits: impl Fn(&str) -> bool) -> Vec<u32> {
    numbered_rows(table)
        .filter(|(_, row)| row.actions.iter().any(|action| fits(action)))
        .map(|(irq, _)| irq)
        .collect()
}

/// Rows of devices; those that have names instead of numbers are the architecture's own.
fn numbered_rows(table: &InterruptTable) -> impl Iterator<Item = (u32, interrupts::RowText)> {
    table
        .rows
        .iter()
        .filter_map(|row| Some((text::number(row.label.as_bytes())?, interrupts::describe(&row.text))))
}
