//! How long CPUs ran at each frequency: `cpufreq/policy*/stats/time_in_state`.

use super::{cpu, text, tree::Tree};
use tophalf_wire::{PolicyTimes, Reading};

const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";
/// Most policies, and most frequencies of one, that are read.
const MOST: usize = 256;

/// Parses frequencies in kHz and times in units of 10 ms (`show_time_in_state`, drivers/cpufreq/cpufreq_stats.c):
///
/// ```text
/// 614400 123
/// 1820000 45678
/// ```
pub fn parse(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
    let rows = text::lines(bytes).filter(|line| !line.trim_ascii().is_empty()).take(MOST).map(|line| {
        let mut words = text::words(line);
        let row = (text::number(words.next()?)?, text::number(words.next()?)?);
        words.next().is_none().then_some(row)
    });
    rows.collect()
}

/// The times of every policy that keeps them.
pub fn read(tree: &Tree) -> Reading<Vec<PolicyTimes>> {
    let mut policies: Vec<u16> = tree
        .list(FOLDER)?
        .iter()
        .filter_map(|name| text::number(name.strip_prefix("policy")?.as_bytes()))
        .take(MOST)
        .collect();
    policies.sort_unstable();
    let times = policies.into_iter().map(|policy| {
        let folder = format!("{FOLDER}/policy{policy}");
        Ok(PolicyTimes {
            policy,
            cpus: tree.parse(&format!("{folder}/affected_cpus"), parse_cpus),
            times: tree.parse(&format!("{folder}/stats/time_in_state"), parse)?,
        })
    });
    times.collect()
}

/// Parses `affected_cpus`, which has blanks between the numbers (`cpufreq_show_cpus`, drivers/cpufreq/cpufreq.c).
fn parse_cpus(bytes: &[u8]) -> Option<Vec<u16>> {
    let cpus = text::lossy(bytes).split_whitespace().collect::<Vec<_>>().join(",");
    cpu::parse_list(cpus.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_frequency_and_time() {
        assert_eq!(parse(b"614400 123\n1820000 45678\n").unwrap(), [(614_400, 123), (1_820_000, 45_678)]);
        assert!(parse(b"").unwrap().is_empty());
        for text in ["614400\n", "614400 1 2\n", "a 1\n", "1 -1\n"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn cpus_between_blanks() {
        assert_eq!(parse_cpus(b"0 1 2 5\n").unwrap(), [0, 1, 2, 5]);
        assert_eq!(parse_cpus(b"6\n").unwrap(), [6]);
        assert_eq!(parse_cpus(b"1 0"), None);
    }
}
