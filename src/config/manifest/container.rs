//! How the containers of a pod are started, as its manifest says.

use crate::config::yaml::Node;

/// A container of a pod.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// `command`, in place of the image's entry point; empty: the image's.
    pub command: Vec<String>,
    /// `args`, behind the command or the image's entry point.
    pub arguments: Vec<String>,
    /// `workingDir`; empty: the image's.
    pub directory: String,
    /// `volumeMounts`, in order.
    pub mounts: Vec<Mount>,
}

/// A volume that is mounted into a container.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mount {
    /// Where in the container.
    pub point: String,
    /// The file or directory of the node; `None`: it is another kind of volume.
    pub host_path: Option<String>,
}

/// The containers of a pod's spec; what is not a text there is left out.
pub(super) fn all(spec: &Node) -> Vec<Container> {
    let containers = spec.items(&["containers"]).iter();
    let container = |it: &Node| Container {
        name: text(it, "name"),
        command: texts(it, "command"),
        arguments: texts(it, "args"),
        directory: text(it, "workingDir"),
        mounts: mounts(spec, it),
    };
    containers.map(container).collect()
}

fn mounts(spec: &Node, container: &Node) -> Vec<Mount> {
    let mounts = container.items(&["volumeMounts"]).iter();
    let mount = |it: &Node| {
        let sub_path = text(it, "subPath");
        // Made of variables of the container, which are not read.
        let is_known = it.get("subPathExpr").is_none();
        let path = host_path(spec, &text(it, "name")).filter(|_| is_known);
        Mount {
            point: text(it, "mountPath"),
            host_path: path.map(|path| match sub_path.as_str() {
                "" => path,
                sub_path => format!("{}/{sub_path}", path.trim_end_matches('/')),
            }),
        }
    };
    mounts.map(mount).collect()
}

/// The path on the node of a volume of the pod.
fn host_path(spec: &Node, volume: &str) -> Option<String> {
    let mut volumes = spec.items(&["volumes"]).iter();
    let volume = volumes.find(|it| text(it, "name") == volume)?;
    Some(text(volume.get("hostPath")?, "path")).filter(|it| !it.is_empty())
}

fn texts(node: &Node, key: &str) -> Vec<String> {
    let scalars = node.items(&[key]).iter().filter_map(Node::as_scalar);
    scalars.map(|it| it.text.clone()).collect()
}

/// The text under a key; empty if there is none.
fn text(node: &Node, key: &str) -> String {
    node.word(&[key]).unwrap_or_default().to_owned()
}
