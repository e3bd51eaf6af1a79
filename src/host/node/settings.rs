//! The files of a node in which the kubelet's flags and the resolvers' settings
//! can stand, whether anything uses them or not: for rules about files.

use std::path::{Path, PathBuf};

use super::files::{names, source};
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

/// Those of the files that are there, each once, and what of them could not be read.
pub fn files(root: &Root) -> (Vec<Source>, Vec<String>) {
    let mut unread = Vec::new();
    let mut paths: Vec<PathBuf> = FILES.iter().map(PathBuf::from).collect();
    for folder in FOLDERS.map(Path::new) {
        let names = names(root, folder, &mut unread).into_iter();
        paths.extend(names.map(|it| folder.join(it)));
    }
    let read = paths.iter().filter_map(|it| source(root, it, &mut unread));
    let mut sources: Vec<Source> = read.collect();
    let (of_kubelet, others) = kubelet::files(root);
    sources.extend(of_kubelet);
    unread.extend(others);
    (sources, unread)
}
