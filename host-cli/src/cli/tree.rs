//! What a probe read, as a tar file: a user's phone becomes a test case. Such a file comes from somebody
//! else, so that nothing in it is trusted: neither names, nor links, nor sizes.

use crate::failure::Failure;
use crate::printable::printable;
use anyhow::{Context, bail};
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::symlink,
    path::{Component, Path, PathBuf},
};
use tar::{Archive, Builder, EntryType, Header};
use tempfile::{NamedTempFile, TempDir};
use tophalf_wire::{Recorded, RecordedContent};

/// Bounds of what is unpacked.
const MAX_ENTRIES: usize = 100_000;
const MAX_BYTES: u64 = 256 << 20;

/// Writes what a probe read to `path`, which is only there once it is whole.
///
/// # Errors
/// The file cannot be written, or the device sent a path that is none.
pub(super) fn record(path: &Path, recorded: &[Recorded]) -> anyhow::Result<()> {
    let attempt = || -> anyhow::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(folder)?;
        pack(file.as_file_mut(), recorded)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    attempt().with_context(|| format!("cannot write {}", path.display()))
}

fn pack(into: impl Write, recorded: &[Recorded]) -> anyhow::Result<()> {
    let mut tar = Builder::new(into);
    for entry in recorded {
        let path = inner_path(Path::new(&entry.path))?;
        let mut header = Header::new_gnu();
        header.set_mtime(0);
        match &entry.content {
            RecordedContent::File(bytes) => {
                header.set_mode(0o644);
                header.set_size(bytes.len() as u64);
                tar.append_data(&mut header, path, &bytes[..])?;
            }
            RecordedContent::Link(to) => {
                header.set_entry_type(EntryType::Symlink);
                header.set_mode(0o777);
                header.set_size(0);
                tar.append_link(&mut header, path, to)?;
            }
            RecordedContent::Folder => {
                header.set_entry_type(EntryType::Directory);
                header.set_mode(0o755);
                header.set_size(0);
                tar.append_data(&mut header, path, io::empty())?;
            }
        }
    }
    tar.finish()?;
    Ok(())
}

/// Unpacks a recorded tree into a folder of its own. Nothing in it, links included, leads out of it.
///
/// # Errors
/// The file cannot be read, is no such tar file, or holds something that leads out.
pub(super) fn unpack(path: &Path) -> anyhow::Result<TempDir> {
    let file = File::open(path)
        .map_err(|error| Failure::usage(format!("cannot open {}: {error}", path.display())))?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    // Its real name, so that what links lead to can be told to be within it.
    let root = folder.path().canonicalize().context("cannot find the temporary folder")?;
    unpack_into(&root, file).map_err(|error| Failure::device(format!("{}: {error:#}", path.display())))?;
    Ok(folder)
}

fn unpack_into(root: &Path, tar: impl Read) -> anyhow::Result<()> {
    let mut links = Vec::new();
    let mut left = MAX_BYTES;
    for (number, entry) in Archive::new(tar).entries().context("is no tar file")?.enumerate() {
        if number >= MAX_ENTRIES {
            bail!("holds more than {MAX_ENTRIES} entries");
        }
        let mut entry = entry.context("is no tar file, or damaged")?;
        let name = entry.path().context("holds a damaged name")?.into_owned();
        let shown = printable(&name.to_string_lossy(), 300);
        let at = root.join(inner_path(&name)?);
        make_parent(root, &at).with_context(|| format!("entry {shown}"))?;
        match entry.header().entry_type() {
            EntryType::Directory => {
                if !at.is_dir() {
                    fs::create_dir(&at).with_context(|| format!("entry {shown}"))?;
                }
            }
            EntryType::Symlink => {
                let to = entry.link_name().context("holds a damaged link")?;
                let to = to.with_context(|| format!("link {shown} leads nowhere"))?;
                symlink(within(root, &to), &at).with_context(|| format!("link {shown}"))?;
                links.push(at);
            }
            EntryType::Regular => {
                let mut file = File::create_new(&at).with_context(|| format!("entry {shown}"))?;
                let copied = io::copy(&mut entry.by_ref().take(left + 1), &mut file)
                    .with_context(|| format!("entry {shown}"))?;
                left =
                    left.checked_sub(copied).with_context(|| format!("holds more than {MAX_BYTES} bytes"))?;
            }
            other => bail!("entry {shown} is neither file, link nor folder ({other:?})"),
        }
    }
    // A link is harmless or not only once all others are there.
    for link in links {
        let leads_out = link.canonicalize().is_ok_and(|end| !end.starts_with(root));
        if leads_out {
            bail!("a link in it leads out of it: {}", printable(&link.to_string_lossy(), 300));
        }
    }
    Ok(())
}

/// Makes the folders above `at`, which must not be reached through a link that leads out.
fn make_parent(root: &Path, at: &Path) -> anyhow::Result<()> {
    let Some(parent) = at.parent() else { return Ok(()) };
    let existing = parent.ancestors().find(|folder| folder.exists()).unwrap_or(root);
    if !existing.canonicalize()?.starts_with(root) {
        bail!("lies behind a link that leads out");
    }
    fs::create_dir_all(parent)?;
    Ok(())
}

/// A link's end: what is absolute on the device is absolute within the tree.
fn within(root: &Path, to: &Path) -> PathBuf {
    match to.strip_prefix("/") {
        Ok(inner) => root.join(inner),
        Err(_) => to.to_path_buf(),
    }
}

/// A path of the device as a path within the tree.
fn inner_path(path: &Path) -> anyhow::Result<PathBuf> {
    let mut inner = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => inner.push(name),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => {
                bail!("{:?} is no path in a recorded tree", printable(&path.to_string_lossy(), 300))
            }
        }
    }
    if inner.as_os_str().is_empty() {
        bail!("{:?} is no path in a recorded tree", printable(&path.to_string_lossy(), 300));
    }
    Ok(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(path: &str, content: RecordedContent) -> Recorded {
        Recorded { path: path.to_owned(), content }
    }

    fn file(path: &str, text: &str) -> Recorded {
        recorded(path, RecordedContent::File(text.into()))
    }

    fn link(path: &str, to: &str) -> Recorded {
        recorded(path, RecordedContent::Link(to.to_owned()))
    }

    fn round_trip(tree: &[Recorded]) -> anyhow::Result<TempDir> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("phone.tar");
        record(&path, tree)?;
        unpack(&path)
    }

    #[test]
    fn a_tree_comes_back() {
        let long = format!("/sys/devices/{}/size", "n".repeat(200));
        let tree = round_trip(&[
            file("/proc/interrupts", "  18: 7 GICv3 37 Level ufshcd\n"),
            file(&long, "1\n"),
            link("/sys/block/sda", "../devices/ufs/sda"),
            recorded("/sys/devices/ufs", RecordedContent::Folder),
            file("/sys/devices/ufs/sda/size", "8\n"),
            link("/sys/class/x", "/sys/devices/ufs"),
            file("/sys/block/sda/stat", "1 2 3\n"),
            link("/sys/block/sdz", "../devices/gone"),
        ])
        .unwrap();
        let read = |path: &str| fs::read_to_string(tree.path().join(path)).unwrap();
        assert_eq!(read("proc/interrupts"), "  18: 7 GICv3 37 Level ufshcd\n");
        assert_eq!(read(&long[1..]), "1\n");
        assert_eq!(read("sys/block/sda/size"), "8\n");
        assert_eq!(read("sys/class/x/sda/size"), "8\n");
        assert_eq!(read("sys/devices/ufs/sda/stat"), "1 2 3\n");
    }

    #[test]
    fn nothing_leads_out() {
        let trees: [&[Recorded]; 4] = [
            &[file("/../escaped", "x")],
            &[link("/a", "../../../../../../etc"), file("/a/passwd", "x")],
            &[link("/a", "../../../../../../etc")],
            // Harmless word by word, and yet it goes up twice.
            &[recorded("/d/e", RecordedContent::Folder), link("/d/e/u", ".."), link("/v", "d/e/u/../..")],
        ];
        for tree in trees {
            let error = round_trip(tree).unwrap_err();
            assert!(
                format!("{error:#}").contains("lead") || format!("{error:#}").contains("no path"),
                "{error:#}"
            );
        }
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tar");
        fs::write(&path, "certainly not a tar file".repeat(100)).unwrap();
        assert!(unpack(&path).unwrap_err().to_string().contains("x.tar"));
        assert!(unpack(&folder.path().join("none.tar")).is_err());
    }

    /// The same name twice must not write through what the first one was.
    #[test]
    fn a_name_is_used_once() {
        assert!(round_trip(&[link("/a", "b"), file("/a", "x")]).is_err());
    }
}
