//! The instructions of the program that `packaging/release` made, if it did, as `cargo bench` counts them.

use std::process::ExitCode;

#[path = "../benches/instructions/main.rs"]
mod counted;

fn main() -> ExitCode {
    counted::main()
}
