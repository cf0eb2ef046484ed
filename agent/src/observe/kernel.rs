//! What a kernel is called, and the size of its pages. The name is for people to read: nothing is ever
//! concluded from it, since vendors take changes back and forth between versions.

use super::{text, tree::Tree};
use tophalf_wire::KernelConfig;

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

/// How the kernel was built, compressed as it is (`CONFIG_IKCONFIG_PROC`, kernel/configs.c). Many kernels do not tell.
pub fn read_config(tree: &Tree) -> KernelConfig {
    KernelConfig { gzip: tree.read("/proc/config.gz") }
}

#[cfg(test)]
mod tests {
    use super::*;

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
