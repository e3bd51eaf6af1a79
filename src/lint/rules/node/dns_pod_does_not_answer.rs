#![doc = include_str!("dns_pod_does_not_answer.md")]

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::lint::rules::prelude::*;
use crate::node::kernel::Flow;

use super::look;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let dns = look::cluster_dns(node);
    // Where the node has the address itself, a server on the node answers.
    let counts =
        |it: &&Flow| it.is_udp && dns.contains(&it.server) && !node.addresses.contains(&it.server);
    let mut ends: BTreeMap<(IpAddr, IpAddr), Vec<&Flow>> = BTreeMap::new();
    for flow in node.kernel.flows.iter().filter(counts) {
        ends.entry((flow.server, flow.answers_from))
            .or_default()
            .push(flow);
    }
    let answers = |flows: &Vec<&Flow>| flows.iter().any(|it| !it.is_unreplied);
    for ((server, end), flows) in &ends {
        let is_other_alive = ends
            .iter()
            .any(|(it, flows)| it.0 == *server && answers(flows));
        let (Some(first), false) = (flows.first(), answers(flows) || flows.len() < ENOUGH) else {
            continue;
        };
        let count = flows.len();
        if end == server {
            report
                .add(first.place.clone(), format!("{count} connections to {server} are sent on to no DNS pod and are not answered"))
                .help(fix(*server))
                .note("the kernel made them while there was no rule for the Service, and keeps them as long as the clients go on with the same ports");
        } else if is_other_alive {
            report
                .add(first.place.clone(), format!("{end}, to which queries to {server} are sent on, answers none of {count}"))
                .help(fix(*server))
                .note("either this DNS pod hangs, or it is gone and the connections are left over: their clients time out until they take other ports");
        }
    }
}

fn fix(server: IpAddr) -> String {
    format!(
        "see that kube-proxy runs and the DNS pod is there; conntrack -D -p udp --orig-dst {server} deletes what is left over"
    )
}

/// With fewer connections it can be chance: a query that is just under way.
const ENOUGH: usize = 5;
