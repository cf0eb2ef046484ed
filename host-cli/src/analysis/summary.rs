//! One run's figures.

use super::*;
use crate::recording::Recording;
use crate::run_header::RunHeader;

/// The figures of a run.
pub fn summarize(header: &RunHeader, recording: &Recording) -> RunSummary {
    RunSummary {
        id: header.id.clone(),
        device: header.device.clone(),
        variant: header.variant.clone(),
        boot_id: None,
        workload: header.workload_name.clone(),
        begun_unix_ns: header.begun_unix_ns,
        system: SystemSummary { host: header.host_version.clone(), ..SystemSummary::default() },
        target: TargetSummary::default(),
        load: None,
        ops: None,
        errors: None,
        short: None,
        elapsed_ns: None,
        iops: None,
        latency_ns: None,
        latency_read_ns: None,
        latency_write_ns: None,
        device_ios: None,
        device_bytes: None,
        completion: Completion { path: CompletionPath::Unknown, irq: None, thread: None, hardware_queues: None, evidence: Vec::new() },
        per_op: PerOp::default(),
        per_cpu: Vec::new(),
        hops: Vec::new(),
        hops_outside_ns: None,
        hops_notes: Vec::new(),
        windows: Vec::new(),
        quality: Quality { valid: recording.end.is_some(), ..Quality::default() },
        overhead: None,
        unavailable: std::collections::BTreeMap::new(),
    }
}
