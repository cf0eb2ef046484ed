//! What is read from the running system: one source of truth a file.
//!
//! Every module has the same two halves. Its parsers are pure functions from the bytes of a kernel file to
//! values; they are total, so that no content whatever makes them panic, and they answer `None` for what they
//! do not understand. Its readers fetch the file through a [`Tree`](tree::Tree), which may be a recording, and
//! turn both kinds of failure into one sentence for the person who reads the report. Nothing here writes.

pub mod block;
pub mod controller;
pub mod cpu;
pub mod edge;
pub mod facts;
pub mod interrupts;
pub mod irq_line;
pub mod kernel;
pub mod live;
pub mod process_io;
pub mod schedstat;
pub mod softirqs;
pub mod state;
pub mod task;
pub mod text;
pub mod thermal;
pub mod time_in_state;
pub mod tree;
pub mod ufs;
