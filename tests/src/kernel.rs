//! Debian's names for arm64 kernels, their order, and what a prefix such as `6.1` or `7` stands for.

use std::cmp::Ordering;

/// The release string of an ordinary arm64 kernel (what `uname -r` prints) from its image package's name.
///
/// `linux-image-6.12.43+deb13-arm64` is `6.12.43+deb13-arm64`. The other flavours (`cloud`, `rt`, `arm64-16k`) and
/// the debug and unsigned packages are not kernels for a phone: `None`.
pub fn release_of_image(package: &str) -> Option<&str> {
    let release = package.strip_prefix("linux-image-")?;
    let version = release.strip_suffix("-arm64")?;
    let numbered = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    version.split('-').all(numbered).then_some(release)
}

/// Whether `release` is of the series `prefix`: whole components, so `6.1` is not `6.12`.
pub fn is_of_series(release: &str, prefix: &str) -> bool {
    match release.strip_prefix(prefix) {
        Some(rest) => !rest.starts_with(|c: char| c.is_ascii_alphanumeric()),
        None => false,
    }
}

/// Orders release strings by their numbers: 6.1 < 6.12 < 6.18, and `6.12.9` < `6.12.10`.
pub fn compare(a: &str, b: &str) -> Ordering {
    numbers(a).cmp(numbers(b))
}

/// The newest of `releases` that is of the series `prefix`.
pub fn newest<'a>(releases: impl IntoIterator<Item = &'a str>, prefix: &str) -> Option<&'a str> {
    releases.into_iter().filter(|release| is_of_series(release, prefix)).max_by(|a, b| compare(a, b))
}

fn numbers(release: &str) -> impl Iterator<Item = u64> + '_ {
    let version = release.strip_suffix("-arm64").unwrap_or(release);
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELEASES: [&str; 8] = [
        "6.1.0-47-arm64",
        "6.1.0-50-arm64",
        "6.12.117+deb13-arm64",
        "6.12.95+deb12-arm64",
        "6.18.15+deb13-arm64",
        "6.18.9+deb13-arm64",
        "7.2.12+deb13-arm64",
        "7.3.4+deb13-arm64",
    ];

    #[test]
    fn the_newest_of_each_series() {
        for (prefix, expected) in [
            ("6.1", "6.1.0-50-arm64"),
            ("6.12", "6.12.117+deb13-arm64"),
            ("6.18", "6.18.15+deb13-arm64"),
            ("6", "6.18.15+deb13-arm64"),
            ("7", "7.3.4+deb13-arm64"),
            ("7.2", "7.2.12+deb13-arm64"),
            ("6.18.9", "6.18.9+deb13-arm64"),
            ("6.12.95+deb12-arm64", "6.12.95+deb12-arm64"),
        ] {
            assert_eq!(newest(RELEASES, prefix), Some(expected), "prefix {prefix}");
        }
    }

    #[test]
    fn half_a_component_is_no_series() {
        for prefix in ["6.18.1", "6.12.11", "5", "7.3.40"] {
            assert_eq!(newest(RELEASES, prefix), None, "prefix {prefix}");
        }
    }

    #[test]
    fn point_releases_of_a_package_count() {
        assert_eq!(compare("6.12.90+deb12.1-arm64", "6.12.90+deb12-arm64"), Ordering::Greater);
        assert_eq!(compare("6.1.0-9-arm64", "6.1.0-10-arm64"), Ordering::Less);
    }

    #[test]
    fn only_the_plain_flavour_is_a_phone_kernel() {
        assert_eq!(release_of_image("linux-image-6.12.117+deb13-arm64"), Some("6.12.117+deb13-arm64"));
        assert_eq!(release_of_image("linux-image-6.1.0-47-arm64"), Some("6.1.0-47-arm64"));
        for other in [
            "linux-image-arm64",
            "linux-image-6.12.117+deb13-arm64-16k",
            "linux-image-6.12.117+deb13-arm64-dbg",
            "linux-image-6.12.117+deb13-cloud-arm64",
            "linux-image-6.12.117+deb13-rt-arm64",
            "linux-image-6.1.0-47-arm64-unsigned",
            "linux-modules-7.3.4+deb13-arm64",
        ] {
            assert_eq!(release_of_image(other), None, "{other}");
        }
    }
}
