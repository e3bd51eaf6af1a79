//! What is not known, and what was supposed in its place.

use std::collections::HashSet;

use super::facts::{Missing, Remark, Supposed, Unknown};
use super::graph::Graph;
use super::outcome::Outcome;
use super::report::{End, State, When};
use super::servers::{Role, Server};
use crate::kubelet::Found;
use crate::node::Node;
use crate::topology::{Doubt, Network};

/// Whether the file that the kubelet gives to pods was read.
pub(super) fn has_kubelet_file(node: &Node) -> bool {
    let by_name = node
        .kubelet
        .as_ref()
        .map(|it| it.resolv_conf.value.as_str());
    let is_read = node
        .kubelet_file
        .as_ref()
        .is_some_and(|it| it.content.is_ok());
    by_name.is_some_and(|path| path.is_empty() || is_read)
}

/// What would be needed for an answer.
pub(super) fn missing(graph: &Graph<'_>, next: &[Outcome]) -> Vec<Missing> {
    let node = graph.node;
    let has_corefile = graph
        .servers
        .iter()
        .any(|it| it.role == Role::Cluster && it.assumed.is_none());
    if let (None, Some(why)) = (&node.kubelet, &node.unseen) {
        return vec![Missing::Processes(why.clone())];
    }
    if node.kubelet.is_none() && node.pods.is_empty() && !has_corefile {
        return vec![Missing::Node];
    }
    let denied = node.denied.iter().cloned().map(Missing::Privilege);
    let mut missing: Vec<Missing> = denied.chain(kubelet_missing(node)).collect();
    // There can be thousands of pods.
    let mut said: HashSet<Missing> = HashSet::new();
    // Of a pod whose Corefile is not known a sentence of its own says so.
    let has_pod = graph
        .servers
        .iter()
        .any(|it| it.role == Role::Cluster && it.pod.is_some());
    if !has_corefile && !has_pod {
        missing.push(Missing::Corefile);
    }
    let has_file = has_kubelet_file(node);
    for path in next.iter().flat_map(|it| &it.paths) {
        let End::Unknown(reason) = &path.end else {
            continue;
        };
        let reason = Missing::Path(reason.clone());
        // The kubelet's file has its own entry.
        if (has_file || !is_about_file(&reason)) && said.insert(reason.clone()) {
            missing.push(reason);
        }
    }
    missing
}

/// Whether a pod's file is not known because the kubelet's is not.
fn is_about_file(missing: &Missing) -> bool {
    let Missing::Path(unknown) = missing else {
        return false;
    };
    match unknown {
        Unknown::ResolvConf(_) | Unknown::NoKubelet => true,
        Unknown::Pod(error) => error.is_about_kubelet_file(),
        _ => false,
    }
}

/// What is not known of the kubelet and its file.
fn kubelet_missing(node: &Node) -> Option<Missing> {
    let Some(kubelet) = &node.kubelet else {
        return Some(Missing::Kubelet);
    };
    match &node.kubelet_file {
        Some(file) => file.content.as_ref().err().map(|it| {
            if it.is_missing {
                Missing::KubeletFile(file.path.clone())
            } else {
                Missing::KubeletFileContent(it.reason.clone())
            }
        }),
        None if kubelet.resolv_conf.value.is_empty() => None,
        None => {
            let path = crate::text::escaped(kubelet.resolv_conf.value.as_bytes());
            Some(Missing::KubeletFileUnread(path))
        }
    }
}

/// What was supposed, and what the servers do that kdns does not know.
pub(super) fn supposed(graph: &Graph<'_>, now: State, outcomes: &[&Outcome]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for server in graph.servers.iter().filter(|it| it.role == Role::Cluster) {
        remarks.extend(server.assumed.clone().map(Remark::Supposed));
        let is_said = |it: &&Doubt| !matches!(it, Doubt::Corefile { .. });
        let doubts = server.dns.doubts.iter().filter(is_said);
        remarks.extend(doubts.cloned().map(Remark::Server));
    }
    let is_on_node = |it: &Server<'_>| {
        it.role == Role::Cluster && (it.pod.is_some() || it.dns.network == Network::Node)
    };
    let seen = graph.servers.iter().any(is_on_node);
    // Of files alone nobody expects more.
    let kubelet = graph.node.kubelet.as_ref();
    if !seen && kubelet.is_some_and(|it| it.found != Found::Named) {
        remarks.push(Remark::NoServer);
    }
    remarks.extend(stopped(graph.node));
    if seen && now == State::Unknown {
        let paths = outcomes.iter().filter(|it| it.when == When::Now);
        let mut paths = paths.flat_map(|it| &it.paths);
        let reason = paths.find_map(|path| match &path.end {
            End::Unknown(reason) => Some(reason.clone()),
            _ => None,
        });
        remarks.extend(reason.map(Remark::Now));
    }
    remarks
}

/// A kubelet that does not run, where processes can be seen.
fn stopped(node: &Node) -> Option<Remark> {
    let Found::Files { file } = &node.kubelet.as_ref()?.found else {
        return None;
    };
    if node.kubelet.as_ref()?.is_not_seen {
        return None;
    }
    let sees_processes = node.is_live || node.listeners.iter().any(|it| it.owner.is_some());
    sees_processes.then(|| Remark::NoKubelet(file.clone()))
}

impl Remark {
    /// Whether one of the entries says the same.
    pub(super) fn is_in(&self, missing: &HashSet<&Missing>) -> bool {
        let unknown = match self {
            Self::Now(unknown) => unknown.clone(),
            Self::Server(doubt) | Self::Supposed(Supposed::Corefile(doubt)) => {
                Unknown::Server(doubt.clone())
            }
            _ => return false,
        };
        missing.contains(&Missing::Path(unknown))
    }
}
