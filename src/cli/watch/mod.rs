//! `kdns watch TARGET`: the packets of a pod, judged against what its resolver
//! should have sent.

mod input;

use std::ops::ControlFlow;

use self::input::{Input, InputArgs};
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
    input.each(&mut |_| ControlFlow::Continue(()))?;
    Ok(Status::Undecided)
}
