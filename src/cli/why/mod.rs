//! `kdns why`: what a message, a log or metrics say.

mod args;
mod given;
mod inside;
mod log;
mod message;
mod metrics;

use self::args::Format;
use self::given::Given;

use crate::cli::streams::{Status, Streams};

pub(super) use self::args::WhyArgs;

/// Takes what was given for what it is.
pub(super) fn run(args: &WhyArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let given = given::from_args(args, streams)?;
    if args.outputs.wants(Format::Svg) && !matches!(given, Given::Logs(_)) {
        anyhow::bail!("--format svg is for logs: it is a picture of their queries over time");
    }
    match given {
        Given::List => message::list(args, streams),
        Given::Message(text) => message::run(&text, args, streams),
        Given::Logs(files) => log::run(&files, args, streams),
        Given::Metrics => metrics::run(args, streams),
    }
}
