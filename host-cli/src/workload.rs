//! Names of workloads: `randread-4k`, `mixed70-8k`, `seqwrite-128k`. The name says all that the workload is,
//! so that two runs of one name did the same.

use crate::units::{block_size, write_size};
use tophalf_wire::{Engine, Pattern, Workload};

/// What `--rw` can be, in fio's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Rw {
    Read,
    Write,
    Randread,
    Randwrite,
    #[value(name = "randrw")]
    Randmixed,
    #[value(name = "rw")]
    Mixed,
}

/// Reads among 100 operations of a mix that does not say.
const MIX_READ_PERCENT: u8 = 50;

impl Rw {
    fn pattern(self) -> Pattern {
        match self {
            Self::Read | Self::Write | Self::Mixed => Pattern::Sequential,
            Self::Randread | Self::Randwrite | Self::Randmixed => Pattern::Random,
        }
    }

    /// `None` for a mix.
    fn read_percent(self) -> Option<u8> {
        match self {
            Self::Read | Self::Randread => Some(100),
            Self::Write | Self::Randwrite => Some(0),
            Self::Mixed | Self::Randmixed => None,
        }
    }
}

/// Reads a name.
pub(crate) fn parse(name: &str) -> Result<Workload, String> {
    const EXPECTED: &str =
        "write randread-4k, randwrite-4k, mixed-4k, mixed70-4k (70 % reads), seqread-128k and the like";
    let wrong = || format!("{name:?} is no workload: {EXPECTED}");
    let (kind, bytes) = name.rsplit_once('-').ok_or_else(wrong)?;
    let block_bytes = block_size(bytes).map_err(|why| format!("workload {name:?}: {why}"))?;
    let (pattern, read_percent) = match kind {
        "randread" => (Pattern::Random, 100),
        "randwrite" => (Pattern::Random, 0),
        "seqread" => (Pattern::Sequential, 100),
        "seqwrite" => (Pattern::Sequential, 0),
        _ => {
            let (pattern, mix) = match kind.strip_prefix("seq") {
                Some(rest) => (Pattern::Sequential, rest),
                None => (Pattern::Random, kind),
            };
            let percent = match mix.strip_prefix("mixed").ok_or_else(wrong)? {
                "" => MIX_READ_PERCENT,
                percent => {
                    percent.parse().ok().filter(|percent| (1..100).contains(percent)).ok_or_else(wrong)?
                }
            };
            (pattern, percent)
        }
    };
    Ok(Workload { engine: Engine::Psync, pattern, read_percent, block_bytes, seed: 1 })
}

/// The name of a workload; [`parse`] reads it.
pub(crate) fn name(workload: &Workload) -> String {
    let random = workload.pattern == Pattern::Random;
    let kind = match workload.read_percent {
        100 if random => "randread".to_owned(),
        0 if random => "randwrite".to_owned(),
        100 => "seqread".to_owned(),
        0 => "seqwrite".to_owned(),
        percent => {
            let prefix = if random { "mixed" } else { "seqmixed" };
            if percent == MIX_READ_PERCENT { prefix.to_owned() } else { format!("{prefix}{percent}") }
        }
    };
    format!("{kind}-{}", write_size(workload.block_bytes.into()))
}

/// Changes a workload by `--rw` and `--rwmixread`.
pub(crate) fn change(workload: &mut Workload, rw: Option<Rw>, mix: Option<u8>) -> Result<(), String> {
    let mixes = match rw {
        Some(rw) => {
            workload.pattern = rw.pattern();
            workload.read_percent = rw.read_percent().unwrap_or(MIX_READ_PERCENT);
            rw.read_percent().is_none()
        }
        None => !matches!(workload.read_percent, 0 | 100),
    };
    match mix {
        Some(percent) if mixes => workload.read_percent = percent,
        Some(_) => return Err("--rwmixread needs a mix: add --rw randrw or --rw rw".to_owned()),
        None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_done() {
        let expect = |name, pattern, read_percent, block_bytes| {
            let workload = parse(name).unwrap();
            assert_eq!(
                (workload.pattern, workload.read_percent, workload.block_bytes),
                (pattern, read_percent, block_bytes),
                "{name}"
            );
            assert_eq!(super::name(&workload), name);
        };
        expect("randread-4k", Pattern::Random, 100, 4096);
        expect("randread-8k", Pattern::Random, 100, 8192);
        expect("randwrite-4k", Pattern::Random, 0, 4096);
        expect("mixed-4k", Pattern::Random, 50, 4096);
        expect("mixed70-4k", Pattern::Random, 70, 4096);
        expect("seqread-128k", Pattern::Sequential, 100, 131_072);
        expect("seqmixed30-1m", Pattern::Sequential, 30, 1 << 20);
        expect("seqwrite-512", Pattern::Sequential, 0, 512);
    }

    #[test]
    fn other_names_are_refused() {
        for name in
            ["", "randread", "randread-", "read-4k", "mixed0-4k", "mixed100-4k", "mixed-4kB", "seq-4k"]
        {
            assert!(parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn changes() {
        let changed = |rw, mix| {
            let mut workload = parse("randread-4k").unwrap();
            change(&mut workload, rw, mix).map(|()| name(&workload))
        };
        assert_eq!(changed(Some(Rw::Write), None).unwrap(), "seqwrite-4k");
        assert_eq!(changed(Some(Rw::Randmixed), None).unwrap(), "mixed-4k");
        assert_eq!(changed(Some(Rw::Mixed), Some(70)).unwrap(), "seqmixed70-4k");
        assert!(changed(None, Some(70)).is_err());
        assert!(changed(Some(Rw::Read), Some(70)).is_err());
    }
}
