//! The cargo that builds agents, free of what the cargo that runs us has put into the environment.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The cargo that runs us, with an environment in which only what we say counts.
pub(crate) fn clean() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The outer cargo's library path holds another compiler's libraries; the others would change what is built.
    for name in
        ["LD_LIBRARY_PATH", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR"]
    {
        command.env_remove(name);
    }
    command
}

/// Where cargo keeps the sources of dependencies.
pub(crate) fn home() -> Option<PathBuf> {
    let home = std::env::home_dir().map(|home| home.join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home)
}

/// The compiler's flag that puts `name` for `folder` into what is built.
pub(crate) fn remap(folder: &Path, name: &str) -> String {
    format!("--remap-path-prefix={}={name}", folder.display())
}
