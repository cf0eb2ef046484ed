//! System calls that neither std nor nix has a safe form of. All that is `unsafe` in the agent, but for the
//! signal handlers in `stop.rs`, is here.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

mod ioctls {
    //! include/uapi/linux/fs.h
    nix::ioctl_read_bad!(blksszget, libc::BLKSSZGET, libc::c_int);
    nix::ioctl_read!(blkgetsize64, 0x12, 114, libc::size_t);
}

/// Bytes of a block device's logical block (`BLKSSZGET`).
///
/// # Errors
/// `device` is no block device, or its driver refused.
pub fn logical_block_bytes(device: &File) -> io::Result<u32> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open, and BLKSSZGET stores one int where the pointer says.
    unsafe { ioctls::blksszget(device.as_raw_fd(), &raw mut bytes) }?;
    u32::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

/// Bytes of a block device (`BLKGETSIZE64`).
///
/// # Errors
/// `device` is no block device, or its driver refused.
pub fn device_bytes(device: &File) -> io::Result<u64> {
    let mut bytes: libc::size_t = 0;
    // SAFETY: the descriptor is open, and BLKGETSIZE64 stores one u64, which is as wide as size_t on the
    // 64-bit systems the agent is built for.
    unsafe { ioctls::blkgetsize64(device.as_raw_fd(), &raw mut bytes) }?;
    Ok(bytes as u64)
}

/// What direct I/O on a file must be aligned to, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Of the buffer.
    pub memory_bytes: u32,
    /// Of offset and length. 0: this file has no direct I/O.
    pub offset_bytes: u32,
}

/// `statx(STATX_DIOALIGN)`; `None` where the kernel (before 6.1) or the file system does not tell.
///
/// # Errors
/// What the kernel answered.
pub fn direct_alignment(file: &File) -> io::Result<Option<DirectAlignment>> {
    const STATX_DIOALIGN: u32 = 0x2000;
    let mut found = MaybeUninit::<libc::statx>::zeroed();
    // The raw call, since musl's wrapper is younger than some of the libraries this is linked with.
    // SAFETY: the path is empty and ended by a zero, AT_EMPTY_PATH names the open descriptor itself, and the
    // kernel fills one struct statx, for which there is room.
    let result = unsafe {
        libc::syscall(
            libc::SYS_statx,
            file.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            STATX_DIOALIGN,
            found.as_mut_ptr(),
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all bit patterns, zeroes among them, are a struct statx.
    let found = unsafe { found.assume_init() };
    Ok((found.stx_mask & STATX_DIOALIGN != 0).then_some(DirectAlignment {
        memory_bytes: found.stx_dio_mem_align,
        offset_bytes: found.stx_dio_offset_align,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_block_device() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(logical_block_bytes(&file).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
        assert_eq!(device_bytes(&file).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    fn alignment_of_a_file_is_told_or_not_but_never_an_error() {
        let file = tempfile::tempfile().unwrap();
        if let Some(alignment) = direct_alignment(&file).unwrap() {
            assert!(alignment.offset_bytes == 0 || alignment.offset_bytes.is_power_of_two());
        }
    }
}
