//! Run files, and the folder they are kept in.
//!
//! ```text
//! run file = "TOPHALF\n"  format:u16le  length:u32le  header(length bytes)  crc32(header):u32le  frames…
//! ```
//!
//! The header is postcard ([`RunHeader`]), the frames are exactly what the device sent, `adb`'s own words
//! before them included. A run lies at `VARIANT/TIME-DEVICE-HEX.tophalf`, and is called `….tophalf.partial`
//! until all of it is on disk. There is no index: the folder is the store.

use crate::failure::Failure;
use crate::printable::printable;
use crate::run_header::RunHeader;
use anyhow::{Context, bail};
use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read, Write},
    path::{Path, PathBuf},
};
use tophalf_wire::{Event, FrameReader};

const MAGIC: &[u8; 8] = b"TOPHALF\n";
const FORMAT: u16 = 1;
/// Bounds what a damaged length can make a reader hold.
const MAX_HEADER_BYTES: usize = 64 << 10;
const SUFFIX: &str = "tophalf";
const PARTIAL_SUFFIX: &str = "tophalf.partial";

/// A folder of run files.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in `folder`, which is made when the first run is.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every file of a variant, by name, runs that were never finished included; none if there is no such variant.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn files_of(&self, variant: &str) -> anyhow::Result<Vec<PathBuf>> {
        let folder = self.folder.join(file_name(variant));
        let listed = || format!("cannot list {}", folder.display());
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(listed)?,
        };
        let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut paths = paths.with_context(listed)?;
        paths.sort();
        Ok(paths)
    }

    /// Begins a run file.
    ///
    /// # Errors
    /// The folder cannot be made, or the file cannot be written.
    pub fn begin(&self, header: &RunHeader) -> anyhow::Result<RunWriter> {
        let folder = self.folder.join(file_name(&header.variant));
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let stem = file_name(&header.id);
        let path = folder.join(format!("{stem}.{SUFFIX}"));
        let partial = folder.join(format!("{stem}.{PARTIAL_SUFFIX}"));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&partial)
            .with_context(|| format!("cannot make the run file {}", partial.display()))?;
        let mut writer = RunWriter { file, partial, path };
        writer.append(&encode_head(header)?)?;
        Ok(writer)
    }

    /// The runs that `what` means: a variant of this store, a folder, a run file, or the id of a run.
    ///
    /// # Errors
    /// There is no such thing, or it holds no run.
    pub fn find(&self, what: &str) -> anyhow::Result<Vec<PathBuf>> {
        let variant = self.folder.join(file_name(what));
        let path = Path::new(what);
        let found = if variant.is_dir() {
            run_files(&variant)?
        } else if path.is_dir() {
            run_files(path)?
        } else if path.is_file() {
            vec![path.to_path_buf()]
        } else {
            let stem = format!("{}.{SUFFIX}", file_name(what));
            let mut all = if self.folder.is_dir() { run_files(&self.folder)? } else { Vec::new() };
            all.retain(|run| run.file_name().is_some_and(|name| name == stem.as_str()));
            if all.is_empty() {
                return Err(Failure::usage(format!(
                    "{} is no variant or run in {}, no folder and no file",
                    printable(what, 300),
                    self.folder.display()
                )));
            }
            all
        };
        if found.is_empty() {
            return Err(Failure::device(format!("there is no finished run in {}", printable(what, 300))));
        }
        Ok(found)
    }
}

/// Finished run files in a folder and in the folders of it, by name, which is by time within a variant.
fn run_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        let path = entry.path();
        let kind = entry.file_type().with_context(|| format!("cannot look at {}", path.display()))?;
        if kind.is_dir() {
            found.extend(run_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == SUFFIX) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Most characters of a name.
const MOST_NAME_CHARS: usize = 100;

/// `text` as part of a path: letters, digits, `.`, `-`, `_` and `+`, never hidden, never a folder above. What
/// had to be changed or cut is told apart by a check sum.
fn file_name(text: &str) -> String {
    let mut name = plain(text, MOST_NAME_CHARS);
    if name.is_empty() || name.starts_with('.') {
        name.insert(0, '_');
    }
    if name != text {
        name.push_str(&format!("-{:08x}", crc32fast::hash(text.as_bytes())));
    }
    name
}

/// `text` as part of a run's id, which is unique by other parts: short, and safe in a path.
pub(crate) fn id_part(text: &str) -> String {
    plain(text, 40)
}

fn plain(text: &str, most: usize) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    text.chars().take(most).map(|c| if allowed(c) { c } else { '_' }).collect()
}

/// A run file that is being written. Dropped without [`RunWriter::keep`] or [`RunWriter::discard`], it stays
/// behind under its temporary name, readable as far as it goes.
#[derive(Debug)]
pub struct RunWriter {
    file: File,
    partial: PathBuf,
    path: PathBuf,
}

impl RunWriter {
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
        let kept = || -> std::io::Result<()> {
            file.sync_all()?;
            // Unlike a rename, a link never replaces a run that is there.
            match fs::hard_link(&partial, &path) {
                Ok(()) => fs::remove_file(&partial)?,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
                // Not every file system has links.
                Err(_) => fs::rename(&partial, &path)?,
            }
            File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
        };
        kept().map_err(|error| {
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

fn encode_head(header: &RunHeader) -> anyhow::Result<Vec<u8>> {
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
        bail!("is no run file of tophalf, or its first bytes are damaged");
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

#[cfg(test)]
mod tests;
