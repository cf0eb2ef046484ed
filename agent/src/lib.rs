//! tophalf's device side: loads a block device, watches how its completions arrive, and sends what it saw.
//! It measures and never judges.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`job`] | a plan from its first frame to its last |
//! | [`run`] | one run: its passes, window by window |
//! | [`submitter`] | the thread that does the I/O |
//! | [`engine`] | the timed loop, and how a request is handed to the kernel |
//! | [`hop_pass`] | what each thread did for each single operation |
//! | [`sampler`] | cheap counters while a window is open |
//! | [`observe`] | what the kernel shows, one source a file |
//! | [`target`], [`pattern`] | what is read or written, and where |
//! | [`way`] | which lines and threads a completion can go through |
//! | [`pin`], [`clock`], [`stop`], [`sys`] | the machine |
//! | [`stream`], [`log`] | what goes out |

pub mod canary;
pub mod clock;
pub mod engine;
pub mod error;
pub mod hop_pass;
pub mod job;
pub mod log;
pub mod observe;
pub mod pattern;
pub mod pin;
pub mod run;
pub mod sampler;
pub mod stop;
pub mod stream;
pub mod submitter;
pub mod sys;
pub mod target;
pub mod way;
