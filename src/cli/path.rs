//! `kdns path`.

mod answer;
mod args;
mod client;
mod destination;
mod files;
mod live;
mod offline;

use std::path::Path;

use crate::cli::streams::{Status, Streams};

pub(super) use args::PathArgs;

/// Reads, walks, writes.
pub(super) fn run(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let answer = match &args.root {
        _ if !args.rules.is_empty() => offline::answer(args, streams)?,
        Some(root) if root != Path::new("/") => files::answer(args, root)?,
        _ => live::answer(args, streams)?,
    };
    answer::write(args, &answer, streams)
}
