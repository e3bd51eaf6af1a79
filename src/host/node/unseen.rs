//! Whether processes of a node are hidden from kdns.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::pods::runtimes::{CONTAINERD_BUNDLES, CONTAINERD_STATES};
use super::processes::ProcessSeen;
use crate::host::root::Root;
use crate::kubelet::distribution::can_be_kubelet;

pub(super) const NO_PROC: &str =
    "cannot look for processes: /proc is not mounted here; mount it (mount -t proc proc /proc)";

/// Why processes of the node can be there that a scan did not see, as a sentence
/// without a full stop; `None`: it saw them, or the files of a node are looked
/// at that does not run here.
pub fn why(root: &Root, processes: &[ProcessSeen]) -> Option<String> {
    if processes.is_empty() {
        return root.is_live().then(|| NO_PROC.to_owned());
    }
    let sees_first = processes.iter().any(|it| it.pid == 1);
    let why = if !sees_first {
        HIDDEN
    } else if is_of_container(root, processes) {
        OF_CONTAINER
    } else {
        return None;
    };
    let proc = root.enter(Path::new("/proc"));
    proc.is_ok_and(|it| it.is_procfs()).then(|| why.to_owned())
}

/// Source: `proc(5)`, mount option `hidepid`.
const HIDDEN: &str =
    "cannot see the processes of others: /proc is mounted with hidepid (needs root)";

const OF_CONTAINER: &str = "cannot see the processes of the node: /proc is that of a container, \
     without kubelet and runtime (hostPID: true, docker run --pid=host)";

/// Whether containerd has containers that run, and these are not its processes: a node has
/// a kubelet and a runtime, and where it is no container itself, kernel threads.
fn is_of_container(root: &Root, processes: &[ProcessSeen]) -> bool {
    let is_of_node = |it: &ProcessSeen| {
        let is_named = |name: &&str| it.comm.starts_with(*name);
        can_be_kubelet(&it.comm) || OF_NODES.iter().any(is_named)
    };
    !processes.iter().any(is_of_node) && has_running(root)
}

/// Whether a shim wrote down the number of a container's process, where nothing outlives
/// the machine's power; when that ends, the shim takes all away.
///
/// Source: containerd `cmd/containerd-shim-runc-v2/process/init.go` `InitPidFile`.
fn has_running(root: &Root) -> bool {
    let of_state = |state: &&str| {
        let below = CONTAINERD_BUNDLES.iter();
        below.map(|it| format!("{state}/{it}")).collect::<Vec<_>>()
    };
    let mut bundles = CONTAINERD_STATES.iter().flat_map(of_state);
    bundles.any(|it| {
        let bundles = PathBuf::from(it);
        let ids = root.list(&bundles).unwrap_or_default();
        let runs = |id: &OsString| root.read_once(&bundles.join(id).join("init.pid")).is_ok();
        ids.iter().any(runs)
    })
}

/// How names of processes begin that only nodes have.
const OF_NODES: [&str; 5] = ["kthreadd", "containerd", "crio", "conmon", "dockerd"];
