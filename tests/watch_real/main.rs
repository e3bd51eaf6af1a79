//! `kdns watch` where packets come in: live in namespaces of its own, from
//! captures, and beside tshark.
//!
//! - `live`: what is sent between two namespaces is seen, kept and read again; the
//!   summary comes always.
//! - `privilege`: nothing is sent, what is kept of privileges and what for, and what is
//!   not read.
//! - `damaged`: times that cannot be, and compressed captures that are cut.
//! - `reading`: pipes while they are written to, compressed captures, captures that
//!   are cut, and memory.
//! - `tshark`: the same messages in generated captures and in those that Debian's
//!   source packages of tshark, tcpdump and dnscap have.
//!
//! `KDNS_SEED` and `KDNS_CAPTURES` choose the generated captures.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod damaged;
mod generated;
mod live;
#[path = "../needs/mod.rs"]
mod needs;
mod network;
mod privilege;
mod reading;
#[path = "../needs/root.rs"]
mod root;
#[path = "../needs/seed.rs"]
mod seed;
mod tshark;

use std::process::ExitCode;

use libtest_mimic::Arguments;

pub(crate) const KDNS: &str = env!("CARGO_BIN_EXE_kdns");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = live::trials();
    trials.extend(privilege::trials());
    trials.extend(reading::trials());
    trials.extend(damaged::trials());
    trials.extend(tshark::trials());
    needs::run(&arguments, trials)
}
