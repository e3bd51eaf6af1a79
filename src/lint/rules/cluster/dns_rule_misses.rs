#![doc = include_str!("dns_rule_misses.md")]

use std::net::IpAddr;

use crate::address::is_link_local;
use crate::config::yaml::Node;
use crate::lint::context::Known;
use crate::lint::egress::{self, Reach, Trap};
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    for policy in egress::closing(object.object) {
        if context.some_policy(&policy.pods, |it| it.udp && it.pods != policy.pods) {
            continue;
        }
        match policy.udp {
            // Pods that were given have it.
            Reach::Misses(Trap::Label, peer) if context.some_pod(&egress::meant(peer)) => {}
            Reach::Misses(trap, peer) => missed(object, trap, peer, report),
            Reach::Pods(peer) => {
                if let Some(cache) = node_cache(object, context) {
                    beside_cache(object, &cache, peer, report);
                }
            }
            Reach::LeftOut | Reach::Anywhere => {}
        }
    }
}

fn missed(object: &Object<'_>, trap: Trap, peer: &Node, report: &mut Report) {
    let (message, help) = match trap {
        Trap::OwnNamespace => (
            "this allows DNS to pods of the policy's own namespace, and the cluster's DNS is in another one",
            "add the namespace: namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}; in a policy of Cilium the label k8s:io.kubernetes.pod.namespace: kube-system",
        ),
        Trap::NameLabel => (
            "kube-system has the label name only where somebody wrote it",
            "write kubernetes.io/metadata.name: kube-system, which every namespace has since Kubernetes 1.21",
        ),
        Trap::Label => (
            "no pods of the cluster's DNS have this label: theirs is k8s-app: kube-dns",
            "write k8s-app: kube-dns",
        ),
        Trap::PortOfService => (
            "port 53 is that of the Service: the DNS pods of OpenShift have port 5353",
            "write port 5353 for UDP and TCP",
        ),
        Trap::OtherNamespace => (
            "this allows port 53 to the pods of another namespace than kube-system, where the cluster's DNS mostly is",
            "where it is there, allow port 53 to kube-system, too; if every port of that namespace is meant, put ports into a rule of its own (a - before it)",
        ),
    };
    let finding = report.add(object.at(peer), message);
    finding.help(help);
    let namespace = object.word(&["metadata", "namespace"]);
    let is_certain = match trap {
        Trap::OwnNamespace => !namespace.is_empty(),
        Trap::NameLabel | Trap::OtherNamespace => false,
        Trap::Label | Trap::PortOfService => true,
    };
    if !is_certain {
        finding.severity(Severity::Info);
    }
    if trap == Trap::NameLabel {
        finding.note("kubectl get namespace kube-system --show-labels shows them");
    }
}

/// The address of the cache on each node, if that is what pods ask.
fn node_cache(object: &Object<'_>, context: &Context<'_>) -> Option<Known<IpAddr>> {
    let servers = context.cluster_dns(object.document.file);
    let mut servers = servers.into_iter();
    servers.find(|it| is_link_local(it.value))
}

fn beside_cache(object: &Object<'_>, cache: &Known<IpAddr>, peer: &Node, report: &mut Report) {
    let address = cache.value;
    let length = if address.is_ipv4() { 32 } else { 128 };
    report
        .add(
            object.at(peer),
            format!("pods ask {address}, which is an address of the node, and this allows pods only"),
        )
        .also_each(cache.at, "the kubelet hands this address out")
        .help(format!("add the address: ipBlock: {{cidr: {address}/{length}}}"))
        .note("a selector of pods does not choose NodeLocal DNSCache, which is on the host network: with most network plugins its answers do not arrive");
}
