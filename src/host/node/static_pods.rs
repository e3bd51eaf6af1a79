//! Finds the manifests of pods that the kubelet makes from files.

use std::path::Path;

use crate::config::manifest;
use crate::host::node::kubelet;
use crate::host::node::pods;
use crate::host::root::Root;
use crate::node::Node;

/// More files in the directory are not read.
const MAX_FILES: usize = 200;

/// Notes the manifest of each pod that has one, and reads the Corefile that it
/// names where nothing else told which that is. What could not be read is
/// added to `Node::skipped`.
///
/// Source: kubernetes `pkg/kubelet/config/file.go`, which leaves out names that
/// begin with a dot, and `common.go: generatePodName`: `NAME-NODE`.
pub(super) fn mark(root: &Root, node: &mut Node) {
    let Some(kubelet) = &node.kubelet else {
        return;
    };
    let Some(folder) = kubelet.static_pods.as_deref() else {
        return;
    };
    let own = kubelet::own_root(root, kubelet);
    let node_root = root;
    let root = own.as_ref().unwrap_or(root);
    let folder = Path::new(folder);
    // What cannot be read is told only by the pods' uids.
    let names = root.list(folder).unwrap_or_default();
    let names = names
        .iter()
        .filter(|it| !it.to_string_lossy().starts_with('.'));
    for name in names.take(MAX_FILES) {
        let path = folder.join(name);
        let Ok(file) = root.read(&path) else {
            continue;
        };
        for workload in manifest::parse_manifest(&file.source)
            .workloads
            .into_iter()
            .flatten()
        {
            let namespace = workload.namespace.as_deref().unwrap_or("default");
            for pod in &mut node.pods {
                let rest = pod
                    .name
                    .as_deref()
                    .and_then(|it| it.strip_prefix(&workload.name));
                let node_name = rest.and_then(|it| it.strip_prefix('-'));
                let is_its =
                    node_name.is_some_and(|it| pod.is_static() || node.name.as_deref() == Some(it));
                if workload.kind == "Pod" && pod.namespace.as_deref() == Some(namespace) && is_its {
                    pod.manifest = Some(file.source.name.clone());
                    let unread = pods::corefile_of_manifest(node_root, pod, &workload.containers);
                    node.skipped.extend(unread);
                }
            }
        }
    }
}
