//! One pod, of all that is said about it.

use std::collections::BTreeMap;

use super::{Draft, Index, Sources, Task};
use crate::node::runtime::Record;
use crate::node::{Container, Pod, Presence, Process};
use crate::order::Order as _;

pub(super) fn draft(sources: &Sources<'_>, index: &Index<'_>) -> Draft {
    let name = name(sources);
    let sandbox = sandbox(sources, index, name.as_deref());
    let record = sandbox_record(sources, sandbox.as_deref());
    let containers = containers(sources, index);
    let own = first_task(sources, sandbox.as_deref());
    let mut pod = Pod {
        namespace: namespace(sources),
        name,
        uid: uid(sources),
        processes: processes(sources, sandbox.as_deref()),
        netns_path: record.and_then(|it| it.netns_path.clone()),
        started: own.and_then(|it| it.started),
        containers,
        ..Pod::default()
    };
    let eye = pod.eye().and_then(|it| it.pid);
    let netns = own.and_then(|it| it.netns);
    pod.netns = netns.or_else(|| sources.tasks.iter().find(|it| Some(it.pid) == eye)?.netns);
    network(&mut pod, sources, record, index);
    pod.presence = presence(sources, pod.netns_path.as_deref(), index);
    let is_sandboxs = |it: &&Task| it.membership.container == sandbox;
    let has_directory = sources.kubelet.is_some() || !sources.logs.is_empty();
    if pod.presence == Presence::Runs
        && pod.containers.is_empty()
        && index.has_all_tasks
        && has_directory
        && !sources.tasks.is_empty()
        && sources.tasks.iter().all(is_sandboxs)
    {
        pod.presence = Presence::Waits;
    }
    let resolv_conf = resolv_conf(sources, sandbox.as_deref(), index);
    pod.sandbox = sandbox;
    let kubelet = sources
        .records
        .iter()
        .find_map(|it| it.kubelet_directory.clone());
    Draft {
        pod,
        resolv_conf,
        logs: sources.logs.iter().map(|it| it.path.clone()).collect(),
        linked: sources
            .links
            .iter()
            .map(|it| (it.container.clone(), it.id.clone()))
            .collect(),
        kubelet_directory: kubelet.or_else(|| sources.kubelet.map(|it| it.path.clone())),
        eye: eye.or(own.map(|it| it.pid)),
    }
}

/// Whether it has a sandbox, or is only left over.
fn presence(sources: &Sources<'_>, netns_path: Option<&str>, index: &Index<'_>) -> Presence {
    let is_kept = netns_path.is_some_and(|path| index.netns_numbers.contains_key(path));
    let is_state = sources.records.iter().any(|it| it.is_state);
    if sources.tasks.is_empty() && index.hides_tasks {
        Presence::Hidden
    } else if !sources.tasks.is_empty() || is_kept || is_state {
        Presence::Runs
    } else if index.has_all_tasks {
        Presence::LeftOver
    } else {
        Presence::NotSeen
    }
}

fn uid(sources: &Sources<'_>) -> Option<String> {
    let of_records = sources.records.iter().find_map(|it| it.uid.clone());
    let of_task = |it: &&Task| it.membership.pod.clone().or_else(|| it.mounts.pod.clone());
    of_records
        .or_else(|| sources.tasks.iter().find_map(of_task))
        .or_else(|| Some(sources.logs.first()?.owner.uid.clone()))
        .or_else(|| Some(sources.kubelet?.uid.clone()))
}

fn namespace(sources: &Sources<'_>) -> Option<String> {
    let of_records = sources.records.iter().find_map(|it| it.namespace.clone());
    of_records.or_else(|| Some(sources.logs.first()?.owner.namespace.clone()))
}

fn name(sources: &Sources<'_>) -> Option<String> {
    let of_records = sources.records.iter().find_map(|it| it.name.clone());
    of_records
        .or_else(|| Some(sources.logs.first()?.owner.name.clone()))
        .or_else(|| sources.kubelet?.hosts.as_ref()?.hostname.clone())
}

/// The sandbox that runs, else the newest one.
fn sandbox(sources: &Sources<'_>, index: &Index<'_>, name: Option<&str>) -> Option<String> {
    let runs = |id: &str| first_task(sources, Some(id)).is_some();
    let records = sources.records.iter().filter(|it| it.is_sandbox);
    let newest = records.max_by_key(|it| {
        let path = it.netns_path.as_deref();
        let is_kept = path.is_some_and(|path| index.netns_numbers.contains_key(path));
        (runs(&it.id), it.attempt, is_kept)
    });
    let of_mounts = || {
        sources
            .tasks
            .iter()
            .find_map(|it| it.mounts.sandbox.clone())
    };
    let of_containers = || {
        let records = sources.records.iter();
        let newest = records.max_by_key(|it| (runs(&it.id), it.attempt))?;
        newest.sandbox.clone()
    };
    let of_tasks = || {
        let mut ids = sources
            .tasks
            .iter()
            .filter_map(|it| it.membership.container.as_ref());
        ids.find(|id| index.sandboxes.contains(id.as_str()))
            .cloned()
    };
    // The kubelet cuts host names at 63 characters.
    let of_hostname = || {
        let hostname = name?.get(..63).or(name)?.trim_end_matches(['-', '.']);
        Some(index.by_hostname.get(hostname)?.id.clone())
    };
    newest
        .map(|it| it.id.clone())
        .or_else(of_mounts)
        .or_else(of_containers)
        .or_else(of_tasks)
        .or_else(of_hostname)
}

fn sandbox_record<'f>(sources: &Sources<'f>, sandbox: Option<&str>) -> Option<&'f Record> {
    let mut records = sources.records.iter().filter(|it| it.is_sandbox);
    records.find(|it| Some(it.id.as_str()) == sandbox).copied()
}

/// The first process of a container.
fn first_task<'f>(sources: &Sources<'f>, id: Option<&str>) -> Option<&'f Task> {
    let is_its = |it: &&&Task| id.is_some() && it.membership.container.as_deref() == id;
    let tasks = sources.tasks.iter().filter(is_its);
    tasks.min_by_key(|it| (it.started, it.pid)).copied()
}

/// Its processes, the sandbox's own first.
fn processes(sources: &Sources<'_>, sandbox: Option<&str>) -> Vec<Process> {
    let mut tasks = sources.tasks.clone();
    let is_sandbox = |it: &Task| sandbox.is_some() && it.membership.container.as_deref() == sandbox;
    tasks.order_by_key(|it| (!is_sandbox(it), it.pid));
    let process = |task: &Task| Process {
        pid: task.pid,
        comm: task.comm.clone(),
        arguments: Vec::new(),
    };
    tasks.into_iter().map(process).collect()
}

/// The network namespace, and whether it is the node's.
fn network(pod: &mut Pod, sources: &Sources<'_>, record: Option<&Record>, index: &Index<'_>) {
    let number = |path: &String| index.netns_numbers.get(path.as_str()).copied();
    pod.netns = pod.netns.or_else(|| number(pod.netns_path.as_ref()?));
    let seen = pod
        .netns
        .zip(index.node_netns)
        .map(|(own, node)| own == node);
    let written = || record.and_then(|it| it.host_network);
    let hosts = || Some(sources.kubelet?.hosts.as_ref()?.is_host_network);
    pod.host_network = seen.or_else(written).or_else(hosts);
    if pod.host_network == Some(true) {
        pod.netns_path = None;
        pod.netns = pod.netns.or(index.node_netns);
    } else if pod.netns_path.is_none() {
        let path = pod.netns.and_then(|it| index.netns_paths.get(&it));
        pod.netns_path = path.map(|&it| it.to_owned());
    }
}

/// The paths of the sandbox's file: as the runtime says, as it always does, as
/// the file is mounted.
fn resolv_conf(sources: &Sources<'_>, sandbox: Option<&str>, index: &Index<'_>) -> Vec<String> {
    let Some(sandbox) = sandbox else {
        return Vec::new();
    };
    let of_record = |it: &&Record| {
        let is_its = it.sandbox.as_deref() == Some(sandbox);
        it.resolv_conf.clone().filter(|_| is_its)
    };
    let directory = index.directories.get(sandbox);
    let of_task = |it: &&Task| {
        let is_its = it.mounts.sandbox.as_deref() == Some(sandbox);
        it.mounts.resolv_conf.clone().filter(|_| is_its)
    };
    let paths = [
        sources.records.iter().find_map(of_record),
        directory.map(|it| it.resolv_conf.clone()),
        sources.tasks.iter().find_map(of_task),
    ];
    let mut paths: Vec<String> = paths.into_iter().flatten().collect();
    paths.dedup();
    paths
}

/// The containers by name, without the sandbox.
fn containers(sources: &Sources<'_>, index: &Index<'_>) -> Vec<Container> {
    let first = first_tasks(&sources.tasks);
    let mut found = recorded(sources, &first);
    let known: Vec<&str> = sources.records.iter().map(|it| it.id.as_str()).collect();
    for (id, task) in first {
        if known.contains(&id) || index.sandboxes.contains(id) {
            continue;
        }
        let name = task.mounts.container.clone();
        let name = name.unwrap_or_else(|| name_of(sources, id));
        let container = found.entry(name).or_default();
        container.id = Some(id.to_owned());
        container.pid = Some(task.pid);
        container.mounts_resolv_conf =
            task.mounts.resolv_conf.is_some() && task.mounts.sandbox.is_none();
    }
    for (name, last) in sources.logs.iter().flat_map(|it| &it.containers) {
        let container = found.entry(name.clone()).or_default();
        container.restarts = container.restarts.max(*last);
    }
    for name in sources.kubelet.iter().flat_map(|it| &it.containers) {
        found.entry(name.clone()).or_default();
    }
    for (name, container) in &mut found {
        container.name.clone_from(name);
        let mut links = sources.links.iter().filter(|it| it.container == *name);
        if container.id.is_none()
            && let (Some(link), None) = (links.next(), links.next())
        {
            container.id = Some(link.id.clone());
        }
    }
    found.into_values().collect()
}

/// Those that a runtime wrote down: of several starts the one that runs, else
/// the last.
fn recorded(sources: &Sources<'_>, first: &BTreeMap<&str, &Task>) -> BTreeMap<String, Container> {
    let mut found: BTreeMap<String, Container> = BTreeMap::new();
    for record in sources.records.iter().filter(|it| !it.is_sandbox) {
        let name = record.container.clone();
        let name = name.unwrap_or_else(|| name_of(sources, &record.id));
        let pid = first.get(record.id.as_str()).map(|it| it.pid);
        let order = (pid.is_some(), record.attempt);
        let other = found.get(&name).map(|it| (it.pid.is_some(), it.restarts));
        if other.is_some_and(|other| other > order) {
            continue;
        }
        let container = Container {
            id: Some(record.id.clone()),
            image: record.image.clone(),
            pid,
            restarts: record.attempt,
            written: Some(record.file.clone()).filter(|it| !it.is_empty()),
            mounts_resolv_conf: record.mounts_resolv_conf,
            ..Container::default()
        };
        found.insert(name, container);
    }
    found
}

/// The container's name by the link to its log, else the beginning of its id.
fn name_of(sources: &Sources<'_>, id: &str) -> String {
    let link = sources.links.iter().find(|it| it.id == id);
    let of_id = || id.get(..12).unwrap_or(id).to_owned();
    link.map_or_else(of_id, |it| it.container.clone())
}

/// The first process of each container, by the container's id.
fn first_tasks<'f>(tasks: &[&'f Task]) -> BTreeMap<&'f str, &'f Task> {
    let mut first: BTreeMap<&str, &Task> = BTreeMap::new();
    for &task in tasks {
        let Some(id) = task.membership.container.as_deref() else {
            continue;
        };
        let entry = first.entry(id).or_insert(task);
        if (task.started, task.pid) < (entry.started, entry.pid) {
            *entry = task;
        }
    }
    first
}
