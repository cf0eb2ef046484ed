//! Every end-to-end scenario: the real `tophalf` and the real agent, over the real `adb`, on virtual phones.
//!
//! They need the guests and the release build, which `make setup` makes, and run one at a time:
//! `make scenarios`, or `cargo test -p virtual-phone --features phones --test scenarios -- --test-threads=1`.

mod bad_input;
mod campaign;
mod faults;
mod gates;
mod harness;
mod probe;
mod tiers;
mod verdicts;
