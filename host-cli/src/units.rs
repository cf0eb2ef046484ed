//! Sizes and times as people write them.

/// Reads a size: bytes, or with `k`, `m`, `g` or `t` for powers of 1024 (`4k` is 4096, as for fio and dd).
/// `4kB` is refused, since it means 4000 to some and 4096 to others.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| format!("{text:?} is no size: write 4096, 4k or 64m"))?;
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        "kb" | "mb" | "gb" | "tb" => {
            let letter = &unit[..1];
            return Err(format!(
                "{text} means powers of 1000 to some and of 1024 to others: write {number}{letter} for powers of \
                 1024, or the number of bytes"
            ));
        }
        _ => return Err(format!("{unit:?} is no unit of size: write 4096, 4k or 64m")),
    };
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0).ok_or(format!("{text} is out of range"))
}

/// As [`size`], for one operation.
pub(crate) fn block_size(text: &str) -> Result<u32, String> {
    u32::try_from(size(text)?).map_err(|_| format!("{text} is too large for one operation"))
}

/// A size as [`size`] reads it, as short as it can be.
pub(crate) fn write_size(bytes: u64) -> String {
    let units = [(30, "g"), (20, "m"), (10, "k")];
    let fits = units.iter().find(|(shift, _)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    fits.map_or_else(|| bytes.to_string(), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

/// Reads a number of seconds, such as `10` or `0.5`, into nanoseconds.
pub(crate) fn seconds(text: &str) -> Result<u64, String> {
    const MOST_SECONDS: u64 = 7 * 24 * 3600;
    let wrong = || format!("{text:?} is no number of seconds: write 10 or 0.5");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let nanoseconds: u64 = format!("{fraction:0<9}").parse().map_err(|_| wrong())?;
    if whole > MOST_SECONDS {
        return Err(format!("{text} s is more than a week"));
    }
    Ok(whole * 1_000_000_000 + nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// cloud-bulldozer/benchmark-operator#386: `4k` was read as 4000.
    #[test]
    fn sizes() {
        assert_eq!(size("4k"), Ok(4096));
        assert_eq!(size("4K"), Ok(4096));
        assert_eq!(size("4KiB"), Ok(4096));
        assert_eq!(size("512"), Ok(512));
        assert_eq!(size("1m"), Ok(1 << 20));
        assert_eq!(size("3g"), Ok(3 << 30));
        for text in ["4kB", "4kb", "4KB", "1MB"] {
            assert!(size(text).unwrap_err().contains("powers of 1000"), "{text}");
        }
        for text in ["", "k", "-4k", "4.5k", "4x", "0", "0k", "99999999999999999999", "99999999999t", "4 k"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(block_size("4g").is_err());
    }

    #[test]
    fn sizes_are_written_as_they_are_read() {
        for (bytes, text) in [(4096, "4k"), (131_072, "128k"), (1 << 20, "1m"), (512, "512"), (1536, "1536")]
        {
            assert_eq!(write_size(bytes), text);
            assert_eq!(size(text), Ok(bytes));
        }
    }

    #[test]
    fn times() {
        assert_eq!(seconds("10"), Ok(10_000_000_000));
        assert_eq!(seconds("0.5"), Ok(500_000_000));
        assert_eq!(seconds("0.000000001"), Ok(1));
        assert_eq!(seconds("0"), Ok(0));
        for text in ["", ".", "1.", ".5", "-1", "1e3", "inf", "0.0000000001", "9999999"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
