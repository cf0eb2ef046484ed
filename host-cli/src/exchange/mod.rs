//! Numbers of other tools, in and out: one file a format, each a pure function of text.
//!
//! In: [`read`] makes imported runs of CSV tables and of what fio prints. Out: [`benchfmt()`] for `benchstat`,
//! [`junit()`] for CI.

mod benchfmt;
mod csv;
mod fio;
mod fio_json;
mod fio_text;
mod junit;
#[cfg(test)]
mod tests;

pub use benchfmt::benchfmt;
pub use junit::junit;

use crate::analysis::{Better, ImportSource, ImportedMetric, ImportedRun};
use crate::printable::printable;
use crate::store::id_part;

/// Longest file that is read: bounds what a foreign file can make a reader hold.
pub const MAX_FILE_BYTES: usize = 32 << 20;
/// Most runs of one file.
const MAX_RUNS: usize = 100_000;
/// Longest name of a variant, a workload, a metric and the like, in bytes.
const MAX_NAME_BYTES: usize = 300;
/// Largest figure. Beyond it a sum of squares of a few thousand figures would still be finite, but no tool measures
/// such a figure.
const MAX_VALUE: f64 = 1e18;

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table with a header: `variant`, `score` or `value`, and more
    Csv,
    /// What `fio --output-format=json` or `json+` prints
    FioJson,
    /// What fio prints for people, whole or as quoted in a mail
    FioText,
}

impl Format {
    /// Its name, as [`ImportSource::format`] has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::FioJson => "fio-json",
            Self::FioText => "fio-text",
        }
    }

    /// The format of `text` by its content; `None` if it looks like none of them.
    pub fn of(text: &str) -> Option<Self> {
        if text.contains("(groupid=") || text.contains("Run status group") {
            Some(Self::FioText)
        } else if text.lines().any(|line| line.starts_with('{')) {
            Some(Self::FioJson)
        } else if text.lines().next().is_some_and(csv::is_header) {
            Some(Self::Csv)
        } else {
            None
        }
    }
}

/// What is said of a file beside it, where it does not tell itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Given {
    /// The variant of all its runs.
    pub variant: Option<String>,
    /// The workload of all its runs.
    pub workload: Option<String>,
    /// Unit of its figures.
    pub unit: Option<String>,
    /// Which way they are better.
    pub better: Option<Better>,
    /// Place of its first run in the order in which the runs were made.
    pub run: Option<u64>,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Its format.
    pub format: Format,
    /// Its runs, at least one, in the order of the file.
    pub runs: Vec<ImportedRun>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Why a file is not imported. Nothing of it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The file is not what it should be.
    #[error("line {line}: {what}")]
    Line {
        /// Line of the file, from 1.
        line: u64,
        /// What is wrong there.
        what: String,
    },
    /// The file as a whole is not.
    #[error("{0}")]
    File(String),
    /// It has to be asked differently.
    #[error("{0}")]
    Asked(String),
}

impl ImportError {
    fn at(line: u64, what: impl Into<String>) -> Self {
        Self::Line { line, what: what.into() }
    }
}

/// A run as a file tells it: who asks may have to say the rest.
#[derive(Debug, Clone, PartialEq)]
struct ForeignRun {
    /// First line of it.
    line: u64,
    variant: Option<String>,
    workload: String,
    device: Option<String>,
    boot: Option<String>,
    kernel: Option<String>,
    order: Option<u64>,
    metrics: Vec<ImportedMetric>,
}

/// Runs, and sentences on what was left out.
type Foreign = (Vec<ForeignRun>, Vec<String>);

/// Reads a file, called `file`, in `format` or in what it looks like.
///
/// # Errors
/// It is not of that format, a figure in it is none, or it does not tell what a run needs and neither does `given`.
pub fn read(
    bytes: &[u8],
    file: &str,
    format: Option<Format>,
    given: &Given,
) -> Result<Imported, ImportError> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(ImportError::File(format!("is longer than {MAX_FILE_BYTES} bytes, which are the most")));
    }
    let text = text(bytes)?;
    let format = format.or_else(|| Format::of(text)).ok_or_else(|| {
        ImportError::File(
            "is neither output of fio nor a table, whose first line is such as variant,workload,run,score"
                .to_owned(),
        )
    })?;
    let (foreign, notes) = match format {
        Format::Csv => csv::parse(text, given)?,
        Format::FioJson | Format::FioText if given.unit.is_some() || given.better.is_some() => {
            return Err(ImportError::Asked(
                "fio tells the units of its figures: leave --unit and --better out".to_owned(),
            ));
        }
        Format::FioJson => fio_json::parse(text)?,
        Format::FioText => fio_text::parse(text)?,
    };
    if foreign.len() > MAX_RUNS {
        return Err(ImportError::File(format!("holds {} runs: {MAX_RUNS} are the most", foreign.len())));
    }
    let source = Source { format, file, crc32: format!("{:08x}", crc32fast::hash(bytes)) };
    let runs = foreign
        .into_iter()
        .enumerate()
        .map(|(index, run)| source.finish(index, run, given))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Imported { format, runs, notes })
}

/// The text of a file, without the mark that some editors put before it.
fn text(bytes: &[u8]) -> Result<&str, ImportError> {
    let line_of = |end: usize| bytes[..end].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        ImportError::at(line_of(error.valid_up_to()), "is no text in UTF-8: is this the right file?")
    })?;
    if let Some(zero) = text.find('\0') {
        return Err(ImportError::at(line_of(zero), "has a zero byte: is this the right file?"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(ImportError::File("is empty".to_owned()));
    }
    Ok(text)
}

struct Source<'a> {
    format: Format,
    file: &'a str,
    crc32: String,
}

impl Source<'_> {
    /// Adds what the file does not tell of its run number `index`, from 0.
    fn finish(&self, index: usize, run: ForeignRun, given: &Given) -> Result<ImportedRun, ImportError> {
        let variant = given.variant.clone().or(run.variant).ok_or_else(|| {
            ImportError::Asked("does not tell which variant was measured: give --variant LABEL".to_owned())
        })?;
        let workload = given.workload.clone().unwrap_or(run.workload);
        let order = run.order.or_else(|| given.run?.checked_add(index as u64));
        let metric_names = run.metrics.iter().flat_map(|metric| [&metric.name, &metric.unit]);
        let names = [&variant, &workload].into_iter().chain(&run.device).chain(&run.boot).chain(&run.kernel);
        for name in names.chain(metric_names) {
            if name.trim().is_empty() || name.len() > MAX_NAME_BYTES {
                let what = format!(
                    "{:?} is no name: it is empty, or longer than {MAX_NAME_BYTES} bytes",
                    printable(name, 40)
                );
                return Err(ImportError::at(run.line, what));
            }
        }
        for metric in &run.metrics {
            if !metric.value.is_finite() || metric.value.abs() > MAX_VALUE {
                let what =
                    format!("{} is {}, which no tool measures", printable(&metric.name, 40), metric.value);
                return Err(ImportError::at(run.line, what));
            }
        }
        let id = format!("{}-{}-{}-{}", id_part(&variant), id_part(&workload), self.crc32, index + 1);
        Ok(ImportedRun {
            id,
            variant,
            workload,
            device: run.device,
            boot: run.boot,
            kernel: run.kernel,
            order,
            metrics: run.metrics,
            source: ImportSource {
                format: self.format.name().to_owned(),
                file: self.file.to_owned(),
                crc32: self.crc32.clone(),
                line: Some(run.line),
            },
        })
    }
}
