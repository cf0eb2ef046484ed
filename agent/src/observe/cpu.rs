//! CPU lists and `/sys/devices/system/cpu`.

use super::{text, tree::Tree};
use tophalf_wire::{CpuFacts, CpuReading, Reading};

const FOLDER: &str = "/sys/devices/system/cpu";

/// Parses a list of CPUs as the kernel prints it (`%*pbl`, lib/vsprintf.c), or as `mq/N/cpu_list` does with
/// blanks (`blk_mq_hw_sysfs_cpus_show`, block/blk-mq-sysfs.c):
///
/// ```text
/// 0-3,6
/// 0, 1, 2, 3, 6
/// ```
///
/// An empty list is a list. Numbers ascend in all that the kernel prints; anything else is refused, which
/// also bounds the result.
pub fn parse_list(bytes: &[u8]) -> Option<Vec<u16>> {
    let mut cpus: Vec<u16> = Vec::new();
    let bytes = bytes.trim_ascii();
    if bytes.is_empty() {
        return Some(cpus);
    }
    for part in bytes.split(|byte| *byte == b',') {
        let mut ends = part.trim_ascii().splitn(2, |byte| *byte == b'-').map(text::number::<u16>);
        let first = ends.next()??;
        let last = ends.next().unwrap_or(Some(first))?;
        if last < first || cpus.last().is_some_and(|previous| *previous >= first) {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// The shortest list that [`parse_list`] reads as `cpus`, which ascend: `0-3,6`.
pub fn format_list(cpus: &[u16]) -> String {
    let runs = cpus.chunk_by(|a, b| a.checked_add(1) == Some(*b)).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run[0].to_string(),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// CPUs that could ever be there.
pub fn read_possible(tree: &Tree) -> Reading<Vec<u16>> {
    tree.parse(&format!("{FOLDER}/possible"), parse_list)
}

/// CPUs that run now.
pub fn read_online(tree: &Tree) -> Reading<Vec<u16>> {
    tree.parse(&format!("{FOLDER}/online"), parse_list)
}

/// What is known of each of `cpus`. An offline one tells little.
pub fn read_cpus(tree: &Tree, cpus: &[u16]) -> Vec<CpuFacts> {
    let clusters = read_clusters(tree, cpus);
    let facts = cpus.iter().zip(clusters).map(|(cpu, cluster)| {
        let folder = format!("{FOLDER}/cpu{cpu}");
        let khz = |name| tree.parse(&format!("{folder}/cpufreq/{name}"), text::one_number);
        CpuFacts {
            cpu: *cpu,
            capacity: tree.parse(&format!("{folder}/cpu_capacity"), text::one_number),
            cluster,
            governor: tree.read_text(&format!("{folder}/cpufreq/scaling_governor")),
            frequency_range_khz: khz("scaling_min_freq")
                .and_then(|min| khz("scaling_max_freq").map(|max| (min, max))),
        }
    });
    facts.collect()
}

/// The cluster of each of `cpus`. Kernels from 5.16 on have `cluster_cpus_list`, but until 6.0 each CPU of a
/// device tree stands alone there, and `core_siblings_list` holds the cluster, as it did before. From 6.0 on
/// that one holds all CPUs. So the first is taken, unless it leaves every CPU alone.
fn read_clusters(tree: &Tree, cpus: &[u16]) -> Vec<Reading<Vec<u16>>> {
    let read = |name: &str| -> Vec<Reading<Vec<u16>>> {
        cpus.iter().map(|cpu| tree.parse(&format!("{FOLDER}/cpu{cpu}/topology/{name}"), parse_list)).collect()
    };
    let clusters = read("cluster_cpus_list");
    if clusters.iter().flatten().any(|cluster| cluster.len() > 1) {
        return clusters;
    }
    read("core_siblings_list")
}

/// The frequency of each of `cpus` that tells it, now.
pub fn read_frequencies(tree: &Tree, cpus: &[u16]) -> Vec<CpuReading> {
    let readings = cpus.iter().filter_map(|cpu| {
        let path = format!("{FOLDER}/cpu{cpu}/cpufreq/scaling_cur_freq");
        let frequency_khz = tree.parse(&path, text::one_number);
        frequency_khz.is_ok().then_some(CpuReading { cpu: *cpu, frequency_khz })
    });
    readings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_as_the_kernel_prints_them() {
        assert_eq!(parse_list(b"0-3,6\n").unwrap(), [0, 1, 2, 3, 6]);
        assert_eq!(parse_list(b"0, 1, 2, 6\n").unwrap(), [0, 1, 2, 6]);
        assert_eq!(parse_list(b"7\n").unwrap(), [7]);
        assert!(parse_list(b"\n").unwrap().is_empty());
        assert_eq!(format_list(&[0, 1, 2, 3, 6]), "0-3,6");
        assert_eq!(format_list(&[65535]), "65535");
        assert_eq!(format_list(&[]), "");
    }

    #[test]
    fn other_lists_are_refused() {
        for list in ["3-1", "1,1", "2,1", "0-", "-3", "a", "0,,1", "0-65536", "0-3-5", "0-65535,0-65535"] {
            assert_eq!(parse_list(list.as_bytes()), None, "{list}");
        }
    }

    proptest! {
        #[test]
        fn both_ways(cpus in prop::collection::btree_set(any::<u16>(), 0..50)) {
            let cpus: Vec<u16> = cpus.into_iter().collect();
            prop_assert_eq!(parse_list(format_list(&cpus).as_bytes()), Some(cpus));
        }
    }
}
