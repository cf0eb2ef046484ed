//! A campaign's plan: a TOML file, read and checked whole before any device is touched. `docs/campaign.md` describes
//! it.

mod raw;

use crate::failure::Failure;
use crate::run_options::RunOptions;
use crate::session::request::RunRequest;
use anyhow::Context;
use raw::{RawPlan, RawStep, RawVariant};
use std::{collections::BTreeSet, ops::Range, path::Path, time::Duration};
use toml::Spanned;

/// The plan's version that this tophalf reads.
const SCHEMA: u32 = 1;
/// An exact test needs four against four to say anything at 5 %.
const DEFAULT_BOOTS: u32 = 4;
const DEFAULT_RUNS: u32 = 3;
const DEFAULT_RETRIES: u32 = 1;
/// Runs of all variants on one device. A slot's number has four digits.
const MOST_SLOTS: u64 = 9999;
const MOST_VARIANTS: usize = 64;
/// Fits into a run's id and a file's name.
const MOST_NAME_CHARS: usize = 40;
/// Flashing a kernel and booting a phone takes minutes.
const DEFAULT_STEP_S: u32 = 600;
const DEFAULT_BOOT_TIMEOUT_S: u32 = 300;
const DEFAULT_COOL_DOWN_S: u32 = 900;
const MOST_SECONDS: u32 = 24 * 3600;

/// What a campaign measures, on which devices and in which order.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Part of the ids of its runs.
    pub name: String,
    /// adb serials, or `local`; none leaves the choice to the command line.
    pub devices: Vec<String>,
    /// What is compared.
    pub variants: Vec<Variant>,
    /// Boots of each variant, or of the device where variants are knobs.
    pub boots: u32,
    /// Runs of each variant in each boot that it is in.
    pub runs: u32,
    /// How variants follow one another.
    pub order: Order,
    /// What a random order follows from.
    pub seed: u64,
    /// How often a run that is not valid, or a boot that failed, is tried again.
    pub retries: u32,
    /// Makes a boot in which all variants are measured.
    pub boot: Vec<Step>,
    /// How long a device may take to answer after its boot commands.
    pub boot_timeout: Duration,
    /// What is measured in each run.
    pub run: RunRequest,
    /// What to wait for before each run.
    pub cool_down: Option<CoolDown>,
}

impl Plan {
    /// Boots are made by commands of this plan.
    pub fn makes_boots(&self) -> bool {
        !self.boot.is_empty() || self.are_kernels()
    }

    /// Variants differ from boot to boot, not within one.
    pub fn are_kernels(&self) -> bool {
        self.variants.iter().any(|variant| !variant.boot.is_empty())
    }
}

/// How variants follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Each forth and back, so that a drift hits all alike.
    #[default]
    Abba,
    /// Each time round in an order drawn from the seed.
    Random,
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The label of its runs.
    pub name: String,
    /// Makes a boot of this variant: it is a kernel. Empty: it is a knob.
    pub boot: Vec<Step>,
    /// Run before each run: what sets the knob.
    pub prepare: Vec<Step>,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Where it is run.
    pub place: Place,
    /// What a shell is given.
    pub command: String,
    /// How long it may take.
    pub limit: Duration,
}

/// Where a command is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On this machine.
    Host,
    /// On the device, as root where the agent is.
    Device,
}

/// What to wait for before a run.
#[derive(Debug, Clone, PartialEq)]
pub struct CoolDown {
    /// The temperature to fall below, in thousandths of a degree Celsius.
    pub below_millidegrees: i32,
    /// The kind of the thermal zone that is meant; `None` is the hottest of all.
    pub zone: Option<String>,
    /// After this the run is not made.
    pub limit: Duration,
}

/// A plan and the text it was read from.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// What it asks for.
    pub plan: Plan,
    /// Its text.
    pub text: String,
}

impl PlanFile {
    /// Reads and checks a plan.
    ///
    /// # Errors
    /// The file cannot be read, or what is wrong with it and in which line.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let bytes = std::fs::read(path)
            .map_err(|error| Failure::usage(format!("cannot read the plan {shown}: {error}")))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::usage(format!("the plan {shown} is no text: it is not UTF-8")))?;
        let plan = parse(&text).map_err(|wrong| Failure::usage(wrong.at(&text, &shown.to_string())))?;
        Ok(Self { plan, text })
    }
}

/// What is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Bytes of the text that are meant.
    span: Range<usize>,
    message: String,
}

impl Wrong {
    fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// As compilers write it: `PLAN:LINE:COLUMN: MESSAGE`.
    fn at(&self, text: &str, plan: &str) -> String {
        let before = text.get(..self.span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{plan}:{line}:{column}: {}", self.message)
    }
}

/// Reads a plan from its text.
pub(super) fn parse(text: &str) -> Result<Plan, Wrong> {
    let raw: RawPlan = toml::from_str(text).map_err(|error| {
        let message: Vec<&str> = error.message().lines().map(str::trim).collect();
        Wrong::new(error.span().unwrap_or_default(), message.join(" "))
    })?;
    if *raw.schema.get_ref() != SCHEMA {
        let theirs = raw.schema.get_ref();
        let message = format!("this is a plan of schema {theirs}, and this tophalf reads schema {SCHEMA}");
        return Err(Wrong::new(raw.schema.span(), message));
    }
    let variants = variants(&raw)?;
    let boot = steps(&raw.boot, Some("boot"))?;
    check_kinds(&raw, &variants, &boot)?;
    let makes_boots = !boot.is_empty() || variants.iter().any(|variant| !variant.boot.is_empty());
    let boots = match &raw.boots {
        None => {
            if makes_boots {
                DEFAULT_BOOTS
            } else {
                1
            }
        }
        Some(boots) => {
            let number = number(boots, "boots", 1..=1000)?;
            if number > 1 && !makes_boots {
                return Err(Wrong::new(
                    boots.span(),
                    format!(
                        "boots = {number} needs `boot`, the commands that make a boot; without it all runs are in one"
                    ),
                ));
            }
            number
        }
    };
    let runs = raw.runs.as_ref().map_or(Ok(DEFAULT_RUNS), |runs| number(runs, "runs", 1..=1000))?;
    let slots = u64::from(boots) * u64::from(runs) * u64::try_from(variants.len()).unwrap_or(u64::MAX);
    if slots > MOST_SLOTS {
        let span = raw.boots.as_ref().or(raw.runs.as_ref()).map_or(0..0, Spanned::span);
        return Err(Wrong::new(span, format!("{slots} runs a device are more than {MOST_SLOTS}")));
    }
    Ok(Plan {
        name: name(&raw.name)?,
        devices: distinct(&raw.devices, "device")?,
        boots,
        runs,
        order: raw.order,
        seed: raw.seed,
        retries: raw.retries.as_ref().map_or(Ok(DEFAULT_RETRIES), |n| number(n, "retries", 0..=9))?,
        boot,
        boot_timeout: raw
            .boot_timeout_s
            .as_ref()
            .map_or(Ok(DEFAULT_BOOT_TIMEOUT_S), |n| number(n, "boot_timeout_s", 1..=MOST_SECONDS))
            .map(seconds)?,
        run: run_request(&raw)?,
        cool_down: cool_down(&raw)?,
        variants,
    })
}

fn variants(raw: &RawPlan) -> Result<Vec<Variant>, Wrong> {
    if raw.variant.is_empty() {
        return Err(Wrong::new(0..0, "the plan has no [[variant]]: nothing would be measured"));
    }
    if let Some(surplus) = raw.variant.get(MOST_VARIANTS) {
        return Err(Wrong::new(surplus.name.span(), format!("more than {MOST_VARIANTS} variants")));
    }
    let names: Vec<Spanned<String>> = raw.variant.iter().map(|variant| variant.name.clone()).collect();
    let names = distinct(&names, "variant")?;
    let read = |(name, RawVariant { boot, prepare, .. }): (String, &RawVariant)| {
        Ok(Variant { name, boot: steps(boot, Some("boot"))?, prepare: steps(prepare, None)? })
    };
    names.into_iter().zip(&raw.variant).map(read).collect()
}

/// Either every variant makes its own boots (kernels), or none does (knobs); and a knob is always set.
fn check_kinds(raw: &RawPlan, variants: &[Variant], boot: &[Step]) -> Result<(), Wrong> {
    let lacks = |has: fn(&Variant) -> bool| {
        let any = variants.iter().find(|variant| has(variant))?;
        let (without, variant) = raw.variant.iter().zip(variants).find(|(_, variant)| !has(variant))?;
        Some((without.name.span(), variant, any))
    };
    if let Some((span, without, with)) = lacks(|variant| !variant.boot.is_empty()) {
        return Err(Wrong::new(
            span,
            format!(
                "variant {:?} has no `boot` and {:?} has one: give it to every variant (kernels, taking turns from \
                 boot to boot), or to none (knobs, taking turns within a boot)",
                without.name, with.name
            ),
        ));
    }
    if let Some((span, without, with)) = lacks(|variant| !variant.prepare.is_empty())
        && variants.iter().all(|variant| variant.boot.is_empty())
    {
        return Err(Wrong::new(
            span,
            format!(
                "variant {:?} has no `prepare` and {:?} has one: its runs would get what {:?} has set; say what sets \
                 it back",
                without.name, with.name, with.name
            ),
        ));
    }
    match (&raw.boot, variants.first()) {
        (Some(ours), Some(variant)) if !boot.is_empty() && !variant.boot.is_empty() => Err(Wrong::new(
            ours.span(),
            "`boot` stands in the plan and in its variants: leave it to the variants if they are kernels, to the plan if \
             they are knobs",
        )),
        _ => Ok(()),
    }
}

/// `boot` only has commands of the host: the device is away meanwhile.
fn steps(raw: &Option<Spanned<Vec<Spanned<RawStep>>>>, only_host: Option<&str>) -> Result<Vec<Step>, Wrong> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    if raw.get_ref().is_empty() {
        return Err(Wrong::new(raw.span(), "an empty list of commands: write a command or leave it out"));
    }
    let read = |spanned: &Spanned<RawStep>| {
        let wrong = |message: String| Wrong::new(spanned.span(), message);
        let step = spanned.get_ref();
        let (place, command) = match (&step.host, &step.device) {
            (Some(command), None) => (Place::Host, command),
            (None, Some(_)) if only_host.is_some() => {
                return Err(wrong(
                    "`boot` takes commands of the host, since the device is away meanwhile: what is to be set on the \
                     device belongs into `prepare`"
                        .to_owned(),
                ));
            }
            (None, Some(command)) => (Place::Device, command),
            _ => return Err(wrong("a command is either `host = \"…\"` or `device = \"…\"`".to_owned())),
        };
        if command.trim().is_empty() || command.contains('\0') {
            return Err(wrong("this command is empty, or has a NUL in it".to_owned()));
        }
        let limit = step.timeout_s.as_ref();
        let limit = limit.map_or(Ok(DEFAULT_STEP_S), |n| number(n, "timeout_s", 1..=MOST_SECONDS))?;
        Ok(Step { place, command: command.clone(), limit: seconds(limit) })
    };
    raw.get_ref().iter().map(read).collect()
}

fn cool_down(raw: &RawPlan) -> Result<Option<CoolDown>, Wrong> {
    let Some(raw) = &raw.cool_down else { return Ok(None) };
    let below_c = *raw.below_c.get_ref();
    if !(-40.0..=150.0).contains(&below_c) {
        let message = format!("below_c = {below_c} is no temperature of a phone: write degrees Celsius");
        return Err(Wrong::new(raw.below_c.span(), message));
    }
    let limit = raw.timeout_s.as_ref();
    let limit = limit.map_or(Ok(DEFAULT_COOL_DOWN_S), |n| number(n, "timeout_s", 1..=MOST_SECONDS))?;
    #[allow(clippy::cast_possible_truncation, reason = "the range was checked")]
    let below_millidegrees = (below_c * 1000.0).round() as i32;
    Ok(Some(CoolDown { below_millidegrees, zone: raw.zone.clone(), limit: seconds(limit) }))
}

/// `[run]` is what `tophalf run` would be given.
fn run_request(raw: &RawPlan) -> Result<RunRequest, Wrong> {
    let mut words = Vec::new();
    for (key, value) in raw.run.iter().flat_map(Spanned::get_ref) {
        let word =
            raw::option_word(key, value.get_ref()).map_err(|message| Wrong::new(value.span(), message))?;
        // Alone first, so that what is wrong with it is told of its line.
        if let Some(word) = word {
            let alone = RunOptions::from_words(std::slice::from_ref(&word));
            alone.map_err(|message| Wrong::new(value.span(), message))?;
            words.push(word);
        }
    }
    let span = raw.run.as_ref().map_or(0..0, Spanned::span);
    let request = RunOptions::from_words(&words)
        .map_err(anyhow::Error::msg)
        .and_then(|options| options.request())
        .context("[run]");
    request.map_err(|error| Wrong::new(span, format!("{error:#}")))
}

fn name(raw: &Spanned<String>) -> Result<String, Wrong> {
    let name = raw.get_ref();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte));
    if name.is_empty() || name.len() > MOST_NAME_CHARS || !plain || name.starts_with(['.', '-']) {
        return Err(Wrong::new(
            raw.span(),
            format!("name = {name:?}: write 1 to {MOST_NAME_CHARS} letters, digits, `.`, `_`, `+` and `-`"),
        ));
    }
    Ok(name.clone())
}

/// Names of which none is empty and none stands twice.
fn distinct(names: &[Spanned<String>], what: &str) -> Result<Vec<String>, Wrong> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.get_ref().trim().is_empty() {
            return Err(Wrong::new(name.span(), format!("a {what} without a name")));
        }
        if !seen.insert(name.get_ref()) {
            return Err(Wrong::new(name.span(), format!("{what} {:?} stands twice", name.get_ref())));
        }
    }
    Ok(names.iter().map(|name| name.get_ref().clone()).collect())
}

fn number(raw: &Spanned<i64>, key: &str, allowed: std::ops::RangeInclusive<u32>) -> Result<u32, Wrong> {
    u32::try_from(*raw.get_ref()).ok().filter(|number| allowed.contains(number)).ok_or_else(|| {
        let message = format!("{key} = {}: write {} to {}", raw.get_ref(), allowed.start(), allowed.end());
        Wrong::new(raw.span(), message)
    })
}

fn seconds(number: u32) -> Duration {
    Duration::from_secs(number.into())
}

#[cfg(test)]
mod tests;
