//! `kdns watch TARGET`: the packets of a pod, judged against what its resolver
//! should have sent.

mod args;
mod capture;
mod counters;
mod input;
mod keep;
mod live;
mod subject;

use std::ops::ControlFlow;

use self::args::InputArgs;
use self::input::{Event, Input};
use super::manual;
use crate::cli::streams::{Status, Streams};

/// Watch the DNS packets of a pod, or a capture, and judge them
#[derive(clap::Args, Debug)]
#[command(after_help = manual::help("watch"))]
pub(super) struct WatchArgs {
    #[command(flatten)]
    input: InputArgs,
}

/// Opens the input, judges what comes, writes what was found.
pub(super) fn run(args: &WatchArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let input = Input::open(&args.input, streams)?;
    let _ = args.input.until_broken();
    let out = &mut *streams.out;
    let mut seen = 0;
    let ended = input.each(&mut |event| {
        if let Event::Seen(it) = event {
            seen += 1;
            let _ = writeln!(
                out,
                "{} {} > {} {:?}",
                it.number, it.from, it.to, it.content
            );
        }
        ControlFlow::Continue(())
    })?;
    writeln!(out, "{seen} {ended:#?}")?;
    Ok(Status::Undecided)
}
