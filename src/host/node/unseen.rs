//! Whether processes of a node are hidden from kdns.

use std::path::{Path, PathBuf};

use super::pods::runtimes::{CONTAINERD_BUNDLES, CONTAINERD_STATES};
use super::processes::{ProcessSeen, find};
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
    if processes.iter().any(is_of_node) {
        return false;
    }
    let mut running = running(root).peekable();
    // What runs on where the runtime and its shims have ended has the same numbers.
    let is_seen = |(id, pid): (String, u32)| {
        let own = find(processes, pid).map(|it| String::from_utf8_lossy(&it.cgroup));
        own.is_some_and(|groups| groups.contains(&id))
    };
    running.peek().is_some() && !running.any(is_seen)
}

/// The containers of which a shim wrote down the number of the first process, where
/// nothing outlives the machine's power; when that ends, the shim takes all away.
///
/// Source: containerd `cmd/containerd-shim-runc-v2/process/init.go` `InitPidFile`.
fn running(root: &Root) -> impl Iterator<Item = (String, u32)> {
    let of_state = |state: &&str| {
        let below = CONTAINERD_BUNDLES.iter();
        below
            .map(|it| PathBuf::from(format!("{state}/{it}")))
            .collect::<Vec<_>>()
    };
    let of_bundles = move |bundles: PathBuf| {
        let ids = root.list(&bundles).unwrap_or_default().into_iter();
        ids.filter_map(move |id| {
            let file = root.read_once(&bundles.join(&id).join("init.pid")).ok()?;
            let pid = String::from_utf8_lossy(&file.source.bytes).trim().parse();
            Some((id.into_string().ok()?, pid.ok()?))
        })
    };
    CONTAINERD_STATES
        .iter()
        .flat_map(of_state)
        .flat_map(of_bundles)
}

/// How names of processes begin that only nodes have.
const OF_NODES: [&str; 5] = ["kthreadd", "containerd", "crio", "conmon", "dockerd"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::fixture::root_with;

    #[test]
    fn containers_outlive_their_runtime() {
        let id = "ab".repeat(32);
        let file = format!("/run/containerd/io.containerd.runtime.v2.task/k8s.io/{id}/init.pid");
        let (_directory, root) = root_with(&[(&file, "475")]);
        let process = |pid, group: &str| ProcessSeen {
            pid,
            comm: "init".to_owned(),
            cgroup: format!("1:name=systemd:/{group}\n").into_bytes(),
            ..ProcessSeen::default()
        };
        let first = || process(1, "");
        assert!(is_of_container(&root, &[first()]));
        assert!(is_of_container(&root, &[first(), process(475, "")]));
        // One that sees itself alone has another number there.
        assert!(is_of_container(&root, &[process(1, &id)]));
        assert!(!is_of_container(&root, &[first(), process(475, &id)]));
    }
}
