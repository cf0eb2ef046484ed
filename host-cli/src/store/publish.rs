//! How a file gets its name for good: whole, on disk, and never in place of another.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::Path,
};

/// Brings `file`, which is called `temporary`, to disk and names it `path`.
///
/// # Errors
/// What the system said; [`ErrorKind::AlreadyExists`] if the name is taken. The file keeps its temporary name then.
pub(super) fn publish(file: &File, temporary: &Path, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    // Unlike a rename, a link never replaces a file that is there.
    match fs::hard_link(temporary, path) {
        Ok(()) => fs::remove_file(temporary)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        // Not every file system has links.
        Err(_) if path.try_exists()? => return Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(temporary, path)?,
    }
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}
