//! The Rust toolchain in use: its version, its sysroot and the targets whose standard library it has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::capture;

/// What `rustc -vV` and `rustc --print sysroot` say of one compiler.
#[derive(Debug)]
pub(crate) struct Toolchain {
    /// The compiler asked.
    pub(crate) rustc: OsString,
    /// All of `rustc -vV`.
    pub(crate) verbose: String,
    /// The machine's own target.
    pub(crate) host: String,
    /// Where the standard libraries are.
    pub(crate) sysroot: PathBuf,
}

impl Toolchain {
    /// Asks the compiler that cargo would use: `$RUSTC`, else `rustc`.
    pub(crate) fn in_use() -> Result<Self> {
        Self::probe(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
    }

    /// Asks `rustc`.
    pub(crate) fn probe(rustc: OsString) -> Result<Self> {
        let verbose = capture(Command::new(&rustc).arg("-vV"))?;
        let sysroot = capture(Command::new(&rustc).args(["--print", "sysroot"]))?.into();
        let host = field(&verbose, "host")?.to_owned();
        Ok(Self { rustc, verbose, host, sysroot })
    }

    /// The first line of `rustc -vV`, as in `rustc 1.96.0 (ac68faa20 2026-05-25)`.
    pub(crate) fn version(&self) -> &str {
        let line = self.verbose.lines().next().unwrap_or_default();
        line.split_inclusive(')').next().unwrap_or(line)
    }

    /// The major version of LLVM inside, as in `22`.
    pub(crate) fn llvm_major(&self) -> Result<&str> {
        let version = field(&self.verbose, "LLVM version")?;
        Ok(version.split('.').next().unwrap_or(version))
    }

    /// The folder of the standard library for `triple`.
    fn target_lib(&self, triple: &str) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(triple).join("lib")
    }

    /// Is the standard library for `triple` installed?
    pub(crate) fn has_std(&self, triple: &str) -> bool {
        has_std(&self.target_lib(triple))
    }

    /// The linker inside the toolchain, if it is there.
    pub(crate) fn rust_lld(&self) -> Option<PathBuf> {
        let path = self.sysroot.join("lib/rustlib").join(&self.host).join("bin/rust-lld");
        path.exists().then_some(path)
    }
}

/// Does the folder hold a compiled `std`?
pub(crate) fn has_std(target_lib: &Path) -> bool {
    let Ok(entries) = target_lib.read_dir() else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    })
}

/// The value of one line of `rustc -vV`.
fn field<'a>(verbose: &'a str, name: &str) -> Result<&'a str> {
    verbose
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .with_context(|| format!("`rustc -vV` has no line `{name}: …`; it printed:\n{verbose}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Debian's rustc-web 1.96.0+dfsg1-1~deb12u2.
    const VERBOSE: &str = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)
binary: rustc
commit-hash: ac68faa20c58cbccd01ee7208bf3b6e93a7d7f96
commit-date: 2026-05-25
host: x86_64-unknown-linux-gnu
release: 1.96.0
LLVM version: 22.1.8";

    fn toolchain() -> Toolchain {
        let host = field(VERBOSE, "host").unwrap().to_owned();
        Toolchain { rustc: "rustc".into(), verbose: VERBOSE.to_owned(), host, sysroot: "/nowhere".into() }
    }

    #[test]
    fn fields_of_a_real_compiler() {
        let toolchain = toolchain();
        assert_eq!(toolchain.host, "x86_64-unknown-linux-gnu");
        assert_eq!(toolchain.llvm_major().unwrap(), "22");
        assert_eq!(toolchain.version(), "rustc 1.96.0 (ac68faa20 2026-05-25)");
        assert!(!toolchain.has_std("aarch64-unknown-linux-musl"));
        assert_eq!(toolchain.rust_lld(), None);
    }

    #[test]
    fn a_missing_field_is_named() {
        let error = field("rustc 1.0", "host").unwrap_err();
        assert!(error.to_string().contains("`host: …`"), "{error}");
    }
}
