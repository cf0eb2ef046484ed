//! Plain text for a terminal or a mail, in lines of at most [`WIDTH`] columns where names allow it. The first
//! line is the answer.

mod comparison;
mod imported;
mod imports;
mod probe;
mod qualify;
mod run;

pub use comparison::comparison;
pub(super) use comparison::figure;
pub use imported::imported;
pub use imports::imports;
pub use probe::probe;
pub use qualify::qualification;
pub use run::run;

use crate::printable::printable;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Columns of a line.
pub const WIDTH: usize = 80;

/// Longest sentence or table cell that is shown whole.
const MAX_CHARS: usize = 2000;

/// Text under construction.
#[derive(Debug, Default)]
struct Page {
    text: String,
}

impl Page {
    /// A line that begins at the margin; what does not fit goes on in the next one, indented.
    fn line(&mut self, line: &str) {
        self.wrapped("", line);
    }

    /// A sentence under a heading.
    fn item(&mut self, line: &str) {
        self.wrapped("  ", line);
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn wrapped(&mut self, indent: &str, line: &str) {
        let mut width = 0;
        for word in printable(line, MAX_CHARS).split_whitespace() {
            let word_width = word.chars().count();
            if width == 0 {
                self.text.push_str(indent);
                width = indent.len();
            } else if width + 1 + word_width > WIDTH {
                self.text.push('\n');
                self.text.push_str(indent);
                self.text.push_str("  ");
                width = indent.len() + 2;
            } else {
                self.text.push(' ');
                width += 1;
            }
            self.text.push_str(word);
            width += word_width;
        }
        self.text.push('\n');
    }

    /// Rows under a header: the first column to the left, figures to the right.
    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(header);
        for row in rows {
            table.add_row(row.iter().map(|cell| printable(cell, MAX_CHARS)));
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        for line in table.lines() {
            self.text.push_str("  ");
            self.text.push_str(line.trim_end().strip_prefix(' ').unwrap_or(&line));
            self.text.push('\n');
        }
    }

    fn list(&mut self, heading: &str, items: &[String]) {
        if !items.is_empty() {
            self.line(heading);
            items.iter().for_each(|item| self.item(item));
        }
    }

    fn finish(self) -> String {
        self.text
    }
}

/// Nanoseconds as microseconds.
fn us(ns: f64) -> String {
    format!("{:.1}", ns / 1e3)
}

/// The same of a whole number.
fn whole_us(ns: u64) -> String {
    us(ns as f64)
}

/// A figure, or a dash where there is none.
fn or_dash(figure: Option<f64>, decimals: usize) -> String {
    figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.decimals$}"))
}

/// Bytes in the largest binary unit that divides them.
fn bytes(bytes: u64) -> String {
    for (unit, name) in [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    format!("{bytes} bytes")
}

/// `1 run`, `2 runs`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
