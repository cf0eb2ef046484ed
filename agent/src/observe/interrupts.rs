//! `/proc/interrupts` and `/sys/kernel/irq/N/per_cpu_count`.
//!
//! `/proc/interrupts` is printed by `show_interrupts` (kernel/irq/proc.c), and the rows with names by the
//! architecture's `arch_show_interrupts`. Up to Linux 7.2:
//!
//! ```text
//!            CPU0       CPU1
//!  18:         64          0     GICv3  37 Level     ufshcd
//! IPI0:        12          7       Rescheduling interrupts
//! Err:          0
//! ```
//!
//! Linux 7.3 pads elsewhere, which makes no difference between words:
//!
//! ```text
//!              CPU0       CPU1
//!   18:         65          0  GICv3      37 Level     ufshcd
//! ```
//!
//! Only online CPUs have a column, so that the header has to be read each time.

use super::text;
use tophalf_wire::{InterruptRow, InterruptTable};

/// Parses `/proc/interrupts`. Lines that are no rows are passed over.
pub fn parse(bytes: &[u8]) -> Option<InterruptTable> {
    let mut lines = text::lines(bytes);
    let cpus = text::cpu_columns(lines.next()?)?;
    let rows = lines.filter_map(|line| parse_row(line, cpus.len())).collect();
    Some(InterruptTable { cpus, rows })
}

fn parse_row(line: &[u8], columns: usize) -> Option<InterruptRow> {
    let (label, mut rest) = text::split_at_colon(line)?;
    let mut counts = Vec::new();
    while counts.len() < columns
        && let Some((count, after)) = next_count(rest)
    {
        counts.push(count);
        rest = after;
    }
    if label.is_empty() || counts.is_empty() {
        return None;
    }
    Some(InterruptRow { label: text::lossy(label), counts, text: text::lossy(rest) })
}

/// The count at the start of `rest`, and what follows it. `0-edge` is no count.
fn next_count(rest: &[u8]) -> Option<(u64, &[u8])> {
    let rest = rest.trim_ascii_start();
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    Some((text::count(&rest[..end])?, &rest[end..]))
}

/// The sum over all CPUs of one line's counts in `/proc/interrupts`, without allocating.
pub fn total(bytes: &[u8], irq: u32) -> Option<u64> {
    let mut lines = text::lines(bytes);
    let columns = text::words(lines.next()?).count();
    let (_, mut rest) =
        lines.filter_map(text::split_at_colon).find(|(label, _)| text::number(label) == Some(irq))?;
    let mut sum = 0_u64;
    for _ in 0..columns {
        let (count, after) = next_count(rest)?;
        sum = sum.wrapping_add(count);
        rest = after;
    }
    Some(sum)
}

/// The sum over all CPUs of `/sys/kernel/irq/N/per_cpu_count` (`per_cpu_count_show`, kernel/irq/irqdesc.c),
/// without allocating:
///
/// ```text
/// 64,0
/// ```
pub fn per_cpu_total(bytes: &[u8]) -> Option<u64> {
    bytes
        .trim_ascii()
        .split(|byte| *byte == b',')
        .try_fold(0_u64, |sum, field| Some(sum.wrapping_add(text::count(field)?)))
}

/// The rows of `now` that differ from those of `then`. A row that was there already comes without its text.
pub fn changes(then: &InterruptTable, now: &InterruptTable) -> InterruptTable {
    let known: std::collections::HashMap<&str, &[u64]> =
        then.rows.iter().map(|row| (row.label.as_str(), row.counts.as_slice())).collect();
    let same_columns = then.cpus == now.cpus;
    let rows = now.rows.iter().filter_map(|row| match known.get(row.label.as_str()) {
        None => Some(row.clone()),
        Some(counts) if same_columns && **counts == row.counts => None,
        Some(_) => Some(InterruptRow { text: String::new(), ..row.clone() }),
    });
    InterruptTable { cpus: now.cpus.clone(), rows: rows.collect() }
}

/// What stands after the counts of a numbered row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowText {
    /// Interrupt controller, such as `GICv3`.
    pub chip: String,
    /// The controller's own number; empty where it has none.
    pub hwirq: String,
    /// `Level` or `Edge`, or the name of the flow handler such as `edge`; empty where it is not printed.
    pub trigger: String,
    /// Names of the handlers. More than one is a shared line, whose count cannot be divided among them.
    pub actions: Vec<String>,
}

/// Takes the text of a numbered row apart:
///
/// ```text
/// GICv3  37 Level     ufshcd
/// GICv3  39 Level     DDOMAIN ISR, gdma
/// MSI-INTA 1716234 Level     485c0100.dma-controller chan6
/// PCI-MSIX-0000:00:01.0   0-edge      virtio0-config
/// ```
///
/// Names of chips and of handlers may hold blanks, so that the number between them is what is looked for.
pub fn describe(text: &str) -> RowText {
    let text = text.trim();
    let is_trigger = |word: &str| matches!(word, "Level" | "Edge");
    let (first, _) = split_word(text);
    let mut chip_end = first.len();
    let middle = loop {
        let (word, _) = split_word(&text[chip_end..]);
        if word.is_empty() {
            // Neither number nor trigger: the first word is the chip.
            chip_end = first.len();
            break false;
        }
        if is_trigger(word) || split_hwirq(word).is_some() {
            break true;
        }
        chip_end += text[chip_end..].len() - text[chip_end..].trim_start().len() + word.len();
    };
    let mut found = RowText { chip: text[..chip_end].to_owned(), ..RowText::default() };
    let mut rest = &text[chip_end..];
    if middle {
        let (word, after) = split_word(rest);
        if let Some((hwirq, flow)) = split_hwirq(word) {
            found.hwirq = hwirq.to_owned();
            found.trigger = flow.to_owned();
            rest = after;
        }
        let (word, after) = split_word(rest);
        if is_trigger(word) {
            found.trigger = word.to_owned();
            rest = after;
            // With both, the name of the flow handler follows.
            let (word, after) = split_word(rest);
            if word.starts_with('-') {
                rest = after;
            }
        }
    }
    found.actions =
        rest.trim().split(", ").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    found
}

/// The first word, and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// `37` into `37` and nothing, `5-edge` into `5` and `edge`.
fn split_hwirq(word: &str) -> Option<(&str, &str)> {
    let (number, flow) = word.split_once('-').unwrap_or((word, ""));
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some((number, flow))
}

#[cfg(test)]
mod tests;
