//! The command as scripts and people meet it: what it prints, its exit code, and what is on disk afterwards.
//!
//! `adb` is a shell script here (`fake_adb.sh`) and the agent sends made-up frames (`agent.rs`), so that both can be
//! made to fail in every way. The real ones are met on the virtual phone.

mod adb;
mod agent;
mod bench;
mod campaign;
mod compare;
mod output;
#[allow(dead_code, unused_imports, reason = "the tests of the analysis use the rest")]
#[path = "../analysis/scene/mod.rs"]
mod scene;
mod streams;
