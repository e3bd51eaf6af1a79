//! What differs between the pods' files and those that the kubelet would
//! write, and what else is worth knowing about them.

use std::net::IpAddr;

use super::graph::{Graph, reached};
use super::servers;
use super::view::{self, Policy, View};
use crate::kubelet::Origin;
use crate::node::{Node, Pod, is_cluster_dns};
use crate::topology::Network;

/// Pods of a kind that are named; the others are counted.
const MAX_NAMED: usize = 3;

/// Remarks about files that pods have. Whole sentences without a full stop.
pub(super) fn of(graph: &Graph<'_>) -> Vec<String> {
    let node = graph.node;
    let mut remarks: Vec<String> = links(node).into_iter().collect();
    remarks.extend(empty_setting(node));
    remarks.extend(drift(node));
    remarks.extend(refused(graph));
    remarks
}

/// Where the kubelet's file really is.
fn links(node: &Node) -> Option<String> {
    let file = node.kubelet_file.as_ref()?;
    let last = file.links.last()?;
    Some(format!("{} is a link to {last}", file.path))
}

/// Why there are loopback servers that no file lists.
///
/// Source: kubernetes `pkg/kubelet/network/dns/dns.go: GetPodDNS`.
fn empty_setting(node: &Node) -> Option<String> {
    let setting = &node.kubelet.as_ref()?.resolv_conf;
    let is_empty = setting.value.is_empty() && !matches!(setting.origin, Origin::Unread(_));
    is_empty.then(|| {
        format!(
            "resolvConf is empty ({}): the kubelet then reads no file and gives 127.0.0.1 (::1 \
             on a node of IPv6 alone) to pods with dnsPolicy Default, as DNS pods have",
            setting.origin
        )
    })
}

fn addresses(view: &View) -> Option<Vec<IpAddr>> {
    let view = view.as_ref().ok()?;
    Some(view.iter().map(|it| it.to.ip()).collect())
}

fn drift(node: &Node) -> Vec<String> {
    let mut remarks = Vec::new();
    for pod in node.pods.iter().filter(|pod| servers::is_dns_pod(pod)) {
        let now = addresses(&view::now(pod));
        let next = addresses(&view::next(node, Some(pod)));
        if let (Some(now), Some(next)) = (now, next)
            && now != next
            && !pod.mounts_resolv_conf()
        {
            let supposed = if view::is_supposed(node, pod) {
                " if its dnsPolicy is Default, as installers have it: its file is no other one of \
                 this node"
            } else {
                ""
            };
            remarks.push(format!(
                "Pod {} still has {}, and the kubelet would now write {}{supposed}",
                pod.label(),
                words(&now),
                words(&next)
            ));
        }
        let is_own = is_cluster_dns(pod);
        if is_own && view::policy(node, pod) == Policy::Cluster && pod.host_network != Some(true) {
            remarks.push(format!(
                "Pod {} has the file of dnsPolicy ClusterFirst, so it asks the cluster's DNS, \
                 which it is itself: DNS pods need dnsPolicy Default",
                pod.label()
            ));
        }
    }
    remarks
}

fn words(addresses: &[IpAddr]) -> String {
    if addresses.is_empty() {
        return "no name server".to_owned();
    }
    let words: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
    format!("nameserver {}", words.join(", "))
}

/// Ordinary pods that ask themselves, where nobody answers.
fn refused(graph: &Graph<'_>) -> Vec<String> {
    let is_refused = |pod: &&Pod| {
        let own = Network::Pod(pod.key());
        let serves = graph.servers.iter().any(|it| it.dns.network == own);
        let listed = addresses(&view::now(pod)).unwrap_or_default();
        let is_heard = graph.node.listeners.iter().any(|it| it.network == own);
        let is_loopback = |ip: &IpAddr| reached((*ip, 53).into()).ip().is_loopback();
        pod.host_network == Some(false)
            && !serves
            && !is_heard
            && !listed.is_empty()
            && listed.iter().all(is_loopback)
    };
    let pods: Vec<&Pod> = graph.node.pods.iter().filter(is_refused).collect();
    let named = pods.iter().take(MAX_NAMED).map(|pod| {
        let listed = addresses(&view::now(pod)).unwrap_or_default();
        format!(
            "Pod {} has {}, which inside it is the pod itself, where nobody listens: its lookups \
             are refused",
            pod.label(),
            words(&listed)
        )
    });
    let mut remarks: Vec<String> = named.collect();
    if pods.len() > MAX_NAMED {
        let rest = pods.len() - MAX_NAMED;
        remarks.push(format!(
            "The lookups of {rest} more pods are refused in the same way"
        ));
    }
    remarks
}
