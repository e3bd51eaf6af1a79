//! From a target to what is to be entered, and whose files count.

mod choice;
mod digits;

use std::fmt;

use self::choice::one_pod;
use self::digits::{short, telling};
use super::Target;
use super::notice::{PlanError, Warning};
use crate::config::manifest::PodSpec;
use crate::config::resolv_conf::ResolvConf;
use crate::node::assemble::Task;
use crate::node::{Container, Pod, Presence};
use crate::order::Order as _;
use crate::text::escaped;

/// What of a node decides where a target leads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scene<'n> {
    /// Its pods.
    pub pods: &'n [Pod],
    /// The processes of its containers, also of those that are in no pod.
    pub tasks: &'n [Task],
    /// The number of its own network namespace.
    pub node_netns: Option<u64>,
    /// The number of the target's network namespace, if it is a file or a
    /// process and was looked at.
    pub target_netns: Option<u64>,
    /// The name below `/etc/netns` of the target that is a file, if there is
    /// such a directory.
    pub named: Option<&'n str>,
}

/// Where a target leads.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The target in words: `pod default/web, container main`.
    pub label: String,
    /// Whether the label is that of a process, which does not name its pod.
    pub is_process: bool,
    /// What is entered.
    pub door: Door,
    /// Whose files count.
    pub files: Files,
    /// The pod, `NAMESPACE/NAME`, if it is one.
    pub pod: Option<String>,
    /// The container's name, if one was chosen.
    pub container: Option<String>,
    /// The sandbox's resolv.conf, as the runtime keeps it on the node.
    pub kept: Option<ResolvConf>,
    /// Whether the pod's spec mounts another file over that one.
    pub is_mounted_over: bool,
    /// The pod's host name, where no process can be asked.
    pub hostname: Option<String>,
    /// What to know before believing an answer.
    pub warnings: Vec<Warning>,
}

/// What is entered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Door {
    /// The namespaces of a process.
    Process(u32),
    /// The network namespace that the target's file keeps; a path of the
    /// caller's own.
    OwnFile(String),
    /// The network namespace that a file on the node keeps, with its number
    /// if that is known.
    NodeFile(String, Option<u64>),
    /// The node's own: process 1.
    Node,
    /// Nothing is left to enter, as on a disk: there are only files.
    Nowhere,
}

/// Whose resolv.conf, hosts and nsswitch.conf count.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Files {
    /// Those that a process sees.
    Process(u32),
    /// The sandbox's resolv.conf, [`Plan::kept`]; of the others nothing is known.
    Kept,
    /// The node's own, with those in `/etc/netns/NAME` before them.
    Named(String),
    /// The node's own.
    Node,
}

/// Where the target leads on this node.
///
/// # Errors
///
/// Nothing fits, more than one thing does, or what fits cannot be entered.
pub fn plan(target: &Target, scene: &Scene<'_>) -> Result<Plan, PlanError> {
    match target {
        Target::Pid(pid) => Ok(of_process(*pid, scene)),
        Target::File(path) => Ok(of_file(path, scene)),
        Target::Id(id) => of_id(id, scene),
        Target::Pod { container, .. } => {
            let fits = || {
                scene
                    .pods
                    .iter()
                    .filter_map(|it| Some((target.fit(it)?, it)))
            };
            let best = fits().map(|(fit, _)| fit).max();
            let pods = fits().filter(|(fit, _)| Some(*fit) == best);
            let what = target.to_string();
            let pod = one_pod(&what, pods.map(|(_, pod)| pod), scene.pods)?;
            let container = container.as_ref().map(|name| one_container(pod, name));
            of_pod(pod, container.transpose()?)
        }
    }
}

/// A pod as it was named.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pid(pid) => write!(f, "process {pid}"),
            Self::File(path) => f.write_str(path),
            Self::Id(id) => write!(f, "container or sandbox {id}"),
            Self::Pod {
                namespace,
                kind,
                name,
                ..
            } => {
                let parts = [namespace, kind].into_iter().flatten();
                let parts = parts.chain([name]).map(String::as_str);
                let parts: Vec<&str> = parts.collect();
                let is_pod = kind.is_none();
                let prefix = if is_pod { "pod " } else { "" };
                write!(f, "{prefix}{}", parts.join("/"))
            }
        }
    }
}

fn of_process(pid: u32, scene: &Scene<'_>) -> Plan {
    let is_its = |pod: &&Pod| pod.processes.iter().any(|it| it.pid == pid);
    let pod = scene.pods.iter().find(is_its);
    let container = pod.and_then(|pod| {
        let same =
            |it: &&Container| it.pid == Some(pid) || it.id.is_some() && it.id == group(pid, scene);
        Some(pod.containers.iter().find(same)?.name.clone())
    });
    let is_nodes = scene.node_netns.is_some() && scene.target_netns == scene.node_netns;
    let warns = is_nodes || pod.is_some_and(|it| it.host_network == Some(true));
    Plan {
        label: format!("process {pid}"),
        is_process: true,
        door: Door::Process(pid),
        files: Files::Process(pid),
        container,
        warnings: warns.then_some(Warning::HostNetwork).into_iter().collect(),
        ..Plan::for_pod(pod)
    }
}

/// The container in whose control groups a process is.
fn group(pid: u32, scene: &Scene<'_>) -> Option<String> {
    let task = scene.tasks.iter().find(|it| it.pid == pid)?;
    task.membership.container.clone()
}

/// A namespace with files of its own has those; one that is a pod's has the
/// pod's; any other has the node's, as for `ip netns exec`.
fn of_file(path: &str, scene: &Scene<'_>) -> Plan {
    let door = Door::OwnFile(path.to_owned());
    let label = format!("network namespace {}", escaped(path.as_bytes()));
    let is_nodes = scene.node_netns.is_some() && scene.target_netns == scene.node_netns;
    let is_its = |pod: &&Pod| {
        let is_known = scene.target_netns.is_some() && pod.netns == scene.target_netns;
        (is_known && pod.host_network != Some(true)) || pod.netns_path.as_deref() == Some(path)
    };
    let own = scene.named.map(|name| Files::Named(name.to_owned()));
    let pod = scene
        .pods
        .iter()
        .filter(|_| own.is_none() && !is_nodes)
        .find(is_its);
    if let Some(plan) = pod.and_then(|pod| of_pod(pod, None).ok()) {
        let label = format!("{label} of {}", plan.label);
        return Plan {
            label,
            door,
            ..plan
        };
    }
    let warnings = [
        is_nodes.then_some(Warning::HostNetwork),
        own.is_none().then_some(Warning::NodeFiles),
    ];
    Plan {
        label,
        door,
        files: own.unwrap_or(Files::Node),
        warnings: warnings.into_iter().flatten().collect(),
        ..Plan::for_pod(None)
    }
}

/// Containers and sandboxes whose id begins so; then a container of no pod.
fn of_id(id: &str, scene: &Scene<'_>) -> Result<Plan, PlanError> {
    let begins = |it: &Option<String>| it.as_deref().is_some_and(|it| it.starts_with(id));
    let mut found: Vec<(&str, &Pod, Option<&Container>)> = Vec::new();
    for pod in scene.pods {
        if begins(&pod.sandbox) {
            found.push((pod.sandbox.as_deref().unwrap_or_default(), pod, None));
        }
        for container in pod.containers.iter().filter(|it| begins(&it.id)) {
            let id = container.id.as_deref().unwrap_or_default();
            found.push((id, pod, Some(container)));
        }
    }
    let what = format!("container or sandbox {id}");
    match found.as_slice() {
        [(_, pod, container)] => return of_pod(pod, *container),
        [] => {}
        _ => {
            let ids: Vec<&str> = found.iter().map(|it| it.0).collect();
            let length = telling(&ids);
            let line = |(id, pod, container): &(&str, &Pod, Option<&Container>)| {
                let id = id.get(..length).unwrap_or(id);
                let of = pod.label();
                let line = match container {
                    Some(container) => format!("{id} (container {} of {of})", container.name),
                    None => format!("{id} (sandbox of {of})"),
                };
                escaped(line.as_bytes())
            };
            let candidates = found.iter().map(line).collect();
            return Err(PlanError::Ambiguous { what, candidates });
        }
    }
    // The oldest process of a container is its first.
    let of_container = |it: &&Task| begins(&it.membership.container);
    let mut tasks: Vec<&Task> = scene.tasks.iter().filter(of_container).collect();
    tasks.order_by_key(|it| (it.membership.container.as_deref(), it.started, it.pid));
    tasks.dedup_by_key(|it| it.membership.container.as_deref());
    match tasks.as_slice() {
        [task] => {
            let is_nodes = task.netns.is_some() && task.netns == scene.node_netns;
            let whole = task.membership.container.as_deref().unwrap_or(id);
            Ok(Plan {
                label: format!("container {}, process {}", short(whole), task.pid),
                door: Door::Process(task.pid),
                files: Files::Process(task.pid),
                warnings: is_nodes
                    .then_some(Warning::HostNetwork)
                    .into_iter()
                    .collect(),
                ..Plan::for_pod(None)
            })
        }
        [] => as_name(id, scene).ok_or(PlanError::Unknown {
            what,
            near: Vec::new(),
        })?,
        _ => {
            let candidate = |it: &&Task| it.membership.container.clone();
            let candidates = tasks.iter().filter_map(candidate).collect();
            Err(PlanError::Ambiguous { what, candidates })
        }
    }
}

/// A pod can have a name that looks like an id.
fn as_name(name: &str, scene: &Scene<'_>) -> Option<Result<Plan, PlanError>> {
    let fits = |pod: &&Pod| pod.name.as_deref() == Some(name);
    scene.pods.iter().find(fits)?;
    let pods = scene.pods.iter().filter(fits);
    let pod = one_pod(&format!("pod {name}"), pods, scene.pods);
    Some(pod.and_then(|pod| of_pod(pod, None)))
}

/// The container of a pod with this name.
fn one_container<'n>(pod: &'n Pod, name: &str) -> Result<&'n Container, PlanError> {
    let shown = |text: &str| escaped(text.as_bytes());
    let found = pod.containers.iter().find(|it| it.name == name);
    found.ok_or_else(|| PlanError::NoContainer {
        pod: shown(&pod.label()),
        container: shown(name),
        containers: pod.containers.iter().map(|it| shown(&it.name)).collect(),
    })
}

/// A pod, or one container of it.
fn of_pod(pod: &Pod, wanted: Option<&Container>) -> Result<Plan, PlanError> {
    let runs = |it: &&Container| it.pid.is_some();
    let running = || pod.containers.iter().find(runs);
    let chosen = wanted.or_else(running);
    let pod_label = format!("pod {}", escaped(pod.label().as_bytes()));
    let mut plan = Plan::for_pod(Some(pod));
    plan.label = match chosen {
        Some(container) => format!(
            "{pod_label}, container {}",
            escaped(container.name.as_bytes())
        ),
        None => pod_label.clone(),
    };
    plan.container = chosen.map(|it| it.name.clone());
    plan.is_mounted_over = chosen.is_some_and(|it| it.mounts_resolv_conf);
    if pod.host_network == Some(true) {
        plan.warnings.push(Warning::HostNetwork);
    }
    if let Some(pid) = chosen.and_then(|it| it.pid) {
        plan.door = Door::Process(pid);
        plan.files = Files::Process(pid);
        let others = pod
            .containers
            .iter()
            .filter(|it| Some(*it) != chosen)
            .filter(runs);
        let others: Vec<String> = others.map(|it| it.name.clone()).collect();
        if let (None, Some(chosen), false) = (wanted, chosen, others.is_empty()) {
            let chosen = chosen.name.clone();
            plan.warnings.push(Warning::OneOf { chosen, others });
        }
        return Ok(plan);
    }
    if pod.presence == Presence::Hidden {
        plan.warnings.push(Warning::Hidden);
    } else if let Some(container) = wanted.or(pod.containers.first()) {
        let container = container.name.clone();
        plan.warnings.push(Warning::Dead(container));
    }
    if let Some(process) = pod.processes.first() {
        plan.door = Door::Process(process.pid);
        // The sandbox's own process sees the file that containers will.
        plan.files = match pod.resolv_conf {
            Some(_) => Files::Kept,
            None => Files::Process(process.pid),
        };
        return Ok(plan);
    }
    if pod.netns_path.is_some() && pod.presence != Presence::Hidden {
        plan.warnings.push(Warning::NoProcess);
    }
    plan.files = Files::Kept;
    plan.door = match &pod.netns_path {
        Some(path) => Door::NodeFile(path.clone(), pod.netns),
        None if pod.host_network == Some(true) => Door::Node,
        None if pod.resolv_conf.is_some() => Door::Nowhere,
        None => return Err(PlanError::Gone(pod_label)),
    };
    Ok(plan)
}

impl Plan {
    /// What all plans for things of a pod have in common.
    fn for_pod(pod: Option<&Pod>) -> Self {
        Self {
            label: String::new(),
            is_process: false,
            door: Door::Node,
            files: Files::Node,
            pod: pod.map(Pod::label),
            container: None,
            kept: pod.and_then(|it| it.resolv_conf.clone()),
            is_mounted_over: false,
            hostname: pod.and_then(host_name),
            warnings: Vec::new(),
        }
    }

    /// Whether the file that the target sees is another one than its sandbox's.
    pub fn drift(&self, seen: &[u8]) -> Option<Warning> {
        let kept = self.kept.as_ref()?;
        let name = kept.source.name.clone();
        let warning = if self.is_mounted_over {
            Warning::MountedOver(name)
        } else {
            Warning::Drift(name)
        };
        (kept.source.bytes != seen).then_some(warning)
    }
}

/// What the kubelet calls it where no spec is at hand that says something else.
fn host_name(pod: &Pod) -> Option<String> {
    let spec = PodSpec {
        host_network: pod.host_network != Some(false),
        ..PodSpec::default()
    };
    crate::pod::host_name(&spec, pod.name.as_deref()?, "", "").ok()?
}

#[cfg(test)]
mod tests;
