//! Numbers that another tool measured. They take part in comparisons as they are: what tophalf checks of its own
//! runs cannot be checked of them.

use super::Better;
use serde::{Deserialize, Serialize};

/// One run of another tool: one or more figures of one workload in one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportedRun {
    /// Unique, and the stem of its file's name.
    pub id: String,
    /// What differs between the sides of a comparison.
    pub variant: String,
    /// What was done, such as `mixed-st` or a fio job's name. Figures of different workloads are never mixed.
    pub workload: String,
    /// The device, where the file tells it.
    pub device: Option<String>,
    /// Names the boot, where the file tells it. Without it each run stands for itself.
    pub boot: Option<String>,
    /// The kernel, where the file tells it.
    pub kernel: Option<String>,
    /// Place in the order in which the runs were made, where the file tells it.
    pub order: Option<u64>,
    /// The figures.
    pub metrics: Vec<ImportedMetric>,
    /// Where it comes from.
    pub source: ImportSource,
}

/// One figure of another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportedMetric {
    /// Its name, such as `score` or `read_iops`.
    pub name: String,
    /// Its unit, such as `score`, `IOPS`, `MiB/s` or `ns`.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The value: finite.
    pub value: f64,
}

/// Where imported numbers come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportSource {
    /// `csv`, `fio-json` or `fio-text`.
    pub format: String,
    /// Name of the file, without its folder.
    pub file: String,
    /// CRC-32 of the file, in hexadecimal.
    pub crc32: String,
    /// Line of the file, where it has lines.
    pub line: Option<u64>,
}
