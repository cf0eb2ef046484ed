//! Where `/proc` and `/sys` are: on the running system, or in a recording of another one.

use super::text;
use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use tophalf_wire::{Reading, Recorded, RecordedContent, Unavailable};

/// The root under which absolute paths are looked up.
///
/// With the root `/` it is the running system. With any other it is a recording, and no link leads out of it:
/// links are followed one by one, and an absolute one starts again at the root.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    recorder: Option<Mutex<Recorder>>,
}

impl Tree {
    /// Most bytes that are taken from one file.
    pub const FILE_LIMIT: usize = 1 << 20;
    /// Most links that are followed for one path; the kernel has the same limit.
    const LINK_LIMIT: usize = 40;

    /// The running system.
    pub fn live() -> Self {
        Self::at("/")
    }

    /// The running system if `root` is `/`, otherwise a recording that was unpacked there.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), recorder: None }
    }

    /// The same, but everything that is read is remembered.
    pub fn recording(self) -> Self {
        Self { recorder: Some(Mutex::default()), ..self }
    }

    /// Whether this is the running system.
    fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// What was read while [recording](Self::recording), in order, each path once. Links that were followed
    /// are part of it, so that an unpacked recording answers the same questions the same way; what could not
    /// be read is not, and reads as missing there.
    pub fn into_recorded(self) -> Vec<Recorded> {
        self.recorder.map_or_else(Vec::new, |recorder| {
            recorder.into_inner().unwrap_or_else(PoisonError::into_inner).things
        })
    }

    /// The bytes of a file of at most [`FILE_LIMIT`](Self::FILE_LIMIT).
    pub fn read(&self, path: &str) -> Reading<Vec<u8>> {
        let bytes = self.peek(path)?;
        self.remember(path, || RecordedContent::File(bytes.clone()));
        Ok(bytes)
    }

    /// As [`read`](Self::read), but never part of a recording: for files that only tell whether others matter.
    pub fn peek(&self, path: &str) -> Reading<Vec<u8>> {
        let read = || {
            // One page takes most files whole, in one system call and one more that finds the end.
            let mut bytes = Vec::with_capacity(4096);
            let limit = Self::FILE_LIMIT as u64 + 1;
            File::open(self.locate(path)?)?.take(limit).read_to_end(&mut bytes)?;
            if bytes.len() > Self::FILE_LIMIT {
                return Err(io::Error::other("longer than 1 MiB"));
            }
            Ok(bytes)
        };
        read().map_err(|error| failure("read", path, &error))
    }

    /// A file as text, without the blanks at its ends.
    pub fn read_text(&self, path: &str) -> Reading<String> {
        self.read(path).map(|bytes| text::lossy(&bytes))
    }

    /// A file as `parser` understands it.
    pub fn parse<T>(&self, path: &str, parser: impl FnOnce(&[u8]) -> Option<T>) -> Reading<T> {
        let bytes = self.read(path)?;
        parser(&bytes).ok_or_else(|| {
            let start = &bytes[..bytes.len().min(60)];
            Unavailable::new(format!("read {path}: not understood: {:?}", String::from_utf8_lossy(start)))
        })
    }

    /// A file that is kept open, to be read again and again.
    pub fn open(&self, path: &str) -> Reading<File> {
        let open = || File::open(self.locate(path)?);
        open().map_err(|error| failure("open", path, &error))
    }

    /// Where a link points, as it stands in the link.
    pub fn link(&self, path: &str) -> Reading<String> {
        let read = || {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            let at = format!("{}/{name}", self.walk(parent)?);
            let target = fs::read_link(self.outside(&at))?.to_string_lossy().into_owned();
            self.record(&at, || RecordedContent::Link(target.clone()));
            Ok(target)
        };
        read().map_err(|error| failure("follow", path, &error))
    }

    /// The last part of where a link points: `ufshcd-sprd` for `../../bus/platform/drivers/ufshcd-sprd`.
    pub fn link_name(&self, path: &str) -> Reading<String> {
        self.link(path).map(|target| target.rsplit('/').next().unwrap_or_default().to_owned())
    }

    /// The names in a folder, sorted.
    pub fn list(&self, path: &str) -> Reading<Vec<String>> {
        let list = || {
            let mut names = fs::read_dir(self.locate(path)?)?
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect::<io::Result<Vec<_>>>()?;
            names.sort_unstable();
            Ok(names)
        };
        let names = list().map_err(|error| failure("list", path, &error))?;
        self.remember(path, || RecordedContent::Folder);
        Ok(names)
    }

    /// The same place by a path without links, still inside the root.
    pub fn resolve(&self, path: &str) -> Reading<String> {
        let found = self.walk(path).map_err(|error| failure("follow", path, &error))?;
        if self.recorder.is_some() {
            self.exists(&found);
        }
        Ok(found)
    }

    /// Whether anything is there that this process may see. Nothing is opened.
    pub fn exists(&self, path: &str) -> bool {
        let Ok(metadata) = self.locate(path).and_then(fs::metadata) else {
            return false;
        };
        self.remember(path, || {
            if metadata.is_dir() { RecordedContent::Folder } else { RecordedContent::File(Vec::new()) }
        });
        true
    }

    /// The path to open. The running system follows links itself, unless they have to be remembered.
    fn locate(&self, path: &str) -> io::Result<PathBuf> {
        if self.recorder.is_none() && self.is_live() {
            return Ok(path.into());
        }
        self.walk(path).map(|found| self.outside(&found))
    }

    /// Follows every link of `path`, part by part, without ever leaving the root.
    fn walk(&self, path: &str) -> io::Result<String> {
        let mut ahead: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
        let mut found = String::new();
        let mut links = 0;
        while let Some(part) = ahead.pop() {
            match part.as_str() {
                "" | "." => {}
                ".." => found.truncate(found.rfind('/').unwrap_or(0)),
                name => {
                    let at = format!("{found}/{name}");
                    match fs::read_link(self.outside(&at)) {
                        Ok(target) => {
                            links += 1;
                            if links > Self::LINK_LIMIT {
                                return Err(io::Error::other("too many links"));
                            }
                            let target = target.to_string_lossy().into_owned();
                            if target.starts_with('/') {
                                found.clear();
                            }
                            ahead.extend(target.rsplit('/').map(str::to_owned));
                            self.record(&at, || RecordedContent::Link(target));
                        }
                        // What is there is not a link.
                        Err(error) if error.kind() == io::ErrorKind::InvalidInput => found = at,
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(found)
    }

    /// Where a path without links is, as the system knows it.
    fn outside(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Records what is at the end of `path`'s links.
    fn remember(&self, path: &str, content: impl FnOnce() -> RecordedContent) {
        if self.recorder.is_some()
            && let Ok(found) = self.walk(path)
        {
            self.record(&found, content);
        }
    }

    /// Records what is at a path without links.
    fn record(&self, path: &str, content: impl FnOnce() -> RecordedContent) {
        if let Some(recorder) = &self.recorder {
            recorder.lock().unwrap_or_else(PoisonError::into_inner).add(path, content());
        }
    }
}

/// What was read, in order.
#[derive(Debug, Default)]
struct Recorder {
    things: Vec<Recorded>,
    places: HashMap<String, usize>,
}

impl Recorder {
    /// Keeps the first content of each path; but content wins over what stands for a file that was only seen.
    fn add(&mut self, path: &str, content: RecordedContent) {
        if let Some(place) = self.places.get(path) {
            let known = &mut self.things[*place].content;
            if *known == RecordedContent::File(Vec::new()) {
                *known = content;
            }
        } else {
            self.places.insert(path.to_owned(), self.things.len());
            self.things.push(Recorded { path: path.to_owned(), content });
        }
    }
}

/// One sentence on what was tried, on what, and what the system answered.
fn failure(verb: &str, path: &str, error: &io::Error) -> Unavailable {
    Unavailable::new(format!("{verb} {path}: {error}"))
}

#[cfg(test)]
mod tests;
