//! Where the Android NDK is, and its linker.

use std::path::{Path, PathBuf};

use crate::toolchain::Toolchain;

/// Rust's name of the target.
pub(crate) const TRIPLE: &str = "aarch64-linux-android";

/// The oldest Android the agent is for: 7.0, the first whose adb keeps stdout, stderr and the exit code apart.
const API_LEVEL: u32 = 24;

/// The NDK's clang for [`TRIPLE`], or why the NDK can not be used.
pub(crate) fn linker(toolchain: &Toolchain) -> Result<PathBuf, String> {
    let Some(root) = ["ANDROID_NDK_HOME", "ANDROID_NDK_ROOT"].iter().find_map(std::env::var_os) else {
        return Err("neither ANDROID_NDK_HOME nor ANDROID_NDK_ROOT is set".to_owned());
    };
    let clang = clang_below(Path::new(&root))?;
    if !toolchain.has_std(TRIPLE) {
        return Err(format!(
            "no std for {TRIPLE} in {}: rustup target add {TRIPLE}",
            toolchain.sysroot.display()
        ));
    }
    Ok(clang)
}

/// The clang of an unpacked NDK, whatever system the NDK is for.
fn clang_below(root: &Path) -> Result<PathBuf, String> {
    let prebuilt = root.join("toolchains/llvm/prebuilt");
    let name = format!("{TRIPLE}{API_LEVEL}-clang");
    let entries = prebuilt.read_dir().map_err(|error| {
        format!("{} is not an unpacked NDK: {}: {error}", root.display(), prebuilt.display())
    })?;
    entries
        .flatten()
        .map(|entry| entry.path().join("bin").join(&name))
        .find(|clang| clang.exists())
        .ok_or_else(|| format!("no */bin/{name} in {}: use NDK r25 or newer", prebuilt.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clang_is_found_in_an_unpacked_ndk() {
        let ndk = tempfile::tempdir().unwrap();
        assert!(clang_below(ndk.path()).unwrap_err().contains("is not an unpacked NDK"));
        let bin = ndk.path().join("toolchains/llvm/prebuilt/linux-x86_64/bin");
        std::fs::create_dir_all(&bin).unwrap();
        assert!(clang_below(ndk.path()).unwrap_err().contains("aarch64-linux-android24-clang"));
        let clang = bin.join("aarch64-linux-android24-clang");
        std::fs::write(&clang, "").unwrap();
        assert_eq!(clang_below(ndk.path()).unwrap(), clang);
    }
}
