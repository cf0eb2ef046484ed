//! Many runs in a fair order, on one device or several, that any crash interrupts without losing or repeating one.
//!
//! A campaign is its plan ([`plan`]) and its run files: the plan gives the slots in their order ([`order`]), a finished
//! run file says by its id which slot it is of ([`ledger`]), and what is missing is made ([`drive`]).

mod drive;
mod folder;
mod ledger;
mod order;
pub mod plan;
pub mod report;
mod steps;
mod temperature;

use crate::agents::Agents;
use crate::device;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printable::printable;
use crate::store::Store;
use drive::{Driven, Shared, drive};
use folder::Claim;
use ledger::{Found, Ledger};
use order::slots;
use plan::{Plan, PlanFile};
use report::Report;
use std::thread;

/// How a campaign is worked on.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Devices where the plan names none.
    pub devices: Vec<String>,
    /// Go on with what was begun.
    pub resume: bool,
}

/// What stands for a device that only a look at adb would name.
const ONLY_DEVICE: &str = "(the only device attached)";

/// What would be done, and what of it is there already; touches no device.
///
/// # Errors
/// The store cannot be read.
pub fn preview(
    file: &PlanFile,
    options: &Options,
    store: &Store,
    say: &dyn Fn(&str),
) -> anyhow::Result<Report> {
    let plan = &file.plan;
    let slots = slots(plan);
    let found = ledger::find(plan, &slots, store, say)?;
    let mut devices = named(plan, options)?.to_vec();
    if devices.is_empty() {
        devices = found.ledgers.keys().cloned().collect();
    }
    if devices.is_empty() {
        devices.push(ONLY_DEVICE.to_owned());
    }
    let of = |device: &String| Driven {
        ledger: found.ledgers.get(device).cloned().unwrap_or_default(),
        ..Driven::default()
    };
    let driven = devices.iter().map(|device| (device.clone(), of(device))).collect();
    Ok(Report::new(plan, &slots, driven, found.unfinished))
}

/// Makes every run of the plan that is not there yet.
///
/// # Errors
/// The campaign cannot be begun or gone on with; what happens to single runs and devices is in the report.
pub fn run(
    file: &PlanFile,
    options: &Options,
    store: &Store,
    agents: &Agents,
    interrupt: &Interrupt,
    say: &(dyn Fn(&str) + Sync),
) -> anyhow::Result<Report> {
    let plan = &file.plan;
    named(plan, options)?;
    let slots = slots(plan);
    let claim = Claim::take(store, file)?;
    let found = ledger::find(plan, &slots, store, say)?;
    if !options.resume && (claim.begun() || !found.ledgers.is_empty()) {
        return Err(Failure::usage(format!(
            "the campaign {} was begun before ({} runs are in {}): go on with it by --resume, or give the plan another \
             name",
            plan.name,
            found.ledgers.values().map(Ledger::runs).sum::<usize>(),
            store.folder().display()
        )));
    }
    let devices = chosen(plan, options, &found, agents)?;
    claim.keep(&file.text)?;
    let shared = Shared { plan, slots: &slots, store, agents, interrupt, say };
    let ledger = |device: &String| found.ledgers.get(device).cloned().unwrap_or_default();
    let driven = on_all(&shared, devices.into_iter().map(|device| (ledger(&device), device)).collect());
    Ok(Report::new(plan, &slots, driven, found.unfinished))
}

/// Each device in a thread of its own: what happens to one does not hold up the others.
fn on_all(shared: &Shared<'_>, devices: Vec<(Ledger, String)>) -> Vec<(String, Driven)> {
    thread::scope(|scope| {
        let threads: Vec<_> = devices
            .into_iter()
            .map(|(ledger, device)| {
                let name = device.clone();
                (device, scope.spawn(move || drive(shared, &name, ledger)))
            })
            .collect();
        let joined = threads.into_iter().map(|(device, thread)| {
            let driven = thread.join().unwrap_or_else(|_| Driven {
                missing: shared.slots.iter().map(|slot| (slot.number, PANICKED.to_owned())).collect(),
                ..Driven::default()
            });
            (device, driven)
        });
        joined.collect()
    })
}

const PANICKED: &str = "tophalf failed on this device; its runs are in the store; please report this";

/// The devices that the plan or the command names.
fn named<'a>(plan: &'a Plan, options: &'a Options) -> anyhow::Result<&'a [String]> {
    match (plan.devices.is_empty(), options.devices.is_empty()) {
        (false, false) => {
            Err(Failure::usage("the plan names its devices: leave -d out, or `devices` in the plan"))
        }
        (false, true) => Ok(&plan.devices),
        (true, _) => {
            match options.devices.iter().enumerate().find(|(at, one)| options.devices[..*at].contains(one)) {
                Some((_, twice)) => Err(Failure::usage(format!("-d {} stands twice", printable(twice, 300)))),
                None => Ok(&options.devices),
            }
        }
    }
}

/// The devices of this campaign: those that are named, or that it was begun on, or the only one there is.
fn chosen(plan: &Plan, options: &Options, found: &Found, agents: &Agents) -> anyhow::Result<Vec<String>> {
    let named = named(plan, options)?;
    let earlier: Vec<String> = found.ledgers.keys().cloned().collect();
    if named.is_empty() {
        if !earlier.is_empty() {
            return Ok(earlier);
        }
        return Ok(vec![device::open(None, agents)?.name().to_owned()]);
    }
    if let Some(other) = earlier.iter().find(|device| !named.contains(device)) {
        return Err(Failure::usage(format!(
            "the campaign {} was begun on {} too, which is not named now: name it, or give the plan another name",
            plan.name,
            printable(other, 300)
        )));
    }
    Ok(named.to_vec())
}
