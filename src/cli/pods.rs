//! `kdns pods`.

use super::node::NodeArgs;
use super::{Status, Streams};

/// List the pods of this node with their network namespace and resolv.conf, also those that crash
#[derive(clap::Args, Debug)]
pub(super) struct PodsArgs {
    #[command(flatten)]
    node: NodeArgs,
}

/// Reads the node, decides, writes.
pub(super) fn run(args: &PodsArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let _ = (args.node.root()?, args.node.stand_ins(streams)?);
    anyhow::bail!("kdns pods is not built yet")
}
