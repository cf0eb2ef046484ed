//! How a kernel was built: `/proc/config.gz` (`CONFIG_IKCONFIG_PROC`, kernel/configs.c).

use crate::recording::Recording;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use tophalf_wire::{Reading, Unavailable};

/// Most bytes of a configuration: those of distributions have 300 KiB.
const MOST_BYTES: u64 = 8 << 20;

/// The options of a kernel and their values; one that is not set is `n`.
pub type Options = BTreeMap<String, String>;

/// The options of the kernel that a run was made on.
///
/// # Errors
/// The device does not tell, or what it told is damaged.
pub fn of_recording(recording: &Recording) -> Reading<Options> {
    let Some(config) = &recording.config else {
        return Err(Unavailable::new("the device did not send its kernel's configuration"));
    };
    let text = unpack(config.gzip.as_ref().map_err(Clone::clone)?)?;
    Ok(parse(&text))
}

fn unpack(gzip: &[u8]) -> Reading<String> {
    let mut bytes = Vec::new();
    let read = GzDecoder::new(gzip).take(MOST_BYTES + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 > MOST_BYTES => {
            Err(Unavailable::new(format!("/proc/config.gz holds more than {MOST_BYTES} bytes")))
        }
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => Err(Unavailable::new(format!("/proc/config.gz cannot be unpacked: {error}"))),
    }
}

/// Reads a configuration as scripts/kconfig/confdata.c writes it:
///
/// ```text
/// CONFIG_PREEMPT=y
/// # CONFIG_PREEMPT_RT is not set
/// ```
pub fn parse(text: &str) -> Options {
    text.lines()
        .filter_map(|line| match line.strip_prefix("# ").and_then(|line| line.strip_suffix(" is not set")) {
            Some(name) => Some((name, "n")),
            None => line.split_once('=').filter(|(name, _)| name.starts_with("CONFIG_")),
        })
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Options that only name a build: two kernels that one commit lies between may differ in them.
const NAMES_OF_BUILDS: [&str; 3] = ["CONFIG_BUILD_SALT", "CONFIG_LOCALVERSION", "CONFIG_LOCALVERSION_AUTO"];

/// A check sum of what is set, the same however the file is ordered or commented and the build is named.
pub fn check_sum(options: &Options) -> String {
    let mut sum = crc32fast::Hasher::new();
    for (name, value) in options.iter().filter(|(name, _)| !NAMES_OF_BUILDS.contains(&name.as_str())) {
        sum.update(format!("{name}={value}\n").as_bytes());
    }
    format!("{:08x}", sum.finalize())
}

/// Options that differ: name, value on the base, value on the new side; `n` where an option is not there. What only names
/// a build is left out.
pub fn differences(base: &Options, new: &Options) -> Vec<(String, String, String)> {
    let value =
        |options: &Options, name: &str| options.get(name).map_or_else(|| "n".to_owned(), Clone::clone);
    let mut names: Vec<&String> = base.keys().chain(new.keys()).collect();
    names.retain(|name| !NAMES_OF_BUILDS.contains(&name.as_str()));
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .map(|name| (name.clone(), value(base, name), value(new, name)))
        .filter(|(_, base, new)| base != new)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    const TEXT: &str = "#\n# Linux/arm64 6.18.15 Kernel Configuration\n#\nCONFIG_HZ=250\nCONFIG_PREEMPT=y\n\
                        # CONFIG_PREEMPT_RT is not set\nCONFIG_CC_VERSION_TEXT=\"gcc=15\"\n";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_configuration_is_read() {
        let options = parse(&unpack(&gzip(TEXT.as_bytes())).unwrap());
        assert_eq!(options.len(), 4);
        assert_eq!(options["CONFIG_PREEMPT_RT"], "n");
        assert_eq!(options["CONFIG_CC_VERSION_TEXT"], "\"gcc=15\"");
    }

    #[test]
    fn differences_are_those_of_values() {
        let base = parse(TEXT);
        let new = parse("CONFIG_PREEMPT_RT=y\nCONFIG_HZ=250\nCONFIG_CC_VERSION_TEXT=\"gcc=15\"\n");
        let told = differences(&base, &new);
        let expect = |name: &str, base: &str, new: &str| (name.to_owned(), base.to_owned(), new.to_owned());
        assert_eq!(told, [expect("CONFIG_PREEMPT", "y", "n"), expect("CONFIG_PREEMPT_RT", "n", "y")]);
        assert_ne!(check_sum(&base), check_sum(&new));
        assert_eq!(check_sum(&base), check_sum(&parse(&format!("# a comment\n{TEXT}"))));
    }

    #[test]
    fn what_a_build_is_called_is_no_difference() {
        let named = |name: &str| parse(&format!("{TEXT}CONFIG_LOCALVERSION=\"{name}\"\n"));
        assert_eq!(check_sum(&named("-base")), check_sum(&named("-reverted")));
        assert_eq!(differences(&named("-base"), &named("-reverted")), []);
    }

    #[test]
    fn what_is_damaged_or_too_large_is_refused() {
        assert!(unpack(b"no gzip").is_err());
        let packed = gzip(TEXT.as_bytes());
        assert!(unpack(&packed[..packed.len() - 4]).is_err());
        assert!(unpack(&gzip(&vec![b'#'; 9 << 20])).unwrap_err().reason.contains("more than"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = unpack(&bytes);
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
