//! Names of variants and runs as names of files.

/// Most characters of a name.
const MOST_NAME_CHARS: usize = 100;

/// `text` as part of a path: letters, digits, `.`, `-`, `_` and `+`, never hidden, never a folder above. What
/// had to be changed or cut is told apart by a check sum.
pub(super) fn file_name(text: &str) -> String {
    let mut name = plain(text, MOST_NAME_CHARS);
    if name.is_empty() || name.starts_with('.') {
        name.insert(0, '_');
    }
    if name != text {
        name.push_str(&format!("-{:08x}", crc32fast::hash(text.as_bytes())));
    }
    name
}

/// `text` as part of a run's id, which is unique by other parts: short, and safe in a path.
pub(crate) fn id_part(text: &str) -> String {
    plain(text, 40)
}

fn plain(text: &str, most: usize) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    text.chars().take(most).map(|c| if allowed(c) { c } else { '_' }).collect()
}
