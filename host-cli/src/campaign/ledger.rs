//! What is there of a campaign on one device, told from its run files alone: there is no journal that could say
//! something else.

use super::order::Slot;
use super::plan::Plan;
use crate::analysis::summarize;
use crate::printable::printable;
use crate::recording::Recording;
use crate::run_header::RunHeader;
use crate::store::{Store, StoredRun};
use std::collections::BTreeMap;
use std::path::Path;
use tophalf_wire::{End, Outcome};

/// One time that a slot was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attempt {
    /// The run's id.
    pub(super) id: String,
    /// The boot that it was made in.
    pub(super) boot_id: Option<String>,
    /// What it is worth.
    pub(super) worth: Worth,
}

/// What an attempt is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Worth {
    /// It counts.
    Valid,
    /// It came to its end, and a check failed: measured again as often as the plan says.
    Invalid(String),
    /// It was cut off in the middle. What cut it off is not the measurement's fault, so a later session tries again
    /// however often it was tried before.
    Broken(String),
}

/// What has become of a slot so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing<'a> {
    /// There is a run that counts.
    Valid(&'a Attempt),
    /// It was measured as often as the plan allows, and no run counts.
    Invalid(&'a Attempt),
    /// It is still to be measured; the last attempt, if there was one.
    Open(Option<&'a Attempt>),
}

/// The attempts at the slots of one campaign on one device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ledger {
    attempts: BTreeMap<usize, Vec<Attempt>>,
}

impl Ledger {
    /// Notes an attempt; those of one slot come in the order of time.
    pub(super) fn add(&mut self, slot: usize, attempt: Attempt) {
        self.attempts.entry(slot).or_default().push(attempt);
    }

    /// How many runs there are.
    pub(super) fn runs(&self) -> usize {
        self.attempts.values().map(Vec::len).sum()
    }

    /// How many runs of a slot there are.
    pub(super) fn attempts_at(&self, slot: usize) -> usize {
        self.attempts.get(&slot).map_or(0, Vec::len)
    }

    /// What has become of a slot.
    pub(super) fn standing(&self, slot: usize, retries: u32) -> Standing<'_> {
        let attempts = self.attempts.get(&slot).map_or(&[][..], Vec::as_slice);
        let valid = attempts.iter().find(|attempt| attempt.worth == Worth::Valid);
        let failed = attempts.iter().filter(|attempt| matches!(attempt.worth, Worth::Invalid(_)));
        match (valid, attempts.last()) {
            (Some(attempt), _) => Standing::Valid(attempt),
            (None, Some(last)) if failed.count() > usize::try_from(retries).unwrap_or(usize::MAX) => {
                Standing::Invalid(last)
            }
            (None, last) => Standing::Open(last),
        }
    }

    /// The boots that runs of `slots` were made in, the latest last.
    pub(super) fn boots_of<'a>(&'a self, slots: impl IntoIterator<Item = &'a Slot>) -> Vec<&'a str> {
        let of = |slot: &Slot| self.attempts.get(&slot.number).into_iter().flatten();
        slots.into_iter().flat_map(of).filter_map(|attempt| attempt.boot_id.as_deref()).collect()
    }
}

/// What is in a store of a campaign.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// By device.
    pub(super) ledgers: BTreeMap<String, Ledger>,
    /// Runs that were never finished: what had arrived when the host died. They count as nothing.
    pub(super) unfinished: usize,
}

/// Looks through the store for runs of a campaign. Files that cannot be read are said by `say` and are no runs.
///
/// # Errors
/// A folder cannot be listed.
pub(super) fn find(plan: &Plan, slots: &[Slot], store: &Store, say: &dyn Fn(&str)) -> anyhow::Result<Found> {
    let mut found = Found::default();
    for (index, variant) in plan.variants.iter().enumerate() {
        for path in store.files_of(&variant.name)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let (stem, finished) =
                match (name.strip_suffix(".tophalf"), name.strip_suffix(".tophalf.partial")) {
                    (Some(stem), _) => (stem, true),
                    (None, Some(stem)) => (stem, false),
                    (None, None) => continue,
                };
            let Some(number) = slot_of(&plan.name, stem) else { continue };
            let known = slots.iter().any(|slot| slot.number == number && slot.variant == index);
            if !finished {
                // The host may die between giving a run its name and taking the temporary one away.
                found.unfinished += usize::from(known && !path.with_extension("").exists());
                continue;
            }
            match attempt(&path) {
                _ if !known => say(&format!("{} has no place in this plan and is left out", path.display())),
                Ok((header, attempt)) => {
                    found.ledgers.entry(header.device).or_default().add(number, attempt);
                }
                Err(unreadable) => say(&format!("{unreadable:#}; its slot is measured again")),
            }
        }
    }
    Ok(found)
}

/// Judges a stored run as every report would.
///
/// # Errors
/// The file cannot be read.
pub(super) fn attempt(path: &Path) -> anyhow::Result<(RunHeader, Attempt)> {
    let mut run = StoredRun::open(path)?;
    let recording = Recording::from_events(run.events.by_ref());
    run.events.finish()?;
    let summary = summarize(&run.header, &recording);
    let ended = matches!(&recording.end, Some(End { outcome: Outcome::Done, .. }));
    let failed =
        summary.quality.failed.iter().map(|check| printable(check, 400)).collect::<Vec<_>>().join("; ");
    let worth = match (summary.quality.valid, ended) {
        (true, _) => Worth::Valid,
        (false, true) => Worth::Invalid(failed),
        (false, false) => Worth::Broken(failed),
    };
    let attempt = Attempt { id: run.header.id.clone(), boot_id: summary.boot_id, worth };
    Ok((run.header, attempt))
}

/// The part of a run's id that says which slot it is of: `CAMPAIGN-s0007-a1`.
pub(super) fn slot_name(campaign: &str, slot: usize, attempt: usize) -> String {
    format!("{campaign}-s{slot:04}-a{attempt}")
}

/// The slot of a run of a campaign, from the stem of its file: `TIME-CAMPAIGN-s0007-a1-DEVICE-HEX`.
fn slot_of(campaign: &str, stem: &str) -> Option<usize> {
    let (_time, rest) = stem.split_once('-')?;
    let rest = rest.strip_prefix(campaign)?.strip_prefix("-s")?;
    let (slot, rest) = rest.split_once("-a")?;
    let (attempt, _device) = rest.split_once('-')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(slot) && digits(attempt)).then(|| slot.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(boot: &str, worth: Worth) -> Attempt {
        Attempt { id: "x".to_owned(), boot_id: Some(boot.to_owned()), worth }
    }

    fn invalid() -> Worth {
        Worth::Invalid("clock".to_owned())
    }

    #[test]
    fn a_slot_is_settled_by_a_valid_run_or_by_enough_invalid_ones() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.standing(1, 1), Standing::Open(None));
        ledger.add(1, attempt("b", invalid()));
        assert!(matches!(ledger.standing(1, 1), Standing::Open(Some(_))));
        assert!(matches!(ledger.standing(1, 0), Standing::Invalid(_)));
        ledger.add(1, attempt("b", invalid()));
        assert!(matches!(ledger.standing(1, 1), Standing::Invalid(_)));
        ledger.add(1, attempt("b", Worth::Valid));
        assert!(matches!(ledger.standing(1, 1), Standing::Valid(_)));
        assert_eq!((ledger.runs(), ledger.attempts_at(1), ledger.attempts_at(2)), (3, 3, 0));
    }

    #[test]
    fn what_cut_a_run_off_uses_no_retry_up() {
        let mut ledger = Ledger::default();
        for _ in 0..5 {
            ledger.add(1, attempt("b", Worth::Broken("no end".to_owned())));
            assert!(matches!(ledger.standing(1, 0), Standing::Open(Some(_))));
        }
    }

    #[test]
    fn boots_are_told_from_the_runs() {
        let slot = |number, boot| Slot { number, boot, variant: 0, run: 1 };
        let mut ledger = Ledger::default();
        ledger.add(1, attempt("first", Worth::Valid));
        ledger.add(2, attempt("second", Worth::Valid));
        ledger.add(3, attempt("other", Worth::Valid));
        assert_eq!(ledger.boots_of(&[slot(1, 1), slot(2, 1)]), ["first", "second"]);
        assert_eq!(ledger.boots_of(&[slot(4, 2)]), [] as [&str; 0]);
    }

    #[test]
    fn a_slot_is_read_from_the_name_of_its_run() {
        let stem = format!("20261203T130344Z-{}-127.0.0.1_15601-0a1b", slot_name("t615-6.18", 7, 1));
        assert_eq!(stem, "20261203T130344Z-t615-6.18-s0007-a1-127.0.0.1_15601-0a1b");
        assert_eq!(slot_of("t615-6.18", &stem), Some(7));
        for (campaign, stem) in [
            ("t615", stem.as_str()),
            ("x", "20261203T130344Z-SERIAL-0a1b"),
            ("x", "20261203T130344Z-x-sa-a1-d-0a1b"),
            ("x", "20261203T130344Z-x-s+7-a1-d-0a1b"),
            ("x", "20261203T130344Z-x-s0001-d-0a1b"),
            ("x", ""),
        ] {
            assert_eq!(slot_of(campaign, stem), None, "{stem}");
        }
    }
}
