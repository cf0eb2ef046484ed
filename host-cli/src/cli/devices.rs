//! `tophalf devices`: what is attached, and what can be measured on each.

use super::{Answer, progress::Progress};
use crate::agents::Agents;
use crate::analysis::completion::is_ufs;
use crate::device::{
    Access, Device,
    adb::{self, AdbDevice, Attached},
};
use crate::interrupt::Interrupt;
use crate::printable::printable;
use crate::session;
use clap::Args;
use comfy_table::{Table, presets::NOTHING};
use serde_json::json;
use std::{path::PathBuf, thread};
use tophalf_wire::{ControllerKind, Facts};

#[derive(Debug, Args)]
pub(super) struct DevicesArgs {
    /// The agent to use, in place of the one found for each device
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

/// One device, as far as it could be looked at.
struct Row {
    attached: Attached,
    seen: anyhow::Result<Seen>,
}

struct Seen {
    access: Access,
    facts: Facts,
}

pub(super) fn devices(args: DevicesArgs) -> anyhow::Result<Answer> {
    let interrupt = Interrupt::install()?;
    let agents = Agents::new(args.agent);
    let attached = adb::attached()?;
    // All at once: each takes some seconds, and a lab has dozens.
    let rows: Vec<Row> = thread::scope(|scope| {
        let looks: Vec<_> =
            attached.iter().map(|one| scope.spawn(|| look(&one.serial, &agents, &interrupt))).collect();
        let seen = looks.into_iter().map(|look| {
            look.join().unwrap_or_else(|_| Err(anyhow::anyhow!("looking at it failed; please report this")))
        });
        attached.iter().cloned().zip(seen).map(|(attached, seen)| Row { attached, seen }).collect()
    });
    let json = json!({ "schema": 1, "devices": rows.iter().map(row_json).collect::<Vec<_>>() });
    Ok(Answer::new(text(&rows), json))
}

fn look(serial: &str, agents: &Agents, interrupt: &Interrupt) -> anyhow::Result<Seen> {
    let mut device = AdbDevice::open(Some(serial), agents)?;
    let mut progress = Progress::new(serial, format!("looking at {}", printable(serial, 300)));
    let recording = session::probe(&mut device, false, interrupt, &mut progress)?;
    Ok(Seen { access: device.access(), facts: session::facts(&recording)?.clone() })
}

fn text(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "No device is attached to adb. This machine can be measured with `-d local`.\n".to_owned();
    }
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(["device", "state", "model", "root", "kernel", "storage", "can be measured"]);
    for Row { attached, seen } in rows {
        let model = attached.model.as_ref().or(attached.product.as_ref()).map_or("-", String::as_str);
        let mut cells =
            vec![printable(&attached.serial, 300), attached.state.word().to_owned(), printable(model, 40)];
        match seen {
            Ok(Seen { access, facts }) => cells.extend([
                root(*access).to_owned(),
                printable(&facts.system.kernel_release, 60),
                storage(facts),
                measurable(*access).to_owned(),
            ]),
            Err(_) => cells.extend(["-", "-", "-", "nothing, see below"].map(str::to_owned)),
        }
        table.add_row(cells);
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    for Row { seen, .. } in rows {
        if let Err(error) = seen {
            text.push_str(&format!("{error:#}\n"));
        }
    }
    text
}

fn row_json(row: &Row) -> serde_json::Value {
    let Row { attached, seen } = row;
    let mut json = json!({
        "device": attached.serial,
        "state": attached.state.word(),
        "model": attached.model,
        "product": attached.product,
    });
    let more = match seen {
        Ok(Seen { access, facts }) => json!({
            "root": matches!(access, Access::Root(_)).then(|| root(*access)),
            "kernel": facts.system.kernel_release,
            "storage": storage(facts),
            "measurable": measurable(*access),
        }),
        Err(error) => json!({ "unavailable": format!("{error:#}") }),
    };
    if let (Some(json), serde_json::Value::Object(more)) = (json.as_object_mut(), more) {
        json.extend(more);
    }
    json
}

fn root(access: Access) -> &'static str {
    match access {
        Access::Root(means) => means,
        Access::Shell | Access::Own => "no",
    }
}

fn measurable(access: Access) -> &'static str {
    match access {
        Access::Root(_) | Access::Own => "block devices and files",
        Access::Shell => "files in /data/local/tmp",
    }
}

/// What stores, in a few words.
fn storage(facts: &Facts) -> String {
    let controllers = match &facts.controllers {
        Ok(controllers) => controllers,
        // Without /sys a UFS line in /proc/interrupts still shows what is there.
        Err(_) => {
            let lines = facts.irqs.iter().flatten().filter(|irq| irq.actions.iter().any(|name| is_ufs(name)));
            let numbers: Vec<String> = lines.map(|irq| irq.irq.to_string()).collect();
            return if numbers.is_empty() {
                "unknown".to_owned()
            } else {
                format!("UFS, IRQ {}", numbers.join(" "))
            };
        }
    };
    let of_kind = |kind: ControllerKind| controllers.iter().find(|controller| controller.kind == kind);
    if let Some(ufs) = of_kind(ControllerKind::Ufs) {
        let driver = ufs.driver.as_ref().map_or("driver unknown", String::as_str);
        return format!("UFS ({})", printable(driver, 40));
    }
    let others = [(ControllerKind::Mmc, "eMMC"), (ControllerKind::Nvme, "NVMe")];
    let other = others.iter().find(|(kind, _)| of_kind(*kind).is_some());
    other.map_or("no UFS".to_owned(), |(_, name)| format!("{name}, no UFS"))
}
