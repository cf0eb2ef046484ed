//! One device's part of a campaign: boot after boot, slot after slot, until each has a run that counts or a reason
//! why it has none.

use super::ledger::{self, Attempt, Ledger, Standing, Worth};
use super::order::Slot;
use super::plan::{CoolDown, Plan, Step};
use super::steps;
use super::temperature;
use crate::agents::Agents;
use crate::device::{self, Device};
use crate::failure::{EXIT_USAGE, Failure, exit_code};
use crate::interrupt::Interrupt;
use crate::printable::printable;
use crate::recording::Recording;
use crate::session::{self, Labels, Observer, request::prepare};
use crate::store::Store;
use crate::workload;
use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};
use tophalf_wire::{Facts, RunJob, Window};

/// Time between two looks at a device that boots or cools down. A look is some hundred small reads on it.
const BOOT_LOOK: Duration = Duration::from_secs(1);
const COOL_LOOK: Duration = Duration::from_secs(10);
/// How often the wish to stop is looked at meanwhile.
const STOP_LOOK: Duration = Duration::from_millis(100);
/// Reading one file on a device.
const READ_LIMIT: Duration = Duration::from_secs(30);
/// After so many boots in a row that failed, the device is left alone.
const GIVEN_UP_AFTER: u32 = 2;
const STOPPED: &str = "stopped on request";

/// What all devices of a campaign share.
pub(super) struct Shared<'a> {
    pub(super) plan: &'a Plan,
    pub(super) slots: &'a [Slot],
    pub(super) store: &'a Store,
    pub(super) agents: &'a Agents,
    pub(super) interrupt: &'a Interrupt,
    /// Takes a line of progress.
    pub(super) say: &'a (dyn Fn(&str) + Sync),
}

/// What became of a device's slots.
#[derive(Debug, Default)]
pub(super) struct Driven {
    pub(super) ledger: Ledger,
    /// Why a slot has no run that counts, where the runs do not say it.
    pub(super) missing: BTreeMap<usize, String>,
}

/// Makes what is still missing on the device `serial`.
pub(super) fn drive(shared: &Shared<'_>, serial: &str, ledger: Ledger) -> Driven {
    let shown = printable(serial, 300);
    let mut driver =
        Driver { shared, serial, shown, driven: Driven { ledger, ..Driven::default() }, noted: false };
    driver.all_boots();
    driver.driven
}

/// A device in the boot that is wanted, ready for its runs.
struct Ready {
    device: Box<dyn Device>,
    facts: Facts,
    boot_id: Option<String>,
    job: RunJob,
}

/// What a try at a slot gave.
enum Tried {
    /// A run was stored.
    Stored,
    /// None was, and it may be tried again.
    Failed(String),
    /// None was, and trying again would be no better.
    NotMade(String),
}

struct Driver<'a> {
    shared: &'a Shared<'a>,
    serial: &'a str,
    shown: String,
    driven: Driven,
    /// What was chosen for the user has been said.
    noted: bool,
}

impl Observer for Driver<'_> {
    fn window(&mut self, _: &Window) {}

    fn line(&mut self, line: &str) {
        self.say(line);
    }
}

impl<'a> Driver<'a> {
    fn say(&self, line: &str) {
        (self.shared.say)(&format!("{}: {line}", self.shown));
    }

    fn plan(&self) -> &'a Plan {
        self.shared.plan
    }

    fn name(&self, slot: &Slot) -> String {
        printable(slot.variant_name(self.shared.plan), 100)
    }

    fn stopped(&self) -> bool {
        self.shared.interrupt.requested()
    }

    fn is_open(&self, slot: &Slot) -> bool {
        matches!(self.driven.ledger.standing(slot.number, self.plan().retries), Standing::Open(_))
    }

    fn all_boots(&mut self) {
        let mut failed_in_a_row = 0;
        let mut given_up: Option<String> = None;
        let shared = self.shared;
        for boot in shared.slots.chunk_by(|a, b| a.boot == b.boot) {
            if !boot.iter().any(|slot| self.is_open(slot)) {
                continue;
            }
            if self.stopped() {
                self.miss(boot, STOPPED);
            } else if let Some(why) = &given_up {
                self.miss(boot, why);
            } else if let Err(error) = self.one_boot(boot) {
                let why = format!("{error:#}");
                self.say(&format!("boot {}: {why}", first(boot)));
                self.miss(boot, &why);
                failed_in_a_row += 1;
                // What was asked for cannot be, and will not be next time.
                if exit_code(&error) == EXIT_USAGE || failed_in_a_row == GIVEN_UP_AFTER {
                    given_up = Some(format!("not tried, since boot {} failed: {why}", first(boot)));
                }
            } else {
                failed_in_a_row = 0;
            }
        }
    }

    /// Measures what is open of one boot; another boot is made where the device was lost in the middle.
    fn one_boot(&mut self, boot: &[Slot]) -> anyhow::Result<()> {
        let mut tries = 0;
        loop {
            let lost = match self.enter(boot) {
                Ok(mut ready) => match self.measure(boot, &mut ready) {
                    Ok(()) => return Ok(()),
                    Err(lost) => lost,
                },
                Err(error) => error,
            };
            tries += 1;
            if self.stopped() || exit_code(&lost) == EXIT_USAGE || tries > self.plan().retries {
                return Err(lost);
            }
            self.say(&format!("boot {}: {lost:#}: trying again", first(boot)));
        }
    }

    /// Brings the device into a boot that runs of these slots may be made in.
    fn enter(&mut self, boot: &[Slot]) -> anyhow::Result<Ready> {
        let shared = self.shared;
        let Some(slot) = boot.iter().find(|slot| self.is_open(slot)) else {
            return Err(Failure::device("nothing is left to be measured in this boot"));
        };
        let own = shared.plan.variants.get(slot.variant).map_or(&[][..], |variant| &variant.boot);
        let commands: &[Step] = if own.is_empty() { &shared.plan.boot } else { own };
        let ledger = &self.driven.ledger;
        let made_in: Option<String> = ledger.boots_of(boot).last().map(|&id| id.to_owned());
        if commands.is_empty() {
            // It was there before: after a fault it may take its time.
            let limit = if ledger.runs() > 0 { shared.plan.boot_timeout } else { Duration::ZERO };
            let ready = self.reach(limit, &|_| Ok(()))?;
            if made_in.is_some() && made_in != ready.boot_id {
                self.say("it was booted since its last run; the rest is measured in this boot");
            }
            return Ok(ready);
        }
        let now = self.open();
        if let (Ok(ready), Some(made_in)) = (&now, &made_in)
            && ready.boot_id.as_ref() == Some(made_in)
        {
            self.say(&format!("boot {}: going on in the boot that it is in", slot.boot));
            return now;
        }
        if made_in.is_some() {
            self.say(&format!(
                "boot {}: its first runs were made in a boot that is over; the rest gets a new one",
                slot.boot
            ));
        }
        let mut earlier: Vec<String> =
            self.driven.ledger.boots_of(shared.slots).into_iter().map(str::to_owned).collect();
        earlier.extend(now.ok().and_then(|ready| ready.boot_id));
        self.say(&format!("boot {}: booting {}", slot.boot, self.name(slot)));
        for command in commands {
            steps::step(command, None, &self.environment(slot, None), shared.interrupt)?;
        }
        self.reach(shared.plan.boot_timeout, &|boot_id| match boot_id {
            Some(id) if earlier.iter().any(|known| known == id) => {
                Err("it is still in an earlier boot: the commands of `boot` made no new one".to_owned())
            }
            Some(_) => Ok(()),
            None => {
                Err("its boot_id cannot be read, so whether this boot is a new one cannot be told".to_owned())
            }
        })
    }

    /// Waits until the device answers, and in a boot that is fit.
    fn reach(
        &mut self,
        limit: Duration,
        fit: &dyn Fn(Option<&str>) -> Result<(), String>,
    ) -> anyhow::Result<Ready> {
        let until = Instant::now() + limit;
        loop {
            let error = match self.open() {
                Ok(ready) => match fit(ready.boot_id.as_deref()) {
                    Ok(()) => return Ok(ready),
                    Err(why) => Failure::device(why),
                },
                Err(error) => error,
            };
            if self.stopped() || exit_code(&error) == EXIT_USAGE || Instant::now() >= until {
                return Err(match limit {
                    Duration::ZERO => error,
                    limit => {
                        error.context(format!("not ready within {} s (boot_timeout_s)", limit.as_secs()))
                    }
                });
            }
            self.pause(BOOT_LOOK);
        }
    }

    /// Looks at the device as it is now.
    fn open(&mut self) -> anyhow::Result<Ready> {
        let shared = self.shared;
        let mut device = device::open(Some(self.serial), shared.agents)?;
        let recording = session::probe(&mut *device, false, shared.interrupt, self)?;
        let facts = session::facts(&recording)?.clone();
        self.check_cool_down(&recording)?;
        let prepared = prepare(&shared.plan.run, &facts, &*device)?;
        if !self.noted {
            self.noted = true;
            prepared.notes.iter().for_each(|note| self.say(note));
        }
        let boot_id = facts.system.boot_id.clone().ok();
        Ok(Ready { device, boot_id, facts, job: prepared.job })
    }

    fn check_cool_down(&self, recording: &Recording) -> anyhow::Result<()> {
        let Some(asked) = &self.plan().cool_down else { return Ok(()) };
        match temperature::read(recording, asked) {
            Ok(_) => Ok(()),
            Err(why) => Err(Failure::usage(format!(
                "cool_down cannot wait for this device to cool ({why}): name another zone, or leave [cool_down] out"
            ))),
        }
    }

    /// Measures the slots of a boot that are open. An error means that the device was lost.
    fn measure(&mut self, boot: &[Slot], ready: &mut Ready) -> anyhow::Result<()> {
        for slot in boot {
            let mut tries = 0;
            while self.is_open(slot) && tries <= self.plan().retries {
                if self.stopped() {
                    return Err(Failure::device(STOPPED));
                }
                tries += 1;
                match self.one_run(slot, ready)? {
                    Tried::Stored => {
                        self.driven.missing.remove(&slot.number);
                    }
                    Tried::Failed(why) => self.note_missing(slot, why),
                    Tried::NotMade(why) => {
                        self.note_missing(slot, why);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes why what is open of a boot has no run.
    fn miss(&mut self, boot: &[Slot], why: &str) {
        for slot in boot {
            if self.is_open(slot) {
                self.driven.missing.entry(slot.number).or_insert_with(|| why.to_owned());
            }
        }
    }

    fn note_missing(&mut self, slot: &Slot, why: String) {
        self.say(&format!("slot {}: {why}", slot.number));
        self.driven.missing.insert(slot.number, why);
    }

    fn one_run(&mut self, slot: &Slot, ready: &mut Ready) -> anyhow::Result<Tried> {
        let shared = self.shared;
        let number = self.driven.ledger.attempts_at(slot.number) + 1;
        let name = ledger::slot_name(&shared.plan.name, slot.number, number);
        let environment = self.environment(slot, Some(&name));
        for step in shared.plan.variants.get(slot.variant).iter().flat_map(|variant| &variant.prepare) {
            if let Err(error) = steps::step(step, Some(&*ready.device), &environment, shared.interrupt) {
                self.check_boot(slot, ready)?;
                return Ok(Tried::Failed(format!("prepare: {error:#}")));
            }
        }
        if let Some(asked) = &shared.plan.cool_down
            && let Some(why) = self.cool_down(asked, ready)?
        {
            return Ok(Tried::NotMade(why));
        }
        self.check_boot(slot, ready)?;
        let labels = Labels {
            variant: slot.variant_name(self.shared.plan).to_owned(),
            workload: workload::name(&shared.plan.run.workload),
            campaign_slot: Some(name),
        };
        let ran = session::run(
            &*ready.device,
            &ready.job,
            &labels,
            &ready.facts,
            shared.store,
            shared.interrupt,
            self,
        );
        let stored = ran.file.is_some();
        let mut problem = ran.problem;
        match ran.file.map(|file| ledger::attempt(&file)) {
            Some(Ok((_, attempt))) => self.keep(slot, attempt),
            Some(Err(unreadable)) => problem = problem.or(Some(unreadable)),
            None => {}
        }
        let Some(problem) = problem else { return Ok(Tried::Stored) };
        // What was asked for cannot be; the user stopped; or else: is the device there still?
        if exit_code(&problem) == EXIT_USAGE || self.stopped() {
            return Err(problem);
        }
        if let Err(lost) = self.check_boot(slot, ready) {
            return Err(lost.context(format!("{problem:#}")));
        }
        Ok(if stored { Tried::Stored } else { Tried::Failed(format!("{problem:#}")) })
    }

    fn keep(&mut self, slot: &Slot, attempt: Attempt) {
        let how = match &attempt.worth {
            Worth::Valid => "valid".to_owned(),
            Worth::Invalid(why) => format!("not valid: {why}"),
            Worth::Broken(why) => format!("broken off: {why}"),
        };
        self.say(&format!(
            "slot {} of {}: {}, boot {}, run {}: {how}",
            slot.number,
            self.shared.slots.len(),
            self.name(slot),
            slot.boot,
            slot.run
        ));
        self.driven.ledger.add(slot.number, attempt);
    }

    /// A device that fell over and came up again by itself would be measured with another kernel, or without what
    /// the variant has set.
    fn check_boot(&self, slot: &Slot, ready: &Ready) -> anyhow::Result<()> {
        let now = ready.device.shell("cat /proc/sys/kernel/random/boot_id", READ_LIMIT)?;
        match &ready.boot_id {
            Some(boot_id) if self.plan().makes_boots() && now.code == 0 && now.said.trim() != boot_id => {
                Err(Failure::device(format!(
                    "the device was booted, not by this campaign, before slot {}",
                    slot.number
                )))
            }
            _ => Ok(()),
        }
    }

    /// `Some` is the reason why the wait was given up.
    fn cool_down(&mut self, asked: &CoolDown, ready: &mut Ready) -> anyhow::Result<Option<String>> {
        let until = Instant::now() + asked.limit;
        let below = f64::from(asked.below_millidegrees) / 1000.0;
        let mut said = false;
        loop {
            let recording = session::probe(&mut *ready.device, false, self.shared.interrupt, self)?;
            let now = temperature::read(&recording, asked).map_err(Failure::device)?;
            if now.millidegrees < asked.below_millidegrees {
                return Ok(None);
            }
            if self.stopped() {
                return Err(Failure::device(STOPPED));
            }
            if Instant::now() >= until {
                let seconds = asked.limit.as_secs();
                return Ok(Some(format!(
                    "{} after {seconds} s of cool_down, not below {below} °C",
                    now.shown()
                )));
            }
            if !said {
                said = true;
                self.say(&format!("{}: waiting until it is below {below} °C", now.shown()));
            }
            self.pause(COOL_LOOK);
        }
    }

    fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.stopped() && Instant::now() < until {
            thread::sleep(STOP_LOOK);
        }
    }

    /// What commands of the host see. adb and fastboot use `ANDROID_SERIAL` where no `-s` is given.
    fn environment(&self, slot: &Slot, run: Option<&str>) -> Vec<(&'static str, String)> {
        let mut environment = vec![
            ("TOPHALF_CAMPAIGN", self.plan().name.clone()),
            ("TOPHALF_SERIAL", self.serial.to_owned()),
            ("TOPHALF_VARIANT", slot.variant_name(self.shared.plan).to_owned()),
            ("TOPHALF_BOOT", slot.boot.to_string()),
            ("ANDROID_SERIAL", self.serial.to_owned()),
        ];
        environment.extend(run.map(|run| ("TOPHALF_RUN", run.to_owned())));
        environment
    }
}

fn first(boot: &[Slot]) -> usize {
    boot.first().map_or(0, |slot| slot.boot)
}
