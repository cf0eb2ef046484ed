//! The few shapes that the kernel's text files are made of.

/// The lines of a file, without their ends.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n')
}

/// The words of a line: what blanks stand between.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A word of decimal digits and nothing else, if it fits.
pub fn number<T: TryFrom<u64>>(word: &[u8]) -> Option<T> {
    if word.is_empty() {
        return None;
    }
    let value = word.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })?;
    T::try_from(value).ok()
}

/// A count. One in the upper half of 64 bits is a negative number printed as if it had no sign, which kernels
/// have done; it is refused rather than taken for a very large count.
pub fn count(word: &[u8]) -> Option<u64> {
    number::<i64>(word).map(i64::unsigned_abs)
}

/// A file that holds one number.
pub fn one_number<T: TryFrom<u64>>(bytes: &[u8]) -> Option<T> {
    number(bytes.trim_ascii())
}

/// The value beside `key` in a file of `key: value` lines, without the blanks around it.
pub fn value<'a>(bytes: &'a [u8], key: &str) -> Option<&'a [u8]> {
    lines(bytes).find_map(|line| {
        let (name, value) = split_at_colon(line)?;
        (name == key.as_bytes()).then_some(value)
    })
}

/// Both sides of a line's first colon, without the blanks around them.
pub fn split_at_colon(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

/// The CPU numbers of a table's columns, as in the first line of `/proc/interrupts` and `/proc/softirqs`:
///
/// ```text
///            CPU0       CPU1       CPU6
/// ```
pub fn cpu_columns(line: &[u8]) -> Option<Vec<u16>> {
    let cpus: Vec<u16> = words(line).map(|word| number(word.strip_prefix(b"CPU")?)).collect::<Option<_>>()?;
    (!cpus.is_empty()).then_some(cpus)
}

/// Text as people read it: blanks and zero bytes at its ends gone, what is not UTF-8 replaced.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_that_fit() {
        assert_eq!(number::<u16>(b"65535"), Some(65535));
        assert_eq!(number::<u16>(b"65536"), None);
        assert_eq!(number::<u64>(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number::<u64>(b"18446744073709551616"), None);
        for word in ["", "+1", "-1", " 1", "1x"] {
            assert_eq!(number::<u64>(word.as_bytes()), None, "{word:?}");
        }
    }

    #[test]
    fn procfs_94_a_negative_number_without_its_sign_is_no_count() {
        assert_eq!(count(b"18446744073709551615"), None);
        assert_eq!(count(b"9223372036854775807"), Some(u64::MAX / 2));
    }

    #[test]
    fn text_for_people() {
        assert_eq!(lossy(b"linux,dummy-virt\0"), "linux,dummy-virt");
        assert_eq!(lossy(b"  a\xffb \n"), "a\u{fffd}b");
    }
}
