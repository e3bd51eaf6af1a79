#![doc = include_str!("pod_asks_itself.md")]

use crate::check_loop::{Policy, policy};
use crate::lint::rules::node::look;
use crate::lint::rules::prelude::*;
use crate::loopback::name_servers;
use crate::node::Pod;
use crate::topology::Network;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let asks_itself = |pod: &&Pod| {
        let own = Network::Pod(pod.key());
        let serves = node.listeners.iter().any(|it| it.network == own)
            || node.servers.iter().any(|it| it.network == own);
        let mut listed = pod.own_file().into_iter().flat_map(name_servers).peekable();
        let is_seen = !pod.processes.is_empty() && pod.host_network == Some(false);
        is_seen
            && !serves
            && !crate::node::is_dns_server(pod)
            && listed.peek().is_some()
            && listed.all(|it| look::is_own(it.0))
    };
    let pods: Vec<&Pod> = node.pods.iter().filter(asks_itself).collect();
    let first = pods.first().and_then(|it| it.own_file());
    let Some((address, place)) = first.and_then(|it| look::servers(it).next()) else {
        return;
    };
    let verb = if pods.len() == 1 { "asks" } else { "ask" };
    let finding = report.add(
        place,
        format!(
            "{} {verb} {address}, which in a pod is the pod itself, where nobody listens: {}",
            counted(pods.len(), "pod", "pods"),
            look::named(&pods)
        ),
    );
    finding.note("every lookup in them is refused");
    let kubelets = look::kubelet_file(node).map(look::servers);
    match kubelets.map(|mut it| it.find(|it| it.0 == address)) {
        Some(Some((_, place))) => finding
            .also(place, "the kubelet hands out this server")
            .help("give the kubelet a file with servers that pods reach, restart it, and recreate the pods"),
        Some(None) if pods.iter().all(|it| policy(node, it) == Policy::Host) => {
            finding.help("recreate the pods: the kubelet would no longer write this server")
        }
        Some(None) => finding.help("name another server in the dnsConfig of the pods, if that has it; else recreate them: the kubelet would no longer write it"),
        None => finding.help("which file the kubelet hands out is not known here: see that it has servers that pods reach, and recreate the pods"),
    };
}
