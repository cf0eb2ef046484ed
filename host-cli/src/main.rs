//! `tophalf`: is a phone's storage completion in the top half of the interrupt, and what does each small I/O
//! pay?

use std::process::ExitCode;

fn main() -> ExitCode {
    tophalf::cli::main()
}
