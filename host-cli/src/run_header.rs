//! What the host knows of a run before the device says anything: the head of a run file.

use serde::{Deserialize, Serialize};

/// The head of a run file. All of it is known before the run begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Unique, and the stem of the file's name.
    pub id: String,
    /// When it was begun, in nanoseconds since 1970 (UTC) by the host's clock.
    pub begun_unix_ns: i64,
    /// `tophalf`'s version.
    pub host_version: String,
    /// The device as the transport names it: an adb serial, or `local`.
    pub device: String,
    /// How the device was reached and by which means root was had, such as `adb shell -T, su -c`.
    pub transport: String,
    /// `--variant`: what differs between the sides of a comparison. A label, never evidence.
    pub variant: String,
    /// `-w`: the name of the workload, for people.
    pub workload_name: String,
    /// The session number that all frames of this run carry.
    pub session: u32,
}
