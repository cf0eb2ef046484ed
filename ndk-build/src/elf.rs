//! What an agent's file must be for a phone to run it, read from the file itself.

use anyhow::{Context, Result, bail};
use object::Endianness;
use object::elf::{
    DT_NEEDED, DT_STRSZ, DT_STRTAB, DynamicTag, EM_AARCH64, EM_X86_64, ET_DYN, ET_EXEC, FileHeader64,
    PT_DYNAMIC, PT_INTERP, PT_LOAD, PT_TLS, ProgramHeader64, ProgramType, SHT_SYMTAB,
};
use object::read::StringTable;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader};

use crate::flavor::Arch;

/// A phone's agent is pushed before every measurement and lives in its page cache.
const MAX_BYTES: u64 = 1 << 20;

/// The largest page of an Android kernel. A segment that is less aligned can not be mapped there.
const PAGE_BYTES: u64 = 16 << 10;

/// bionic on aarch64 keeps its own words before the thread-local segment and aborts at start when it is less aligned.
const BIONIC_TLS_BYTES: u64 = 64;

/// Android's dynamic loader for 64-bit programs.
const BIONIC_LOADER: &[u8] = b"/system/bin/linker64";

/// The libraries that every Android has for programs pushed by adb.
const BIONIC_LIBRARIES: [&[u8]; 4] = [b"libc.so", b"libdl.so", b"liblog.so", b"libm.so"];

/// How an agent is meant to be linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linkage {
    /// Needs nothing at all from the phone.
    Static,
    /// Needs Android's loader and some of its libraries.
    Bionic,
}

/// What was found in a file that passed every check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The processor it is for.
    pub(crate) arch: Arch,
    /// Its length.
    pub(crate) bytes: u64,
    /// The smallest alignment of its segments.
    pub(crate) align_bytes: u64,
    /// How it is linked.
    pub(crate) linkage: Linkage,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let linkage = match self.linkage {
            Linkage::Static => "static",
            Linkage::Bionic => "dynamic (bionic)",
        };
        let (arch, bytes, align) = (self.arch, self.bytes, self.align_bytes >> 10);
        write!(f, "{bytes} bytes; passed: {arch}, {linkage}, stripped, {align} KiB pages, at most 1 MiB")
    }
}

/// Checks the bytes of an agent's file. The error lists everything that is wrong with it, each kind of fault once.
pub(crate) fn check(file: &[u8], arch: Option<Arch>, linkage: Linkage) -> Result<Report> {
    let elf = Elf::parse(file).context("not a 64-bit ELF file")?;
    let found = elf.arch();
    let bytes = file.len() as u64;
    let loads: Vec<_> = elf.segments(PT_LOAD).collect();
    let mut wrong = Vec::new();
    match (found, arch) {
        (None, _) => wrong.push("it is for a machine that is neither aarch64 nor x86_64".to_owned()),
        (Some(found), Some(wanted)) if found != wanted => {
            wrong.push(format!("it is for {found}, not for {wanted}"));
        }
        _ => {}
    }
    if bytes > MAX_BYTES {
        wrong.push(format!("its {bytes} bytes are more than {MAX_BYTES}"));
    }
    if loads.is_empty() {
        wrong.push("it has nothing to load".to_owned());
    }
    wrong.extend(elf.wrong_linkage(linkage)?);
    wrong.extend(elf.wrong_symbols()?);
    wrong.extend(loads.iter().find_map(|segment| elf.wrong_load(segment)));
    wrong.extend(elf.segments(PT_TLS).find_map(|segment| elf.wrong_tls(segment, linkage)));
    let align_bytes = loads.iter().map(|segment| segment.p_align(elf.endian)).min();
    match (found, align_bytes) {
        (Some(arch), Some(align_bytes)) if wrong.is_empty() => {
            Ok(Report { arch, bytes, align_bytes, linkage })
        }
        _ => bail!("{}", wrong.join("; ")),
    }
}

/// A parsed file. Every `wrong_…` answers what is wrong, and fails where the file can not be read to the end.
struct Elf<'a> {
    file: &'a [u8],
    header: &'a FileHeader64<Endianness>,
    endian: Endianness,
    segments: &'a [ProgramHeader64<Endianness>],
}

impl<'a> Elf<'a> {
    fn parse(file: &'a [u8]) -> object::Result<Self> {
        let header = FileHeader64::<Endianness>::parse(file)?;
        let endian = header.endian()?;
        let segments = header.program_headers(endian, file)?;
        Ok(Self { file, header, endian, segments })
    }

    fn arch(&self) -> Option<Arch> {
        match self.header.e_machine(self.endian) {
            EM_AARCH64 => Some(Arch::Aarch64),
            EM_X86_64 => Some(Arch::X86_64),
            _ => None,
        }
    }

    fn segments(&self, kind: ProgramType) -> impl Iterator<Item = &'a ProgramHeader64<Endianness>> {
        let endian = self.endian;
        self.segments.iter().filter(move |segment| segment.p_type(endian) == kind)
    }

    fn wrong_linkage(&self, linkage: Linkage) -> Result<Option<String>> {
        let kind = self.header.e_type(self.endian);
        let needed = self.needed()?;
        let loader = match self.segments(PT_INTERP).next() {
            Some(segment) => segment.interpreter(self.endian, self.file)?,
            None => None,
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(match (linkage, loader) {
            _ if kind != ET_EXEC && kind != ET_DYN => Some("it is not a program".to_owned()),
            (Linkage::Static, Some(loader)) => Some(format!("it is not static: it needs {}", text(loader))),
            (Linkage::Static, None) => {
                needed.first().map(|name| format!("it is not static: it needs {}", text(name)))
            }
            (Linkage::Bionic, Some(BIONIC_LOADER)) if kind == ET_DYN => needed
                .iter()
                .find(|name| !BIONIC_LIBRARIES.contains(name))
                .map(|name| format!("it needs {}, which a phone may not have", text(name))),
            (Linkage::Bionic, _) => Some(format!(
                "it is not a position-independent program for Android's loader, {}",
                text(BIONIC_LOADER)
            )),
        })
    }

    /// The libraries that the loader would have to find.
    fn needed(&self) -> Result<Vec<&'a [u8]>> {
        let Some(segment) = self.segments(PT_DYNAMIC).next() else { return Ok(Vec::new()) };
        let entries = segment.dynamic(self.endian, self.file)?.unwrap_or_default();
        let values = |tag: DynamicTag| {
            entries
                .iter()
                .filter(move |entry| entry.d_tag(self.endian) == tag)
                .map(|entry| entry.d_val(self.endian))
        };
        if values(DT_NEEDED).next().is_none() {
            return Ok(Vec::new());
        }
        let (Some(address), Some(size)) = (values(DT_STRTAB).next(), values(DT_STRSZ).next()) else {
            bail!("its dynamic segment needs libraries but has no names");
        };
        let names = self
            .segments(PT_LOAD)
            .find_map(|load| load.data_range(self.endian, self.file, address, size).ok().flatten())
            .context("the names of its libraries are outside of the file")?;
        let names = StringTable::new(names, 0, names.len() as u64);
        values(DT_NEEDED)
            .map(|offset| {
                let name = u32::try_from(offset).ok().and_then(|offset| names.get(offset).ok());
                name.context("the name of a library is outside of the file")
            })
            .collect()
    }

    fn wrong_symbols(&self) -> Result<Option<String>> {
        let sections = self.header.section_headers(self.endian, self.file).context("it is not whole")?;
        let symbols = sections.iter().any(|section| section.sh_type(self.endian) == SHT_SYMTAB);
        Ok(symbols.then(|| "it is not stripped: it has a symbol table".to_owned()))
    }

    fn wrong_load(&self, segment: &ProgramHeader64<Endianness>) -> Option<String> {
        let (align, address) = (segment.p_align(self.endian), segment.p_vaddr(self.endian));
        let (offset, size) = segment.file_range(self.endian);
        if offset.checked_add(size).is_none_or(|end| end > self.file.len() as u64) {
            Some(format!("it is not whole: the segment at {address:#x} ends outside of the file"))
        } else if !align.is_power_of_two() || align < PAGE_BYTES {
            Some(format!(
                "the segment at {address:#x} is aligned to {align} bytes, less than a page of {PAGE_BYTES}"
            ))
        } else if address % align != offset % align {
            Some(format!("the segment at {address:#x} can not be mapped from offset {offset:#x}"))
        } else {
            None
        }
    }

    fn wrong_tls(&self, segment: &ProgramHeader64<Endianness>, linkage: Linkage) -> Option<String> {
        let align = segment.p_align(self.endian);
        let needs = if linkage == Linkage::Bionic { BIONIC_TLS_BYTES } else { 1 };
        let sane = align.is_power_of_two() && (needs..=PAGE_BYTES).contains(&align);
        (!sane).then(|| {
            format!(
                "its thread-local segment is aligned to {align} bytes, outside of {needs} to {PAGE_BYTES}"
            )
        })
    }
}

#[cfg(test)]
mod tests;
