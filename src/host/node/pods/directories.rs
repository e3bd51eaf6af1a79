//! Reads the directories that the kubelet keeps for pods.

use std::collections::BTreeSet;
use std::path::Path;

use super::skipped::{Skipped, list};
use crate::host::root::Root;
use crate::node::assemble::{self, Facts, Hosts, KubeletDirectory, LogDirectory};
use crate::node::logs::{self, Link, Owner};
use crate::target::{Target, Wanted};
use crate::text::ordered;

const LOGS: &str = "/var/log/pods";
const LINKS: &str = "/var/log/containers";

/// The kubelet's own default, that of MicroK8s, of k0s.
const KUBELETS: &[&str] = &[
    "/var/lib/kubelet/pods",
    "/var/snap/microk8s/common/var/lib/kubelet/pods",
    "/var/lib/k0s/kubelet/pods",
];

/// Whose the directories of logs are, and for an id the links to logs, which have those of containers.
pub(super) fn names(
    root: &Root,
    target: &Target,
    skipped: &mut Skipped,
) -> (Vec<Owner>, Vec<Link>) {
    let mut names = |directory| list(root, directory, skipped).into_iter();
    let logs = names(LOGS).filter_map(|(_, name)| logs::pod(&name));
    let logs = logs.collect();
    let of_id = matches!(target, Target::Id(_)).then(|| names(LINKS));
    let links = of_id.into_iter().flatten();
    let links = links.filter_map(|(_, name)| logs::link(&name));
    (logs, links.collect())
}

/// Adds the directories of logs and of the kubelet to the facts; with `only`
/// those of its pods.
pub(super) fn read_directories(
    root: &Root,
    only: Option<&Wanted>,
    facts: &mut Facts,
    skipped: &mut Skipped,
) {
    let is_wanted = |uid: &str| only.is_none_or(|it| it.has_pod(uid));
    let of_records = facts.records.iter().filter_map(|it| it.logs.as_deref());
    for directory in with_parents(&[LOGS], of_records) {
        for (path, name) in list(root, &directory, skipped) {
            let Some(owner) = logs::pod(&name).filter(|it| is_wanted(&it.uid)) else {
                continue;
            };
            let containers = list(root, &path, skipped).into_iter();
            let containers =
                containers.map(|(path, name)| (name, last_start(root, &path, skipped)));
            facts.logs.push(LogDirectory {
                containers: containers.collect(),
                path,
                owner,
            });
        }
    }
    let links = list(root, LINKS, skipped);
    facts.links = links
        .iter()
        .filter_map(|(_, name)| logs::link(name))
        .collect();
    facts.kubelet = kubelet(root, is_wanted, facts, skipped);
}

/// The directories that are known, and those in which the paths lie.
fn with_parents<'p>(known: &[&str], paths: impl Iterator<Item = &'p str>) -> Vec<String> {
    let parents = paths.filter_map(|path| Some(path.rsplit_once('/')?.0));
    let parents: BTreeSet<&str> = ordered(parents.filter(|it| !known.contains(it)));
    let known = known.iter().copied();
    known.chain(parents).map(str::to_owned).collect()
}

/// The number of a container's last start, by the names of its logs.
fn last_start(root: &Root, directory: &str, skipped: &mut Skipped) -> Option<u32> {
    let names = list(root, directory, skipped);
    names.iter().filter_map(|(_, name)| logs::start(name)).max()
}

/// The kubelet's directories. What is in them is read only for pods that no
/// runtime and no process knows.
fn kubelet(
    root: &Root,
    is_wanted: impl Fn(&str) -> bool,
    facts: &Facts,
    skipped: &mut Skipped,
) -> Vec<KubeletDirectory> {
    let of_records = facts
        .records
        .iter()
        .filter_map(|it| it.kubelet_directory.as_deref());
    let named = assemble::named_uids(&facts.records);
    let logged: BTreeSet<&str> = ordered(facts.logs.iter().map(|it| it.owner.uid.as_str()));
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for directory in with_parents(KUBELETS, of_records) {
        for (path, uid) in list(root, &directory, skipped) {
            if !is_wanted(&uid) || !seen.insert(uid.clone()) {
                continue;
            }
            let mut entry = KubeletDirectory {
                path,
                uid,
                ..KubeletDirectory::default()
            };
            if !logged.contains(entry.uid.as_str()) {
                let containers = list(root, &format!("{}/containers", entry.path), skipped);
                entry.containers = containers.into_iter().map(|(_, name)| name).collect();
            }
            if !named.contains(entry.uid.as_str()) {
                let path = format!("{}/etc-hosts", entry.path);
                let hosts = skipped.take(root.read(Path::new(&path)));
                entry.hosts = hosts.and_then(|file| Hosts::parse(&file.source.bytes));
            }
            found.push(entry);
        }
    }
    found
}
