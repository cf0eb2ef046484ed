//! The text that Go's benchmarks print and `benchstat` reads (<https://go.dev/design/14313-benchmark-format>, and for
//! `Unit` lines <https://go.dev/issue/43744>): `benchstat -col variant FILE` puts the sides side by side.
//!
//! ```text
//! Unit ns/op better=lower
//! variant: 6.12
//! BenchmarkRandread4k 1 81234.5 ns/op
//! ```

use crate::analysis::{Better, Comparison, MetricComparison};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Both sides of a comparison, a line for each run and metric. The count of iterations, which the format asks for, is 1: a
/// run is one measurement.
pub fn benchfmt(comparison: &Comparison) -> String {
    let mut text = String::new();
    let mut units: BTreeMap<String, Better> = BTreeMap::new();
    for metric in &comparison.metrics {
        units.insert(name_and_unit(comparison, metric).1, metric.better);
    }
    for (unit, better) in &units {
        let better = match better {
            Better::Higher => "higher",
            Better::Lower => "lower",
        };
        line(&mut text, format_args!("Unit {unit} better={better}"));
    }
    line(&mut text, format_args!("tool: tophalf"));
    let same_label = joined(&comparison.base.variants) == joined(&comparison.new.variants);
    for side in ["base", "new"] {
        let is_base = side == "base";
        let summary = if is_base { &comparison.base } else { &comparison.new };
        line(&mut text, format_args!("side: {side}"));
        let variant = joined(&summary.variants);
        // Two sides under one label would be one column.
        let variant = if same_label { format!("{variant} ({side})") } else { variant };
        line(&mut text, format_args!("variant: {variant}"));
        // A line without a value takes the key away again, as the format has it.
        line(&mut text, format_args!("kernel: {}", joined(&summary.kernels)));
        for metric in &comparison.metrics {
            let (name, unit) = name_and_unit(comparison, metric);
            for value in &if is_base { &metric.base } else { &metric.new }.values {
                line(&mut text, format_args!("Benchmark{name} 1 {value} {unit}"));
            }
        }
    }
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{}", line.to_string().trim_end());
}

/// Labels as the value of a configuration line: one line.
fn joined(labels: &[String]) -> String {
    crate::printable::printable(&labels.join(", "), 1000)
}

/// The benchmark's name, without `Benchmark`, and the unit of a metric. The figures of one benchmark are told apart by
/// their units, so that each metric needs its own.
fn name_and_unit(comparison: &Comparison, metric: &MetricComparison) -> (String, String) {
    if comparison.imported {
        return (capital(&word(&metric.metric)), word(&metric.unit));
    }
    let workload = comparison.key.iter().find(|(name, _)| name == "workload");
    let name = capital(&word(workload.map_or("run", |(_, workload)| workload.as_str())));
    let unit = match metric.metric.as_str() {
        "latency_mean_ns" => "ns/op".to_owned(),
        "latency_p50_ns" => "p50-ns/op".to_owned(),
        "latency_p99_ns" => "p99-ns/op".to_owned(),
        "iops" => "IOPS".to_owned(),
        other => format!("{}-{}", word(other), word(&metric.unit)),
    };
    (name, unit)
}

/// One word: in the format, white space ends a name.
fn word(text: &str) -> String {
    let word: String =
        text.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect();
    if word.is_empty() { "_".to_owned() } else { word }
}

/// What follows `Benchmark` must not begin with a small letter.
fn capital(word: &str) -> String {
    let mut rest = word.chars();
    match rest.next() {
        Some(first) if first.is_lowercase() => first.to_uppercase().chain(rest).collect(),
        _ => word.to_owned(),
    }
}
