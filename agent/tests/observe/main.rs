//! `observe` on whole trees: recorded ones under `tests/data/trees`, and this machine's.

mod allocation;
mod common;
mod controllers;
mod edges;
mod oracle;
mod recorded_trees;
mod recording;
mod state;
mod totality;
