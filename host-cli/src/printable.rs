//! Text of a device made fit for a terminal: a name or a message must not move the cursor, change colours
//! or fill the screen.

/// `text` with everything that acts on a terminal replaced, and cut to `max_chars`. Line ends become spaces:
/// the result is one line.
pub(crate) fn printable(text: &str, max_chars: usize) -> String {
    let mut shown: String = text.trim().chars().take(max_chars).map(harmless).collect();
    if text.trim().chars().nth(max_chars).is_some() {
        shown.push('…');
    }
    shown
}

/// `text` with everything that acts on a terminal replaced, except line ends: for whole reports.
pub(crate) fn printable_lines(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { harmless(c) }).collect()
}

fn harmless(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        // Marks that turn the direction of what follows them.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_the_terminal() {
        assert_eq!(printable_lines("a\n\u{9b}2Jb\n"), "a\n\u{fffd}2Jb\n");
        assert_eq!(printable("a\u{1b}[2Jb\u{7}c\nd\u{202e}e", 100), "a\u{fffd}[2Jb\u{fffd}c d\u{fffd}e");
    }

    #[test]
    fn names_of_300_characters_are_whole_and_longer_text_is_cut() {
        let long = "n".repeat(300);
        assert_eq!(printable(&long, 300), long);
        assert_eq!(printable("abcd", 3), "abc…");
    }
}
