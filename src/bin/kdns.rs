//! The program: streams, colours, exit status.
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    kdns::cli::run(std::env::args_os(), &mut out).into()
}
