//! `kdns path`.

mod answer;
mod args;
mod client;
mod destination;
mod files;
mod live;
mod offline;
mod service;

use self::answer::Answer;
use crate::cli::files::typed;
use crate::cli::streams::{Status, Streams};
use crate::doctor::Route;

pub(super) use args::PathArgs;
pub(super) use offline::NoDns;

/// Reads, walks, writes.
pub(super) fn run(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let answer = find(args, streams)?;
    answer::write(args, &answer, streams)
}

/// What is found out with these words behind `kdns path`.
///
/// # Errors
///
/// As `kdns path` has them.
pub(super) fn answer_to(words: &[String], streams: &mut Streams<'_>) -> anyhow::Result<Answer> {
    find(&typed(words)?, streams)
}

/// The same within a short time, for commands that meet a Service.
///
/// # Errors
///
/// Why it is not known.
pub(super) fn route(words: Vec<String>) -> Result<Route, String> {
    service::route(words, answer_to)
}

fn find(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Answer> {
    if args.reads_this_node() {
        live::answer(args, streams)
    } else {
        offline::answer(args, streams)
    }
}
