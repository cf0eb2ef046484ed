//! One run of another tool.

use super::Page;
use crate::analysis::{Better, ImportedRun};

/// One imported run: what it is said to be, and its figures as they are.
pub fn imported(run: &ImportedRun) -> String {
    let mut page = Page::default();
    let unknown = "unknown";
    let source = &run.source;
    page.line(&format!("imported run {}, variant {}, {}", run.id, run.variant, run.workload));
    let line = source.line.map_or_else(String::new, |line| format!(", line {line}"));
    page.item(&format!("from {}{line} ({}, CRC-32 {})", source.file, source.format, source.crc32));
    page.item(&format!(
        "device {}, kernel {}, boot {}",
        run.device.as_deref().unwrap_or(unknown),
        run.kernel.as_deref().unwrap_or(unknown),
        run.boot.as_deref().unwrap_or(unknown)
    ));
    let better = |better| match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    };
    let rows = run.metrics.iter().map(|metric| {
        vec![
            metric.name.clone(),
            metric.value.to_string(),
            metric.unit.clone(),
            better(metric.better).to_owned(),
        ]
    });
    page.table(&["figure", "value", "unit", ""], rows.collect());
    page.line("another tool measured these: what tophalf checks of its own runs is not known of them");
    page.finish()
}
