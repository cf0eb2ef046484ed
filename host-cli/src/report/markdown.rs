//! A comparison for GitHub and GitLab: the verdict, tables, and what must be known to read them.

use super::phrases::{change, counts, headline, labels, metric_name, remarks, verdict};
use super::{EMULATED, text::figure};
use crate::analysis::{Comparison, MetricComparison, Side};
use crate::printable::printable;

/// Longest text that is shown whole.
const MAX_CHARS: usize = 2000;

/// A comparison as GitHub-flavoured Markdown.
pub fn markdown(comparison: &Comparison) -> String {
    let labels = labels(comparison);
    let [base, new] = &labels;
    let mut text = String::new();
    if comparison.emulated {
        text.push_str(&format!("> {}\n\n", escaped(EMULATED)));
    }
    text.push_str(&answer(comparison, base, new));
    let rows: Vec<Vec<String>> =
        comparison.metrics.iter().map(|metric| metric_row(metric, comparison.imported)).collect();
    text.push_str(&table(&["metric", base, new, "change", "verdict"], &rows));
    let gates = comparison.gates.iter().map(|gate| gate.sentence.clone());
    text.push_str(&list("What else differs between the sides", gates));
    let remarks = comparison.metrics.iter().flat_map(|metric| remarks(metric, comparison.imported));
    text.push_str(&list("Notes", remarks.chain(comparison.notes.iter().cloned())));
    let left_out = comparison.left_out.iter().map(|run| format!("{}: {}", run.id, run.reasons.join("; ")));
    text.push_str(&list("Left out, not valid", left_out));
    let values = comparison.metrics.iter().flat_map(|metric| {
        [(base, &metric.base), (new, &metric.new)].map(|(label, side)| {
            vec![
                metric_name(metric, comparison.imported).0,
                label.clone(),
                counts(side),
                values(metric, side, comparison.imported),
            ]
        })
    });
    text.push_str(&details("Every run", &["metric", "side", "runs", "values"], &values.collect::<Vec<_>>()));
    let environment = comparison.environment.iter().map(|line| {
        let mark = if line.base == line.new { "" } else { "!" };
        vec![line.name.clone(), line.base.join(", "), line.new.join(", "), mark.to_owned()]
    });
    let header = ["environment", base, new, "differs"];
    text.push_str(&details("Environment", &header, &environment.collect::<Vec<_>>()));
    text
}

fn answer(comparison: &Comparison, base: &str, new: &str) -> String {
    let Some(metric) = headline(comparison) else {
        return "**invalid**: nothing was compared\n\n".to_owned();
    };
    let sides = format!("{} against {}", escaped(new), escaped(base));
    if comparison.imported && comparison.metrics.len() > 1 {
        return format!("{sides}, {} figures of another tool:\n\n", comparison.metrics.len());
    }
    let added = match (metric.added_us_per_op, metric.added_us_ci95) {
        (Some(added), Some([low, high])) => {
            format!(" {added:+.1} µs per I/O (95 % CI {low:+.1} to {high:+.1}),")
        }
        (Some(added), None) => format!(" {added:+.1} µs per I/O,"),
        (None, _) => String::new(),
    };
    format!(
        "**{}**: {sides},{added} {} against {}: {}\n\n",
        verdict(metric, comparison.imported),
        counts(&metric.new),
        counts(&metric.base),
        escaped(&metric.reason)
    )
}

fn metric_row(metric: &MetricComparison, imported: bool) -> Vec<String> {
    let (name, scale) = metric_name(metric, imported);
    let mean = |side: &Side| side.mean.map_or_else(|| "-".to_owned(), |mean| figure(mean / scale));
    vec![name, mean(&metric.base), mean(&metric.new), change(metric), verdict(metric, imported)]
}

fn values(metric: &MetricComparison, side: &Side, imported: bool) -> String {
    let (_, scale) = metric_name(metric, imported);
    let shown = side.values.iter().map(|value| {
        let far = side.outliers.iter().any(|run| run.value == *value);
        format!("{}{}", figure(value / scale), if far { " (far from the others)" } else { "" })
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn list(heading: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("- {}\n", escaped(&item))).collect();
    if items.is_empty() { items } else { format!("**{heading}**\n\n{items}\n") }
}

/// A table that is folded until somebody wants to see it.
fn details(summary: &str, header: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    format!("<details><summary>{summary}</summary>\n\n{}</details>\n\n", table(header, rows))
}

/// The first column to the left, figures to the right.
fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let line =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = line(&mut header.iter().map(|cell| escaped(cell)));
    let marks = header.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "---:" }.to_owned());
    text.push_str(&line(&mut { marks }));
    for row in rows {
        text.push_str(&line(&mut row.iter().map(|cell| escaped(cell))));
    }
    text.push('\n');
    text
}

/// Text in which nothing is markup: names come from devices and files.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in printable(text, MAX_CHARS).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A name in a mail's or an issue's text must not call anybody.
            '@' => escaped.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_markup() {
        assert_eq!(escaped("a|b_c*<img src=x>`@all`"), r"a\|b\_c\*&lt;img src=x&gt;\`&#64;all\`");
        let rows = [vec!["x|y".to_owned(), "1\n2".to_owned()]];
        assert_eq!(table(&["a", "b"], &rows), "| a | b |\n| --- | ---: |\n| x\\|y | 1 2 |\n\n");
    }
}
