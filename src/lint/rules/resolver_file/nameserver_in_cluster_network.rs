#![doc = include_str!("nameserver_in_cluster_network.md")]

use std::net::IpAddr;

use crate::lint::context::Known;
use crate::lint::facts::Network;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, point_to_setting};

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    if file.role != Role::Kubelet {
        return;
    }
    let near = file.document.file;
    let networks = context.networks(near);
    // What is said of these is more.
    let dns: Vec<IpAddr> = context
        .cluster_dns(near)
        .iter()
        .map(|it| it.value)
        .collect();
    for (address, server) in handed_out(file, context).filter(|it| !dns.contains(&it.0)) {
        let holds = |it: &&Known<Network>| it.value.holds(address);
        let Some(network) = networks.iter().find(holds) else {
            continue;
        };
        let (whose, note) = if network.value.is_of_services {
            (
                "Services",
                "the node itself can look nothing up before its Services work, and names stop where that Service goes",
            )
        } else {
            (
                "pods",
                "a server outside with such an address is not reached: packets to it go to pods; that of a pod is another one after its next start",
            )
        };
        let finding = report.add(
            server.at,
            format!("{address} lies in the network of the cluster's {whose}"),
        );
        finding
            .also_each(network.at, "the network")
            .help("name a server outside of the cluster, or give the cluster another network")
            .note(note);
        point_to_setting(finding, file);
    }
}
