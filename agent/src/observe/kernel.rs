//! What a kernel is called, and the size of its pages. The name is for people to read: nothing is ever concluded from it, since vendors
//! take changes back and forth between versions.

use super::text;

/// What `uname -r` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Release {
    /// Version, patch level and sublevel; the last is 0 where it is not written.
    pub version: (u32, u32, u32),
    /// Branch of the Android common kernel, such as `android16-5`.
    pub android: Option<String>,
    /// It was built from sources that were, or may have been, changed after their last commit.
    pub dirty: bool,
    /// Page size the build is named after, such as `4k`.
    pub page_size: Option<String>,
}

/// Parses `/proc/sys/kernel/osrelease` (`CONFIG_LOCALVERSION` and scripts/setlocalversion add to it what they
/// like):
///
/// ```text
/// 6.12.30-android16-5-maybe-dirty-4k
/// 4.9.266-0.1.ac.225.84.332.metal1.x86_64
/// ```
pub fn parse_release(release: &str) -> Option<Release> {
    let release = release.trim();
    let end = release.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(release.len());
    let mut numbers = release[..end].split('.');
    let mut next = || text::number(numbers.next()?.as_bytes());
    let version = (next()?, next()?, next().unwrap_or(0));
    let mut found = Release { version, ..Release::default() };
    let mut tags = release[end..].split(['-', '_']).peekable();
    while let Some(tag) = tags.next() {
        match tag {
            "dirty" => found.dirty = true,
            "4k" | "16k" | "64k" => found.page_size = Some(tag.to_owned()),
            _ if is_numbered(tag, "android") => {
                let generation = tags.next_if(|next| is_numbered(next, ""));
                found.android = Some(
                    generation.map_or_else(|| tag.to_owned(), |generation| format!("{tag}-{generation}")),
                );
            }
            _ => {}
        }
    }
    Some(found)
}

/// `prefix` and digits, nothing else.
fn is_numbered(tag: &str, prefix: &str) -> bool {
    tag.strip_prefix(prefix)
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Release and version of a kernel from `/proc/version` (`linux_proc_banner`, init/version.c), which also
/// those may read who may not read `/proc/sys/kernel`:
///
/// ```text
/// Linux version 6.18.15-arm64 (build@host) (gcc-15 …) #1 SMP PREEMPT Debian 6.18.15-1 (2026-02-27)
/// ```
pub fn parse_banner(bytes: &[u8]) -> Option<(String, String)> {
    let banner = text::lossy(bytes);
    let release = banner.strip_prefix("Linux version ")?.split(' ').next()?;
    let version = banner.split_once(" #").map(|(_, version)| format!("#{version}"))?;
    Some((release.to_owned(), version))
}

/// Bytes of a memory page, from the auxiliary vector `/proc/self/auxv` (`create_elf_tables`, fs/binfmt_elf.c):
/// pairs of words as wide as the process's own, of which `AT_PAGESZ` (6) is one.
pub fn parse_page_bytes(bytes: &[u8]) -> Option<u32> {
    const AT_PAGESZ: usize = 6;
    const WORD: usize = size_of::<usize>();
    bytes.chunks_exact(2 * WORD).find_map(|pair| {
        let (key, value) = pair.split_at(WORD);
        let key = usize::from_ne_bytes(key.try_into().ok()?);
        let value = usize::from_ne_bytes(value.try_into().ok()?);
        if key == AT_PAGESZ { u32::try_from(value).ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procfs_136_names_of_kernels() {
        let version = |release| parse_release(release).map(|release| release.version);
        assert_eq!(version("4.9.266-0.1.ac.225.84.332.metal1.x86_64"), Some((4, 9, 266)));
        assert_eq!(version("6.18.15+deb14-arm64\n"), Some((6, 18, 15)));
        assert_eq!(version("7.3-rc1"), Some((7, 3, 0)));
        assert_eq!(version("next"), None);
        assert_eq!(version("99999999999.1.2"), None);
        let android = parse_release("6.12.30-android16-5-maybe-dirty-4k").unwrap();
        let expected = Release {
            version: (6, 12, 30),
            android: Some("android16-5".to_owned()),
            dirty: true,
            page_size: Some("4k".to_owned()),
        };
        assert_eq!(android, expected);
        let vendor = parse_release("5.15.178-android13-8-00012-g3fe8c9e7a1b2-ab13000000").unwrap();
        assert_eq!((vendor.android.as_deref(), vendor.dirty), (Some("android13-8"), false));
    }

    #[test]
    fn the_banner_has_both_names() {
        let banner = b"Linux version 6.18.15-arm64 (build@host) (gcc-15 (Debian 15.2.0-9)) #1 SMP PREEMPT Debian 6.18.15-1\n";
        let (release, version) = parse_banner(banner).unwrap();
        assert_eq!(
            (release.as_str(), version.as_str()),
            ("6.18.15-arm64", "#1 SMP PREEMPT Debian 6.18.15-1")
        );
        assert_eq!(parse_banner(b"FreeBSD"), None);
    }

    #[test]
    fn the_page_size_among_other_words() {
        let vector: Vec<u8> = [16, 0xff, 6, 16384, 0, 0].into_iter().flat_map(usize::to_ne_bytes).collect();
        assert_eq!(parse_page_bytes(&vector), Some(16384));
        assert_eq!(parse_page_bytes(&vector[..24]), None);
    }
}
