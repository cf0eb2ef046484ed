//! What a person sees while a device works: on standard error, and moving only on a terminal.

use crate::session::Observer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;
use tophalf_wire::{Pass, Window};

/// Progress of one job.
pub(super) struct Progress {
    bar: ProgressBar,
    device: String,
}

impl Progress {
    /// Shows `what` is being done on `device`, until it is dropped.
    pub(super) fn new(device: &str, what: String) -> Self {
        // Hidden by itself where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {prefix} {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, device: crate::printable::printable(device, 300) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn window(&mut self, window: &Window) {
        let pass = match window.pass {
            Pass::Timed => "timed",
            Pass::Hops => "hops",
        };
        let operations = window.reads + window.writes;
        let elapsed_us = window.end_ns.saturating_sub(window.begin_ns) / 1000;
        let each = elapsed_us.checked_div(operations).map_or(String::new(), |us| format!(", {us} us each"));
        self.bar.set_message(format!("window {} ({pass}): {operations} I/Os{each}", window.window));
    }

    fn line(&mut self, line: &str) {
        self.bar.suspend(|| eprintln!("{}: {line}", self.device));
    }
}
