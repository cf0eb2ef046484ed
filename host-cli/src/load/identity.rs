//! Which file it is, and in which state of its content.

use serde::{Deserialize, Serialize};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// A file that was left alone for so long does not get the time of its last change a second time: the kernel's
/// stamps are coarse (a tick; two seconds on FAT), and a second change within one would not show.
const REST_S: i64 = 3;

/// A file's number, size and times. The time of the last status change is the one that cannot be set: writing,
/// renaming over it and restoring a time all move it. A copy is another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    size_bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    /// Of the file at `path`, after links; `None` if it cannot be looked at.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let file = fs::metadata(path).ok()?;
        Some(Self {
            device: file.dev(),
            inode: file.ino(),
            size_bytes: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        })
    }

    /// No later change can have the same times.
    pub(super) fn at_rest(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let now_s = now.and_then(|now| i64::try_from(now.as_secs()).ok());
        now_s.is_some_and(|now_s| self.changed.0.max(self.modified.0) + REST_S < now_s)
    }
}
