#![doc = include_str!("stale_pod_file.md")]

use std::net::IpAddr;

use crate::config::resolv_conf::ResolvConf;
use crate::lint::rules::node::look;
use crate::lint::rules::prelude::*;
use crate::node::Pod;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let Some(conf) = look::kubelet_file(node) else {
        return;
    };
    let next = addresses(conf);
    let dns = look::cluster_dns(node);
    let is_stale_host = |pod: &&Pod| {
        let Some(file) = pod.own_file().filter(|it| !is_clusters(it)) else {
            return false;
        };
        let now = addresses(file);
        let is_dns = pod
            .containers
            .iter()
            .any(|it| DNS_PODS.contains(&it.name.as_str()));
        // No pod's own settings have a loopback server that is not in the pod.
        let is_old_stub = file_is_own(&now)
            && pod.host_network == Some(false)
            && !crate::node::is_dns_server(pod);
        !next.is_empty()
            && !now.is_empty()
            && now != next
            && (is_dns || is_old_stub && !file_is_own(&next))
    };
    let is_stale_cluster = |pod: &&Pod| {
        let file = pod.own_file().filter(|it| is_clusters(it));
        let first = file.and_then(|it| addresses(it).first().copied());
        !dns.is_empty() && first.is_some_and(|it| !dns.contains(&it))
    };
    let pods: Vec<&Pod> = node.pods.iter().filter(is_stale_host).collect();
    say(
        node,
        &pods,
        &next,
        look::resolv_conf_place(node),
        Severity::Warning,
        report,
    );
    let pods: Vec<&Pod> = node.pods.iter().filter(is_stale_cluster).collect();
    say(
        node,
        &pods,
        dns,
        look::cluster_dns_place(node),
        Severity::Info,
        report,
    );
}

/// The containers of the cluster's DNS, whose pods have the policy `Default`.
const DNS_PODS: [&str; 3] = ["coredns", "node-cache", "kubedns"];

fn file_is_own(servers: &[IpAddr]) -> bool {
    !servers.is_empty() && servers.iter().all(|it| look::is_own(*it))
}

/// The servers that fit into a pod's file.
fn addresses(conf: &ResolvConf) -> Vec<IpAddr> {
    let servers = look::servers(conf).into_iter().map(|it| it.0);
    servers.take(crate::pod::Limits::EXPANDED.servers).collect()
}

/// Whether the file has what the kubelet writes for pods that ask the
/// cluster's DNS, and for no others.
fn is_clusters(conf: &ResolvConf) -> bool {
    let has = |keyword: &[u8], wanted: fn(&[u8]) -> bool| {
        conf.lines().any(|line| {
            let mut words = line.words().map(|it| it.bytes);
            words.next() == Some(keyword) && words.any(wanted)
        })
    };
    has(b"options", |it| it == b"ndots:5") && has(b"search", |it| it.starts_with(b"svc."))
}

fn say(
    node: &Node,
    pods: &[&Pod],
    next: &[IpAddr],
    set: Option<crate::text::Place>,
    severity: Severity,
    report: &mut Report,
) {
    let file = pods.first().and_then(|it| it.own_file());
    let Some((now, place)) = file.and_then(|it| look::servers(it).into_iter().next()) else {
        return;
    };
    let words: Vec<String> = next.iter().map(ToString::to_string).collect();
    let verb = if pods.len() == 1 { "has" } else { "have" };
    let finding = report.add(
        place,
        format!(
            "{} still {verb} {now}, and the kubelet would now write {}: {}",
            look::counted(pods.len(), "pod"),
            words.join(", "),
            look::named(pods)
        ),
    );
    finding
        .severity(severity)
        .note("a pod keeps the file that its sandbox was made with");
    if file_is_own(next) {
        finding.help(
            "give the kubelet a file with servers that pods reach before these pods are recreated",
        );
    } else {
        finding.help("recreate the pods: kubectl rollout restart; a restart of their containers is not enough");
    }
    if severity == Severity::Info {
        finding.note("pods with dnsPolicy: None and a file like the cluster's look the same");
    }
    let listed = look::kubelet_file(node)
        .map(look::servers)
        .unwrap_or_default();
    let set = set.or_else(|| listed.into_iter().next().map(|it| it.1));
    finding.also_each(set, "this counts now");
}
