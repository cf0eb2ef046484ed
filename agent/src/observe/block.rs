//! `/sys/block`: disks, their queues, their counters.

use super::{cpu, text, tree::Tree};
use tophalf_wire::{BlockStat, DiskFacts, Reading, Unavailable};

/// Names of all disks that hold anything. Loop devices and RAM disks that nothing is set up on are left out.
pub fn read_names(tree: &Tree) -> Reading<Vec<String>> {
    let mut names = tree.list("/sys/block")?;
    names.retain(|name| tree.peek(&format!("/sys/block/{name}/size")).ok().is_none_or(|size| size != b"0\n"));
    Ok(names)
}

/// Parses `/sys/block/X/stat` (Documentation/block/stat.rst): 11 fields, 15 since discards are counted, 17
/// since flushes are. Fields further on are passed over.
///
/// ```text
///     1504       0    12032      665        0        0        0        0        0      665      665        0 …
/// ```
pub fn parse_stat(bytes: &[u8]) -> Option<BlockStat> {
    let mut fields = [0; 11];
    let mut words = text::words(bytes);
    for field in &mut fields {
        *field = text::count(words.next()?)?;
    }
    let [reads, read_merges, read_sectors, _, writes, write_merges, write_sectors, _, in_flight, _, _] =
        fields;
    Some(BlockStat { reads, read_merges, read_sectors, writes, write_merges, write_sectors, in_flight })
}

/// Reads the counters of a disk.
pub fn read_stat(tree: &Tree, disk: &str) -> Reading<BlockStat> {
    tree.parse(&format!("/sys/block/{disk}/stat"), parse_stat)
}

/// Parses `/sys/block/X/dev` (`dev_show`, drivers/base/core.c): `8:0`.
pub fn parse_dev(bytes: &[u8]) -> Option<(u32, u32)> {
    let (major, minor) = text::split_at_colon(bytes)?;
    Some((text::number(major)?, text::number(minor)?))
}

/// The chosen one of `queue/scheduler` (`elv_iosched_show`, block/elevator.c): `none` of
/// `mq-deadline kyber [none]`; a single word is chosen without brackets.
pub fn parse_scheduler(bytes: &[u8]) -> Option<String> {
    let in_brackets = text::words(bytes).find_map(|word| word.strip_prefix(b"[")?.strip_suffix(b"]"));
    let chosen = in_brackets.or_else(|| {
        let mut words = text::words(bytes);
        words.next().filter(|_| words.next().is_none())
    })?;
    Some(text::lossy(chosen))
}

/// All that is known of a disk, except the controller above it.
pub fn read_disk(tree: &Tree, name: &str) -> Reading<DiskFacts> {
    const SECTOR_BYTES: u64 = 512;
    let folder = format!("/sys/block/{name}");
    Ok(DiskFacts {
        name: name.to_owned(),
        dev: tree.parse(&format!("{folder}/dev"), parse_dev)?,
        driver: read_driver(tree, name),
        model: read_model(tree, &folder),
        size_bytes: tree.parse(&format!("{folder}/size"), |bytes| {
            text::one_number::<u64>(bytes)?.checked_mul(SECTOR_BYTES)
        }),
        logical_block_bytes: tree.parse(&format!("{folder}/queue/logical_block_size"), text::one_number),
        rq_affinity: tree.parse(&format!("{folder}/queue/rq_affinity"), text::one_number),
        scheduler: tree.parse(&format!("{folder}/queue/scheduler"), parse_scheduler),
        hardware_queues: read_hardware_queues(tree, &folder),
        partitions: read_partitions(tree, name),
        controller: None,
    })
}

/// The driver of the device beneath a disk, or what kind of virtual disk it is: its name without its number.
fn read_driver(tree: &Tree, name: &str) -> Reading<String> {
    tree.link_name(&format!("/sys/block/{name}/device/driver")).or_else(|error| {
        let place = tree.resolve(&format!("/sys/block/{name}"))?;
        if !place.starts_with("/sys/devices/virtual/") {
            return Err(error);
        }
        let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
        Ok(kind.strip_suffix('-').unwrap_or(kind).to_owned())
    })
}

/// Vendor and model of a SCSI disk, model of an NVMe one, name of an MMC card. The kernel has these by heart;
/// the device is not asked.
fn read_model(tree: &Tree, folder: &str) -> Reading<String> {
    let read = |name: &str| tree.read_text(&format!("{folder}/device/{name}"));
    match (read("vendor"), read("model")) {
        (Ok(vendor), Ok(model)) => Ok(format!("{vendor} {model}")),
        (_, Ok(model)) => Ok(model),
        (_, Err(error)) => read("name").map_err(|_| error),
    }
}

/// CPUs of each hardware queue, in the order of the queues.
fn read_hardware_queues(tree: &Tree, folder: &str) -> Reading<Vec<Vec<u16>>> {
    let names = tree.list(&format!("{folder}/mq"))?;
    let mut queues: Vec<u32> = names.iter().filter_map(|name| text::number(name.as_bytes())).collect();
    queues.sort_unstable();
    if queues.is_empty() {
        return Err(Unavailable::new(format!("list {folder}/mq: no hardware queue")));
    }
    queues.iter().map(|queue| tree.parse(&format!("{folder}/mq/{queue}/cpu_list"), cpu::parse_list)).collect()
}

fn read_partitions(tree: &Tree, name: &str) -> Vec<String> {
    let folder = format!("/sys/block/{name}");
    let mut names = tree.list(&folder).unwrap_or_default();
    names.retain(|entry| entry.starts_with(name) && tree.exists(&format!("{folder}/{entry}/partition")));
    // `sda2` before `sda10`.
    names.sort_by_key(String::len);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str =
        "  183211      902  4209312    61177    90114    12020  2811034   102331        2    98012   164100";

    #[test]
    fn counters_of_older_and_newer_kernels() {
        let expected = BlockStat {
            reads: 183_211,
            read_merges: 902,
            read_sectors: 4_209_312,
            writes: 90_114,
            write_merges: 12_020,
            write_sectors: 2_811_034,
            in_flight: 2,
        };
        for more in ["", " 21 0 4096 592", " 21 0 4096 592 1310 51", " 21 0 4096 592 1310 51 7 7"] {
            assert_eq!(parse_stat(format!("{FIRST}{more}\n").as_bytes()), Some(expected), "{more}");
        }
        assert_eq!(parse_stat(&FIRST.as_bytes()[..80]), None, "ten fields");
    }

    #[test]
    fn negative_requests_in_flight_are_refused() {
        assert_eq!(parse_stat(FIRST.replace(" 2 ", " 18446744073709551615 ").as_bytes()), None);
    }

    #[test]
    fn the_chosen_scheduler() {
        assert_eq!(parse_scheduler(b"mq-deadline kyber [none]\n").as_deref(), Some("none"));
        assert_eq!(parse_scheduler(b"[mq-deadline] kyber bfq none\n").as_deref(), Some("mq-deadline"));
        assert_eq!(parse_scheduler(b"none\n").as_deref(), Some("none"));
        assert_eq!(parse_scheduler(b"mq-deadline none\n"), None);
        assert_eq!(parse_scheduler(b"\n"), None);
        assert_eq!(parse_dev(b"179:256\n"), Some((179, 256)));
        assert_eq!(parse_dev(b"179\n"), None);
    }
}
