//! What fio measures, however it prints it, and its figures as imported runs.
//!
//! A figure of all groups together has its plain name, `read_iops`. Where a run has several groups, each has its own
//! too, under its job's name: `job1.read_iops`.

use super::ForeignRun;
use crate::analysis::{Better, ImportedMetric};
use std::collections::BTreeMap;

/// The kinds of I/O that fio counts apart.
pub(super) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// The entry that sums those of all clients.
pub(super) const SUM_OF_CLIENTS: &str = "All clients";

/// One run of fio on one host.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FioRun {
    /// First line of it.
    pub line: u64,
    pub kernel: Option<String>,
    pub host: Option<String>,
    /// Disks under test, without those beneath them.
    pub disks: Vec<String>,
    pub groups: Vec<Group>,
    /// The groups ran one after the other: their rates must not be added.
    pub in_turn: bool,
}

/// Jobs of one name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    pub name: String,
    /// fio's `groupid`.
    pub id: u64,
    /// Line of its head.
    pub line: u64,
    /// By [`DIRECTIONS`]; `None` where there was no such I/O.
    pub directions: [Option<Direction>; 3],
}

/// Figures of one kind of I/O. `None`: not told.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Direction {
    /// I/Os.
    pub ios: Option<f64>,
    pub iops: Option<f64>,
    pub bandwidth_mib_s: Option<f64>,
    /// From submission to completion as seen by fio.
    pub completion: Latency,
    /// The same with the time that submitting took.
    pub total: Latency,
}

/// A distribution of times, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Latency {
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    /// How many I/Os each bin holds, by the bin's time: of `json+` alone.
    pub bins: BTreeMap<u64, u64>,
}

impl FioRun {
    /// Takes jobs of one name together, as `numjobs` without `group_reporting` leaves them apart.
    pub(super) fn add(&mut self, group: Group) {
        match self.groups.iter_mut().find(|other| other.name == group.name) {
            Some(same) => {
                for (into, from) in same.directions.iter_mut().zip(group.directions) {
                    *into = match (into.take(), from) {
                        (Some(a), Some(b)) => Some(a.and(&b)),
                        (one, other) => one.or(other),
                    };
                }
            }
            None => self.groups.push(group),
        }
    }

    /// Its figures; `None` if it has none.
    pub(super) fn finish(self) -> Option<ForeignRun> {
        let mut metrics = Vec::new();
        if let [group] = &self.groups[..] {
            for (direction, name) in group.directions.iter().zip(DIRECTIONS) {
                direction.iter().for_each(|figures| figures.metrics(name, &mut metrics));
            }
        } else {
            for (index, name) in DIRECTIONS.into_iter().enumerate() {
                let of_each: Vec<_> =
                    self.groups.iter().filter_map(|group| group.directions[index].as_ref()).collect();
                if !self.in_turn && !of_each.is_empty() && self.groups.iter().all(Group::is_told) {
                    let sum = Direction {
                        iops: of_each.iter().map(|figures| figures.iops).sum(),
                        bandwidth_mib_s: of_each.iter().map(|figures| figures.bandwidth_mib_s).sum(),
                        ..Direction::default()
                    };
                    sum.metrics(name, &mut metrics);
                }
                for group in &self.groups {
                    let name = format!("{}.{name}", group.name);
                    group.directions[index].iter().for_each(|figures| figures.metrics(&name, &mut metrics));
                }
            }
        }
        let workload = self.workload();
        (!metrics.is_empty()).then_some(ForeignRun {
            line: self.line,
            variant: self.kernel.clone(),
            workload,
            device: self.host,
            boot: None,
            kernel: self.kernel,
            order: None,
            metrics,
        })
    }

    /// Several disks at once are named, since how they hang together matters. Otherwise it is the jobs.
    fn workload(&self) -> String {
        if self.groups.len() > 1 && self.disks.len() > 1 {
            self.disks.join("+")
        } else {
            self.groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>().join("+")
        }
    }
}

impl Group {
    /// Whether there is any figure of it.
    pub(super) fn is_told(&self) -> bool {
        self.directions.iter().any(Option::is_some)
    }
}

impl Direction {
    /// Two jobs that ran at once.
    fn and(&self, other: &Self) -> Self {
        let sum = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        let latency = |a: &Latency, b: &Latency| a.and(b, self.ios.zip(other.ios));
        Self {
            ios: sum(self.ios, other.ios),
            iops: sum(self.iops, other.iops),
            bandwidth_mib_s: sum(self.bandwidth_mib_s, other.bandwidth_mib_s),
            completion: latency(&self.completion, &other.completion),
            total: latency(&self.total, &other.total),
        }
    }

    fn metrics(&self, prefix: &str, into: &mut Vec<ImportedMetric>) {
        let mut add = |name: &str, unit: &str, better, value: Option<f64>| {
            if let Some(value) = value {
                let name = format!("{prefix}_{name}");
                into.push(ImportedMetric { name, unit: unit.to_owned(), better, value });
            }
        };
        add("iops", "IOPS", Better::Higher, self.iops);
        add("bw_mib_s", "MiB/s", Better::Higher, self.bandwidth_mib_s);
        for (latency, name) in [(&self.total, "lat"), (&self.completion, "clat")] {
            add(&format!("{name}_mean_ns"), "ns", Better::Lower, latency.mean_ns);
            add(
                &format!("{name}_p50_ns"),
                "ns",
                Better::Lower,
                latency.p50_ns.or_else(|| latency.percentile(50)),
            );
            add(
                &format!("{name}_p99_ns"),
                "ns",
                Better::Lower,
                latency.p99_ns.or_else(|| latency.percentile(99)),
            );
        }
    }
}

impl Latency {
    /// The I/Os of both, where `ios` says how many each has. Percentiles follow from bins alone.
    fn and(&self, other: &Self, ios: Option<(f64, f64)>) -> Self {
        let mean = || {
            let ((n, m), a, b) = (ios?, self.mean_ns?, other.mean_ns?);
            Some((a * n + b * m) / (n + m))
        };
        let mut bins = BTreeMap::new();
        if !self.bins.is_empty() && !other.bins.is_empty() {
            bins.clone_from(&self.bins);
            for (&time_ns, &count) in &other.bins {
                let sum: &mut u64 = bins.entry(time_ns).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        Self { mean_ns: mean(), p50_ns: None, p99_ns: None, bins }
    }

    /// The time of the bin in which the nearest rank lies, as fio's own `calc_clat_percentiles` (stat.c) finds it.
    fn percentile(&self, percent: u128) -> Option<f64> {
        let total: u128 = self.bins.values().map(|&count| u128::from(count)).sum();
        let rank = (total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.bins.iter().find_map(|(&time_ns, &count)| {
            seen += u128::from(count);
            (seen >= rank).then_some(time_ns as f64)
        })
    }
}
