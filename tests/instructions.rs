//! The instructions of the program that `packaging/release` made, if it did:
//! what `cargo bench` counts of its own release.

use std::process::ExitCode;

#[path = "../benches/instructions/main.rs"]
mod counted;

fn main() -> ExitCode {
    counted::main()
}
