#![doc = include_str!("nobody_listens_at_server.md")]

use crate::lint::rules::prelude::*;
use crate::topology::Network;

use super::look;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let Some(conf) = look::kubelet_file(node).filter(|_| node.sockets_known) else {
        return;
    };
    for (address, place) in look::servers(conf) {
        // An address of a Service is the node's own in IPVS mode.
        let is_service =
            look::is_service(node, address) || look::cluster_dns(node).contains(&address);
        if is_service || !node.addresses.contains(&address) {
            continue;
        }
        if look::listeners(node, &Network::Node, address)
            .next()
            .is_some()
        {
            continue;
        }
        let finding = report.add(
            place,
            format!("{address} is the node's own address, and nobody listens there on port 53"),
        );
        finding
            .help("write the address of a server that answers, or let the node's server listen on this address")
            .note("CoreDNS and pods with the policy Default are refused by it");
        let local = node.listeners.iter().find(|it| {
            it.network == Network::Node && it.is_udp && it.address.is_some_and(look::is_own)
        });
        if let Some(local) = local {
            let owner = local
                .owner
                .as_ref()
                .map_or("a server", |it| it.comm.as_str());
            let at = local.address.map(|it| it.to_string()).unwrap_or_default();
            finding.note(format!(
                "{owner} listens on {at}, which only programs of the node reach"
            ));
        }
    }
}
