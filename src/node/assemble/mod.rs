//! Puts together what several sources say about the pods of a node.

mod pod;

use std::collections::{BTreeMap, BTreeSet};

use super::Pod;
use super::cgroup::Membership;
use super::logs::{Link, Owner};
use super::mountinfo::Mounts;
use super::runtime::Record;
use crate::order::Order as _;
use crate::text::ordered;

/// What was found about pods on a node. Each source may be missing, and may know pods
/// that the others do not.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The processes of containers, by id.
    pub tasks: Vec<Task>,
    /// What the runtimes wrote down.
    pub records: Vec<Record>,
    /// The directories in `/var/log/pods`.
    pub logs: Vec<LogDirectory>,
    /// The links in `/var/log/containers`.
    pub links: Vec<Link>,
    /// The directories in `/var/lib/kubelet/pods`.
    pub kubelet: Vec<KubeletDirectory>,
    /// The directories in which runtimes keep the files of sandboxes.
    pub sandboxes: Vec<SandboxDirectory>,
    /// The network namespaces that files keep: number and path.
    pub netns_files: Vec<(u64, String)>,
    /// The node's own network namespace.
    pub node_netns: Option<u64>,
    /// Whether every process of the node was seen, so that a pod without one
    /// has none.
    pub has_all_tasks: bool,
    /// Whether processes of the node are there and cannot be seen.
    pub hides_tasks: bool,
}

/// A process of a container.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Its id.
    pub pid: u32,
    /// Its name, safe to print.
    pub comm: String,
    /// When it started.
    pub started: Option<u64>,
    /// What its control groups say.
    pub membership: Membership,
    /// The number of its network namespace.
    pub netns: Option<u64>,
    /// What its mounts say, if they were read.
    pub mounts: Mounts,
}

/// A directory in `/var/log/pods`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogDirectory {
    /// Its path on the node.
    pub path: String,
    /// The pod that its name says it belongs to.
    pub owner: Owner,
    /// The containers with the number of the last start, from 0.
    pub containers: Vec<(String, Option<u32>)>,
}

/// A directory in `/var/lib/kubelet/pods`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct KubeletDirectory {
    /// Its path on the node.
    pub path: String,
    /// The pod's uid.
    pub uid: String,
    /// The names of its containers.
    pub containers: Vec<String>,
    /// Its `etc-hosts`, if it was read.
    pub hosts: Option<Hosts>,
}

/// What the kubelet's hosts file for a pod says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Hosts {
    /// Whether the pod is on the node's network.
    pub is_host_network: bool,
    /// The pod's host name: its name, unless the manifest says otherwise.
    pub hostname: Option<String>,
}

impl Hosts {
    /// Reads the kubelet's hosts file for a pod; `None`: it is another one's.
    ///
    /// Source: kubelet `pkg/kubelet/kubelet_pods.go` `managedHostsFileContent`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        let mut lines = text.lines();
        let header = lines
            .next()?
            .strip_prefix("# Kubernetes-managed hosts file")?;
        let is_host_network = header.starts_with(" (host network)");
        let own = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let address: std::net::IpAddr = words.next()?.parse().ok()?;
            // fe00:: is what the kubelet's fixed lines have.
            let is_fixed = line.starts_with("fe00::") || address.is_loopback();
            words.next_back().filter(|_| !is_fixed).map(str::to_owned)
        };
        let hostname = lines.find_map(own).filter(|_| !is_host_network);
        Some(Self {
            is_host_network,
            hostname,
        })
    }
}

/// A directory of a sandbox.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SandboxDirectory {
    /// The sandbox's id.
    pub id: String,
    /// The path of its resolv.conf on the node.
    pub resolv_conf: String,
    /// The host name in its file `hostname`, if that was read.
    pub hostname: Option<String>,
}

/// A pod, and where to read on.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// What is known by now: no files yet.
    pub pod: Pod,
    /// Where its sandbox's resolv.conf is on the node, the best path first.
    pub resolv_conf: Vec<String>,
    /// Its directories in `/var/log/pods`.
    pub logs: Vec<String>,
    /// Its containers that have a link to a log: name and id.
    pub linked: Vec<(String, String)>,
    /// Its directory below the kubelet's.
    pub kubelet_directory: Option<String>,
    /// The process through which its files are best seen.
    pub eye: Option<u32>,
}

/// What the sources say about one pod.
#[derive(Default)]
struct Sources<'f> {
    tasks: Vec<&'f Task>,
    records: Vec<&'f Record>,
    logs: Vec<&'f LogDirectory>,
    links: Vec<&'f Link>,
    kubelet: Option<&'f KubeletDirectory>,
}

impl Sources<'_> {
    fn is_only_logs(&self) -> bool {
        self.tasks.is_empty() && self.records.is_empty() && self.kubelet.is_none()
    }
}

/// What helps to put pods together.
struct Index<'f> {
    /// Of containers and sandboxes: the pod's uid, by id.
    uids: BTreeMap<&'f str, &'f str>,
    /// Which ids are those of sandboxes.
    sandboxes: BTreeSet<&'f str>,
    /// The directories of sandboxes, by id.
    directories: BTreeMap<&'f str, &'f SandboxDirectory>,
    /// Those of no known pod, by host name.
    by_hostname: BTreeMap<&'f str, &'f SandboxDirectory>,
    netns_paths: BTreeMap<u64, &'f str>,
    netns_numbers: BTreeMap<&'f str, u64>,
    node_netns: Option<u64>,
    has_all_tasks: bool,
    hides_tasks: bool,
}

/// The pods, sorted by namespace, name and uid.
pub fn pods(facts: &Facts) -> Vec<Draft> {
    let index = Index::new(facts);
    let mut pods: BTreeMap<&str, Sources<'_>> = BTreeMap::new();
    for task in &facts.tasks {
        if let Some(key) = index.of_task(task) {
            pods.entry(key).or_default().tasks.push(task);
        }
    }
    for record in &facts.records {
        let key = index.of_record(record);
        pods.entry(key).or_default().records.push(record);
    }
    for directory in &facts.logs {
        let key = directory.owner.uid.as_str();
        pods.entry(key).or_default().logs.push(directory);
    }
    for link in &facts.links {
        if let Some(uid) = index.uids.get(link.id.as_str()) {
            pods.entry(uid).or_default().links.push(link);
        }
    }
    for directory in &facts.kubelet {
        let uid = directory.uid.as_str();
        pods.entry(uid).or_default().kubelet = Some(directory);
    }
    // The kubelet keeps a directory for every pod until it is gone; logs stay
    // a while longer.
    if !facts.kubelet.is_empty() {
        pods.retain(|_, it| !it.is_only_logs());
    }
    let mut drafts: Vec<Draft> = pods.values().map(|it| pod::draft(it, &index)).collect();
    drafts.order_by(|a, b| sort_key(&a.pod).cmp(&sort_key(&b.pod)));
    drafts
}

/// The uids of pods whose names a runtime has written down.
pub fn named_uids(records: &[Record]) -> BTreeSet<&str> {
    let named = records
        .iter()
        .filter(|it| it.name.is_some() && it.is_sandbox);
    ordered(named.filter_map(|it| it.uid.as_deref()))
}

/// Whether a process may be one of a pod's: not those of podman, and not one
/// in no container at all.
pub fn is_task(membership: &Membership) -> bool {
    let is_in_any = membership.pod.is_some() || membership.container.is_some();
    is_in_any && !membership.is_podman
}

/// Those without a name come last.
fn sort_key(pod: &Pod) -> (bool, Option<&str>, Option<&str>, String) {
    let name = pod.name.as_deref();
    (name.is_none(), pod.namespace.as_deref(), name, pod.key())
}

impl<'f> Index<'f> {
    fn new(facts: &'f Facts) -> Self {
        let by_name = by_name(&facts.logs);
        let mut uids = BTreeMap::new();
        for link in &facts.links {
            if let Some(Some(uid)) = by_name.get(&(link.namespace.as_str(), link.name.as_str())) {
                uids.insert(link.id.as_str(), *uid);
            }
        }
        let mut sandboxes: BTreeSet<&str> =
            ordered(facts.sandboxes.iter().map(|it| it.id.as_str()));
        for task in &facts.tasks {
            let uid = task
                .membership
                .pod
                .as_deref()
                .or(task.mounts.pod.as_deref());
            let ids = [&task.membership.container, &task.mounts.sandbox];
            for id in ids.into_iter().flatten() {
                uids.extend(uid.map(|uid| (id.as_str(), uid)));
            }
            sandboxes.extend(task.mounts.sandbox.as_deref());
        }
        for record in &facts.records {
            let name = (record.namespace.as_deref(), record.name.as_deref());
            let by_name = || match name {
                (Some(namespace), Some(name)) => *by_name.get(&(namespace, name))?,
                _ => None,
            };
            let uid = record.uid.as_deref().or_else(by_name);
            let ids = [Some(record.id.as_str()), record.sandbox.as_deref()];
            for id in ids.into_iter().flatten() {
                uids.extend(uid.map(|uid| (id, uid)));
            }
            sandboxes.extend(record.sandbox.as_deref());
        }
        let directories = facts.sandboxes.iter().map(|it| (it.id.as_str(), it));
        let orphans = facts
            .sandboxes
            .iter()
            .filter(|it| !uids.contains_key(it.id.as_str()));
        let by_hostname = orphans.filter_map(|it| Some((it.hostname.as_deref()?, it)));
        Self {
            by_hostname: by_hostname.collect(),
            directories: directories.collect(),
            sandboxes,
            netns_paths: facts
                .netns_files
                .iter()
                .rev()
                .map(|(number, path)| (*number, path.as_str()))
                .collect(),
            netns_numbers: facts
                .netns_files
                .iter()
                .map(|(number, path)| (path.as_str(), *number))
                .collect(),
            node_netns: facts.node_netns,
            has_all_tasks: facts.has_all_tasks,
            hides_tasks: facts.hides_tasks,
            uids,
        }
    }

    /// The key of a process's pod; `None`: it is of none.
    fn of_task(&self, task: &'f Task) -> Option<&'f str> {
        let by_id = || {
            let ids = [&task.membership.container, &task.mounts.sandbox];
            let mut ids = ids.into_iter().flatten();
            ids.find_map(|id| self.uids.get(id.as_str()).copied())
        };
        let uid = task.membership.pod.as_deref().or_else(by_id);
        uid.or(task.mounts.pod.as_deref())
    }

    /// The key of a record's pod: its uid, else its sandbox.
    fn of_record(&self, record: &'f Record) -> &'f str {
        let sandbox = record.sandbox.as_deref().unwrap_or(&record.id);
        let uid = record.uid.as_deref();
        uid.or_else(|| self.uids.get(sandbox).copied())
            .unwrap_or(sandbox)
    }
}

/// The uids of pods by namespace and name; `None`: there are several.
fn by_name(logs: &[LogDirectory]) -> BTreeMap<(&str, &str), Option<&str>> {
    let mut uids = BTreeMap::new();
    for directory in logs {
        let owner = &directory.owner;
        let key = (owner.namespace.as_str(), owner.name.as_str());
        uids.entry(key)
            .and_modify(|uid| *uid = None)
            .or_insert(Some(owner.uid.as_str()));
    }
    uids
}

#[cfg(test)]
mod tests;
