//! Run files: what a device sent, with a head.
//!
//! ```text
//! run file = "TOPHALF\n"  format:u16le  length:u32le  header(length bytes)  crc32(header):u32le  frames…
//! ```
//!
//! The header is postcard ([`RunHeader`]), the frames are exactly what the device sent, `adb`'s own words
//! before them included.

use super::publish::publish;
use crate::failure::Failure;
use crate::run_header::RunHeader;
use anyhow::{Context, bail};
use std::{
    fs::{self, File},
    io::{ErrorKind, Read, Write},
    path::{Path, PathBuf},
};
use tophalf_wire::{Event, FrameReader};

const MAGIC: &[u8; 8] = b"TOPHALF\n";
const FORMAT: u16 = 1;
/// Bounds what a damaged length can make a reader hold.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// A run file that is being written. Dropped without [`RunWriter::keep`] or [`RunWriter::discard`], it stays
/// behind under its temporary name, readable as far as it goes.
#[derive(Debug)]
pub struct RunWriter {
    file: File,
    partial: PathBuf,
    path: PathBuf,
}

impl RunWriter {
    /// Makes `partial` and writes the head; `path` is the name for good.
    pub(super) fn begin(partial: PathBuf, path: PathBuf, header: &RunHeader) -> anyhow::Result<Self> {
        let file = File::create_new(&partial)
            .with_context(|| format!("cannot make the run file {}", partial.display()))?;
        let mut writer = Self { file, partial, path };
        writer.append(&encode_head(header)?)?;
        Ok(writer)
    }

    /// Adds bytes as the device sent them.
    ///
    /// # Errors
    /// They cannot be written: the disk is full, for one.
    pub fn append(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.file.write_all(bytes).map_err(|error| {
            Failure::device(format!(
                "cannot write to {}: {error}: free some space or choose another --store (what was written so far stays there)",
                self.partial.display()
            ))
        })
    }

    /// Gives the file its name for good, once all of it is on disk.
    ///
    /// # Errors
    /// It cannot be brought to disk, or the name is taken.
    pub fn keep(self) -> anyhow::Result<PathBuf> {
        let Self { file, partial, path } = self;
        publish(&file, &partial, &path).map_err(|error| {
            Failure::device(format!(
                "cannot finish {}: {error}: what was measured is in {}",
                path.display(),
                partial.display()
            ))
        })?;
        Ok(path)
    }

    /// Removes the file: there is nothing in it worth keeping.
    pub fn discard(self) {
        // If it stays, it stays under its temporary name, which no report reads by itself.
        let _ = fs::remove_file(&self.partial);
    }
}

pub(super) fn encode_head(header: &RunHeader) -> anyhow::Result<Vec<u8>> {
    let body = postcard::to_extend(header, Vec::new()).context("the head of the run file")?;
    let length = u32::try_from(body.len()).ok().filter(|_| body.len() <= MAX_HEADER_BYTES);
    let Some(length) = length else {
        return Err(Failure::usage(format!(
            "the names of the variant, the workload and the device are {} bytes long: {MAX_HEADER_BYTES} is the most",
            body.len()
        )));
    };
    let mut head = MAGIC.to_vec();
    head.extend(FORMAT.to_le_bytes());
    head.extend(length.to_le_bytes());
    head.extend(&body);
    head.extend(crc32fast::hash(&body).to_le_bytes());
    Ok(head)
}

/// A run file, its head read and its frames to come.
#[derive(Debug)]
pub struct StoredRun {
    /// The head.
    pub header: RunHeader,
    /// What the device sent.
    pub events: Events,
    /// The host never finished this file: it, or the machine, stopped before the run was over.
    pub partial: bool,
}

impl StoredRun {
    /// Opens a run file, finished or partial.
    ///
    /// # Errors
    /// It cannot be read, is no run file, is of a newer version, or its head is damaged.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        Self::read(path).map_err(|error| Failure::device(format!("{}: {error:#}", path.display())))
    }

    fn read(path: &Path) -> anyhow::Result<Self> {
        let mut file = File::open(path).context("cannot be opened")?;
        let header = read_head(&mut file)?;
        let events = Events {
            reader: Some(FrameReader::new(Some(header.session))),
            file,
            path: path.to_path_buf(),
            error: None,
        };
        let partial = path.extension().is_some_and(|extension| extension == "partial");
        Ok(Self { header, events, partial })
    }
}

fn read_head(file: &mut impl Read) -> anyhow::Result<RunHeader> {
    const CUT: &str = "is cut off in its head: nothing of it can be read";
    let mut fixed = [0; 14];
    file.read_exact(&mut fixed).context(CUT)?;
    let (magic, rest) = fixed.split_at(MAGIC.len());
    if magic != MAGIC {
        bail!(
            "is no run file of tophalf, or its first bytes are damaged (numbers of other tools: `tophalf import`)"
        );
    }
    let format = u16::from_le_bytes([rest[0], rest[1]]);
    if format != FORMAT {
        bail!(
            "is a run file of format {format}, and this tophalf reads {FORMAT}: use the tophalf that made it"
        );
    }
    let length = u32::from_le_bytes([rest[2], rest[3], rest[4], rest[5]]);
    let length = usize::try_from(length).ok().filter(|&length| length <= MAX_HEADER_BYTES);
    let length = length.context("has a damaged head: its length is not possible")?;
    let mut body = vec![0; length];
    file.read_exact(&mut body).context(CUT)?;
    let mut crc = [0; 4];
    file.read_exact(&mut crc).context(CUT)?;
    if crc32fast::hash(&body) != u32::from_le_bytes(crc) {
        bail!("has a damaged head: the check sum is wrong");
    }
    match postcard::take_from_bytes(&body) {
        Ok((header, [])) => Ok(header),
        _ => bail!("has a damaged head: its content does not fit"),
    }
}

/// The frames of a run file, read as they are asked for.
#[derive(Debug)]
pub struct Events {
    /// `None` once everything has been read.
    reader: Option<FrameReader>,
    file: File,
    path: PathBuf,
    error: Option<std::io::Error>,
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let mut buffer = [0; 64 << 10];
        loop {
            let reader = self.reader.as_mut()?;
            if let Some(event) = reader.next_event() {
                return Some(event);
            }
            match self.file.read(&mut buffer) {
                Ok(0) => return self.reader.take()?.finish(),
                Ok(count) => reader.feed(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.error = Some(error);
                    self.reader = None;
                }
            }
        }
    }
}

impl Events {
    /// Whether the file could be read to its end.
    ///
    /// # Errors
    /// What the system said where it could not.
    pub fn finish(self) -> anyhow::Result<()> {
        match self.error {
            Some(error) => Err(Failure::device(format!("cannot read {}: {error}", self.path.display()))),
            None => Ok(()),
        }
    }
}
