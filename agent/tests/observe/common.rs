//! Where the recorded trees are.

use std::path::PathBuf;
use tophalf_agent::observe::{facts::Own, tree::Tree};

/// The folder of a recorded tree.
pub(crate) fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/trees").join(name)
}

/// A recorded tree.
pub(crate) fn tree(name: &str) -> Tree {
    Tree::at(folder(name))
}

/// A caller whose own values are easy to tell from recorded ones.
pub(crate) fn own() -> Own {
    let text = |what: &str| format!("the test's {what}");
    Own {
        kernel_release: text("release"),
        kernel_version: text("version"),
        machine: text("machine"),
        hostname: text("hostname"),
        uid: 4321,
        page_bytes: 1,
        clock_grain_ns: 38,
    }
}
