//! Where kdns runs, and where the node's files are then.

use std::path::Path;

use crate::cli::node::{DEBUG, NodeArgs, has_kubelet, is_pod, node_below};
use crate::doctor::Here;
use crate::host::ReadError;
use crate::host::root::Root;
use crate::node::Node;

/// Where kdns runs, and the files of the node, or of whatever it is.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) here: Here,
    pub(super) root: Root,
}

/// Finds it out.
///
/// # Errors
///
/// The root that was named cannot be read.
pub(super) fn find(args: &NodeArgs) -> Result<Scene, ReadError> {
    let root = args.root()?;
    if args.is_named() {
        let here = Here::Below(args.directory().display().to_string());
        return Ok(Scene { here, root });
    }
    if has_kubelet(&root) {
        return Ok(Scene {
            here: Here::Node,
            root,
        });
    }
    let debug = node_below(Some(Path::new(DEBUG))).ok().filter(has_kubelet);
    Ok(match debug {
        Some(root) => Scene {
            here: Here::Debug(DEBUG.to_owned()),
            root,
        },
        None if is_pod() => Scene {
            here: Here::Pod,
            root,
        },
        None => Scene {
            here: Here::Node,
            root,
        },
    })
}

/// The same when the node was read: a machine without a kubelet and pods is none, if
/// its processes were seen.
pub(super) fn with_kubelet(here: Here, node: &Node) -> Here {
    let is_node = node.kubelet.is_some() || !node.pods.is_empty();
    match (here, &node.unseen) {
        (Here::Node, Some(why)) if !is_node => Here::Unseen(why.clone()),
        (Here::Node, None) if !is_node => Here::Elsewhere,
        (here, _) => here,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_were_not_seen_can_be_a_kubelet() {
        let unseen = Some("/proc is not mounted".to_owned());
        let node = Node {
            unseen: unseen.clone(),
            ..Node::default()
        };
        assert_eq!(
            Some(with_kubelet(Here::Node, &node)),
            unseen.map(Here::Unseen)
        );
        let node = Node::default();
        assert_eq!(with_kubelet(Here::Node, &node), Here::Elsewhere);
    }
}
