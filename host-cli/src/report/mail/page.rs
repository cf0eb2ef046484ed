//! Lines that survive a mail.

use crate::printable::printable;

/// Columns of a line.
const WIDTH: usize = 72;

/// Longest text that is shown whole.
const MAX_CHARS: usize = 2000;

/// `text` in ASCII: what has a usual way to be written in it gets that, anything else a question mark.
pub(super) fn ascii(text: &str) -> String {
    let one = |c: char| match c {
        'µ' | 'μ' => 'u',
        '–' | '—' | '−' => '-',
        c if c.is_ascii() => c,
        _ => '?',
    };
    printable(text, MAX_CHARS).chars().map(one).collect()
}

/// Text under construction; parts of it are parted by one empty line.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// Sentences from the margin on, and an empty line.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.wrapped("", "", text);
        self.blank();
    }

    /// A line above others.
    pub(super) fn heading(&mut self, text: &str) {
        self.wrapped("", "", text);
    }

    /// A sentence under a heading.
    pub(super) fn item(&mut self, text: &str) {
        self.wrapped("  ", "    ", text);
    }

    /// Sentences under a heading, if there are any, and an empty line.
    pub(super) fn list(&mut self, heading: &str, items: &[String]) {
        if !items.is_empty() {
            self.heading(heading);
            items.iter().for_each(|item| self.item(item));
            self.blank();
        }
    }

    /// A text beside `head`, whose columns stay free in the lines below.
    pub(super) fn hanging(&mut self, head: &str, text: &str) {
        let head = format!("{head} ");
        self.wrapped(&head, &" ".repeat(head.len().min(WIDTH / 2)), text);
    }

    /// Whole lines as they are.
    pub(super) fn verbatim(&mut self, lines: &str) {
        self.text.push_str(lines);
        // The table ends a part.
        if lines.starts_with('=') {
            self.blank();
        }
    }

    /// A shell command over as many lines as it takes. An argument that is longer than a line stays whole.
    pub(super) fn command(&mut self, arguments: &[String]) {
        let mut line = String::from(" ");
        for argument in arguments {
            // Two columns are the backslash's.
            if line.len() > 3 && line.len() + 1 + argument.len() + 2 > WIDTH {
                self.text.push_str(&line);
                self.text.push_str(" \\\n");
                line = "   ".to_owned();
            }
            line.push(' ');
            line.push_str(argument);
        }
        self.text.push_str(&line);
        self.text.push('\n');
        self.blank();
    }

    pub(super) fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    pub(super) fn finish(self) -> String {
        format!("{}\n", self.text.trim_end())
    }

    fn wrapped(&mut self, first: &str, next: &str, text: &str) {
        let mut line = first.to_owned();
        let mut empty = true;
        for word in ascii(text).split_whitespace() {
            let mut word = word;
            if !empty && line.len() + 1 + word.len() > WIDTH {
                self.push_line(&line);
                line = next.to_owned();
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            // A name longer than a line is broken: nothing else keeps the width.
            while let Some((part, rest)) = word.split_at_checked(WIDTH.saturating_sub(line.len())) {
                if rest.is_empty() {
                    break;
                }
                line.push_str(part);
                self.push_line(&line);
                line = next.to_owned();
                word = rest;
            }
            line.push_str(word);
            empty = false;
        }
        self.push_line(&line);
    }

    fn push_line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}
