//! Reads a node into a [`Node`].

pub mod corefiles;
pub mod files;
pub mod kubelet;
pub mod networks;
pub mod pods;
pub mod processes;
pub mod servers;
pub mod sockets;

use crate::host::ReadError;
use crate::host::root::Root;
use crate::node::Node;
use crate::text::Source;

/// Files that stand in for what the node has.
#[derive(Clone, Debug, Default)]
pub struct StandIns {
    /// For the file that the kubelet's `resolvConf` names.
    pub node_file: Option<Source>,
    /// For the kubelet's configuration.
    pub kubelet_config: Option<Source>,
    /// For every Corefile.
    pub corefile: Option<Source>,
}

/// Which parts of a node are wanted: what a command does not need is not read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Parts {
    /// Pods, with their files.
    pub pods: bool,
    /// Logs and Corefiles of pods that look like DNS servers.
    pub dns_pods: bool,
    /// DNS servers on the node and sockets on port 53.
    pub servers: bool,
}

/// Reads the node below `root`. What cannot be read is in [`Node::skipped`].
///
/// # Errors
///
/// The root itself cannot be read.
pub fn read(root: &Root, stand_ins: &StandIns, parts: Parts) -> Result<Node, ReadError> {
    let (processes, skipped) = processes::scan(root);
    let mut node = Node {
        is_live: root.is_live(),
        skipped,
        ..Node::default()
    };
    if parts.servers {
        servers::fill(root, &processes, &mut node);
    }
    if let Some(source) = &stand_ins.node_file {
        node.kubelet_file = Some(files::stand_in(source.clone()));
    }
    Ok(node)
}

/// A node of which only the files in `stand_ins` are known.
pub fn of_files(stand_ins: &StandIns) -> Node {
    let _ = stand_ins;
    Node::default()
}
