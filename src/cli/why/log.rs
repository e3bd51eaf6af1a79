//! Logs.

use std::path::PathBuf;

use super::WhyArgs;
use crate::cli::streams::{Status, Streams};

pub(super) fn run(
    _files: &[PathBuf],
    _args: &WhyArgs,
    _streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    anyhow::bail!("no log can be read")
}
