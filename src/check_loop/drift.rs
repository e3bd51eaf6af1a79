//! What differs between the pods' files and those that the kubelet would
//! write, and what else is worth knowing about them.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::facts::{FileRemark, Remark};
use super::graph::{Graph, reached};
use super::servers;
use super::view::{self, Policy, View};
use crate::kubelet::Origin;
use crate::node::{Node, Pod, is_cluster_dns};
use crate::topology::Network;

/// Pods of a kind that are named; the others are counted.
const MAX_NAMED: usize = 3;

/// Remarks about files that pods have.
pub(super) fn remarks(graph: &Graph<'_>) -> impl Iterator<Item = Remark> {
    let node = graph.node;
    let mut remarks: Vec<FileRemark> = links(node).into_iter().collect();
    remarks.extend(empty_setting(node));
    remarks.extend(drift(node));
    remarks.extend(refused(graph));
    remarks.into_iter().map(Remark::File)
}

/// Where the kubelet's file really is.
fn links(node: &Node) -> Option<FileRemark> {
    let file = node.kubelet_file.as_ref()?;
    Some(FileRemark::Link {
        path: file.path.clone(),
        to: file.links.last()?.clone(),
    })
}

/// Why there are loopback servers that no file lists.
///
/// Source: kubernetes `pkg/kubelet/network/dns/dns.go: GetPodDNS`.
fn empty_setting(node: &Node) -> Option<FileRemark> {
    let setting = &node.kubelet.as_ref()?.resolv_conf;
    let is_empty = setting.value.is_empty() && !matches!(setting.origin, Origin::Unread(_));
    is_empty.then(|| FileRemark::EmptyResolvConf(setting.origin.clone()))
}

fn addresses(view: &View) -> Option<Vec<IpAddr>> {
    let view = view.as_ref().ok()?;
    Some(view.iter().map(|it| it.to.ip()).collect())
}

/// What is listed, without what was listed before.
fn each_once(listed: &[IpAddr]) -> Vec<IpAddr> {
    let mut known = BTreeSet::new();
    let all = listed.iter().copied();
    all.filter(|it| known.insert(*it)).collect()
}

fn drift(node: &Node) -> Vec<FileRemark> {
    let mut remarks = Vec::new();
    for pod in node.pods.iter().filter(|pod| servers::is_dns_pod(pod)) {
        let now = addresses(&view::now(pod));
        let next = addresses(&view::next(node, Some(pod)));
        if let (Some(now), Some(next)) = (now, next)
            && each_once(&now) != each_once(&next)
            && !pod.mounts_resolv_conf()
        {
            remarks.push(FileRemark::Drift {
                pod: pod.label(),
                now,
                next,
                is_supposed: view::is_supposed(node, pod),
            });
        }
        let is_own = is_cluster_dns(pod);
        if is_own && view::policy(node, pod) == Policy::Cluster && pod.host_network != Some(true) {
            remarks.push(FileRemark::ClusterFirst(pod.label()));
        }
    }
    remarks
}

/// Ordinary pods that ask themselves, where nobody answers.
fn refused(graph: &Graph<'_>) -> Vec<FileRemark> {
    let is_refused = |pod: &&Pod| {
        let own = Network::Pod(pod.key());
        let serves = !graph.here(&own).is_empty();
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
    let named = pods.iter().take(MAX_NAMED).map(|pod| FileRemark::Refused {
        pod: pod.label(),
        servers: addresses(&view::now(pod)).unwrap_or_default(),
    });
    let mut remarks: Vec<FileRemark> = named.collect();
    if pods.len() > MAX_NAMED {
        remarks.push(FileRemark::RefusedToo(pods.len() - MAX_NAMED));
    }
    remarks
}
