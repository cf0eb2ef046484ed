//! The plan as it stands in the file.

use super::Order;
use crate::run_options::RunOptions;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPlan {
    pub(super) schema: Spanned<u32>,
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) devices: Vec<Spanned<String>>,
    pub(super) boots: Option<Spanned<i64>>,
    pub(super) runs: Option<Spanned<i64>>,
    #[serde(default)]
    pub(super) order: Order,
    #[serde(default = "first_seed")]
    pub(super) seed: u64,
    pub(super) retries: Option<Spanned<i64>>,
    pub(super) boot: Option<Spanned<Vec<Spanned<RawStep>>>>,
    pub(super) boot_timeout_s: Option<Spanned<i64>>,
    pub(super) run: Option<Spanned<BTreeMap<String, Spanned<Value>>>>,
    pub(super) cool_down: Option<RawCoolDown>,
    #[serde(default)]
    pub(super) variant: Vec<RawVariant>,
}

fn first_seed() -> u64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawVariant {
    pub(super) name: Spanned<String>,
    pub(super) boot: Option<Spanned<Vec<Spanned<RawStep>>>>,
    pub(super) prepare: Option<Spanned<Vec<Spanned<RawStep>>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStep {
    pub(super) host: Option<String>,
    pub(super) device: Option<String>,
    pub(super) timeout_s: Option<Spanned<i64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCoolDown {
    pub(super) below_c: Spanned<f64>,
    pub(super) zone: Option<String>,
    pub(super) timeout_s: Option<Spanned<i64>>,
}

/// A key of `[run]` and its value as a word of the command line: `hops_ops = 300` is `--hops-ops=300`. `None` is an
/// option without a value that is left out.
pub(super) fn option_word(key: &str, value: &Value) -> Result<Option<String>, String> {
    let names = RunOptions::names();
    let option = key.replace('_', "-");
    let Some((_, takes_value)) = names.iter().find(|(name, _)| *name == option && !key.contains('-')) else {
        let known: Vec<String> = names.iter().map(|(name, _)| name.replace('-', "_")).collect();
        return Err(format!(
            "[run] has no {key:?}: it has the options of `tophalf run`, {}",
            known.join(", ")
        ));
    };
    match (takes_value, value) {
        (false, Value::Boolean(set)) => Ok(set.then(|| format!("--{option}"))),
        (false, _) => Err(format!("{key} is true or false")),
        (true, value) => Ok(Some(format!("--{option}={}", text(key, value)?))),
    }
}

fn text(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Array(list) => {
            let words: Result<Vec<String>, String> = list.iter().map(|one| text(key, one)).collect();
            Ok(words?.join(","))
        }
        Value::Boolean(_) | Value::Datetime(_) | Value::Table(_) => {
            Err(format!("{key} is text, a number, or a list of them"))
        }
    }
}
