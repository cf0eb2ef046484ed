//! `/proc/softirqs`.

use super::text;
use tophalf_wire::SoftirqTable;

/// Parses `/proc/softirqs` (`show_softirqs`, fs/proc/softirqs.c), which has a column each possible CPU:
///
/// ```text
///                     CPU0       CPU1
///           HI:          0          0
///        BLOCK:         64          2
/// ```
///
/// Rows that do not have exactly one count a column are passed over.
pub fn parse(bytes: &[u8]) -> Option<SoftirqTable> {
    let mut lines = text::lines(bytes);
    let cpus = text::cpu_columns(lines.next()?)?;
    let rows = lines.filter_map(|line| {
        let (name, counts) = text::split_at_colon(line)?;
        let counts: Vec<u64> = text::words(counts).map(text::count).collect::<Option<_>>()?;
        (counts.len() == cpus.len()).then(|| (text::lossy(name), counts))
    });
    let rows = rows.collect();
    Some(SoftirqTable { cpus, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_each_possible_cpu() {
        let text = b"                    CPU0       CPU1       \n          HI:          0          0\n       BLOCK:         64          2\n       TORN:          1\n";
        let table = parse(text).unwrap();
        assert_eq!(table.cpus, [0, 1]);
        assert_eq!(table.rows, [("HI".to_owned(), vec![0, 0]), ("BLOCK".to_owned(), vec![64, 2])]);
    }
}
