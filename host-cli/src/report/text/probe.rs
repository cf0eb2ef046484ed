//! What a probe found.

use super::{Page, bytes};
use crate::recording::Recording;
use crate::report::EMULATED;
use crate::report::json::plain;
use std::collections::BTreeMap;
use tophalf_wire::{
    ControllerFacts, ControllerKind, DiskFacts, Facts, IrqFacts, Reading, SystemFacts, ThreadFacts,
};

/// What a probe found: the UFS controllers, or that there is none, then everything else.
pub fn probe(device: &str, recording: &Recording) -> String {
    let mut page = Page::default();
    let Some(facts) = &recording.facts else {
        page.line(&format!("{device}: the device sent no facts of itself"));
        page.list("the stream:", &recording.faults.described);
        return page.finish();
    };
    page.line(&answer(device, facts));
    page.item("a thread that exists need not be used: `tophalf run` counts which way completions take");
    if facts.system.emulated {
        page.line(EMULATED);
    }
    page.blank();
    system(&mut page, &facts.system);
    page.blank();
    disks(&mut page, &facts.disks);
    controllers(&mut page, &facts.controllers);
    irqs(&mut page, &facts.irqs);
    page.list("unavailable:", &unavailable(facts));
    page.finish()
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn answer(device: &str, facts: &Facts) -> String {
    let controllers = match &facts.controllers {
        Ok(controllers) => controllers,
        Err(reason) => return format!("{device}: storage controllers cannot be seen: {reason}"),
    };
    let ufs: Vec<String> = controllers
        .iter()
        .filter(|controller| controller.kind == ControllerKind::Ufs)
        .map(|controller| format!("{} with {}", name_of(&controller.sys_path), lines(controller)))
        .collect();
    if ufs.is_empty() {
        let others: Vec<&str> = facts.disks.iter().flatten().map(|disk| disk.name.as_str()).collect();
        let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        return format!("{device}: no UFS controller; disks: {others}");
    }
    format!("{device}: UFS controller {}", ufs.join(", "))
}

fn lines(controller: &ControllerFacts) -> String {
    match controller.irqs.as_slice() {
        [] => "no interrupt line that could be found".to_owned(),
        [irq] => format!("interrupt {irq}"),
        irqs => format!("interrupts {}", numbers(irqs)),
    }
}

fn numbers<T: ToString>(list: &[T]) -> String {
    list.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ")
}

fn shown<T: ToString>(reading: &Reading<T>) -> String {
    reading.as_ref().map_or_else(|_| "-".to_owned(), ToString::to_string)
}

fn list<T: ToString>(reading: &Reading<Vec<T>>) -> String {
    reading.as_ref().map_or_else(|_| "-".to_owned(), |list| numbers(list))
}

fn system(page: &mut Page, system: &SystemFacts) {
    page.line(&format!("kernel {} {} {}", system.kernel_release, system.machine, system.kernel_version));
    page.line(&format!("model {}, boot {}", shown(&system.model), shown(&system.boot_id)));
    let context =
        system.selinux_context.as_ref().map_or_else(|_| String::new(), |context| format!(", {context}"));
    let access = if system.uid == 0 { "root".to_owned() } else { format!("uid {}, not root", system.uid) };
    page.line(&format!("access {access}{context}"));
    page.line(&format!(
        "CPUs {} on-line, {} allowed; pages of {} bytes; clock grain {} ns",
        list(&system.cpus_online),
        list(&system.cpus_allowed),
        system.page_bytes,
        system.clock_grain_ns
    ));
}

fn disks(page: &mut Page, disks: &Reading<Vec<DiskFacts>>) {
    let Ok(disks) = disks else { return };
    let row = |disk: &DiskFacts| {
        vec![
            disk.name.clone(),
            shown(&disk.driver),
            disk.size_bytes.as_ref().map_or_else(|_| "-".to_owned(), |&size| bytes(size)),
            shown(&disk.logical_block_bytes),
            disk.hardware_queues.as_ref().map_or_else(|_| "-".to_owned(), |queues| queues.len().to_string()),
            shown(&disk.rq_affinity),
            disk.controller.as_deref().map_or("none", name_of).to_owned(),
        ]
    };
    let header = ["disk", "driver", "size", "block", "queues", "rq_affinity", "controller"];
    page.table(&header, disks.iter().map(row).collect());
    page.blank();
}

fn controllers(page: &mut Page, controllers: &Reading<Vec<ControllerFacts>>) {
    for controller in controllers.iter().flatten() {
        page.line(&format!("controller {}, driver {}", controller.sys_path, shown(&controller.driver)));
        for (name, value) in &controller.attributes {
            if let Ok(value) = value {
                page.item(&format!("{name} {}", value.trim()));
            }
        }
    }
}

fn irqs(page: &mut Page, irqs: &Reading<Vec<IrqFacts>>) {
    for irq in irqs.iter().flatten() {
        page.line(&format!(
            "interrupt {} ({}), {} {}, delivered to CPU {} of {}",
            irq.irq,
            irq.actions.join(", "),
            irq.chip,
            irq.hwirq,
            list(&irq.effective_affinity),
            list(&irq.affinity)
        ));
        irq.threads.iter().for_each(|thread| page.item(&thread_line(thread)));
    }
}

fn thread_line(thread: &ThreadFacts) -> String {
    format!(
        "thread {} (pid {}), {} {}, CPU {}",
        thread.comm,
        thread.pid,
        crate::analysis::completion::policy_name(thread.policy),
        thread.rt_priority,
        thread.cpu
    )
}

/// What is missing, each kind once: eight CPUs without a frequency are one line.
fn unavailable(facts: &Facts) -> Vec<String> {
    let (_, missing) = plain(facts);
    let any_number =
        |part: &'_ str| if part.parse::<u32>().is_ok() { "*".to_owned() } else { part.to_owned() };
    let kinds: BTreeMap<String, String> = missing
        .into_iter()
        .map(|(name, reason)| (name.split('.').map(any_number).collect::<Vec<String>>().join("."), reason))
        .collect();
    kinds.into_iter().map(|(name, reason)| format!("{name}: {reason}")).collect()
}
