//! What became of each run that was asked for.

use super::drive::Driven;
use super::ledger::{Standing, Worth};
use super::order::Slot;
use super::plan::{Order, Plan};
use crate::printable::printable;
use comfy_table::{Table, presets::NOTHING};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Reasons that are printed in words; all are in the JSON.
const MOST_REASONS: usize = 20;

/// A campaign, slot by slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    name: String,
    order: Order,
    seed: u64,
    boots: u32,
    runs: u32,
    retries: u32,
    variants: Vec<String>,
    devices: Vec<String>,
    slots: Vec<SlotReport>,
    unfinished: usize,
}

/// What became of one slot on one device.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SlotReport {
    slot: usize,
    device: String,
    variant: String,
    boot: usize,
    run: usize,
    state: State,
    /// The run that counts, or the last that did not.
    id: Option<String>,
    boot_id: Option<String>,
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Valid,
    Invalid,
    Missing,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Missing => "missing",
        }
    }
}

impl Report {
    pub(super) fn new(plan: &Plan, slots: &[Slot], driven: Vec<(String, Driven)>, unfinished: usize) -> Self {
        let of = |(device, driven): &(String, Driven)| -> Vec<SlotReport> {
            slots.iter().map(|slot| SlotReport::new(plan, slot, device, driven)).collect()
        };
        Self {
            name: plan.name.clone(),
            order: plan.order,
            seed: plan.seed,
            boots: plan.boots,
            runs: plan.runs,
            retries: plan.retries,
            variants: plan.variants.iter().map(|variant| variant.name.clone()).collect(),
            slots: driven.iter().flat_map(of).collect(),
            devices: driven.into_iter().map(|(device, _)| device).collect(),
            unfinished,
        }
    }

    /// Every run that was asked for is there and valid.
    pub fn complete(&self) -> bool {
        self.slots.iter().all(|slot| slot.state == State::Valid)
    }

    /// How many runs were asked for, and how many of them are there and valid.
    pub fn counts(&self) -> (usize, usize) {
        (self.slots.len(), self.slots.iter().filter(|slot| slot.state == State::Valid).count())
    }

    /// For people, once the work is done.
    pub fn text(&self) -> String {
        let mut text = format!("campaign {}: {}\n\n", self.name, self.arrangement());
        text.push_str(&self.table());
        let mut reasons: BTreeMap<(&str, &str), Vec<&SlotReport>> = BTreeMap::new();
        for slot in &self.slots {
            if let Some(reason) = slot.reason.as_ref().filter(|_| slot.state != State::Valid) {
                reasons.entry((&slot.device, reason)).or_default().push(slot);
            }
        }
        if !reasons.is_empty() {
            text.push('\n');
        }
        for ((device, reason), slots) in reasons.iter().take(MOST_REASONS) {
            let numbers: Vec<String> = slots.iter().take(30).map(|slot| slot.slot.to_string()).collect();
            let more = if slots.len() > 30 { ", …" } else { "" };
            text.push_str(&format!(
                "{}, slot {}{more}: {reason}\n",
                printable(device, 300),
                numbers.join(", ")
            ));
        }
        if reasons.len() > MOST_REASONS {
            text.push_str(&format!("and {} other reasons (--json has all)\n", reasons.len() - MOST_REASONS));
        }
        if self.unfinished > 0 {
            text.push_str(&format!(
                "{} run files were never finished (….partial), because tophalf ended before the run did; they stay \
                 there, count as nothing, and `tophalf show FILE` reads them\n",
                self.unfinished
            ));
        }
        text
    }

    /// For people, before anything is done: who comes when.
    pub fn schedule(&self) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING);
        table.set_header(["device", "slot", "boot", "variant", "run", "there"]);
        for slot in &self.slots {
            table.add_row([
                printable(&slot.device, 300),
                slot.slot.to_string(),
                slot.boot.to_string(),
                printable(&slot.variant, 100),
                slot.run.to_string(),
                if slot.state == State::Missing { "-" } else { slot.state.word() }.to_owned(),
            ]);
        }
        format!("campaign {}: {}\n\n{}\n", self.name, self.arrangement(), table.trim_fmt())
    }

    fn arrangement(&self) -> String {
        let order = match self.order {
            Order::Abba => "each forth and back (abba)".to_owned(),
            Order::Random => format!("random, seed {}", self.seed),
        };
        format!(
            "{} variants, {} boots, {} runs of a variant in a boot; order: {order}",
            self.variants.len(),
            self.boots,
            self.runs
        )
    }

    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING);
        table.set_header(["device", "variant", "asked", "valid", "invalid", "missing"]);
        for device in &self.devices {
            for variant in &self.variants {
                let [asked, valid, invalid, missing] = self.tally(device, variant);
                table.add_row([
                    printable(device, 300),
                    printable(variant, 100),
                    asked.to_string(),
                    valid.to_string(),
                    invalid.to_string(),
                    missing.to_string(),
                ]);
            }
        }
        table.trim_fmt() + "\n"
    }

    /// Asked, valid, invalid, missing.
    fn tally(&self, device: &str, variant: &str) -> [usize; 4] {
        let of = || self.slots.iter().filter(|slot| slot.device == device && slot.variant == variant);
        let in_state = |state| of().filter(|slot| slot.state == state).count();
        [of().count(), in_state(State::Valid), in_state(State::Invalid), in_state(State::Missing)]
    }

    /// For scripts; described in `docs/json.md`.
    pub fn json(&self) -> Value {
        let slots = self.slots.iter().map(|slot| {
            json!({
                "slot": slot.slot,
                "device": slot.device,
                "variant": slot.variant,
                "boot": slot.boot,
                "run": slot.run,
                "state": slot.state.word(),
                "id": slot.id,
                "boot_id": slot.boot_id,
                "reason": slot.reason,
            })
        });
        let sides =
            self.devices.iter().flat_map(|device| self.variants.iter().map(move |variant| (device, variant)));
        let tallies = sides.map(|(device, variant)| {
            let [asked, valid, invalid, missing] = self.tally(device, variant);
            json!({
                "device": device,
                "variant": variant,
                "asked": asked,
                "valid": valid,
                "invalid": invalid,
                "missing": missing,
            })
        });
        let order = match self.order {
            Order::Abba => "abba",
            Order::Random => "random",
        };
        json!({
            "schema": 1,
            "campaign": {
                "name": self.name,
                "order": order,
                "seed": self.seed,
                "boots": self.boots,
                "runs": self.runs,
                "retries": self.retries,
                "complete": self.complete(),
                "unfinished_files": self.unfinished,
                "tallies": tallies.collect::<Vec<_>>(),
                "slots": slots.collect::<Vec<_>>(),
            },
        })
    }
}

impl SlotReport {
    fn new(plan: &Plan, slot: &Slot, device: &str, driven: &Driven) -> Self {
        let standing = driven.ledger.standing(slot.number, plan.retries);
        let (state, attempt) = match standing {
            Standing::Valid(attempt) => (State::Valid, Some(attempt)),
            Standing::Invalid(attempt) | Standing::Open(Some(attempt)) => (State::Invalid, Some(attempt)),
            Standing::Open(None) => (State::Missing, None),
        };
        let of_run = attempt.and_then(|attempt| match &attempt.worth {
            Worth::Valid => None,
            Worth::Invalid(why) | Worth::Broken(why) => Some(why),
        });
        let of_drive = driven.missing.get(&slot.number);
        let reason = match state {
            State::Valid => None,
            State::Invalid => of_run.or(of_drive).cloned(),
            State::Missing => of_drive.cloned().or_else(|| Some("not measured yet".to_owned())),
        };
        Self {
            slot: slot.number,
            device: device.to_owned(),
            variant: slot.variant_name(plan).to_owned(),
            boot: slot.boot,
            run: slot.run,
            state,
            id: attempt.map(|attempt| attempt.id.clone()),
            boot_id: attempt.and_then(|attempt| attempt.boot_id.clone()),
            reason,
        }
    }
}
