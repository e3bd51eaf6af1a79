//! The processes of few pods, by the tree of control groups: of thousands of
//! processes none is looked at but theirs.
//!
//! Source: kubelet `pkg/kubelet/cm/pod_container_manager_linux.go: GetPodContainerName`,
//! `cgroup_namespaces(7)`, `cgroups(7)`

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::host::root::Root;
use crate::node::cgroup;

/// Where a tree is that has every pod in it: version 2, and one of version 1.
const TREES: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"];
/// Groups above pods have these words in their names.
const ABOVE_PODS: [&str; 4] = ["kubepods", "kubelet", "besteffort", "burstable"];
/// Deeper groups are made by containers within their own.
const MAX_DEPTH: usize = 8;
/// With more groups or processes than this all processes are looked at.
const MAX_FOUND: usize = 10_000;

/// `/proc/PID/cgroup` of the first process and of each process of the pods whose
/// uids are `wanted`, by id, and for every other pod its group with the id 0.
/// `None`: the tree does not tell, as it is not there or has none of them.
pub(super) fn of_pods(root: &Root, wanted: &dyn Fn(&str) -> bool) -> Option<Vec<(u32, Vec<u8>)>> {
    TREES.iter().find_map(|tree| {
        let mut walk = Walk {
            tree: root.enter(Path::new(tree)).ok()?,
            wanted,
            pids: vec![1],
            others: Vec::new(),
        };
        walk.above("", 0)?;
        (walk.pids.len() > 1).then(|| walk.groups(root)).flatten()
    })
}

struct Walk<'w> {
    tree: Root,
    wanted: &'w dyn Fn(&str) -> bool,
    pids: Vec<u32>,
    others: Vec<(u32, Vec<u8>)>,
}

impl Walk<'_> {
    /// Looks for the groups of pods below the group at `path`.
    fn above(&mut self, path: &str, depth: usize) -> Option<()> {
        for (inner, is_above) in self.groups_in(path)? {
            let Some(uid) = cgroup::of_path(&inner).pod else {
                if is_above && depth < MAX_DEPTH {
                    self.above(&inner, depth + 1)?;
                }
                continue;
            };
            if (self.wanted)(&uid) {
                self.within(&inner, depth + 1)?;
            } else {
                self.others.push((0, format!("0::{inner}").into_bytes()));
            }
            if self.others.len() + self.pids.len() > MAX_FOUND {
                return None;
            }
        }
        Some(())
    }

    /// Takes every process in the group of a pod and below.
    fn within(&mut self, path: &str, depth: usize) -> Option<()> {
        let file = self
            .tree
            .read_once(Path::new(&format!("{path}/cgroup.procs")));
        let bytes = file.ok()?.source.bytes;
        for line in bytes
            .split(|&byte| byte == b'\n')
            .filter(|it| !it.is_empty())
        {
            let pid: u32 = std::str::from_utf8(line).ok()?.parse().ok()?;
            // One that cannot be seen from here.
            self.pids.push((pid > 0).then_some(pid)?);
        }
        if depth < MAX_DEPTH {
            for (inner, _) in self.groups_in(path)? {
                if self.tree.is_directory(Path::new(&inner)) {
                    self.within(&inner, depth + 1)?;
                }
            }
        }
        Some(())
    }

    /// What can be a group in the group at `path`, and whether its name is one of
    /// those above pods. Names of files have a dot or an underscore in them.
    fn groups_in(&self, path: &str) -> Option<Vec<(String, bool)>> {
        let here = if path.is_empty() { "." } else { path };
        let names = self.tree.list(Path::new(here)).ok()?;
        let group = |name: &[u8]| {
            let name = std::str::from_utf8(name).ok()?;
            let ending = name.rsplit_once('.').map(|it| it.1);
            let is_group = matches!(ending, Some("slice" | "scope"))
                || !name.contains(['.', ':']) && !["tasks", "notify_on_release"].contains(&name);
            let is_above = ABOVE_PODS.iter().any(|it| name.contains(it));
            is_group.then(|| (format!("{path}/{name}"), is_above))
        };
        Some(names.iter().filter_map(|it| group(it.as_bytes())).collect())
    }

    /// What the processes themselves say, as they may have moved meanwhile.
    fn groups(mut self, root: &Root) -> Option<Vec<(u32, Vec<u8>)>> {
        self.pids.sort_unstable();
        self.pids.dedup();
        let mut found = super::processes::groups_of(root, self.pids).ok()?;
        found.extend(self.others);
        Some(found)
    }
}
