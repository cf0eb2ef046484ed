//! Whatever a file holds, it is read or refused, and what is read is finite.

use super::*;
use proptest::prelude::*;

const SAMPLES: [&str; 9] =
    [UFS_REPORT, PIXEL_REPORT, NVME_REPORT, JSON_PLUS, TWO_JOBS, STATUS, CLIENTS, CLIENT_TEXT, TEXT];
const FORMATS: [Option<Format>; 4] = [None, Some(Format::Csv), Some(Format::FioJson), Some(Format::FioText)];

/// Reads in every format, and checks what is promised of every run.
fn is_read_or_refused(bytes: &[u8]) {
    for variant in [None, Some("x".to_owned())] {
        for format in FORMATS {
            let given = Given { variant: variant.clone(), ..Given::default() };
            if let Ok(imported) = read(bytes, "file", format, &given) {
                assert!(!imported.runs.is_empty());
                for run in &imported.runs {
                    assert!(!run.metrics.is_empty() && !run.variant.is_empty() && !run.workload.is_empty());
                    assert!(run.metrics.iter().all(|metric| metric.value.is_finite()));
                }
            }
        }
    }
}

/// A real file with some of it changed.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0..4_u8, any::<u8>(), 1..200_usize);
    (prop::sample::select(&SAMPLES[..]), prop::collection::vec(change, 1..6)).prop_map(|(sample, changes)| {
        let mut bytes = sample.as_bytes().to_vec();
        for (place, kind, byte, length) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            let end = bytes.len().min(at + length);
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                2 => {
                    bytes.drain(at..end);
                }
                _ => {
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
            }
        }
        bytes
    })
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        is_read_or_refused(&bytes);
    }

    #[test]
    fn any_words_of_the_formats(
        words in prop::collection::vec(
            prop::sample::select(&[
                "Linux 6", ".1 ", "a: (groupid=", "0", ", jobs=1): err= ", ":", "\n", "read: ", "IOPS=", "BW=", "787k", "KiB/s",
                ", ", "Run status group ", " READ: bw=", "Disk stats (read/write):", "  sda: ios=", "clat (usec): avg=",
                "clat percentiles (nsec):", "| 50.00th=[ ", "]", "{", "}", "\"jobs\":", "[", "\"read\":", "\"iops\":", "1e308", "-1",
                "variant", "score", "workload", ",", "\"", "µ", "run", "99999999999999999999", "> ", "trim:", " ",
            ][..]),
            0..80,
        ),
    ) {
        is_read_or_refused(words.concat().as_bytes());
    }

    #[test]
    fn damaged_files(bytes in damaged()) {
        is_read_or_refused(&bytes);
    }
}
