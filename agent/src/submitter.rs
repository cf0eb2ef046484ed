//! The thread that does the I/O, and how the sampling thread and it hand windows to each other.
//!
//! While a window is open they share nothing but the [`STOP`] flag. Buffers travel with the order and come
//! back with the answer, so that no memory is made, or touched for the first time, inside a window.

use crate::canary::canary;
use crate::engine::{Engine, Psync, Stamp, Timed, loop_ns, timed_window};
use crate::error::JobError;
use crate::hop_pass::{HopSlots, hop_window};
use crate::pattern::Operations;
use crate::pin;
use crate::stop::STOP;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, Scope};
use std::time::Duration;
use tophalf_wire::Canary;

/// What the submitter is to do next.
#[derive(Debug)]
pub enum Order {
    /// A window of the timed pass.
    Timed {
        /// Its length, in nanoseconds.
        length_ns: u64,
        /// Room for the latencies; the window ends early when it is full.
        slots: Vec<Stamp>,
    },
    /// [`canary`], where the windows are.
    Canary,
    /// A window of the hops pass.
    Hops {
        /// Its length, in nanoseconds.
        length_ns: u64,
        /// Operations at most.
        most_ops: usize,
        /// The watched threads, and room for what they did.
        slots: HopSlots,
    },
}

/// What came of an order.
#[derive(Debug)]
pub enum Answer {
    /// A window of the timed pass, and its latencies: the first `timed.ops` of them.
    Timed(Timed, Vec<Stamp>),
    /// A window of the hops pass, and what the threads did for its operations.
    Hops(Timed, HopSlots),
    /// How long the canary took.
    Canary(Canary),
}

/// A window that is over.
#[derive(Debug)]
pub struct Done {
    /// What came of it.
    pub answer: Answer,
    /// CPU just before its first operation.
    pub cpu_begin: u16,
    /// CPU just after its last.
    pub cpu_end: u16,
}

/// The I/O thread, seen from the sampling thread. It ends when this is dropped.
#[derive(Debug)]
pub struct Submitter {
    orders: SyncSender<Order>,
    done: Receiver<Done>,
    /// Its thread number.
    pub tid: u32,
    /// What its loop takes without I/O, in nanoseconds an operation.
    pub loop_ns: u64,
}

impl Submitter {
    /// Starts the thread, binds it to `cpu` and measures its loop, with `slots` as scratch.
    ///
    /// # Errors
    /// The CPU cannot be had, or no thread can be made.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        mut engine: Psync,
        mut operations: Operations,
        cpu: Option<u16>,
        slots: &'scope mut [Stamp],
    ) -> Result<Self, JobError> {
        let (orders, order_queue) = sync_channel(1);
        let (done_queue, done) = sync_channel(1);
        let (ready_queue, ready) = sync_channel(1);
        let body = move || {
            let placed = cpu.map_or(Ok(()), pin::bind_this_thread);
            let tid = nix::unistd::gettid().as_raw().cast_unsigned();
            // The other side waits for this. If it is an error, or the other side is gone, no order comes.
            let _ = ready_queue.send(placed.map(|()| (tid, loop_ns(&operations, slots))));
            while let Ok(order) = order_queue.recv()
                && done_queue.send(execute(order, &mut engine, &mut operations)).is_ok()
            {}
        };
        Builder::new()
            .name("tophalf-io".into())
            .spawn_scoped(scope, body)
            .map_err(|error| JobError::device(format!("start the I/O thread: {error}: free some memory")))?;
        let (tid, loop_ns) = ready.recv().map_err(|_| Self::died())??;
        Ok(Self { orders, done, tid, loop_ns })
    }

    /// Hands over an order. There is one at a time.
    ///
    /// # Errors
    /// The thread is gone.
    pub fn order(&self, order: Order) -> Result<(), JobError> {
        self.orders.send(order).map_err(|_| Self::died())
    }

    /// Waits until the order is done, or for `timeout` at most: then `None`.
    ///
    /// # Errors
    /// The thread is gone.
    pub fn wait(&self, timeout: Duration) -> Result<Option<Done>, JobError> {
        match self.done.recv_timeout(timeout) {
            Ok(done) => Ok(Some(done)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Self::died()),
        }
    }

    fn died() -> JobError {
        JobError::device("the I/O thread ended by itself: this is a fault of the agent; please report it")
    }
}

fn execute<E: Engine>(order: Order, engine: &mut E, operations: &mut Operations) -> Done {
    let cpu_begin = pin::current_cpu();
    let answer = match order {
        Order::Timed { length_ns, mut slots } => {
            let timed = timed_window(engine, operations, &mut slots, length_ns, &STOP);
            Answer::Timed(timed, slots)
        }
        Order::Canary => Answer::Canary(canary()),
        Order::Hops { length_ns, most_ops, mut slots } => {
            let timed = hop_window(engine, operations, &mut slots, most_ops, length_ns, &STOP);
            Answer::Hops(timed, slots)
        }
    };
    Done { answer, cpu_begin, cpu_end: pin::current_cpu() }
}
