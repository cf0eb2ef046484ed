//! What is pasted into a mail to a kernel list: lines of at most 72 columns but for the table, whose layout is
//! that of the 0-day robot's mails, and plain ASCII but for its `±`.

mod page;

use super::lkp::{self, Cell, Change, Row};
use super::phrases::{
    GUIDE_PERCENT, above_guide, change, counts, headline, labels, metric_name, remarks, verdict,
};
use super::{EMULATED, text::figure};
use crate::analysis::{Comparison, EnvironmentLine, MetricComparison, Side, Verdict};
use page::{Page, ascii};
use std::cmp::Ordering;

/// Values on a line: what the robot's mails have.
const VALUES_A_LINE: usize = 6;

/// Columns of a value that is put side by side with the other's.
const SIDE_WIDTH: usize = 26;

/// A comparison for a mail. `fio` is the command that makes the same load, an argument an entry; `files` are lines that
/// name the runs' files.
pub fn mail(comparison: &Comparison, fio: Option<&[String]>, files: &[String]) -> String {
    let mut page = Page::default();
    if comparison.emulated {
        page.paragraph(EMULATED);
    }
    answer(&mut page, comparison);
    table(&mut page, comparison);
    raw_values(&mut page, comparison);
    hops(&mut page, comparison);
    environment(&mut page, comparison);
    let gates: Vec<String> = comparison.gates.iter().map(|gate| gate.sentence.clone()).collect();
    page.list("What else differs between the sides:", &gates);
    let notes = comparison.metrics.iter().flat_map(|metric| remarks(metric, comparison.imported));
    page.list("Notes:", &notes.chain(comparison.notes.iter().cloned()).collect::<Vec<_>>());
    let left_out: Vec<String> =
        comparison.left_out.iter().map(|run| format!("{}: {}", run.id, run.reasons.join("; "))).collect();
    page.list("Runs that were not valid and are left out:", &left_out);
    if let Some(arguments) = fio {
        page.heading("About the same load with fio:");
        page.command(arguments);
    }
    regzbot(&mut page, comparison);
    page.list("Files of the runs:", files);
    page.finish()
}

/// The verdict: a sentence of the headline, then a line a metric.
fn answer(page: &mut Page, comparison: &Comparison) {
    let Some(metric) = headline(comparison) else {
        page.paragraph("Invalid: nothing was compared.");
        return;
    };
    let [base, new] = labels(comparison);
    let several_figures = comparison.imported && comparison.metrics.len() > 1;
    if several_figures {
        page.paragraph(&format!("{new} against {base}, {} figures:", comparison.metrics.len()));
    } else {
        page.paragraph(&sentence(metric, comparison.imported, &base, &new));
    }
    if comparison.metrics.len() > 1 {
        for metric in &comparison.metrics {
            page.item(&line(metric, comparison.imported, several_figures));
        }
        page.blank();
    }
    let below = |metric: &MetricComparison| metric.verdict == Verdict::Regression && !above_guide(metric);
    if comparison.metrics.iter().any(below) {
        page.paragraph(&format!(
            "The guide is that of Documentation/admin-guide/reporting-regressions.rst: a micro-benchmark that is slower \
             by less than {GUIDE_PERCENT} % does not by itself count."
        ));
    }
}

/// `Regression: 6.18 against 6.12: latency +24.6 us per I/O (95 % CI +24.1 to +25.1), +72.4 % …`
fn sentence(metric: &MetricComparison, imported: bool, base: &str, new: &str) -> String {
    let mut verdict = verdict(metric, imported);
    if let Some(first) = verdict.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let mut parts = vec![format!("{verdict}: {new} against {base}")];
    match (metric.added_us_per_op, metric.added_us_ci95) {
        (Some(added), Some([low, high])) => {
            parts.push(format!("mean latency {added:+.1} us per I/O (95 % CI {low:+.1} to {high:+.1})"));
        }
        (Some(added), None) => parts.push(format!("mean latency {added:+.1} us per I/O")),
        (None, _) => parts.push(metric_name(metric, imported).0),
    }
    let change = change(metric);
    if !change.is_empty() {
        parts.push(change);
    }
    parts.push(format!("{} against {}", counts(&metric.new), counts(&metric.base)));
    format!("{}{}.", parts.join(", "), reason(metric))
}

/// `tophalf.iops -40.0 % (95 % CI -40.1 to -39.9), p = 0.029: regression`
fn line(metric: &MetricComparison, imported: bool, with_counts: bool) -> String {
    let change = Some(change(metric)).filter(|change| !change.is_empty());
    let change = change.map_or_else(String::new, |change| format!(" {change}"));
    let verdict = verdict(metric, imported);
    if with_counts {
        let runs = format!("{} against {}", counts(&metric.new), counts(&metric.base));
        return format!("{}{change}, {runs}: {verdict}{}", metric_name(metric, imported).0, reason(metric));
    }
    format!("{}{change}: {verdict}", metric_name(metric, imported).0)
}

/// Why, where the figures alone do not tell.
fn reason(metric: &MetricComparison) -> String {
    match metric.verdict {
        Verdict::Regression | Verdict::Improvement => String::new(),
        Verdict::NoDifference | Verdict::Inconclusive | Verdict::Invalid => format!(": {}", metric.reason),
    }
}

fn table(page: &mut Page, comparison: &Comparison) {
    let rows: Vec<Row> =
        comparison.metrics.iter().filter_map(|metric| row(metric, comparison.imported)).collect();
    if rows.is_empty() {
        return;
    }
    let mut axes: Vec<(String, String)> =
        comparison.key.iter().map(|(name, value)| (axis(&name.to_lowercase()), axis(value))).collect();
    axes.push(("testcase".to_owned(), if comparison.imported { "imported" } else { "tophalf" }.to_owned()));
    axes.sort();
    let arms = labels(comparison).map(|label| (ascii(&label), None));
    page.verbatim(&lkp::block(&axes, &arms, &rows));
}

/// A name or a value without what has a meaning in the line of parameters: `4096 bytes` is `4096`.
fn axis(text: &str) -> String {
    let text = text.strip_suffix(" bytes").unwrap_or(text);
    let text = text.strip_prefix("a ").unwrap_or(text);
    ascii(&text.replace('/', "").replace(" %", "%").replace(' ', "-"))
}

fn row(metric: &MetricComparison, imported: bool) -> Option<Row> {
    let (name, scale) = metric_name(metric, imported);
    let cell = |side: &Side| Cell::of(&side.values.iter().map(|value| value / scale).collect::<Vec<_>>());
    let (base, new) = (cell(&metric.base)?, cell(&metric.new)?);
    // The columns are plain means, and so is what stands between them.
    let change = match metric.change_percent {
        Some(_) => Change::between(&name, base, new),
        None => Change::Unknown,
    };
    Some(Row { name: ascii(&name), base, others: vec![(change, new)] })
}

fn raw_values(page: &mut Page, comparison: &Comparison) {
    if comparison.metrics.iter().all(|metric| metric.base.values.is_empty() && metric.new.values.is_empty()) {
        return;
    }
    page.heading("Every run (* is far from the others, and used):");
    let [base, new] = labels(comparison);
    for metric in &comparison.metrics {
        let (name, scale) = metric_name(metric, comparison.imported);
        for (label, side) in [(&base, &metric.base), (&new, &metric.new)] {
            page.item(&format!("{name}, {label}, {}:", counts(side)));
            let values: Vec<String> = side.values.iter().map(|value| raw(side, *value, scale)).collect();
            for line in values.chunks(VALUES_A_LINE) {
                page.verbatim(&format!("  {}\n", line.concat().trim_end()));
            }
        }
    }
    page.blank();
}

/// In 11 columns, the last of which is the mark of one far from the others.
fn raw(side: &Side, value: f64, scale: f64) -> String {
    let far = side.outliers.iter().any(|run| run.value == value);
    format!("{:>10}{}", figure(value / scale), if far { '*' } else { ' ' })
}

fn hops(page: &mut Page, comparison: &Comparison) {
    if comparison.hops.is_empty() {
        return;
    }
    let shown = |us: Option<f64>| us.map_or_else(|| "-".to_owned(), |us| format!("{us:.1}"));
    page.verbatim(&format!("{:<30}{:>10}{:>10}{:>10}\n", "Hops, mean us per I/O", "base", "new", "added"));
    for hop in &comparison.hops {
        let added = hop.added_us.map_or_else(|| "-".to_owned(), |us| format!("{us:+.1}"));
        let (base, new) = (shown(hop.base_us), shown(hop.new_us));
        page.verbatim(&format!("  {:<28}{base:>10}{new:>10}{added:>10}\n", hop.name));
    }
    let explained = headline(comparison).and_then(|metric| metric.explained);
    if let Some((fraction, explained)) = explained.and_then(|it| it.fraction.zip(Some(it))) {
        page.item(&format!(
            "the hops take {:+.1} us more, {:.0} % of the {:+.1} us of this pass",
            explained.by_hops_us,
            fraction * 100.0,
            explained.of_us
        ));
    }
    page.blank();
}

/// Side by side where it fits; `!` marks what differs.
fn environment(page: &mut Page, comparison: &Comparison) {
    if comparison.environment.is_empty() {
        return;
    }
    page.heading("Environment, base and new (! differs):");
    for line in &comparison.environment {
        environment_line(page, line);
    }
    page.blank();
}

fn environment_line(page: &mut Page, line: &EnvironmentLine) {
    let side = |values: &[String]| if values.is_empty() { "unknown".to_owned() } else { values.join(", ") };
    let (base, new) = (ascii(&side(&line.base)), ascii(&side(&line.new)));
    let mark = if base == new { ' ' } else { '!' };
    let head = format!("{mark} {:<13}", ascii(&line.name));
    if base == new {
        page.hanging(&head, &base);
    } else if base.len().max(new.len()) <= SIDE_WIDTH {
        page.hanging(&head, &format!("{base} -> {new}"));
    } else {
        page.hanging(&head, &format!("base: {base}"));
        page.hanging(&" ".repeat(head.len()), &format!("new:  {new}"));
    }
}

/// What the regression tracker reads, where it is one between releases.
fn regzbot(page: &mut Page, comparison: &Comparison) {
    let is_one = match headline(comparison) {
        Some(metric) if !comparison.imported => above_guide(metric),
        _ => comparison.metrics.iter().any(above_guide),
    };
    let ([base], [new]) = (&comparison.base.kernels[..], &comparison.new.kernels[..]) else { return };
    let Some((base, new)) = Release::parse(base).zip(Release::parse(new)) else { return };
    // An emulator's times are no reason to write to anybody.
    if !is_one || comparison.emulated || base.cmp(&new) != Ordering::Less {
        return;
    }
    page.paragraph(
        "(For the sender: begin the subject with [REGRESSION] and CC regressions@lists.linux.dev. The range is a \
         proposal from `uname -r`: give the commit if you know it.)",
    );
    page.paragraph(&format!("#regzbot introduced: {}..{}", base.tag(), new.tag()));
}

/// A release of the kernel, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Release {
    version: [u32; 3],
    /// A release candidate comes before the release.
    candidate: u32,
}

impl Release {
    const FINAL: u32 = u32::MAX;

    /// Of `uname -r`: `6.18.15-arm64`, `6.16.0-rc4-next`.
    fn parse(release: &str) -> Option<Self> {
        let (numbers, rest) = match release.find(|c: char| !(c.is_ascii_digit() || c == '.')) {
            Some(at) => release.split_at_checked(at)?,
            None => (release, ""),
        };
        let mut numbers = numbers.split('.').map(str::parse);
        let [major, minor] = [numbers.next()?.ok()?, numbers.next()?.ok()?];
        let patch = numbers.next().transpose().ok()?.unwrap_or(0);
        let candidate = rest.strip_prefix("-rc").map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap_or(0)
        });
        Some(Self { version: [major, minor, patch], candidate: candidate.unwrap_or(Self::FINAL) })
    }

    /// `v6.18.15`, `v6.16-rc4`
    fn tag(&self) -> String {
        let [major, minor, patch] = self.version;
        let patch = if patch > 0 { format!(".{patch}") } else { String::new() };
        let candidate =
            if self.candidate == Self::FINAL { String::new() } else { format!("-rc{}", self.candidate) };
        format!("v{major}.{minor}{patch}{candidate}")
    }
}

#[cfg(test)]
mod tests {
    use super::Release;

    #[test]
    fn tags_follow_from_what_uname_says() {
        for (release, tag) in [
            ("6.18.15-arm64", "v6.18.15"),
            ("6.12.0", "v6.12"),
            ("5.15.178-android13-8-gabcdef", "v5.15.178"),
            ("6.16.0-rc4-next-20250708", "v6.16-rc4"),
            ("7.3", "v7.3"),
        ] {
            assert_eq!(Release::parse(release).unwrap().tag(), tag);
        }
        for bad in ["", "next", "6", "6.x", "99999999999.1.1"] {
            assert_eq!(Release::parse(bad), None, "{bad}");
        }
        assert!(Release::parse("6.16.0-rc4") < Release::parse("6.16.0"));
        assert!(Release::parse("6.16.0") < Release::parse("6.16.1"));
    }
}
