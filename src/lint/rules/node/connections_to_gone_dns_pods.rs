#![doc = include_str!("connections_to_gone_dns_pods.md")]

use super::look;
use crate::lint::rules::prelude::*;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    // Otherwise the next packet ends such a connection.
    if node.kernel.expires_without_server != Some(false) {
        return;
    }
    let dns = look::cluster_dns(node);
    let services = node.kernel.services.as_deref().unwrap_or_default();
    let is_left = |it: &&crate::node::kernel::ServiceFlow| {
        let mut same = services
            .iter()
            .filter(|own| own.is_udp && own.address == it.service);
        let service = same.next();
        it.is_udp
            && dns.contains(&it.service.ip())
            && service.is_some_and(|own| own.servers.iter().all(|server| server.0 != it.server))
    };
    let mut left = node.kernel.service_flows.iter().filter(is_left);
    let Some(first) = left.next() else {
        return;
    };
    let count = 1 + left.count();
    let message = format!(
        "{} to {} still {} to {} or others that serve it no longer",
        counted(count, "connection", "connections"),
        first.service.ip(),
        if count == 1 { "goes" } else { "go" },
        first.server.ip()
    );
    report
        .add(first.place.clone(), message)
        .help("set net.ipv4.vs.expire_nodest_conn = 1, as kube-proxy does, and a shorter time: ipvsadm --set 0 0 30, or ipvs.udpTimeout of kube-proxy")
        .note("clients that go on with the same port time out until the connection has been idle for five minutes");
}
