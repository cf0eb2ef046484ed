//! A table of figures, one a line, under a header:
//!
//! ```text
//! table,device,variant,run,score
//! random,T615,5.15,1,20906
//! ```
//!
//! `variant` and one of `score` and `value` are required. `table`, `workload`, `target` and `job` name what was done;
//! if there are several, they are joined by `/` in the order of the header. Lines that agree in all but the figure
//! and its `metric`, `unit` and `better` are one run.

use super::{Foreign, ForeignRun, Given, ImportError};
use crate::analysis::{Better, ImportedMetric};
use crate::printable::printable;
use csv::{ReaderBuilder, StringRecord, Trim};
use std::collections::{BTreeMap, HashMap};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Variant,
    Score,
    Value,
    Workload,
    Device,
    Boot,
    Kernel,
    Run,
    Metric,
    Unit,
    Better,
}

const COLUMNS: [(&str, Column); 14] = [
    ("variant", Column::Variant),
    ("score", Column::Score),
    ("value", Column::Value),
    ("workload", Column::Workload),
    ("table", Column::Workload),
    ("target", Column::Workload),
    ("job", Column::Workload),
    ("device", Column::Device),
    ("boot", Column::Boot),
    ("kernel", Column::Kernel),
    ("run", Column::Run),
    ("metric", Column::Metric),
    ("unit", Column::Unit),
    ("better", Column::Better),
];

/// What makes a line part of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct RunKey {
    variant: Option<String>,
    workload: String,
    device: Option<String>,
    boot: Option<String>,
    kernel: Option<String>,
    order: Option<u64>,
}

/// Reads a table.
///
/// # Errors
/// A column is missing, unknown or there twice, a figure is no number, a figure of a run is there twice, or a metric has
/// more than one unit; with the line.
pub(super) fn parse(text: &str, given: &Given) -> Result<Foreign, ImportError> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
    let columns = header(reader.headers().map_err(malformed)?, given)?;
    let mut runs: Vec<ForeignRun> = Vec::new();
    let mut places: HashMap<RunKey, usize> = HashMap::new();
    let mut units: BTreeMap<(String, String), (String, Better, u64)> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        let line = record.position().map_or(0, |position| position.line());
        let row = Row { columns: &columns, record: &record, line };
        let key = row.key()?;
        let metric = row.metric(given)?;
        let known = units
            .entry((key.workload.clone(), metric.name.clone()))
            .or_insert_with(|| (metric.unit.clone(), metric.better, line));
        if (&known.0, known.1) != (&metric.unit, metric.better) {
            return Err(ImportError::at(
                line,
                format!(
                    "{} is in {}, and was in {} on line {}: one metric has one unit and one better side",
                    printable(&metric.name, 40),
                    printable(&metric.unit, 40),
                    printable(&known.0, 40),
                    known.2
                ),
            ));
        }
        let place = *places.entry(key.clone()).or_insert(runs.len());
        if place == runs.len() {
            runs.push(ForeignRun {
                line,
                variant: key.variant,
                workload: key.workload,
                device: key.device,
                boot: key.boot,
                kernel: key.kernel,
                order: key.order,
                metrics: Vec::new(),
            });
        }
        let run = &mut runs[place];
        if run.metrics.iter().any(|other| other.name == metric.name) {
            return Err(ImportError::at(
                line,
                format!(
                    "{} of the run on line {} is there twice: number the runs in a column `run`",
                    printable(&metric.name, 40),
                    run.line
                ),
            ));
        }
        run.metrics.push(metric);
    }
    if runs.is_empty() {
        return Err(ImportError::File("has a header and no line below it".to_owned()));
    }
    Ok((runs, Vec::new()))
}

/// Whether a first line looks like the header of such a table.
pub(super) fn is_header(line: &str) -> bool {
    line.split(',').any(|name| matches!(name.trim().trim_matches('"'), "variant" | "score" | "value"))
}

fn malformed(error: csv::Error) -> ImportError {
    let line = error.position().map_or(1, |position| position.line());
    let what = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
            "has {len} fields where the header has {expected_len}: write a decimal point, not a comma, and quote text with commas"
        ),
        _ => printable(&error.to_string(), 200),
    };
    ImportError::at(line, what)
}

/// What each column holds.
fn header(names: &StringRecord, given: &Given) -> Result<Vec<Column>, ImportError> {
    let mut columns = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let column = COLUMNS.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
        let Some(column) = column else {
            let known: Vec<&str> = COLUMNS.iter().map(|(known, _)| *known).collect();
            let what =
                format!("column {:?} is not known: known are {}", printable(name, 60), known.join(", "));
            return Err(ImportError::at(1, what));
        };
        let twice = names.iter().take(place).any(|other| other == name);
        let two_figures = matches!(column, Column::Score | Column::Value)
            && columns.iter().any(|other| matches!(other, Column::Score | Column::Value));
        if twice || two_figures {
            return Err(ImportError::at(
                1,
                format!("column {name} is one too many: a line holds one figure"),
            ));
        }
        columns.push(column);
    }
    let has = |column| columns.contains(&column);
    if !has(Column::Score) && !has(Column::Value) {
        return Err(ImportError::at(1, "there is no column score or value, separated by commas"));
    }
    let said_twice = |option: &str| {
        Err(ImportError::Asked(format!("has a column for what {option} says: leave the option out")))
    };
    match (has(Column::Variant), &given.variant) {
        (false, None) => {
            return Err(ImportError::at(1, "there is no column variant: add it, or give --variant"));
        }
        (true, Some(_)) => return said_twice("--variant"),
        _ => {}
    }
    match (has(Column::Workload), &given.workload) {
        (false, None) => {
            return Err(ImportError::at(
                1,
                "there is no column workload, table or job: add one, or give --workload",
            ));
        }
        (true, Some(_)) => return said_twice("--workload"),
        _ => {}
    }
    if has(Column::Unit) && given.unit.is_some() {
        return said_twice("--unit");
    }
    if has(Column::Better) && given.better.is_some() {
        return said_twice("--better");
    }
    if has(Column::Run) && given.run.is_some() {
        return said_twice("--run");
    }
    Ok(columns)
}

struct Row<'a> {
    columns: &'a [Column],
    record: &'a StringRecord,
    line: u64,
}

impl<'a> Row<'a> {
    fn fields(&self, column: Column) -> impl Iterator<Item = &'a str> {
        let (columns, record) = (self.columns, self.record);
        columns.iter().zip(record).filter(move |(other, _)| **other == column).map(|(_, field)| field)
    }

    /// The field of a column, `None` where there is no such column or nothing in it.
    fn optional(&self, column: Column) -> Option<&'a str> {
        self.fields(column).next().filter(|field| !field.is_empty())
    }

    fn wrong(&self, what: String) -> ImportError {
        ImportError::at(self.line, what)
    }

    fn key(&self) -> Result<RunKey, ImportError> {
        let variant = self.optional(Column::Variant);
        if variant.is_none() && self.columns.contains(&Column::Variant) {
            return Err(self.wrong("the variant is empty".to_owned()));
        }
        let order = self.optional(Column::Run).map(|field| {
            let wrong = || self.wrong(format!("run {:?} is no whole number", printable(field, 40)));
            field.parse::<u64>().map_err(|_| wrong())
        });
        let owned = |column| self.optional(column).map(str::to_owned);
        Ok(RunKey {
            variant: variant.map(str::to_owned),
            workload: self.fields(Column::Workload).collect::<Vec<_>>().join("/"),
            device: owned(Column::Device),
            boot: owned(Column::Boot),
            kernel: owned(Column::Kernel),
            order: order.transpose()?,
        })
    }

    fn metric(&self, given: &Given) -> Result<ImportedMetric, ImportError> {
        let score = self.columns.contains(&Column::Score);
        let figure = if score { Column::Score } else { Column::Value };
        let value = self.number(self.fields(figure).next().unwrap_or_default())?;
        let plain = if score { "score" } else { "value" };
        let name = self.optional(Column::Metric).unwrap_or(plain).to_owned();
        let unit = self.optional(Column::Unit).or(given.unit.as_deref()).or_else(|| unit_of(&name, score));
        let Some(unit) = unit else {
            return Err(self.wrong(format!(
                "the unit of {} is not told: add a column `unit`, or give --unit",
                printable(&name, 40)
            )));
        };
        let better = match self.optional(Column::Better) {
            Some("higher") => Some(Better::Higher),
            Some("lower") => Some(Better::Lower),
            Some(other) => {
                let what = format!("better is {:?}: higher and lower are known", printable(other, 40));
                return Err(self.wrong(what));
            }
            None => given.better.or_else(|| better_of(unit)),
        };
        let Some(better) = better else {
            return Err(self.wrong(format!(
                "it is not told whether more {} are better: add a column `better` of `higher` or `lower`, or give --better",
                printable(unit, 40)
            )));
        };
        Ok(ImportedMetric { name, unit: unit.to_owned(), better, value })
    }

    fn number(&self, field: &str) -> Result<f64, ImportError> {
        let value = field.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| {
            let hint = if field.contains(',') { ": write a decimal point, not a comma" } else { "" };
            self.wrong(format!("{:?} is no finite number{hint}", printable(field, 40)))
        })
    }
}

/// The unit that a name tells by itself.
fn unit_of(name: &str, score: bool) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let ends = [("_ns", "ns"), ("_us", "us"), ("_ms", "ms"), ("_mib_s", "MiB/s"), ("_kib_s", "KiB/s")];
    if let Some((_, unit)) = ends.iter().find(|(end, _)| name.ends_with(end)) {
        return Some(unit);
    }
    if name.split('_').any(|word| word == "iops") {
        return Some("IOPS");
    }
    score.then_some("score")
}

/// The better side of units that have one.
fn better_of(unit: &str) -> Option<Better> {
    match unit {
        "ns" | "us" | "µs" | "ms" | "s" => Some(Better::Lower),
        "IOPS" | "iops" | "score" => Some(Better::Higher),
        _ if unit.ends_with("B/s") => Some(Better::Higher),
        _ => None,
    }
}
