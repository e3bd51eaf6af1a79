//! `kdns check-loop`.

use super::node::NodeArgs;
use super::{Status, Streams};

/// Tell whether the DNS of this node loops, through which hop, and what mends it
#[derive(clap::Args, Debug)]
pub(super) struct CheckLoopArgs {
    #[command(flatten)]
    node: NodeArgs,
}

/// Reads the node, decides, writes.
pub(super) fn run(args: &CheckLoopArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let _ = (args.node.root()?, args.node.stand_ins(streams)?);
    anyhow::bail!("kdns check-loop is not built yet")
}
