// The last object of every link against the sysroot (crtend.o). Debian compiles LLVM's libunwind with glibc's fortified
// stdio, so it asks for one function that musl has not. It is only reached when libunwind aborts.
// There is no `core` yet when this is compiled: these are the lang items that one function needs.
#![feature(no_core, lang_items)]
#![allow(internal_features, reason = "compiled without core")]
#![no_core]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy {}
impl Copy for i32 {}

#[unsafe(no_mangle)]
pub extern "C" fn __fprintf_chk() -> i32 {
    0
}
