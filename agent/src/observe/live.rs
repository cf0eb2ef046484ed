//! What is read while I/O goes on: files that are opened once and then read again and again, without
//! allocating.

use super::{interrupts, schedstat, tree::Tree};
use std::{fs::File, io, os::unix::fs::FileExt};
use tophalf_wire::{Reading, SchedStat};

/// A file of `/proc` or `/sys` that stays open, and the memory its content goes to. Reading at offset 0 makes
/// the kernel print it anew.
#[derive(Debug)]
pub struct KeptFile {
    file: File,
    buffer: Box<[u8]>,
}

impl KeptFile {
    /// Opens a file of which at most `capacity` bytes will be read.
    pub fn open(tree: &Tree, path: &str, capacity: usize) -> Reading<Self> {
        Ok(Self { file: tree.open(path)?, buffer: vec![0; capacity].into_boxed_slice() })
    }

    /// The content, by one system call: as much as the kernel gives at once, which is all where it is shorter
    /// than a page.
    pub fn read_once(&mut self) -> io::Result<&[u8]> {
        let length = self.file.read_at(&mut self.buffer, 0)?;
        Ok(&self.buffer[..length])
    }

    /// The whole content, by as many system calls as it takes; an error if it does not fit.
    pub fn read_all(&mut self) -> io::Result<&[u8]> {
        let mut length = 0;
        loop {
            match self.file.read_at(&mut self.buffer[length..], length as u64)? {
                0 if length == self.buffer.len() => return Err(io::ErrorKind::FileTooLarge.into()),
                0 => return Ok(&self.buffer[..length]),
                more => length += more,
            }
        }
    }
}

/// The scheduler statistics of one thread.
#[derive(Debug)]
pub struct SchedstatReader(KeptFile);

impl SchedstatReader {
    /// Opens `/proc/TID/schedstat`, if it can be believed.
    pub fn open(tree: &Tree, tid: u32) -> Reading<Self> {
        schedstat::read(tree, tid)?;
        // Three numbers of at most 20 digits.
        KeptFile::open(tree, &format!("/proc/{tid}/schedstat"), 64).map(Self)
    }

    /// The sums now; `None` if the thread is gone.
    pub fn read(&mut self) -> Option<SchedStat> {
        schedstat::parse(self.0.read_once().ok()?)
    }
}

/// The counts of some interrupt lines.
#[derive(Debug)]
pub struct IrqCountReader {
    irqs: Vec<u32>,
    source: Source,
}

/// Where the counts come from.
#[derive(Debug)]
enum Source {
    /// `/sys/kernel/irq/N/per_cpu_count`, one a line: less than 200 bytes each, but only for root.
    PerLine(Vec<KeptFile>),
    /// `/proc/interrupts`, for all lines at once; `Err` where not even that can be read.
    Table(Reading<KeptFile>),
}

impl IrqCountReader {
    /// Opens the cheapest source that has all of `irqs`.
    pub fn open(tree: &Tree, irqs: &[u32]) -> Self {
        let open = |irq: &u32| {
            let path = format!("/sys/kernel/irq/{irq}/per_cpu_count");
            tree.parse(&path, interrupts::per_cpu_total)?;
            KeptFile::open(tree, &path, 4096)
        };
        let source = irqs
            .iter()
            .map(open)
            .collect::<Reading<_>>()
            .map_or_else(|_| Source::Table(open_table(tree)), Source::PerLine);
        Self { irqs: irqs.to_vec(), source }
    }

    /// The lines, in the order of the counts.
    pub fn irqs(&self) -> &[u32] {
        &self.irqs
    }

    /// Where the counts come from, or why there are none.
    pub fn source(&self) -> Reading<&'static str> {
        match &self.source {
            Source::PerLine(_) => Ok("per_cpu_count"),
            Source::Table(Ok(_)) => Ok("/proc/interrupts"),
            Source::Table(Err(reason)) => Err(reason.clone()),
        }
    }

    /// Puts the count of each line, all CPUs together, into `counts`; `None` where it cannot be read. Counts
    /// without a line are left alone.
    pub fn read(&mut self, counts: &mut [Option<u64>]) {
        match &mut self.source {
            Source::PerLine(files) => {
                for (file, count) in files.iter_mut().zip(counts) {
                    *count = file.read_once().ok().and_then(interrupts::per_cpu_total);
                }
            }
            Source::Table(table) => {
                let bytes = table.as_mut().ok().and_then(|file| file.read_all().ok()).unwrap_or_default();
                for (irq, count) in self.irqs.iter().zip(counts) {
                    *count = interrupts::total(bytes, *irq);
                }
            }
        }
    }
}

/// Opens `/proc/interrupts` with room for twice what it holds now.
fn open_table(tree: &Tree) -> Reading<KeptFile> {
    let now = tree.read("/proc/interrupts")?.len();
    KeptFile::open(tree, "/proc/interrupts", (2 * now).max(4096))
}
