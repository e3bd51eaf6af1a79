//! From a word to a target that is held, with the files that count for it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{EnterError, Namespace, process};
use crate::host::node::processes::{self, Directory, ProcessSeen as Process};
use crate::host::node::{Parts, pods};
use crate::host::root::Root;
use crate::node::Pod;
use crate::node::cgroup::{self, Membership};
use crate::order::Order as _;
use crate::program::Program;
use crate::target::{Door, Files, Plan, PlanError, Scene, Target, Wanted, plan};

mod daemon;
mod files;
mod held;
mod program;

pub use files::TargetFiles;

use held::Held;

/// A target that is held, and what was read of it.
#[derive(Debug)]
pub struct Aim {
    /// Where the target leads.
    pub plan: Plan,
    /// Its network namespace; an error says why it cannot be entered. What was
    /// read does not need it.
    pub namespace: Result<Namespace, EnterError>,
    /// Its files.
    pub seen: TargetFiles,
    /// The program whose resolver is meant; `None`: no process runs.
    pub program: Option<Program>,
    /// What is there and could not be read, as sentences without a full stop.
    pub skipped: Vec<String>,
    /// The process, if there is one.
    process: Option<Directory>,
}

/// Where `ip netns` keeps its namespaces, and the files of each.
///
/// Source: iproute2 `include/namespace.h`, `lib/namespace.c` `bind_etc`.
const NAMED: &[&str] = &["/run/netns", "/var/run/netns"];
const NAMED_FILES: &str = "/etc/netns";

/// Finds the target on the node below `root`, holds it, and reads what counts.
///
/// # Errors
///
/// The word is no target, nothing or too much fits it, the process has ended
/// or is a stranger's, or its resolv.conf cannot be read.
pub fn aim(root: &Root, word: &str) -> Result<Aim, EnterError> {
    let target: Target = word.parse()?;
    match &target {
        Target::Pid(pid) => at_process(root, *pid),
        Target::File(path) => at_file(root, path),
        Target::Id(_) | Target::Pod { .. } => at_pod(root, &target),
    }
}

fn at_process(root: &Root, pid: u32) -> Result<Aim, EnterError> {
    at_process_by(root, pid, Wanted::of_process)
}

/// `only` says of which pod and container it is, if that is enough to know.
fn at_process_by(
    root: &Root,
    pid: u32,
    only: impl Fn(&Membership) -> Option<Wanted>,
) -> Result<Aim, EnterError> {
    let (directory, seen) = process::hold(root, pid)?;
    let namespace = of_process(&directory)?;
    let init = Directory::open(root, 1).and_then(|it| Ok((it.namespace("mnt"), it.look()?)));
    let (init_mounts, init) = init.map_or((None, None), |(mounts, init)| (mounts, Some(init)));
    let node_netns = init.as_ref().and_then(|it| it.netns);
    let prefix = cgroup::Prefix::of_init(init.as_ref().map_or(&[], |it| &it.cgroup));
    let group = cgroup::membership(&seen.cgroup, &prefix);
    let is_hidden = cgroup::is_silent(&seen.cgroup) && directory.namespace("mnt") != init_mounts;
    let mut skipped = Vec::new();
    let mut found = Vec::new();
    let mut both: Vec<Process> = init.into_iter().filter(|_| pid != 1).collect();
    both.push(seen.clone());
    both.order_by_key(|it| it.pid);
    if pid != 1 && (group.pod.is_some() || group.container.is_some() || is_hidden) {
        let is_its = |it: &Pod| Target::Pid(pid).fit(it).is_some();
        let little = only(&group).and_then(|only| pods::read_only(root, &both, &only, is_its));
        (found, skipped) = little.unwrap_or_else(|| read_pods(root, &both, is_its));
    }
    let tasks = pods::tasks(&both);
    let scene = Scene {
        pods: &found,
        tasks: &tasks,
        node_netns,
        target_netns: seen.netns,
        named: None,
    };
    let plan = plan(&Target::Pid(pid), &scene)?;
    Held {
        root,
        plan,
        namespace,
        process: Some(directory),
        skipped,
    }
    .aim()
}

fn at_file(root: &Root, path: &str) -> Result<Aim, EnterError> {
    let namespace = Namespace::of_path(Path::new(path))?;
    let real = fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let parent = real.parent().and_then(Path::to_str).unwrap_or_default();
    let name = real.file_name().and_then(|it| it.to_str());
    let name = name.filter(|_| NAMED.contains(&parent));
    let named = name.filter(|it| root.is_directory(Path::new(&format!("{NAMED_FILES}/{it}"))));
    let (mut processes, mut found, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    if named.is_none() {
        (processes, skipped) = processes::scan(root);
        let is_its = |pod: &Pod| {
            pod.netns == Some(namespace.number()) || pod.netns_path.as_deref() == Some(path)
        };
        let (pods, unread) = read_pods(root, &processes, is_its);
        found = pods;
        skipped.extend(unread);
    }
    let node_netns = Directory::open(root, 1)
        .ok()
        .and_then(|it| it.namespace("net"));
    let scene = Scene {
        pods: &found,
        node_netns,
        target_netns: Some(namespace.number()),
        named,
        ..Scene::default()
    };
    let plan = plan(&Target::File(path.to_owned()), &scene)?;
    let process = match plan.files {
        Files::Process(pid) => Some(hold_one_of(root, &processes, pid)?),
        _ => None,
    };
    Held {
        root,
        plan,
        namespace: Ok(namespace),
        process,
        skipped,
    }
    .aim()
}

fn at_pod(root: &Root, target: &Target) -> Result<Aim, EnterError> {
    if let Some(node) = little_for(root, target)
        && let Ok(plan) = node.plan(target)
        && plan.is_settled()
    {
        return hold_plan(root, plan, node);
    }
    at_pod_by_all(root, target)
}

/// The same with all of the node before the eyes.
fn at_pod_by_all(root: &Root, target: &Target) -> Result<Aim, EnterError> {
    let (processes, mut skipped) = processes::scan(root);
    let (pods, unread) = read_pods(root, &processes, |it| target.fit(it).is_some());
    skipped.extend(unread);
    let node = Known {
        processes,
        pods,
        skipped,
    };
    let plan = node
        .plan(target)
        .map_err(|error| match (error, node.skipped.first()) {
            (plan @ PlanError::Unknown { .. }, Some(reason)) => EnterError::Unseen {
                plan,
                reason: reason.clone(),
            },
            (error, _) => error.into(),
        })?;
    hold_plan(root, plan, node)
}

/// What was read of a node to find a target.
struct Known {
    processes: Vec<Process>,
    pods: Vec<Pod>,
    skipped: Vec<String>,
}

impl Known {
    fn plan(&self, target: &Target) -> Result<Plan, PlanError> {
        let init = self.processes.iter().find(|it| it.pid == 1);
        let tasks = pods::tasks(&self.processes);
        let scene = Scene {
            pods: &self.pods,
            tasks: &tasks,
            node_netns: init.and_then(|it| it.netns),
            ..Scene::default()
        };
        plan(target, &scene)
    }
}

/// Only the pods that the target can be by their names: of thousands of
/// processes and files those that count. `None`: that is not enough.
fn little_for(root: &Root, target: &Target) -> Option<Known> {
    let names = pods::names(root, target)?;
    let only = names.wanted(target)?;
    let groups = names.groups.iter();
    let counts = groups.filter(|it| it.pid == 1 || only.has_process(it));
    let (processes, mut skipped) = processes::look_at(root, counts.map(|it| it.pid));
    let (pods, unread) = pods::read_only(root, &processes, &only, |it| target.fit(it).is_some())?;
    skipped.extend(unread);
    Some(Known {
        processes,
        pods,
        skipped,
    })
}

fn hold_plan(root: &Root, plan: Plan, node: Known) -> Result<Aim, EnterError> {
    let mut process = None;
    let namespace = match &plan.door {
        Door::Process(pid) => {
            let held = hold_one_of(root, &node.processes, *pid)?;
            let namespace = of_process(&held)?;
            process = Some(held);
            namespace
        }
        Door::NodeFile(path, number) => Namespace::of_node_file(root, path, *number),
        Door::OwnFile(path) => Namespace::of_path(Path::new(path)),
        Door::Nowhere => {
            let what = plan.label.clone();
            Err(PlanError::Gone(what).into())
        }
        Door::Node => Namespace::of_process(&process::hold(root, 1)?.0),
    };
    Held {
        root,
        plan,
        namespace,
        process,
        skipped: node.skipped,
    }
    .aim()
}

fn read_pods(
    root: &Root,
    processes: &[Process],
    wanted: impl Fn(&Pod) -> bool,
) -> (Vec<Pod>, Vec<String>) {
    let (pods, unread) = pods::read_pods(root, processes, Parts::PODS, wanted);
    (pods, unread.sentences)
}

fn hold_one_of(root: &Root, processes: &[Process], pid: u32) -> Result<Directory, EnterError> {
    let seen = processes.iter().find(|it| it.pid == pid);
    process::hold_seen(root, seen.ok_or(EnterError::NoProcess(pid))?)
}

/// Its namespace; on a node that is only files there is nothing to enter, but
/// much to read.
fn of_process(process: &Directory) -> Result<Result<Namespace, EnterError>, EnterError> {
    match Namespace::of_process(process) {
        Err(error @ EnterError::NotLive(_)) => Ok(Err(error)),
        Err(error) => Err(error),
        Ok(namespace) => Ok(Ok(namespace)),
    }
}

impl Aim {
    /// Whether the process is still the one that was read.
    ///
    /// # Errors
    ///
    /// It has ended.
    pub fn expect_alive(&self) -> Result<(), EnterError> {
        self.process.as_ref().map_or(Ok(()), expect_alive)
    }

    /// The process whose files were read, if there is one.
    pub fn process(&self) -> Option<&Directory> {
        self.process.as_ref()
    }
}

fn expect_alive(process: &Directory) -> Result<(), EnterError> {
    let pid = process.pid();
    let seen = process.look().map_err(|error| process::gone(&error, pid))?;
    if seen.is_zombie {
        return Err(EnterError::Vanished(pid));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
