//! Metrics.

use super::WhyArgs;
use crate::cli::streams::{Status, Streams};

pub(super) fn run(_args: &WhyArgs, _streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    anyhow::bail!("no metrics can be read")
}
