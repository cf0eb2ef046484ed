//! The state of the device: what changes by itself during a run, and changes latencies with it.

use super::{cpu, thermal, time_in_state, tree::Tree, ufs};
use crate::clock::clocks;
use tophalf_wire::{Canary, ControllerKind, EdgeSide, Facts, State};

/// What of the device belongs to the target.
#[derive(Debug, Clone, Default)]
pub struct StateReader {
    irqs: Vec<u32>,
    /// Folder of the controller above the disk, if it is a UFS controller.
    controller: Option<String>,
}

impl StateReader {
    /// Watches the lines `irqs`, and the UFS controller whose folder under `/sys/devices` is `controller`.
    pub fn new(irqs: Vec<u32>, controller: Option<String>) -> Self {
        Self { irqs, controller }
    }

    /// Watches every line and the first UFS controller that a probe found.
    pub fn of_probe(facts: &Facts) -> Self {
        let irqs = facts.irqs.iter().flatten().map(|line| line.irq).collect();
        let mut controllers = facts.controllers.iter().flatten();
        let ufs = controllers.find(|controller| controller.kind == ControllerKind::Ufs);
        Self::new(irqs, ufs.map(|controller| controller.sys_path.clone()))
    }

    /// Reads everything now. Some hundred small files on a phone: a few milliseconds, outside of any window.
    pub fn read(
        &self,
        tree: &Tree,
        window: Option<u32>,
        side: EdgeSide,
        canary: Option<Canary>,
        now_ns: fn() -> u64,
    ) -> State {
        let begin_ns = now_ns();
        let affinity = |irq: &u32| {
            let path = format!("/proc/irq/{irq}/effective_affinity_list");
            (*irq, tree.parse(&path, cpu::parse_list))
        };
        let mut state = State {
            window,
            side,
            begin_ns,
            end_ns: begin_ns,
            zones: thermal::read_zones(tree),
            cooling: thermal::read_cooling(tree),
            time_in_state: time_in_state::read(tree),
            irq_cpus: self.irqs.iter().map(affinity).collect(),
            controller: self.controller.iter().flat_map(|folder| ufs::read_state(tree, folder)).collect(),
            clocks: clocks(),
            canary,
        };
        state.end_ns = now_ns();
        state
    }
}
