//! Whether a process is one of the node itself or a container's, whatever its
//! name says.

use std::cell::OnceCell;
use std::path::Path;

use super::processes::{Directory, ProcessSeen, containers_in, find};
use crate::host::root::Root;
use crate::node::cgroup::{self, Prefix};

/// Where a process runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// Beside the node's first process.
    Node,
    /// On another network than the node's first process.
    Elsewhere,
    /// In a container of a pod.
    Pod,
    /// In a container whose processes are numbered by themselves.
    Apart,
    /// In a container that shares the node's processes and network: so some
    /// distributions run the kubelet.
    Shared,
}

/// The node as its first process sees it. A node can be a container itself.
pub(super) struct Inside<'r> {
    root: &'r Root,
    init: Option<&'r ProcessSeen>,
    /// That of the first process, once it was needed.
    directory: OnceCell<Option<Directory>>,
    netns: Option<u64>,
    prefix: Prefix,
    /// In how many containers the node is itself.
    base: usize,
}

impl<'r> Inside<'r> {
    pub(super) fn of_processes(root: &'r Root, processes: &'r [ProcessSeen]) -> Self {
        let init = find(processes, 1);
        let group = init.map_or(&[][..], |it| &it.cgroup);
        // Where the first process may not be looked at, kdns itself stands in.
        let own = || find(processes, std::process::id())?.netns;
        Self {
            root,
            init,
            directory: OnceCell::new(),
            netns: init.and_then(|it| it.netns).or_else(own),
            prefix: Prefix::of_init(group),
            base: containers_in(group),
        }
    }

    /// The control group decides first: no process of a pod can leave its own.
    /// Of what cannot be read nothing follows.
    pub(super) fn place(&self, process: &ProcessSeen) -> Place {
        let group = cgroup::membership(&process.cgroup, &self.prefix);
        if group.pod.is_some() {
            return Place::Pod;
        }
        if differ(process.netns, self.netns) {
            return Place::Elsewhere;
        }
        if self.differs(process, |it| it.namespace("pid")) {
            return Place::Apart;
        }
        let is_contained = containers_in(&process.cgroup) > self.base
            || cgroup::is_silent(&process.cgroup) && self.has_own_root(process);
        if is_contained {
            return Place::Shared;
        }
        Place::Node
    }

    /// Services with a private /tmp have mounts of their own, and one root
    /// with the others; a chroot has the same mounts.
    fn has_own_root(&self, process: &ProcessSeen) -> bool {
        self.differs(process, |it| it.namespace("mnt"))
            && self.differs(process, |it| it.root().ok()?.identity())
    }

    /// Whether that is known of the process and the first one, and not the same.
    fn differs<T: PartialEq>(
        &self,
        process: &ProcessSeen,
        of: impl Fn(&Directory) -> Option<T>,
    ) -> bool {
        let open = |it: &ProcessSeen| Directory::of_seen(self.root, it);
        let Some(its) = open(process).and_then(|it| of(&it)) else {
            return false;
        };
        let init = self.directory.get_or_init(|| open(self.init?));
        init.as_ref().and_then(of).is_some_and(|it| it != its)
    }

    /// Whether the process sees the node's own directory at this path.
    pub(super) fn shares(&self, process: &ProcessSeen, path: &Path) -> bool {
        let identity = |root: &Root| root.enter(path).ok()?.identity();
        let own = Directory::of_seen(self.root, process).and_then(|it| it.root().ok());
        let own = own.as_ref().and_then(identity);
        own.is_some() && own == identity(self.root)
    }
}

fn differ<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a != b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a";

    #[track_caller]
    fn check(init: &str, group: &str, netns: u64, expected: Place) {
        let process = |pid, cgroup: &str, netns| ProcessSeen {
            pid,
            comm: "dnsmasq".to_owned(),
            cgroup: cgroup.as_bytes().to_vec(),
            netns: Some(netns),
            ..ProcessSeen::default()
        };
        let directory = tempfile::tempdir().unwrap();
        let root = Root::below(directory.path(), crate::host::root::Resolution::default()).unwrap();
        let processes = [process(1, init, 1), process(300, group, netns)];
        let node = Inside::of_processes(&root, &processes);
        assert_eq!(node.place(&processes[1]), expected, "{group}");
        assert_eq!(node.place(&processes[0]), Place::Node);
    }

    #[test]
    fn containers_are_told_by_what_the_kernel_says() {
        let init = "0::/init.scope\n";
        check(init, "0::/system.slice/dnsmasq.service\n", 1, Place::Node);
        check(
            init,
            "0::/user.slice/user-0.slice/session-1.scope\n",
            1,
            Place::Node,
        );
        check(init, "0::/\n", 1, Place::Node);
        check(
            init,
            "0::/system.slice/dnsmasq.service\n",
            2,
            Place::Elsewhere,
        );
        let pod = "kubepods-pod6fbd4d33_804b_43cd_b042_9dde89aeac6a.slice";
        check(
            init,
            &format!("0::/kubepods.slice/{pod}/cri-containerd-{ID}.scope\n"),
            1,
            Place::Pod,
        );
        check(
            init,
            &format!("0::/kubepods.slice/{pod}/crio-{ID}.scope/system.slice/dnsmasq.service\n"),
            1,
            Place::Pod,
        );
        check(init, &format!("0::/k8s.io/{ID}\n"), 1, Place::Shared);
        check(
            init,
            &format!("0::/system.slice/docker-{ID}.scope\n"),
            1,
            Place::Shared,
        );
        check(init, "0::/lxc.payload.web/init.scope\n", 1, Place::Shared);
        // A node that is a container itself.
        let kind = format!("0::/docker/{ID}/init.scope\n");
        check(
            &kind,
            &format!("0::/docker/{ID}/system.slice/dnsmasq.service\n"),
            1,
            Place::Node,
        );
        check(
            &kind,
            &format!("0::/docker/{ID}/kubelet/{pod}/cri-containerd-{ID}.scope\n"),
            1,
            Place::Pod,
        );
    }
}
