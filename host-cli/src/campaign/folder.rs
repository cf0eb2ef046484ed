//! What is kept of a campaign beside its runs: the plan that it was begun with, and a lock.
//!
//! `STORE/campaigns/NAME.toml` is the plan's text, so that a campaign goes on with the plan that it was begun with or
//! not at all. `NAME.lock` is locked while a tophalf works on it; the system lets go of it when that tophalf ends,
//! however it ends.

use super::plan::PlanFile;
use crate::failure::Failure;
use crate::store::Store;
use anyhow::Context;
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};
use toml::{Table, Value};

/// Holds a campaign for this process.
#[derive(Debug)]
pub(super) struct Claim {
    plan: PathBuf,
    _lock: File,
}

impl Claim {
    /// Takes a campaign of a store, and checks that the plan is the one it was begun with.
    ///
    /// # Errors
    /// Another tophalf has it, the plan is another one, or the folder cannot be written to.
    pub(super) fn take(store: &Store, file: &PlanFile) -> anyhow::Result<Self> {
        let name = &file.plan.name;
        let folder = store.folder().join("campaigns");
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let path = folder.join(format!("{name}.lock"));
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = lock.with_context(|| format!("cannot make the lock {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::usage(format!(
                    "another tophalf is at work on the campaign {name} ({} is locked): wait for its end",
                    path.display()
                )));
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        let claim = Self { plan: folder.join(format!("{name}.toml")), _lock: lock };
        claim.check(file)?;
        Ok(claim)
    }

    /// The campaign was begun before.
    pub(super) fn begun(&self) -> bool {
        self.plan.exists()
    }

    fn check(&self, file: &PlanFile) -> anyhow::Result<()> {
        let kept = match fs::read_to_string(&self.plan) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            kept => kept.with_context(|| format!("cannot read {}", self.plan.display()))?,
        };
        let shown = self.plan.display();
        let kept: Table = toml::from_str(&kept)
            .map_err(|error| Failure::device(format!("{shown} is damaged: {}", error.message())))?;
        let asked: Table = toml::from_str(&file.text).context("the plan")?;
        let differs = differences(&Value::Table(kept), &Value::Table(asked));
        if differs.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "the campaign {} was begun with another plan, {shown} ({}): go on with that one, or give this one another name",
            file.plan.name,
            differs.join("; ")
        )))
    }

    /// Keeps the plan, on disk when this returns.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn keep(&self, text: &str) -> anyhow::Result<()> {
        let new = self.plan.with_extension("toml.new");
        let written = || -> std::io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.plan)?;
            File::open(self.plan.parent().unwrap_or(Path::new(".")))?.sync_all()
        };
        written().with_context(|| format!("cannot keep the plan as {}", self.plan.display()))
    }
}

/// Where two plans differ, without regard to comments and layout.
fn differences(kept: &Value, asked: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(kept, asked, "", &mut found);
    found
}

fn collect(kept: &Value, asked: &Value, place: &str, found: &mut Vec<String>) {
    let below = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    match (kept, asked) {
        (Value::Table(kept), Value::Table(asked)) => {
            for (key, value) in kept {
                match asked.get(key) {
                    Some(other) => collect(value, other, &below(key), found),
                    None => found.push(format!("{} is missing now", below(key))),
                }
            }
            let new = asked.keys().filter(|key| !kept.contains_key(*key));
            found.extend(new.map(|key| format!("{} is new", below(key))));
        }
        (Value::Array(kept), Value::Array(asked)) if kept.len() == asked.len() => {
            for (index, (kept, asked)) in kept.iter().zip(asked).enumerate() {
                collect(kept, asked, &below(&(index + 1).to_string()), found);
            }
        }
        _ if kept == asked => {}
        _ => found.push(format!("{place} was {} and is {}", short(kept), short(asked))),
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("a list of {}", list.len()),
        value => crate::printable::printable(&value.to_string(), 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "schema = 1\nname = 'x'\nruns = 2\n[run]\nseconds = 1\n[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n";

    fn file(folder: &Path, text: &str) -> PlanFile {
        let path = folder.join("plan.toml");
        fs::write(&path, text).unwrap();
        PlanFile::read(&path).unwrap()
    }

    #[test]
    fn a_campaign_goes_on_with_its_own_plan_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("runs"));
        let plan = file(folder.path(), PLAN);
        let claim = Claim::take(&store, &plan).unwrap();
        assert!(!claim.begun());
        claim.keep(&plan.text).unwrap();
        assert!(claim.begun());
        drop(claim);
        let commented =
            file(folder.path(), &format!("# the same\n{}", PLAN.replace("runs = 2", "runs  =  2")));
        assert!(Claim::take(&store, &commented).unwrap().begun());
        let changed =
            PLAN.replace("runs = 2\n", "retries = 3\n").replace("'b'", "'c'").replace("= 1\n[[", "= 2\n[[");
        let error = Claim::take(&store, &file(folder.path(), &changed)).unwrap_err().to_string();
        for words in [
            "runs is missing now",
            "retries is new",
            "run.seconds was 1 and is 2",
            "variant.2.name was \"b\"",
        ] {
            assert!(error.contains(words), "{words}: {error}");
        }
    }

    #[test]
    fn two_cannot_work_on_one_campaign() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("runs"));
        let plan = file(folder.path(), PLAN);
        let first = Claim::take(&store, &plan).unwrap();
        let error = Claim::take(&store, &plan).unwrap_err().to_string();
        assert!(error.contains("another tophalf is at work"), "{error}");
        drop(first);
        Claim::take(&store, &plan).unwrap();
    }
}
