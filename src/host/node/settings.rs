//! The files of a node in which the kubelet's flags and the resolvers' settings
//! can stand, whether anything uses them or not: for rules about files.

use std::path::Path;

use crate::host::node::kubelet;
use crate::host::root::Root;
use crate::text::Source;

/// Single files.
const FILES: [&str; 11] = [
    "/etc/default/kubelet",
    "/etc/sysconfig/kubelet",
    "/etc/kubernetes/kubelet.env",
    "/etc/eks/kubelet/environment",
    "/var/lib/kubelet/kubeadm-flags.env",
    "/var/snap/microk8s/current/args/kubelet",
    "/etc/rancher/k3s/config.yaml",
    "/etc/rancher/rke2/config.yaml",
    "/etc/systemd/resolved.conf",
    "/etc/NetworkManager/NetworkManager.conf",
    "/var/lib/kubelet/config.yaml",
];

/// Directories of files that are read one after the other.
const FOLDERS: [&str; 4] = [
    "/etc/rancher/k3s/config.yaml.d",
    "/etc/rancher/rke2/config.yaml.d",
    "/etc/systemd/resolved.conf.d",
    "/etc/NetworkManager/conf.d",
];

/// Those of the files that are there and can be read, each once.
pub fn files(root: &Root) -> Vec<Source> {
    let mut sources: Vec<Source> = FILES.iter().filter_map(|it| source_at(root, it)).collect();
    for folder in FOLDERS {
        let paths = root.names(folder).into_iter();
        let paths = paths.map(|it| format!("{folder}/{it}"));
        sources.extend(paths.filter_map(|it| source_at(root, &it)));
    }
    sources.extend(kubelet::files(root));
    sources
}

fn source_at(root: &Root, path: &str) -> Option<Source> {
    let read = root.read_if_there(Path::new(path)).ok()??;
    Some(read.source)
}
