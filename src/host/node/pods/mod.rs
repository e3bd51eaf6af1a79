//! Reads the pods of a node from its processes, runtimes and logs.
//!
//! No socket of a runtime is asked: the files are enough, and they are there
//! when the runtime hangs.

mod container;
mod contents;
mod corefile;
mod database;
mod directories;
mod groups;
pub(super) mod runtimes;
mod skipped;
mod states;

use std::collections::{BTreeMap, BTreeSet};

use self::skipped::Skipped;
use super::Parts;
use super::processes::{self, Directory, ProcessSeen, find};
use super::unseen;
use crate::host::root::Root;
use crate::node::assemble::{self, Facts, Task};
use crate::node::{Pod, cgroup, mountinfo};
use crate::target::{Group, Names, Target, Wanted};
use crate::text::ordered;

pub(super) use corefile::corefile_of_manifest;

/// What of the pods could not be read.
#[derive(Clone, Debug, Default)]
pub struct Unread {
    /// All of it, as sentences without a full stop.
    pub sentences: Vec<String>,
    /// The first of them that is not about one pod.
    pub of_all: Option<String>,
    /// The last of them: each is about one pod, which keeps its files from being read.
    pub of_pods: Vec<String>,
    /// The first of them that is about a want of privilege.
    pub denied: Option<String>,
}

/// Reads the pods of the node below `root`, sorted by namespace and name, and
/// the files of those that are `wanted`: of the others there are names, processes
/// and network namespaces. `processes` are those of [`super::processes::scan`].
///
/// Each file is read once. The files of DNS servers, their logs and Corefiles,
/// are read only where `parts` wants them.
pub fn read_pods(
    root: &Root,
    processes: &[ProcessSeen],
    parts: Parts,
    wanted: impl Fn(&Pod) -> bool,
) -> (Vec<Pod>, Unread) {
    let mut skipped = Skipped::default();
    let mut pods = Vec::new();
    if parts.pods || parts.dns_pods {
        let facts = facts(root, processes, None, &mut skipped);
        pods = fill(root, processes, parts, &facts, wanted, &mut skipped);
    }
    (pods, skipped.unread())
}

/// Only the pods of `only`; nothing else of the node is read. `None`: that is
/// not enough, as no runtime has written down one of their containers that
/// run.
pub fn read_only(
    root: &Root,
    processes: &[ProcessSeen],
    only: &Wanted,
    wanted: impl Fn(&Pod) -> bool,
) -> Option<(Vec<Pod>, Vec<String>)> {
    let mut skipped = Skipped::default();
    let facts = facts(root, processes, Some(only), &mut skipped);
    let known: BTreeSet<&str> = ordered(facts.records.iter().map(|it| it.id.as_str()));
    if !only.running().all(|id| known.contains(id)) {
        return None;
    }
    let pods = fill(root, processes, Parts::PODS, &facts, wanted, &mut skipped);
    Some((pods, skipped.unread().sentences))
}

/// What the names of files and the control groups of processes tell of `target`: of
/// the processes of the pods that it names, if the tree of control groups has them, else
/// of all. `None`: not all of them can be read.
pub fn names(root: &Root, target: &Target) -> Option<Names> {
    let mut skipped = Skipped::default();
    let (logs, links) = directories::names(root, target, &mut skipped);
    if !skipped.is_empty() {
        return None;
    }
    let uids = target.uids(&logs);
    let of_tree = uids.and_then(|it| groups::of_pods(root, &|uid| it.contains(uid)));
    let groups = of_tree.or_else(|| processes::groups(root).ok())?;
    let init = groups.iter().find(|(pid, _)| *pid == 1);
    let prefix = cgroup::Prefix::of_init(init.map_or(&[], |(_, text)| text.as_slice()));
    let mut members: Vec<Group> = Vec::with_capacity(groups.len());
    let mut last: &[u8] = &[];
    for (pid, text) in &groups {
        // Processes that follow each other are often those of one container.
        let same = members.last().filter(|_| last == text.as_slice()).cloned();
        let group = same.unwrap_or_else(|| Group {
            pid: *pid,
            membership: cgroup::membership(text, &prefix),
            is_silent: cgroup::is_silent(text),
        });
        members.push(Group { pid: *pid, ..group });
        last = text;
    }
    Some(Names {
        logs,
        links,
        groups: members,
    })
}

fn facts(
    root: &Root,
    processes: &[ProcessSeen],
    only: Option<&Wanted>,
    skipped: &mut Skipped,
) -> Facts {
    let (records, sandboxes) = runtimes::read_records(root, processes, only, skipped);
    let mut facts = Facts {
        tasks: tasks(processes),
        records,
        sandboxes,
        node_netns: find(processes, 1).and_then(|it| it.netns),
        ..Facts::default()
    };
    read_mounts(root, processes, &mut facts, skipped);
    directories::read_directories(root, only, &mut facts, skipped);
    facts
}

fn fill(
    root: &Root,
    processes: &[ProcessSeen],
    parts: Parts,
    facts: &Facts,
    wanted: impl Fn(&Pod) -> bool,
    skipped: &mut Skipped,
) -> Vec<Pod> {
    let look = contents::Look {
        root,
        processes,
        with_dns: parts.dns_pods,
    };
    let pods = assemble::pods(facts).into_iter().map(|draft| {
        if wanted(&draft.pod) {
            look.fill(draft, skipped)
        } else {
            draft.pod
        }
    });
    pods.collect()
}

/// The processes that may be those of containers.
pub fn tasks(processes: &[ProcessSeen]) -> Vec<Task> {
    let init = processes.iter().find(|it| it.pid == 1);
    let prefix = cgroup::Prefix::of_init(init.map_or(&[], |it| it.cgroup.as_slice()));
    let task = |it: &ProcessSeen| {
        let membership = cgroup::membership(&it.cgroup, &prefix);
        assemble::is_task(&membership).then(|| Task {
            pid: it.pid,
            comm: it.comm.clone(),
            started: it.started,
            netns: it.netns,
            membership,
            ..Task::default()
        })
    };
    processes
        .iter()
        .filter(|it| !it.is_zombie)
        .filter_map(task)
        .collect()
}

/// Reads the mounts of one process of each container that no runtime knows,
/// and of processes whose control groups say nothing; of the first process
/// those that keep network namespaces.
fn read_mounts(root: &Root, processes: &[ProcessSeen], facts: &mut Facts, skipped: &mut Skipped) {
    let mut table = |pid: u32| {
        let directory = Directory::of_seen(root, find(processes, pid)?)?;
        Some(skipped.take(directory.read("mountinfo"))?.source.bytes)
    };
    if let Some(table) = table(1) {
        facts.netns_files = mountinfo::network_namespaces(&table);
    }
    let known: BTreeSet<&str> = ordered(facts.records.iter().map(|it| it.id.as_str()));
    let mut looked = BTreeSet::new();
    for task in &mut facts.tasks {
        let Some(id) = task.membership.container.clone() else {
            continue;
        };
        if !known.contains(id.as_str()) && looked.insert(id) {
            let table = table(task.pid);
            task.mounts = table.map(|it| mountinfo::pod(&it)).unwrap_or_default();
        }
    }
    let (hidden, is_whole) = silent(root, processes);
    facts.tasks.extend(hidden);
    facts.hides_tasks = !processes.is_empty() && unseen::why(root, processes).is_some();
    facts.has_all_tasks = is_whole && !facts.hides_tasks && find(processes, 1).is_some();
}

/// The processes of pods whose control groups are hidden, one for each
/// namespace of mounts, and whether all that are hidden could be looked at.
fn silent(root: &Root, processes: &[ProcessSeen]) -> (Vec<Task>, bool) {
    const KTHREADD: u32 = 2;
    let mut tables: BTreeMap<u64, Option<mountinfo::Mounts>> = BTreeMap::new();
    let init = find(processes, 1).and_then(|it| Directory::of_seen(root, it)?.namespace("mnt"));
    tables.extend(init.map(|it| (it, None)));
    let hidden = processes.iter().filter(|it| {
        let is_kernels = it.pid == KTHREADD || it.parent == Some(KTHREADD);
        it.pid != 1 && !is_kernels && cgroup::is_silent(&it.cgroup)
    });
    let mut found = Vec::new();
    let mut is_whole = true;
    for process in hidden {
        let Some(directory) = Directory::of_seen(root, process) else {
            continue;
        };
        let Some(namespace) = directory.namespace("mnt") else {
            is_whole &= !directory.is_live();
            continue;
        };
        let mounts = tables.entry(namespace).or_insert_with(|| {
            let table = directory.read("mountinfo").ok()?;
            Some(mountinfo::pod(&table.source.bytes)).filter(|it| it.pod.is_some())
        });
        found.extend(mounts.clone().map(|mounts| Task {
            pid: process.pid,
            comm: process.comm.clone(),
            started: process.started,
            netns: process.netns,
            mounts,
            ..Task::default()
        }));
    }
    (found, is_whole)
}

#[cfg(test)]
mod tests;
