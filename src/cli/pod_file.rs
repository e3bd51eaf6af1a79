//! `kdns pod-file`.

use super::node::NodeArgs;
use super::{Status, Streams};

/// Write the resolv.conf that the kubelet and the runtime would give a pod
#[derive(clap::Args, Debug)]
pub(super) struct PodFileArgs {
    #[command(flatten)]
    node: NodeArgs,
}

/// Reads the node, decides, writes.
pub(super) fn run(args: &PodFileArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let _ = (args.node.root()?, args.node.stand_ins(streams)?);
    anyhow::bail!("kdns pod-file is not built yet")
}
