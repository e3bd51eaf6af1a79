//! A message.

use super::WhyArgs;
use crate::cli::streams::{Status, Streams};

pub(super) fn run(
    _text: &str,
    _args: &WhyArgs,
    _streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    anyhow::bail!("no message is known")
}

pub(super) fn list(_args: &WhyArgs, _streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    Ok(Status::Clean)
}
