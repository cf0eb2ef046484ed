//! The table that kernel developers know from the mails of the 0-day robot, to the byte: `lib/compare.rb` of
//! lkp-tests prints it.

use std::iter::once;

/// Columns of the first arm, and of each further one.
const FIRST_WIDTH: usize = 16;
const NEXT_WIDTH: usize = 27;

/// Columns of the rule above the parameters.
const RULE_WIDTH: usize = 89;

/// A spread is printed where it is more than this, in percent of the average.
const STDDEV_SHOWN_PERCENT: f64 = 2.0;

/// One arm of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The average of its runs.
    pub average: f64,
    /// Standard deviation in percent of the average; `None` with a single run.
    pub stddev_percent: Option<f64>,
}

impl Cell {
    /// Of the values of some runs; `None` of none. As in lkp-tests the spread is that of these runs (divided by n),
    /// not an estimate for all runs that might be made (by n - 1), which is what tophalf says elsewhere.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let average = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - average).powi(2)).sum();
        let stddev = (values.len() > 1).then(|| (squares / n).sqrt());
        (!values.is_empty()).then(|| Self {
            average,
            stddev_percent: stddev.map(|stddev| if average == 0.0 { 0.0 } else { 100.0 * stddev / average }),
        })
    }
}

/// A metric of all arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name; one that ends in `%` or begins with `perf-profile` shows its change as a plain difference.
    pub name: String,
    /// The arm that the others are compared with.
    pub base: Cell,
    /// The others, each with its change.
    pub others: Vec<(Change, Cell)>,
}

/// What stands between two arms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// In percent.
    Percent(f64),
    /// In the metric's own unit.
    Absolute(f64),
    /// Not known: a single run does not tell.
    Unknown,
}

impl Change {
    /// From one average to another, as the metric's name asks for.
    pub fn between(name: &str, base: Cell, other: Cell) -> Self {
        let difference = other.average - base.average;
        if name.ends_with('%') || name.starts_with("perf-profile") {
            Self::Absolute(difference)
        } else if base.average == 0.0 {
            Self::Unknown
        } else {
            Self::Percent(100.0 * difference / base.average)
        }
    }
}

/// The whole block: what was the same, the arms, and the table. `arms` are labels, each with the title of its commit if
/// there is one.
pub fn block(axes: &[(String, String)], arms: &[(String, Option<String>)], rows: &[Row]) -> String {
    let joined = |part: fn(&(String, String)) -> &str| axes.iter().map(part).collect::<Vec<_>>().join("/");
    let mut text = format!(
        "{}\n{}:\n  {}\n\ncommit: \n",
        "=".repeat(RULE_WIDTH),
        joined(|(name, _)| name),
        joined(|(_, value)| value)
    );
    for (label, title) in arms {
        let title = title.as_ref().map_or_else(String::new, |title| format!(" (\"{title}\")"));
        text.push_str(&format!("  {label}{title}\n"));
    }
    text.push('\n');
    let labels: Vec<&str> = arms.iter().map(|(label, _)| label.as_str()).collect();
    text.push_str(&table(&labels, rows));
    text
}

/// Header and rows.
pub fn table(labels: &[&str], rows: &[Row]) -> String {
    let mut widths = once(FIRST_WIDTH).chain(std::iter::repeat(NEXT_WIDTH));
    let mut names = String::new();
    let mut dashes = String::new();
    for label in labels {
        let width = widths.next().unwrap_or(NEXT_WIDTH);
        names.push_str(&format!("{label:>width$.width$} "));
        dashes.push_str(&format!("{} ", "-".repeat(width)));
    }
    let more = labels.len().saturating_sub(1);
    let units = format!("{:>16}{}", "%stddev", "     %change         %stddev".repeat(more));
    let marks = format!("{:>14}  {}", '\\', "        |                \\  ".repeat(more));
    let rows: String = rows.iter().map(row).collect();
    format!("{names}\n{dashes}\n{units}\n{marks}\n{rows}")
}

fn row(row: &Row) -> String {
    let mut line = cell(row.base);
    for (between, other) in &row.others {
        line.push_str(&change(*between));
        line.push_str(&cell(*other));
    }
    format!("{line}  {}\n", row.name)
}

/// 16 columns: ten of the average, six of the spread.
fn cell(cell: Cell) -> String {
    format!("{}{}", average(cell.average), stddev(cell.stddev_percent))
}

fn average(average: f64) -> String {
    match average.abs() {
        small if small < 1000.0 => format!("{average:10.2}"),
        large if large > 1e8 => format!("{:>10}", general(average, 4)),
        _ => format!("{:>10.0}", average.trunc()),
    }
}

fn stddev(percent: Option<f64>) -> String {
    match percent {
        Some(percent) if percent > STDDEV_SHOWN_PERCENT => format!(" ±{:>3.0}%", percent.trunc()),
        _ => " ".repeat(6),
    }
}

/// 12 columns.
fn change(change: Change) -> String {
    match change {
        Change::Percent(percent) if percent.abs() >= 100_000.0 => {
            let sign = if percent > 0.0 { "+" } else { "" };
            format!("{:>10}% ", format!("{sign}{}", general(percent, 2)))
        }
        Change::Percent(percent) => format!("{percent:+10.1}% "),
        Change::Absolute(difference) => format!("{difference:+10.1}  "),
        Change::Unknown => " ".repeat(12),
    }
}

/// `%.*g` of C for values whose exponent is not less than their `digits`: always the form with an exponent.
fn general(value: f64, digits: usize) -> String {
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    format!("{mantissa}e+{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(average: f64) -> Cell {
        Cell { average, stddev_percent: None }
    }

    fn row_of(name: &str, base: &[f64], new: &[f64]) -> Row {
        let (base, new) = (Cell::of(base).unwrap(), Cell::of(new).unwrap());
        Row { name: name.to_owned(), base, others: vec![(Change::between(name, base, new), new)] }
    }

    #[test]
    fn averages_have_ten_columns_by_their_size() {
        for (value, shown) in [
            (0.46, "      0.46"),
            (999.99, "    999.99"),
            (1000.0, "      1000"),
            (1000.99, "      1000"),
            (18216.67, "     18216"),
            (1e8, " 100000000"),
            (9.325e8, " 9.325e+08"),
            (2.0e9, "     2e+09"),
            (1.5e100, "  1.5e+100"),
            (-12.345, "    -12.35"),
        ] {
            assert_eq!(average(value), shown);
        }
    }

    #[test]
    fn a_spread_of_two_percent_is_not_shown_and_more_is_cut_to_a_whole_number() {
        assert_eq!(stddev(None), "      ");
        assert_eq!(stddev(Some(2.0)), "      ");
        assert_eq!(stddev(Some(2.1)), " ±  2%");
        assert_eq!(stddev(Some(2.99)), " ±  2%");
        assert_eq!(stddev(Some(131.7)), " ±131%");
    }

    #[test]
    fn changes_are_percent_unless_the_name_says_percent() {
        let between = |name| Change::between(name, plain(0.46), plain(0.39));
        assert_eq!(change(between("mpstat.cpu.all.irq%")), "      -0.1  ");
        assert_eq!(change(between("perf-profile.children.cycles-pp.x")), "      -0.1  ");
        assert_eq!(change(between("fio.read_iops")), "     -15.2% ");
        assert_eq!(change(Change::Percent(99_999.94)), "  +99999.9% ");
        assert_eq!(change(Change::Percent(100_000.0)), "    +1e+05% ");
        assert_eq!(change(Change::Percent(2_480_000.0)), "  +2.5e+06% ");
        assert_eq!(change(Change::between("fio.read_iops", plain(0.0), plain(1.0))), " ".repeat(12));
    }

    #[test]
    fn a_single_run_has_no_spread() {
        assert_eq!(Cell::of(&[3.0]), Some(plain(3.0)));
        assert_eq!(Cell::of(&[]), None);
        assert_eq!(Cell::of(&[0.0, 0.0]).unwrap().stddev_percent, Some(0.0));
    }

    #[test]
    fn a_robots_mail_is_matched_to_the_byte() {
        let with = |average, percent| Cell { average, stddev_percent: Some(percent) };
        let row = |name: &str, base, new| Row {
            name: name.to_owned(),
            base,
            others: vec![(Change::between(name, base, new), new)],
        };
        let rows = [
            row("meminfo.Shmem", plain(19205.1), with(15517.0, 3.4)),
            row("mpstat.cpu.all.irq%", plain(0.46), with(0.39, 1.1)),
            row("fio.read_iops", plain(265.59), with(107.90, 2.2)),
            row("fio.read_clat_mean_ns", plain(9.3246e8), with(2.2964e9, 2.7)),
        ];
        let expected = concat!(
            "       v6.16-rc4 9b8b84879d4adc506b0d3944e20 \n",
            "---------------- --------------------------- \n",
            "         %stddev     %change         %stddev\n",
            "             \\          |                \\  \n",
            "     19205           -19.2%      15517 ±  3%  meminfo.Shmem\n",
            "      0.46            -0.1        0.39        mpstat.cpu.all.irq%\n",
            "    265.59           -59.4%     107.90 ±  2%  fio.read_iops\n",
            " 9.325e+08          +146.3%  2.296e+09 ±  2%  fio.read_clat_mean_ns\n",
        );
        assert_eq!(table(&["v6.16-rc4", "9b8b84879d4adc506b0d3944e2012345"], &rows), expected);
    }

    #[test]
    fn the_ufs_report_in_this_layout() {
        let rows = [
            row_of(
                "antutu.rom_mixed_random.score",
                &[18604.0, 18314.0, 17732.0],
                &[13372.0, 13081.0, 13081.0],
            ),
            row_of("antutu.rom_random.score", &[20906.0, 20508.0, 21362.0], &[20164.0, 21107.0, 21077.0]),
            row_of("antutu.rom_mixed_random_mt.score", &[4670.0, 4701.0, 4457.0], &[4311.0, 4697.0, 4471.0]),
        ];
        let expected = concat!(
            "           v5.15                       v6.18 \n",
            "---------------- --------------------------- \n",
            "         %stddev     %change         %stddev\n",
            "             \\          |                \\  \n",
            "     18216           -27.7%      13178        antutu.rom_mixed_random.score\n",
            "     20925            -0.7%      20782 ±  2%  antutu.rom_random.score\n",
            "      4609 ±  2%      -2.5%       4493 ±  3%  antutu.rom_mixed_random_mt.score\n",
        );
        assert_eq!(table(&["v5.15", "v6.18"], &rows), expected);
    }

    #[test]
    fn a_third_arm_repeats_the_header() {
        let rows = [Row {
            name: "x".to_owned(),
            base: plain(1.0),
            others: vec![(Change::Percent(1.0), plain(2.0)), (Change::Unknown, plain(3.0))],
        }];
        let text = table(&["a", "b", "c"], &rows);
        let expected = concat!(
            "               a                           b                           c \n",
            "---------------- --------------------------- --------------------------- \n",
            "         %stddev     %change         %stddev     %change         %stddev\n",
            "             \\          |                \\          |                \\  \n",
            "      1.00            +1.0%       2.00                        3.00        x\n",
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn the_parameters_and_the_arms_stand_above() {
        let axes = [("bs", "4k"), ("rw", "randread")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let arms =
            [("v6.12".to_owned(), None), ("3c7ac40d73".to_owned(), Some("scsi: ufs: core".to_owned()))];
        let text = block(&axes, &arms, &[]);
        let head = format!(
            "{}\nbs/rw:\n  4k/randread\n\ncommit: \n  v6.12\n  3c7ac40d73 (\"scsi: ufs: core\")\n\n",
            "=".repeat(89)
        );
        assert!(text.starts_with(&head), "{text}");
    }
}
