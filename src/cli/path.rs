//! `kdns path`.

mod answer;
mod args;
mod client;
mod destination;
mod live;
mod offline;

use crate::cli::streams::{Status, Streams};

pub(super) use args::PathArgs;

/// Reads, walks, writes.
pub(super) fn run(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let answer = if args.rules.is_empty() {
        live::answer(args, streams)?
    } else {
        offline::answer(args, streams)?
    };
    answer::write(args, &answer, streams)
}
