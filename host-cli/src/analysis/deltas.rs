//! What counters grew by during the windows of a pass.

use crate::recording::{EdgeRecord, InterruptCounts, InterruptLine, Recording};
use std::collections::{BTreeMap, BTreeSet};
use tophalf_wire::{
    BlockStat, Pass, ProcessIo, Reading, SchedStat, SoftirqTable, ThreadReading, ThreadRole, Unavailable,
};

/// Growth by CPU number.
pub type PerCpuCounts = BTreeMap<u16, u64>;

/// Growth of all counters over the windows of one pass that have both edges.
#[derive(Debug, Clone, PartialEq)]
pub struct PassDeltas {
    /// The pass.
    pub pass: Pass,
    /// Operations of these windows.
    pub ops: u64,
    /// Reads among [`PassDeltas::ops`].
    pub reads: u64,
    /// Writes among [`PassDeltas::ops`].
    pub writes: u64,
    /// Windows without both edges; their operations are not in [`PassDeltas::ops`].
    pub windows_left_out: Vec<u32>,
    /// Rows of `/proc/interrupts` by label.
    pub interrupts: Reading<BTreeMap<String, LineDelta>>,
    /// Rows of `/proc/softirqs` by name.
    pub softirqs: Reading<BTreeMap<String, PerCpuCounts>>,
    /// Watched threads.
    pub threads: Vec<ThreadDelta>,
    /// `/sys/block/X/stat`.
    pub block: Reading<BlockStat>,
    /// `/proc/self/io`.
    pub process_io: Reading<ProcessIo>,
}

/// Growth of a row of `/proc/interrupts`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineDelta {
    /// What stands after its counts.
    pub text: String,
    /// Each CPU that was on-line at both edges.
    pub per_cpu: PerCpuCounts,
    /// CPUs that came or went in between: what they took is not known.
    pub unknown_cpus: BTreeSet<u16>,
}

impl LineDelta {
    /// All CPUs together.
    pub fn total(&self) -> u64 {
        self.per_cpu.values().sum()
    }
}

/// Growth of a thread's scheduler statistics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadDelta {
    /// What it is to the run.
    pub role: ThreadRole,
    /// Its thread number.
    pub tid: u32,
    /// How much they grew.
    pub grown: Reading<SchedStat>,
}

/// How much a counter grew that the kernel keeps in 32 bits but prints as a number of any length
/// (`unsigned int` in kernel/irq/proc.c and kernel/softirq.c): 4294967290 → 5 is 11.
pub fn counter_growth(before: u64, after: u64) -> Reading<u64> {
    const WRAP: u64 = 1 << 32;
    if after >= before {
        return Ok(after - before);
    }
    // More than half the range backwards is no wrap but a counter that fell.
    match (after + WRAP).checked_sub(before) {
        Some(grown) if before < WRAP && grown < WRAP / 2 => Ok(grown),
        _ => Err(Unavailable::new(format!("a counter fell from {before} to {after}"))),
    }
}

/// Growth of one row between two readings, CPU by CPU number: columns move when CPUs come and go.
pub fn line_growth(before: &InterruptLine, after: &InterruptLine) -> Reading<LineDelta> {
    let mut delta = LineDelta { text: after.text.clone(), ..LineDelta::default() };
    for (&cpu, &count) in &after.per_cpu {
        match before.per_cpu.get(&cpu) {
            Some(&earlier) => {
                delta.per_cpu.insert(cpu, counter_growth(earlier, count)?);
            }
            None => {
                delta.unknown_cpus.insert(cpu);
            }
        }
    }
    delta.unknown_cpus.extend(before.per_cpu.keys().filter(|&cpu| !after.per_cpu.contains_key(cpu)));
    Ok(delta)
}

impl PassDeltas {
    /// Sums the windows of `pass`. A counter that one of them could not read has no sum.
    pub fn of_pass(recording: &Recording, pass: Pass) -> Self {
        let mut sum = Self {
            pass,
            ops: 0,
            reads: 0,
            writes: 0,
            windows_left_out: Vec::new(),
            interrupts: Ok(BTreeMap::new()),
            softirqs: Ok(BTreeMap::new()),
            threads: Vec::new(),
            block: Ok(BlockStat::default()),
            process_io: Ok(ProcessIo::default()),
        };
        let mut edges = Vec::new();
        for (record, window) in recording.windows_of(pass) {
            let (Some(before), Some(after)) = (&record.before, &record.after) else {
                sum.windows_left_out.push(window.window);
                continue;
            };
            sum.reads = sum.reads.saturating_add(window.reads);
            sum.writes = sum.writes.saturating_add(window.writes);
            sum.interrupts = add_interrupts(sum.interrupts, &before.interrupts, &after.interrupts);
            sum.softirqs = add_softirqs(sum.softirqs, &before.softirqs, &after.softirqs);
            sum.block = add_block(sum.block, &before.block, &after.block);
            sum.process_io = add_process_io(sum.process_io, &before.process_io, &after.process_io);
            edges.push((before, after));
        }
        sum.ops = sum.reads.saturating_add(sum.writes);
        sum.threads = add_threads(&edges);
        if edges.is_empty() {
            let none = || Unavailable::new("no window of this pass has counters at both of its edges");
            sum.interrupts = Err(none());
            sum.softirqs = Err(none());
            sum.block = Err(none());
            sum.process_io = Err(none());
        }
        sum
    }

    /// `BLOCK` softirqs by CPU.
    pub fn block_softirqs(&self) -> Reading<&PerCpuCounts> {
        let rows = self.softirqs.as_ref().map_err(Clone::clone)?;
        rows.get("BLOCK").ok_or_else(|| Unavailable::new("/proc/softirqs has no row BLOCK"))
    }

    /// Function call interrupts by CPU: the row is found by its text, since its label differs by
    /// architecture and kernel (`IPI1`, `CAL`).
    pub fn function_calls(&self) -> Reading<&PerCpuCounts> {
        let rows = self.interrupts.as_ref().map_err(Clone::clone)?;
        rows.values()
            .find(|line| line.text.contains("Function call interrupts"))
            .map(|line| &line.per_cpu)
            .ok_or_else(|| Unavailable::new("/proc/interrupts has no row \"Function call interrupts\""))
    }

    /// The statistics of the threads that match.
    pub fn threads_where(&self, matches: impl Fn(ThreadRole) -> bool) -> impl Iterator<Item = &ThreadDelta> {
        self.threads.iter().filter(move |thread| matches(thread.role))
    }
}

fn both<'a, T>(before: &'a Reading<T>, after: &'a Reading<T>) -> Reading<(&'a T, &'a T)> {
    Ok((before.as_ref().map_err(Clone::clone)?, after.as_ref().map_err(Clone::clone)?))
}

fn add_interrupts(
    sum: Reading<BTreeMap<String, LineDelta>>,
    before: &Reading<InterruptCounts>,
    after: &Reading<InterruptCounts>,
) -> Reading<BTreeMap<String, LineDelta>> {
    let mut sum = sum?;
    let (before, after) = both(before, after)?;
    for (label, line) in after {
        let Some(earlier) = before.get(label) else { continue };
        let grown = line_growth(earlier, line)
            .map_err(|fault| Unavailable::new(format!("/proc/interrupts, row {label}: {fault}")))?;
        let into = sum.entry(label.clone()).or_default();
        into.text = grown.text;
        into.unknown_cpus.extend(grown.unknown_cpus);
        add_per_cpu(&mut into.per_cpu, grown.per_cpu);
    }
    Ok(sum)
}

fn add_per_cpu(into: &mut PerCpuCounts, grown: impl IntoIterator<Item = (u16, u64)>) {
    for (cpu, count) in grown {
        let count_so_far = into.entry(cpu).or_default();
        *count_so_far = count_so_far.saturating_add(count);
    }
}

fn add_softirqs(
    sum: Reading<BTreeMap<String, PerCpuCounts>>,
    before: &Reading<SoftirqTable>,
    after: &Reading<SoftirqTable>,
) -> Reading<BTreeMap<String, PerCpuCounts>> {
    let mut sum = sum?;
    let (before, after) = both(before, after)?;
    for (name, counts) in &after.rows {
        let Some((_, earlier)) = before.rows.iter().find(|(other, _)| other == name) else { continue };
        let earlier: PerCpuCounts = before.cpus.iter().copied().zip(earlier.iter().copied()).collect();
        let mut grown = PerCpuCounts::new();
        for (&cpu, &count) in after.cpus.iter().zip(counts) {
            if let Some(&earlier) = earlier.get(&cpu) {
                let growth = counter_growth(earlier, count)
                    .map_err(|fault| Unavailable::new(format!("/proc/softirqs, row {name}: {fault}")))?;
                grown.insert(cpu, growth);
            }
        }
        add_per_cpu(sum.entry(name.clone()).or_default(), grown);
    }
    Ok(sum)
}

fn add_block(
    sum: Reading<BlockStat>,
    before: &Reading<BlockStat>,
    after: &Reading<BlockStat>,
) -> Reading<BlockStat> {
    let sum = sum?;
    let (before, after) = both(before, after)?;
    let grown = |of: fn(&BlockStat) -> u64| {
        of(after).checked_sub(of(before)).map(|grown| of(&sum).saturating_add(grown)).ok_or_else(|| {
            Unavailable::new("a counter of /sys/block/*/stat fell: the disk was replaced during the run")
        })
    };
    Ok(BlockStat {
        reads: grown(|stat| stat.reads)?,
        read_merges: grown(|stat| stat.read_merges)?,
        read_sectors: grown(|stat| stat.read_sectors)?,
        writes: grown(|stat| stat.writes)?,
        write_merges: grown(|stat| stat.write_merges)?,
        write_sectors: grown(|stat| stat.write_sectors)?,
        in_flight: after.in_flight,
    })
}

fn add_process_io(
    sum: Reading<ProcessIo>,
    before: &Reading<ProcessIo>,
    after: &Reading<ProcessIo>,
) -> Reading<ProcessIo> {
    let sum = sum?;
    let (before, after) = both(before, after)?;
    let grown = |of: fn(&ProcessIo) -> u64| {
        of(after)
            .checked_sub(of(before))
            .map(|grown| of(&sum).saturating_add(grown))
            .ok_or_else(|| Unavailable::new("a counter of /proc/self/io fell"))
    };
    Ok(ProcessIo {
        rchar: grown(|io| io.rchar)?,
        wchar: grown(|io| io.wchar)?,
        read_bytes: grown(|io| io.read_bytes)?,
        write_bytes: grown(|io| io.write_bytes)?,
    })
}

fn add_threads(edges: &[(&EdgeRecord, &EdgeRecord)]) -> Vec<ThreadDelta> {
    let mut sums: BTreeMap<(ThreadRole, u32), Reading<SchedStat>> = BTreeMap::new();
    let all: Vec<&ThreadReading> =
        edges.iter().flat_map(|(before, after)| before.threads.iter().chain(&after.threads)).collect();
    for thread in &all {
        sums.insert((thread.role, thread.tid), Ok(SchedStat::default()));
    }
    // Without CONFIG_SCHED_INFO the file is there and says `0 0 0` (proc_pid_schedstat, fs/proc/base.c). The
    // threads watched here include the one that did the I/O, so some count is not zero where any is kept.
    let silent = all
        .iter()
        .filter_map(|thread| thread.schedstat.as_ref().ok())
        .all(|stat| *stat == SchedStat::default());
    if silent && all.iter().any(|thread| thread.schedstat.is_ok()) {
        let reason = "schedstat says 0 0 0 for threads that ran: this kernel keeps no scheduler statistics (CONFIG_SCHED_INFO)";
        sums.values_mut().for_each(|sum| *sum = Err(Unavailable::new(reason)));
    }
    for (before, after) in edges {
        for (&(role, tid), sum) in &mut sums {
            if let Ok(so_far) = sum {
                *sum = thread_growth(role, tid, &before.threads, &after.threads).map(|grown| SchedStat {
                    run_ns: so_far.run_ns.saturating_add(grown.run_ns),
                    wait_ns: so_far.wait_ns.saturating_add(grown.wait_ns),
                    slices: so_far.slices.saturating_add(grown.slices),
                });
            }
        }
    }
    sums.into_iter().map(|((role, tid), grown)| ThreadDelta { role, tid, grown }).collect()
}

fn thread_growth(
    role: ThreadRole,
    tid: u32,
    before: &[ThreadReading],
    after: &[ThreadReading],
) -> Reading<SchedStat> {
    let find = |readings: &[ThreadReading]| {
        readings
            .iter()
            .find(|reading| reading.role == role && reading.tid == tid)
            .map(|reading| reading.schedstat.clone())
            .unwrap_or_else(|| Err(Unavailable::new(format!("thread {tid} was not there at every edge"))))
    };
    let (before, after) = (find(before)?, find(after)?);
    let fell = || Unavailable::new(format!("scheduler statistics of thread {tid} fell"));
    Ok(SchedStat {
        run_ns: after.run_ns.checked_sub(before.run_ns).ok_or_else(fell)?,
        wait_ns: after.wait_ns.checked_sub(before.wait_ns).ok_or_else(fell)?,
        slices: after.slices.checked_sub(before.slices).ok_or_else(fell)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(counts: &[(u16, u64)]) -> InterruptLine {
        InterruptLine { per_cpu: counts.iter().copied().collect(), ..InterruptLine::default() }
    }

    #[test]
    fn counters_of_32_bits_wrap() {
        assert_eq!(counter_growth(4_294_967_290, 5), Ok(11));
        assert_eq!(counter_growth(5, 4_294_967_290), Ok(4_294_967_285));
    }

    #[test]
    fn longer_counters_do_not() {
        assert_eq!(counter_growth(4_294_967_290, 4_294_967_301), Ok(11));
        assert!(counter_growth(9_000_000_000, 5).is_err());
        assert!(counter_growth(1000, 999).is_err());
    }

    // sysstat/sysstat#314: the sum over all CPUs, not their mean.
    #[test]
    fn the_total_is_the_sum_of_the_cpus() {
        let grown = line_growth(
            &line(&[(0, 0), (1, 0), (2, 0), (3, 0)]),
            &line(&[(0, 395_027), (1, 399_987), (2, 365_727), (3, 303_783)]),
        );
        assert_eq!(grown.unwrap().total(), 1_464_524);
    }

    #[test]
    fn columns_are_matched_by_cpu_and_what_came_or_went_is_said() {
        let grown =
            line_growth(&line(&[(0, 10), (4, 7), (6, 100)]), &line(&[(0, 11), (5, 9), (6, 103)])).unwrap();
        assert_eq!(grown.per_cpu, PerCpuCounts::from([(0, 1), (6, 3)]));
        assert_eq!(grown.unknown_cpus, BTreeSet::from([4, 5]));
    }
}
