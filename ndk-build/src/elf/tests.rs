//! Made-up files with one fault each, a real file, and damaged ones.

use proptest::prelude::*;

use super::*;

/// `p_type, p_offset, p_vaddr, p_filesz, p_align` of one segment.
type Segment = (u32, u64, u64, u64, u64);

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const INTERP: u32 = 3;
const TLS: u32 = 7;
const GOOD_LOAD: Segment = (LOAD, 0, 0x20_0000, 64, 0x10000);

/// A file with these segments, then `tail`, then one section of `section_type`.
fn elf(machine: u16, kind: u16, segments: &[Segment], tail: &[u8], section_type: u32) -> Vec<u8> {
    let count = u16::try_from(segments.len()).unwrap();
    let section_offset = 64 + 56 * segments.len() + tail.len();
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let put16 = |file: &mut Vec<u8>, value: u16| file.extend(value.to_le_bytes());
    let put32 = |file: &mut Vec<u8>, value: u32| file.extend(value.to_le_bytes());
    let put64 = |file: &mut Vec<u8>, value: u64| file.extend(value.to_le_bytes());
    put16(&mut file, kind);
    put16(&mut file, machine);
    put32(&mut file, 1);
    put64(&mut file, 0x20_0000);
    put64(&mut file, 64);
    put64(&mut file, section_offset as u64);
    put32(&mut file, 0);
    for value in [64, 56, count, 64, 1, 0] {
        put16(&mut file, value);
    }
    for &(kind, offset, address, size, align) in segments {
        put32(&mut file, kind);
        put32(&mut file, 5);
        for value in [offset, address, address, size, size, align] {
            put64(&mut file, value);
        }
    }
    file.extend(tail);
    put32(&mut file, 0);
    put32(&mut file, section_type);
    file.extend([0; 56]);
    file
}

fn aarch64(segments: &[Segment]) -> Vec<u8> {
    elf(183, 2, segments, b"", 0)
}

fn refusal(file: &[u8]) -> String {
    format!("{:#}", check(file, Some(Arch::Aarch64), Linkage::Static).unwrap_err())
}

#[test]
fn a_static_aarch64_file_passes() {
    let file = aarch64(&[GOOD_LOAD, (LOAD, 0x1_0040, 0x24_0040, 0, 0x4000), (TLS, 0, 0, 0, 8)]);
    let report = check(&file, Some(Arch::Aarch64), Linkage::Static).unwrap_err();
    assert!(
        report.to_string().contains("ends outside of the file"),
        "an offset beyond the end is refused: {report}"
    );
    let file = aarch64(&[GOOD_LOAD, (LOAD, 0x40, 0x24_0040, 8, 0x4000), (TLS, 0, 0, 0, 8)]);
    let report = check(&file, Some(Arch::Aarch64), Linkage::Static).unwrap();
    assert_eq!((report.arch, report.align_bytes, report.bytes), (Arch::Aarch64, 0x4000, file.len() as u64));
    assert_eq!(check(&file, None, Linkage::Static).unwrap(), report);
}

#[test]
fn another_machine_is_refused() {
    let file = elf(62, 2, &[GOOD_LOAD], b"", 0);
    assert_eq!(check(&file, None, Linkage::Static).unwrap().arch, Arch::X86_64);
    assert_eq!(refusal(&file), "it is for x86_64, not for aarch64");
    assert!(refusal(&elf(8, 2, &[GOOD_LOAD], b"", 0)).contains("neither aarch64 nor x86_64"));
}

#[test]
fn an_object_file_and_an_empty_program_are_refused() {
    assert_eq!(refusal(&elf(183, 1, &[GOOD_LOAD], b"", 0)), "it is not a program");
    assert_eq!(refusal(&aarch64(&[])), "it has nothing to load");
}

#[test]
fn pages_of_16_kib_are_required() {
    for align in [0, 1, 0x1000, 0x2000, 0x4001] {
        let file = aarch64(&[GOOD_LOAD, (LOAD, 0, 0x30_0000, 64, align)]);
        assert!(refusal(&file).contains("less than a page of 16384"), "{align}: {}", refusal(&file));
    }
    assert!(refusal(&aarch64(&[(LOAD, 0x10, 0x20_0000, 8, 0x4000)])).contains("can not be mapped"));
}

#[test]
fn thread_local_segments_are_aligned() {
    assert!(refusal(&aarch64(&[GOOD_LOAD, (TLS, 0, 0, 0, 3)])).contains("thread-local"));
    let elf_file = aarch64(&[GOOD_LOAD]);
    let elf = Elf::parse(&elf_file).unwrap();
    let tls = aarch64(&[(TLS, 0, 0, 0, 8)]);
    let parsed = Elf::parse(&tls).unwrap();
    assert!(elf.wrong_tls(&parsed.segments[0], Linkage::Bionic).unwrap().contains("outside of 64"));
    assert_eq!(elf.wrong_tls(&parsed.segments[0], Linkage::Static), None);
}

#[test]
fn a_symbol_table_is_refused() {
    assert!(refusal(&elf(183, 2, &[GOOD_LOAD], b"", 2)).contains("not stripped"));
}

#[test]
fn more_than_a_mebibyte_is_refused() {
    let file = elf(183, 2, &[GOOD_LOAD], &vec![0; 1 << 20], 0);
    assert!(refusal(&file).contains("more than 1048576"));
}

/// A dynamic program: its loader's name, the names of its libraries and its dynamic segment follow the headers.
fn dynamic(loader: &[u8], library: &[u8]) -> Vec<u8> {
    let start = 64 + 3 * 56;
    let names = [b"\0", library, b"\0"].concat();
    let mut tail = [loader, b"\0", &names].concat();
    let names_at = start + loader.len() as u64 + 1;
    let dynamic_at = start + tail.len() as u64;
    let entries = [(1, 1), (5, names_at), (10, names.len() as u64), (0_u64, 0_u64)];
    tail.extend(entries.iter().flat_map(|(tag, value)| [tag.to_le_bytes(), value.to_le_bytes()].concat()));
    let segments = [
        (LOAD, 0, 0, dynamic_at + 64, 0x4000),
        (INTERP, start, start, loader.len() as u64 + 1, 1),
        (DYNAMIC, dynamic_at, dynamic_at, 64, 8),
    ];
    elf(183, 3, &segments, &tail, 0)
}

#[test]
fn dynamic_programs_are_refused_where_static_ones_are_wanted() {
    let file = dynamic(BIONIC_LOADER, b"libc.so");
    assert_eq!(refusal(&file), "it is not static: it needs /system/bin/linker64");
}

#[test]
fn a_static_program_that_needs_a_library_is_refused() {
    let mut file = dynamic(BIONIC_LOADER, b"libc.so");
    file[64 + 56] = 0; // PT_INTERP becomes PT_NULL.
    assert_eq!(refusal(&file), "it is not static: it needs libc.so");
}

#[test]
fn bionic_programs_may_only_need_what_every_phone_has() {
    let bionic = |file: &[u8]| check(file, Some(Arch::Aarch64), Linkage::Bionic);
    assert!(bionic(&dynamic(BIONIC_LOADER, b"liblog.so")).is_ok());
    let text = bionic(&dynamic(BIONIC_LOADER, b"libutils.so")).unwrap_err().to_string();
    assert!(text.contains("libutils.so"), "{text}");
    let text = bionic(&dynamic(b"/lib/ld-linux-aarch64.so.1", b"libc.so")).unwrap_err().to_string();
    assert!(text.contains("/system/bin/linker64"), "{text}");
    assert!(bionic(&aarch64(&[GOOD_LOAD])).is_err());
}

#[test]
fn a_real_program_is_read() {
    let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let text = format!("{:#}", check(&file, None, Linkage::Static).unwrap_err());
    assert!(text.contains("not static") && text.contains("not stripped"), "{text}");
}

#[test]
fn every_truncation_is_refused() {
    let file = dynamic(BIONIC_LOADER, b"libc.so");
    assert!(check(&file, None, Linkage::Bionic).is_ok());
    for length in 0..file.len() {
        assert!(check(&file[..length], None, Linkage::Bionic).is_err(), "{length} bytes pass");
    }
    for text in ["", "#!/bin/sh\n", "\x7fELF"] {
        assert!(
            refusal(text.as_bytes()).starts_with("not a 64-bit ELF file: "),
            "{}",
            refusal(text.as_bytes())
        );
    }
}

proptest! {
    #[test]
    fn garbage_is_an_error_and_never_a_panic(file in proptest::collection::vec(any::<u8>(), 0..512)) {
        prop_assert!(check(&file, None, Linkage::Static).is_err());
    }

    #[test]
    fn damage_never_panics(damage in proptest::collection::vec((0..480_usize, any::<u8>()), 1..8)) {
        let mut file = dynamic(BIONIC_LOADER, b"libc.so");
        let length = file.len();
        for (at, byte) in damage {
            file[at % length] = byte;
        }
        for linkage in [Linkage::Static, Linkage::Bionic] {
            let _checked = check(&file, None, linkage);
        }
    }
}
