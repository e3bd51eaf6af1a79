//! Reads what container runtimes wrote down.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Skipped, list};
use crate::host::root::Root;
use crate::node::assemble::SandboxDirectory;
use crate::node::cgroup::is_id;
use crate::node::runtime::{self, Record};

/// Where containerd keeps what is lost with the machine's power: its own
/// default, that of k3s and rke2, k0s, MicroK8s.
const CONTAINERD_STATES: &[&str] = &[
    "/run/containerd",
    "/run/k3s/containerd",
    "/run/k0s/containerd",
    "/var/snap/microk8s/common/run/containerd",
];

/// The directory of containers below each of them. The second one is that of
/// shims before containerd 1.4.
const CONTAINERD_BUNDLES: &[&str] = &[
    "io.containerd.runtime.v2.task/k8s.io",
    "io.containerd.runtime.v1.linux/k8s.io",
];

/// Where containerd keeps the rest.
const CONTAINERD_ROOTS: &[&str] = &[
    "/var/lib/containerd",
    "/var/lib/rancher/k3s/agent/containerd",
    "/var/lib/rancher/rke2/agent/containerd",
    "/var/lib/k0s/containerd",
    "/var/snap/microk8s/common/var/lib/containerd",
];

/// The same directory in containerd 1 and 2, though the plugin got another name.
const CONTAINERD_SANDBOXES: &str = "io.containerd.grpc.v1.cri/sandboxes";

/// Where CRI-O, and podman beside it, keep containers. The first one is newer.
const CRI_O_ROOTS: &[&str] = &["/run/containers/storage", "/var/lib/containers/storage"];

const DOCKER_ROOT: &str = "/var/lib/docker";

/// What all runtimes wrote, and the directories of containerd's sandboxes.
pub(super) fn read(root: &Root, skipped: &mut Skipped) -> (Vec<Record>, Vec<SandboxDirectory>) {
    let mut records = Vec::new();
    for state in CONTAINERD_STATES {
        for bundles in CONTAINERD_BUNDLES {
            let bundles = format!("{state}/{bundles}");
            for (path, id) in list(root, &bundles, skipped) {
                records.extend(oci(root, &path, &id, skipped));
            }
        }
    }
    cri_o(root, &mut records, skipped);
    docker(root, &mut records, skipped);
    let known: BTreeSet<&str> = records.iter().map(|it| it.id.as_str()).collect();
    let sandboxes = sandboxes(root, &known, skipped);
    (records, sandboxes)
}

/// The container with the bundle in `directory`.
fn oci(root: &Root, directory: &str, id: &str, skipped: &mut Skipped) -> Option<Record> {
    let path = format!("{directory}/config.json");
    let file = skipped.take(root.read_once(Path::new(&path)))?;
    let record = runtime::oci(id, &file.source.bytes);
    known(&file.source.name, record, skipped)
}

fn known(
    file: &str,
    record: Result<Option<Record>, String>,
    skipped: &mut Skipped,
) -> Option<Record> {
    record.unwrap_or_else(|error| {
        let sentence = format!("cannot read {file}: it is not what a runtime writes: {error}");
        skipped.note(None, sentence);
        None
    })
}

fn cri_o(root: &Root, records: &mut Vec<Record>, skipped: &mut Skipped) {
    let mut seen = BTreeSet::new();
    for storage in CRI_O_ROOTS {
        // `overlay-containers`, and so on for each storage driver.
        let drivers = list(root, storage, skipped);
        let drivers = drivers
            .into_iter()
            .filter(|(_, name)| name.ends_with("-containers"));
        for (driver, _) in drivers {
            for (path, id) in list(root, &driver, skipped) {
                if !is_id(&id) || seen.contains(&id) {
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

fn docker(root: &Root, records: &mut Vec<Record>, skipped: &mut Skipped) {
    let settings = skipped.take(root.read(Path::new("/etc/docker/daemon.json")));
    let named = settings.and_then(|file| runtime::docker_root(&file.source.bytes));
    let directory = named.unwrap_or_else(|| DOCKER_ROOT.to_owned());
    for (path, id) in list(root, &format!("{directory}/containers"), skipped) {
        if !is_id(&id) {
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
fn sandboxes(root: &Root, known: &BTreeSet<&str>, skipped: &mut Skipped) -> Vec<SandboxDirectory> {
    let mut found = Vec::new();
    for directory in CONTAINERD_ROOTS {
        let directory = format!("{directory}/{CONTAINERD_SANDBOXES}");
        for (path, id) in list(root, &directory, skipped) {
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
