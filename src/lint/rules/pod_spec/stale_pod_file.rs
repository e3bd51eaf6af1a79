#![doc = include_str!("stale_pod_file.md")]

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::check_loop::{Policy, is_supposed, policy};
use crate::config::resolv_conf::ResolvConf;
use crate::lint::rules::node::look;
use crate::lint::rules::prelude::*;
use crate::loopback::name_servers;
use crate::node::Pod;

/// What is known of a pod that has other servers than the kubelet would write.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    /// They are older than what the kubelet has.
    Old,
    /// They are, if its dnsPolicy is `Default`.
    IfDefault,
    /// They are, if its dnsPolicy is `ClusterFirst`, as its search list says.
    ClusterFirstBySearch,
}

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let Some(conf) = look::kubelet_file(node) else {
        return;
    };
    let next = addresses(conf);
    let dns = look::cluster_dns(node);
    let kind = |pod: &Pod| {
        let now = addresses(pod.own_file().filter(|_| !pod.mounts_resolv_conf())?);
        let own = policy(node, pod);
        if own == Policy::Own {
            return Some(Kind::ClusterFirstBySearch);
        }
        if own == Policy::Cluster || next.is_empty() || now.is_empty() || now == next {
            return None;
        }
        let mut names = pod.containers.iter().map(|it| it.name.as_str());
        let is_dns = own == Policy::Host && names.any(|it| DNS_PODS.contains(&it));
        let is_stub = file_is_own(&now);
        let is_old_stub =
            is_stub && pod.host_network == Some(false) && !crate::node::is_dns_server(pod);
        match is_dns {
            true if is_supposed(node, pod) && !is_stub => Some(Kind::IfDefault),
            true => Some(Kind::Old),
            false if !is_old_stub || file_is_own(&next) => None,
            false if own == Policy::Host => Some(Kind::Old),
            false => Some(Kind::IfDefault),
        }
    };
    for (wanted, next, set) in [
        (Kind::Old, next.as_slice(), look::resolv_conf_place(node)),
        (Kind::IfDefault, &next, look::resolv_conf_place(node)),
        (
            Kind::ClusterFirstBySearch,
            dns,
            look::cluster_dns_place(node),
        ),
    ] {
        let mut by_server: BTreeMap<Option<IpAddr>, Vec<&Pod>> = BTreeMap::new();
        for pod in node.pods.iter().filter(|it| kind(it) == Some(wanted)) {
            let first = pod.own_file().and_then(|it| addresses(it).first().copied());
            by_server.entry(first).or_default().push(pod);
        }
        for pods in by_server.values() {
            say((wanted, node), (conf, pods), next, set.clone(), report);
        }
    }
}

/// The containers of the cluster's DNS, whose pods have the policy `Default`.
const DNS_PODS: [&str; 3] = ["coredns", "node-cache", "kubedns"];

fn file_is_own(servers: &[IpAddr]) -> bool {
    !servers.is_empty() && servers.iter().all(|it| look::is_own(*it))
}

/// The servers that fit into a pod's file.
fn addresses(conf: &ResolvConf) -> Vec<IpAddr> {
    let servers = name_servers(conf).map(|it| it.0);
    servers.take(crate::pod::Limits::EXPANDED.servers).collect()
}

fn say(
    (kind, node): (Kind, &Node),
    (conf, pods): (&ResolvConf, &[&Pod]),
    next: &[IpAddr],
    set: Option<crate::text::Place>,
    report: &mut Report,
) {
    let file = pods.first().and_then(|it| it.own_file());
    let Some((now, place)) = file.and_then(|it| look::servers(it).next()) else {
        return;
    };
    let words: Vec<String> = next.iter().map(ToString::to_string).collect();
    let words = words.join(", ");
    let (counted, named) = (counted(pods.len(), "pod", "pods"), look::named(pods));
    let one = pods.len() == 1;
    let message = match kind {
        Kind::Old => {
            let has = if one { "has" } else { "have" };
            format!("{counted} still {has} {now}, and the kubelet would now write {words}: {named}")
        }
        Kind::IfDefault => {
            let has = if one { "has" } else { "have" };
            format!(
                "{counted} {has} {now}, and the kubelet writes {words} for dnsPolicy Default: {named}"
            )
        }
        Kind::ClusterFirstBySearch => {
            let asks = if one { "asks" } else { "ask" };
            format!("{counted} {asks} {now}, and the kubelet's clusterDNS is {words}: {named}")
        }
    };
    let finding = report.add(place, message);
    if kind == Kind::Old {
        finding.note("a pod keeps the file that its sandbox was made with");
        finding.help(if file_is_own(next) {
            "give the kubelet a file with servers that pods reach before these pods are recreated"
        } else {
            "recreate the pods: kubectl rollout restart; a restart of their containers is not enough"
        });
    } else {
        let policy = match kind {
            Kind::ClusterFirstBySearch => "ClusterFirst",
            Kind::Old | Kind::IfDefault => "Default",
        };
        if kind == Kind::ClusterFirstBySearch && look::is_deaf_cache(node, now) {
            finding.note(format!(
                "nobody listens at {now} on this node: lookups wait for it"
            ));
        } else {
            finding.severity(Severity::Info);
        }
        finding
            .note(format!(
                "the spec, which is not on the node, tells: with dnsPolicy None these are its own \
                 servers and stay; with {policy} the file is older than what the kubelet has now"
            ))
            .help(format!(
                "recreate it only if its dnsPolicy is {policy}: kubectl get pod -o yaml"
            ));
    }
    let set = set.or_else(|| look::servers(conf).next().map(|it| it.1));
    finding.also_each(set, "this counts now");
}
