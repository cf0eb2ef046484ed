//! A phone without a phone: Debian's arm64 kernels with their real UFS driver, the real `adbd` and the real `adb`,
//! joined by QEMU's UFS controller.
//!
//! [`setup::run`] makes the guests, [`Phone::boot`] starts one. What is real and what is a stand-in is listed in
//! `tests/README.md`.

pub mod adb;
pub mod apt;
mod command;
mod console;
mod cpio;
pub mod detached;
pub mod guests;
pub mod host;
mod initramfs;
pub mod kernel;
mod modules;
pub mod options;
mod phone;
mod process;
mod qemu;
mod qmp;
pub mod setup;

pub use options::{BootOptions, Disk, Su};
pub use phone::Phone;
