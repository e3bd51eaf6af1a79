//! Reads what container runtimes wrote down.

use std::collections::BTreeSet;
use std::path::Path;

use super::skipped::{Skipped, list};
use crate::host::node::place::{Inside, Place};
use crate::host::node::processes::{self, ProcessSeen, after};
use crate::host::root::Root;
use crate::node::assemble::SandboxDirectory;
use crate::node::cgroup::is_id;
use crate::node::runtime::{self, Record};
use crate::target::Wanted;
use crate::text::ordered;

/// Where containerd keeps what is lost with the machine's power: its own
/// default, that of k3s and rke2, k0s, MicroK8s.
pub(in crate::host::node) const CONTAINERD_STATES: &[&str] = &[
    "/run/containerd",
    "/run/k3s/containerd",
    "/run/k0s/containerd",
    "/var/snap/microk8s/common/run/containerd",
];

/// The directory of containers below each of them. The second one is that of
/// shims before containerd 1.4.
pub(in crate::host::node) const CONTAINERD_BUNDLES: &[&str] = &[
    "io.containerd.runtime.v2.task/k8s.io",
    "io.containerd.runtime.v1.linux/k8s.io",
];

/// Where containerd keeps what outlives the machine's power: the files of
/// sandboxes.
const CONTAINERD_ROOTS: &[&str] = &[
    "/var/lib/containerd",
    "/var/lib/rancher/k3s/agent/containerd",
    "/var/lib/rancher/rke2/agent/containerd",
    "/var/lib/k0s/containerd",
    "/var/snap/microk8s/common/var/lib/containerd",
];

/// Where its configuration is: its own default, that of k3s, rke2, k0s,
/// MicroK8s.
const CONTAINERD_SETTINGS: &[&str] = &[
    "/etc/containerd/config.toml",
    "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
    "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
    "/etc/k0s/containerd.toml",
    "/var/snap/microk8s/current/args/containerd.toml",
];

/// The same directory in containerd 1 and 2, though the plugin got another name.
const CONTAINERD_SANDBOXES: &str = "io.containerd.grpc.v1.cri/sandboxes";

/// Where CRI-O, and podman beside it, keep containers. The first one is newer.
const CRI_O_ROOTS: &[&str] = &["/run/containers/storage", "/var/lib/containers/storage"];

/// More configurations than this are not read: somebody made up processes.
const MAX_SETTINGS: usize = 20;

const DOCKER_ROOT: &str = "/var/lib/docker";

/// What all runtimes wrote, and the directories of containerd's sandboxes; with
/// `only` of its containers and their sandboxes.
pub(super) fn read_records(
    root: &Root,
    processes: &[ProcessSeen],
    only: Option<&Wanted>,
    skipped: &mut Skipped,
) -> (Vec<Record>, Vec<SandboxDirectory>) {
    let (roots, states) = containerd(root, processes, skipped);
    let is_wanted = |id: &str| only.is_none_or(|it| it.has_container(id));
    let mut records = written(root, &states, is_wanted, skipped);
    if only.is_some() {
        // A sandbox without a process is named only by its containers.
        let known: BTreeSet<&str> = ordered(records.iter().map(|it| it.id.as_str()));
        let named = records.iter().filter_map(|it| it.sandbox.as_deref());
        let named: BTreeSet<String> = ordered(named.map(str::to_owned));
        let missing = |id: &str| named.contains(id) && !known.contains(id);
        if named.iter().any(|id| missing(id)) {
            let more = written(root, &states, missing, skipped);
            records.extend(more);
        }
    }
    let known: BTreeSet<&str> = ordered(records.iter().map(|it| it.id.as_str()));
    let named = records.iter().filter_map(|it| it.sandbox.as_deref());
    let named: BTreeSet<&str> = ordered(named);
    let is_wanted = |id: &str| is_wanted(id) || named.contains(id);
    let sandboxes = sandboxes(root, &roots, &known, is_wanted, skipped);
    (records, sandboxes)
}

/// What all runtimes wrote about containers with these ids.
fn written(
    root: &Root,
    states: &[String],
    is_wanted: impl Fn(&str) -> bool,
    skipped: &mut Skipped,
) -> Vec<Record> {
    let mut records = Vec::new();
    for state in states {
        for bundles in CONTAINERD_BUNDLES {
            let bundles = format!("{state}/{bundles}");
            let all = list(root, &bundles, skipped).into_iter();
            for (path, id) in all.filter(|(_, id)| is_wanted(id)) {
                records.extend(oci(root, &path, &id, skipped));
            }
        }
    }
    cri_o(root, &is_wanted, &mut records, skipped);
    docker(root, is_wanted, &mut records, skipped);
    records
}

/// The directories of containerd that are usual, and those that its
/// configurations and the arguments of one that runs name.
fn containerd(
    root: &Root,
    processes: &[ProcessSeen],
    skipped: &mut Skipped,
) -> (Vec<String>, Vec<String>) {
    let owned = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
    let mut roots: Vec<String> = owned(CONTAINERD_ROOTS);
    let mut states: Vec<String> = owned(CONTAINERD_STATES);
    let mut settings: Vec<String> = owned(CONTAINERD_SETTINGS);
    let add = |list: &mut Vec<String>, path: Option<String>| {
        let path = path.map(|it| runtime::run_path(it.trim_end_matches('/')));
        list.extend(path.filter(|it| it.starts_with('/') && !list.contains(it)));
    };
    let node = Inside::of_processes(root, processes);
    // One in a container must not have its own files taken for the node's.
    let is_own = |it: &&ProcessSeen| it.comm == "containerd" && node.place(it) == Place::Node;
    for process in processes.iter().filter(is_own) {
        let arguments = processes::arguments(root, process);
        let named = |names: &[&str]| {
            let mut names = names.iter();
            Some(names.find_map(|name| after(&arguments, name))?.to_owned())
        };
        add(&mut roots, named(&["--root", "-root"]));
        add(&mut states, named(&["--state", "-state"]));
        add(&mut settings, named(&["--config", "-config", "-c"]));
    }
    for path in settings.iter().take(MAX_SETTINGS) {
        let file = skipped.take(root.read(Path::new(path)));
        let named = file.map(|it| runtime::containerd::directories(&it.source.bytes));
        let named = named.unwrap_or_default();
        add(&mut roots, named.root);
        add(&mut states, named.state);
    }
    (roots, states)
}

/// The container with the bundle in `directory`.
fn oci(root: &Root, directory: &str, id: &str, skipped: &mut Skipped) -> Option<Record> {
    let path = format!("{directory}/config.json");
    let file = skipped.take(root.read_once(Path::new(&path)))?;
    let record = runtime::oci(id, &file.source.bytes);
    known(&file.source.name, record, skipped)
}

/// The record with the name of its file; an error is noted.
fn known(
    file: &str,
    record: Result<Option<Record>, String>,
    skipped: &mut Skipped,
) -> Option<Record> {
    match record {
        Ok(record) => Some(Record {
            file: file.to_owned(),
            ..record?
        }),
        Err(error) => {
            let sentence = format!("cannot read {file}: it is not what a runtime writes: {error}");
            skipped.note(None, sentence);
            None
        }
    }
}

fn cri_o(
    root: &Root,
    is_wanted: impl Fn(&str) -> bool,
    records: &mut Vec<Record>,
    skipped: &mut Skipped,
) {
    let mut seen = BTreeSet::new();
    for storage in CRI_O_ROOTS {
        // `overlay-containers`, and so on for each storage driver.
        let drivers = list(root, storage, skipped);
        let drivers = drivers
            .into_iter()
            .filter(|(_, name)| name.ends_with("-containers"));
        for (driver, _) in drivers {
            for (path, id) in list(root, &driver, skipped) {
                if !is_id(&id) || !is_wanted(&id) || seen.contains(&id) {
                    continue;
                }
                let record = oci(root, &format!("{path}/userdata"), &id, skipped);
                if let Some(record) = record {
                    records.push(record);
                    seen.insert(id);
                }
            }
        }
    }
}

fn docker(
    root: &Root,
    is_wanted: impl Fn(&str) -> bool,
    records: &mut Vec<Record>,
    skipped: &mut Skipped,
) {
    let settings = skipped.take(root.read(Path::new("/etc/docker/daemon.json")));
    let named = settings.and_then(|file| runtime::docker_root(&file.source.bytes));
    let directory = named.unwrap_or_else(|| DOCKER_ROOT.to_owned());
    for (path, id) in list(root, &format!("{directory}/containers"), skipped) {
        if !is_id(&id) || !is_wanted(&id) {
            continue;
        }
        let path = format!("{path}/config.v2.json");
        let Some(file) = skipped.take(root.read_once(Path::new(&path))) else {
            continue;
        };
        let record = runtime::docker(&file.source.bytes);
        records.extend(known(&file.source.name, record, skipped));
    }
}

/// containerd's directories of sandboxes. The host name is read only of those
/// that are not known otherwise.
fn sandboxes(
    root: &Root,
    roots: &[String],
    known: &BTreeSet<&str>,
    is_wanted: impl Fn(&str) -> bool,
    skipped: &mut Skipped,
) -> Vec<SandboxDirectory> {
    let mut found = Vec::new();
    for directory in roots {
        let directory = format!("{directory}/{CONTAINERD_SANDBOXES}");
        let all = list(root, &directory, skipped).into_iter();
        for (path, id) in all.filter(|(_, id)| is_wanted(id)) {
            let hostname = if known.contains(id.as_str()) {
                None
            } else {
                skipped.take(root.read(Path::new(&format!("{path}/hostname"))))
            };
            let text = |it: &[u8]| String::from_utf8_lossy(it).trim().to_owned();
            found.push(SandboxDirectory {
                resolv_conf: format!("{path}/resolv.conf"),
                hostname: hostname.map(|file| text(&file.source.bytes)),
                id,
            });
        }
    }
    found
}
