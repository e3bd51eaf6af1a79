//! What is not known, and what was supposed in its place.

use std::collections::BTreeSet;

use super::graph::Graph;
use super::outcome::Outcome;
use super::report::{State, When};
use super::servers::{Role, Server};
use super::walk::WayEnd;
use crate::kubelet::Found;
use crate::node::Node;
use crate::topology::Network;

/// How to run kdns on a node from elsewhere.
const DEBUG: &str = "kubectl debug node/NODE -it --profile=sysadmin --image=IMAGE -- \
                     kdns check-loop --root /host";

/// Parts of the reasons for which a pod's file is not known, where the
/// kubelet's is not.
const FILE_REASONS: [&str; 3] = [
    "gets the kubelet's own file",
    "the pod would not start",
    "the kubelet's resolvConf is not known",
];

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

/// What would be needed for an answer. Whole sentences without a full stop.
pub(super) fn missing(graph: &Graph<'_>, next: &[Outcome]) -> Vec<String> {
    let node = graph.node;
    let has_corefile = graph
        .servers
        .iter()
        .any(|it| it.role == Role::Cluster && it.assumed.is_none());
    if let (None, Some(why)) = (&node.kubelet, &node.unseen) {
        return vec![format!("Whether a kubelet runs here is not known: {why}")];
    }
    if node.kubelet.is_none() && node.pods.is_empty() && !has_corefile {
        return vec![format!(
            "This is no node, as neither a kubelet nor a pod was found: run kdns on one, or \
             {DEBUG}"
        )];
    }
    let denied = node.denied.iter();
    let mut missing: Vec<String> = denied
        .map(|it| format!("Not all of the node could be read: {it}"))
        .collect();
    missing.extend(kubelet_missing(node));
    // Of a pod whose Corefile is not known a sentence of its own says so.
    let has_pod = graph
        .servers
        .iter()
        .any(|it| it.role == Role::Cluster && it.pod.is_some());
    if !has_corefile && !has_pod {
        missing.push(
            "No Corefile was found: give it with --corefile (kubectl -n kube-system get configmap \
             coredns -o jsonpath='{.data.Corefile}')"
                .to_owned(),
        );
    }
    let mut reasons = BTreeSet::new();
    for way in next.iter().flat_map(|it| &it.ways) {
        if let WayEnd::Unknown(reason) = &way.end {
            // The kubelet's file has its sentence.
            let is_said =
                !has_kubelet_file(node) && FILE_REASONS.iter().any(|it| reason.contains(it));
            if !is_said {
                reasons.insert(capital(reason));
            }
        }
    }
    missing.extend(reasons);
    let mut known = BTreeSet::new();
    missing.retain(|it| known.insert(it.clone()));
    missing
}

/// What is not known of the kubelet and its file.
fn kubelet_missing(node: &Node) -> Option<String> {
    let Some(kubelet) = &node.kubelet else {
        let sentence = "No kubelet was found, so it is not known which file its pods get";
        return Some(sentence.to_owned());
    };
    match &node.kubelet_file {
        Some(file) => file.content.as_ref().err().map(|it| {
            if it.is_missing {
                let path = &file.path;
                format!("The kubelet's file {path} is not there, and without it no pod starts")
            } else {
                format!("The kubelet's file is not known: {}", it.reason)
            }
        }),
        None if kubelet.resolv_conf.value.is_empty() => None,
        None => {
            let path = crate::text::escaped(kubelet.resolv_conf.value.as_bytes());
            Some(format!(
                "The kubelet's file {path} was not read (--node-file stands in for it)"
            ))
        }
    }
}

/// What was supposed, and what the servers do that kdns does not know.
pub(super) fn supposed(graph: &Graph<'_>, now: State, outcomes: &[&Outcome]) -> Vec<String> {
    let mut remarks = Vec::new();
    for server in graph.servers.iter().filter(|it| it.role == Role::Cluster) {
        remarks.extend(server.assumed.as_deref().map(capital));
        remarks.extend(server.dns.unknown.iter().cloned());
    }
    let is_on_node = |it: &Server<'_>| {
        it.role == Role::Cluster && (it.pod.is_some() || it.dns.network == Network::Node)
    };
    let seen = graph.servers.iter().any(is_on_node);
    // Of files alone nobody expects more.
    let kubelet = graph.node.kubelet.as_ref();
    if !seen && kubelet.is_some_and(|it| it.found != Found::Named) {
        remarks.push(
            "No DNS server of the cluster was found on this node, so CoreDNS is judged only \
             at its next start"
                .to_owned(),
        );
    }
    remarks.extend(stopped(graph.node));
    if seen && now == State::Unknown {
        let reason = outcomes
            .iter()
            .filter(|it| it.when == When::Now)
            .find_map(|it| {
                it.ways.iter().find_map(|way| match &way.end {
                    WayEnd::Unknown(reason) => Some(reason),
                    _ => None,
                })
            });
        remarks.extend(reason.map(|it| format!("How it is now is not known: {it}")));
    }
    remarks
}

/// A kubelet that does not run, where processes can be seen.
fn stopped(node: &Node) -> Option<String> {
    let Found::Files { file } = &node.kubelet.as_ref()?.found else {
        return None;
    };
    if node.kubelet.as_ref()?.is_not_seen {
        return None;
    }
    let sees_processes = node.is_live || node.listeners.iter().any(|it| it.owner.is_some());
    sees_processes.then(|| {
        format!("No kubelet runs: its settings are those with which {file} would start it")
    })
}

/// The sentence with a capital letter, unless it begins with a path.
pub(super) fn capital(sentence: &str) -> String {
    let mut characters = sentence.chars();
    let first = characters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(characters).collect()
}
