//! `kdns upstream`.

use super::node::NodeArgs;
use super::{Status, Streams};

/// Tell who owns each name server of this node, and where the real upstream servers are written
#[derive(clap::Args, Debug)]
pub(super) struct UpstreamArgs {
    #[command(flatten)]
    node: NodeArgs,
}

/// Reads the node, decides, writes.
pub(super) fn run(args: &UpstreamArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let _ = (args.node.root()?, args.node.stand_ins(streams)?);
    anyhow::bail!("kdns upstream is not built yet")
}
