//! The archive format the kernel unpacks its first root from: cpio, "newc".
//!
//! Documentation/driver-api/early-userspace/buffer-format.rst. Everything belongs to root, whoever built it.

use std::io::{self, Write};

const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;
/// Header, name and content are each padded to this.
const ALIGNMENT: usize = 4;

/// Writes an archive to `out`, entry by entry.
pub(crate) struct Writer<W> {
    out: W,
    inode: u32,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(out: W) -> Self {
        Writer { out, inode: 0 }
    }

    /// Parents have to be added before what lies in them.
    pub(crate) fn directory(&mut self, path: &str, permissions: u32) -> io::Result<()> {
        self.entry(path, DIRECTORY | permissions, &[])
    }

    pub(crate) fn file(&mut self, path: &str, permissions: u32, content: &[u8]) -> io::Result<()> {
        self.entry(path, REGULAR | permissions, content)
    }

    pub(crate) fn symlink(&mut self, path: &str, target: &str) -> io::Result<()> {
        self.entry(path, SYMLINK | 0o777, target.as_bytes())
    }

    /// Writes the end mark and gives the output back.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.entry("TRAILER!!!", 0, &[])?;
        Ok(self.out)
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        let too_large = |_| io::Error::other(format!("{path} is too large for a cpio archive"));
        let size = u32::try_from(content.len()).map_err(too_large)?;
        let name_size = path.len() + 1;
        self.inode += 1;
        let links = if mode & DIRECTORY == 0 { 1 } else { 2 };
        // magic, ino, mode, uid, gid, nlink, mtime, filesize, dev major, minor, rdev major, minor, namesize, check
        write!(
            self.out,
            "070701{:08X}{mode:08X}{:08X}{:08X}{links:08X}{:08X}{size:08X}{:08X}{:08X}{:08X}{:08X}{name_size:08X}{:08X}",
            self.inode, 0, 0, 0, 0, 0, 0, 0, 0
        )?;
        write!(self.out, "{path}\0")?;
        self.pad(110 + name_size)?;
        self.out.write_all(content)?;
        self.pad(content.len())
    }

    fn pad(&mut self, written: usize) -> io::Result<()> {
        self.out.write_all(&[0; ALIGNMENT][..written.next_multiple_of(ALIGNMENT) - written])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_byte_for_byte() {
        let mut writer = Writer::new(Vec::new());
        writer.directory("bin", 0o755).unwrap();
        writer.file("bin/a", 0o644, b"hello").unwrap();
        let bytes = writer.finish().unwrap();
        let zeros = |fields: usize| "00000000".repeat(fields);
        let directory =
            format!("07070100000001000041ED{}00000002{}00000004{}bin\0\0\0", zeros(2), zeros(6), zeros(1));
        let file = format!(
            "07070100000002000081A4{}00000001{}00000005{}00000006{}bin/a\0hello\0\0\0",
            zeros(2),
            zeros(1),
            zeros(4),
            zeros(1)
        );
        let trailer = format!(
            "0707010000000300000000{}00000001{}0000000B{}TRAILER!!!\0\0\0\0",
            zeros(2),
            zeros(6),
            zeros(1)
        );
        assert_eq!(String::from_utf8(bytes).unwrap(), directory + &file + &trailer);
    }

    #[test]
    fn a_link_holds_its_target() {
        let mut writer = Writer::new(Vec::new());
        writer.symlink("lib", "usr/lib").unwrap();
        let bytes = writer.finish().unwrap();
        assert_eq!(&bytes[14..22], b"0000A1FF");
        assert_eq!(&bytes[110..124], b"lib\0\0\0usr/lib\0");
    }
}
