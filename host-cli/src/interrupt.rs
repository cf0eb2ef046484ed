//! Ctrl-C: once stops the run and keeps what was measured, twice ends the program.

use crate::failure::EXIT_INVALID;
use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Whether somebody asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes over SIGINT, SIGTERM and SIGHUP. The second of them ends the program at once; the agent then
    /// stops by itself, since its standard input ends.
    ///
    /// # Errors
    /// The system does not let a signal be caught.
    pub fn install() -> anyhow::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first signal finds the flag down and raises it, the second finds it up.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                i32::from(EXIT_INVALID),
                Arc::clone(&flag),
            )
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .with_context(|| format!("cannot catch signal {signal}"))?;
        }
        Ok(Self(flag))
    }

    /// Somebody asked to stop.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
