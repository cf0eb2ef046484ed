//! Figures that were computed before, so that ten thousand runs need not be decoded for each comparison.
//!
//! There is one file for each folder of runs, below `$XDG_CACHE_HOME/tophalf` (`~/.cache/tophalf`): never in the
//! store, which may be read-only, shared or copied.
//!
//! ```text
//! file   = record…              length:u32le  crc32(body):u32le  body(length bytes)
//! first  = (program, folder)    any other build of tophalf computes anew
//! others = (name, identity, RunSummary)
//! ```
//!
//! Bodies are postcard. Records are appended; the file is replaced when it is damaged or half of it is out of date.
//! Nothing here is ever trusted for more than time: a record counts only for exactly the file it was computed from,
//! by the program that computed it, and with a right check sum. Whatever is torn, damaged or cannot be written is
//! computed again. Processes need not wait for each other: an append is one write, a replacement a rename, and what
//! is lost between them is computed again.

use super::identity::Identity;
use crate::analysis::RunSummary;
use crate::store::id_part;
use std::{
    collections::HashMap,
    env,
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Read, Write},
    ops::Range,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

const SUFFIX: &str = ".figures";
/// Length and check sum.
const FRAME_BYTES: usize = 8;
/// Bounds what a file that grew by mistake can make a reader hold: some 100,000 runs.
const MAX_BYTES: usize = 1 << 29;

/// A folder of caches.
#[derive(Debug)]
pub struct FigureCache {
    folder: PathBuf,
    /// Any other build computes anew.
    pub(super) program: Identity,
}

impl FigureCache {
    /// The user's; `None` where there is no such place.
    pub fn of_user() -> Option<Self> {
        let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
        Self::new(caches.join("tophalf"))
    }

    /// One in `folder`, which is made when something is kept; `None` if this program does not know which it is.
    pub fn new(folder: PathBuf) -> Option<Self> {
        let program = Identity::of(&env::current_exe().ok()?)?;
        Some(Self { folder, program })
    }

    /// What is known of the runs in a folder.
    pub(super) fn read(&self, runs: &Path) -> FolderFigures {
        // A folder that cannot be resolved cannot be read either, which its runs will tell.
        let runs = fs::canonicalize(runs).unwrap_or_else(|_| runs.to_path_buf());
        let runs_bytes = runs.as_os_str().as_bytes();
        let last = runs.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{}-{:08x}{SUFFIX}", id_part(&last), crc32fast::hash(runs_bytes));
        let path = self.folder.join(name);
        let head =
            postcard::to_extend(&(self.program, runs_bytes), vec![0; FRAME_BYTES]).ok().and_then(frame);
        let bytes = read_whole(&path).unwrap_or_default();
        let (records, whole) = match &head {
            Some(head) if bytes.starts_with(head) => index(&bytes, head.len()),
            _ => (HashMap::new(), false),
        };
        FolderFigures { path, head, bytes, records, whole }
    }
}

/// What is known of the runs of one folder.
#[derive(Debug)]
pub(super) struct FolderFigures {
    path: PathBuf,
    /// The first record; `None` if it cannot be made, and then nothing is kept.
    head: Option<Vec<u8>>,
    bytes: Vec<u8>,
    /// The last record of each name, length and check sum included.
    records: HashMap<Vec<u8>, Range<usize>>,
    /// It can be appended to.
    whole: bool,
}

#[cfg(test)]
impl FolderFigures {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl FolderFigures {
    /// The figures of the file of this name in this state, and the record they come from.
    pub(super) fn get(&self, name: &OsStr, identity: &Identity) -> Option<(RunSummary, Range<usize>)> {
        let range = self.records.get(name.as_bytes())?;
        let body = checked_body(self.bytes.get(range.clone())?)?;
        let ((recorded_name, recorded), figures) =
            postcard::take_from_bytes::<(&[u8], Identity)>(body).ok()?;
        if recorded_name != name.as_bytes() || recorded != *identity {
            return None;
        }
        match postcard::take_from_bytes(figures) {
            Ok((run, [])) => Some((run, range.clone())),
            _ => None,
        }
    }

    /// Keeps the records that were used, and new ones. Where it cannot, nothing is lost but time.
    pub(super) fn save(&self, kept: &[Range<usize>], fresh: &[Vec<u8>]) {
        let Some(head) = &self.head else { return };
        let kept_bytes = head.len() + kept.iter().map(ExactSizeIterator::len).sum::<usize>();
        let fresh_bytes: usize = fresh.iter().map(Vec::len).sum();
        let up_to_date = self.whole && kept_bytes * 2 >= self.bytes.len();
        if (up_to_date && fresh.is_empty()) || kept_bytes + fresh_bytes > MAX_BYTES {
            return;
        }
        let _ = if up_to_date { self.append(fresh) } else { self.replace(head, kept, fresh) };
    }

    fn append(&self, fresh: &[Vec<u8>]) -> io::Result<()> {
        OpenOptions::new().append(true).open(&self.path)?.write_all(&fresh.concat())
    }

    fn replace(&self, head: &[u8], kept: &[Range<usize>], fresh: &[Vec<u8>]) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        file.write_all(head)?;
        for range in kept {
            file.write_all(self.bytes.get(range.clone()).unwrap_or_default())?;
        }
        for record in fresh {
            file.write_all(record)?;
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

/// A record for the cache; `None` for figures that would not be read back as they are.
pub(super) fn encode(name: &OsStr, identity: Identity, run: &RunSummary) -> Option<Vec<u8>> {
    let record = postcard::to_extend(&(name.as_bytes(), identity), vec![0; FRAME_BYTES]).ok()?;
    let figures_at = record.len();
    let record = postcard::to_extend(run, record).ok()?;
    let read_back: RunSummary = postcard::from_bytes(record.get(figures_at..)?).ok()?;
    if read_back == *run { frame(record) } else { None }
}

/// Writes length and check sum into the room before a body.
fn frame(mut record: Vec<u8>) -> Option<Vec<u8>> {
    let (room, body) = record.split_first_chunk_mut::<FRAME_BYTES>()?;
    let (length, crc) = room.split_at_mut(4);
    length.copy_from_slice(&u32::try_from(body.len()).ok()?.to_le_bytes());
    crc.copy_from_slice(&crc32fast::hash(body).to_le_bytes());
    Some(record)
}

fn checked_body(record: &[u8]) -> Option<&[u8]> {
    let (room, body) = record.split_first_chunk::<FRAME_BYTES>()?;
    room.ends_with(&crc32fast::hash(body).to_le_bytes()).then_some(body)
}

/// Where the last record of each name is, and whether the file ends with a record. Check sums are left to
/// [`FolderFigures::get`]: a name or a length that is damaged leads to no record or to a wrong one, which it finds
/// out, and what is computed instead comes after it.
fn index(bytes: &[u8], mut at: usize) -> (HashMap<Vec<u8>, Range<usize>>, bool) {
    let mut records = HashMap::new();
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let length = rest.first_chunk().map(|&length| u32::from_le_bytes(length) as usize);
        let body = length.and_then(|length| rest.get(FRAME_BYTES..FRAME_BYTES.checked_add(length)?));
        let Some(body) = body else { return (records, false) };
        let Ok((name, _)) = postcard::take_from_bytes::<&[u8]>(body) else { return (records, false) };
        let end = at + FRAME_BYTES + body.len();
        records.insert(name.to_vec(), at..end);
        at = end;
    }
    (records, true)
}

fn read_whole(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let size_bytes = file.metadata().ok().filter(|file| file.is_file())?.len();
    let size_bytes = usize::try_from(size_bytes).ok().filter(|&size_bytes| size_bytes <= MAX_BYTES)?;
    let mut bytes = Vec::with_capacity(size_bytes);
    file.take(MAX_BYTES as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
