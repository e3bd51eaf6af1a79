#![doc = include_str!("forward_itself.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::CorefileText;
use crate::lint::{Check, Rule};
use std::net::{IpAddr, SocketAddr};

use crate::config::corefile::{Directive, Key, ServerBlock, Transport, Word};
use crate::lint::context::Known;
use crate::lint::document::At;
use crate::lint::rules::corefile::blocks;

/// KC003.
pub static RULE: Rule = Rule {
    code: "KC003",
    name: "forward-to-itself",
    severity: Severity::Error,
    summary: "forward names an address at which the same CoreDNS answers",
    page: include_str!("forward_itself.md"),
    check: Check::Corefile(check),
};

/// More are not said about one file.
const MAX_FINDINGS: usize = 100;

fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    let services = if blocks::is_cluster_dns(blocks) {
        context.cluster_dns(file.document.file)
    } else {
        Vec::new()
    };
    let mut places = blocks::Places::of(file);
    let mut found = 0;
    for block in blocks {
        for forward in blocks::forwards(block).filter(|it| !is_answered(block, it)) {
            for word in blocks::targets(forward) {
                let Some(target) = blocks::address(&word.text) else {
                    continue;
                };
                let Some(own) = own(block, target, &services) else {
                    continue;
                };
                let Some(at) = places.first(word).filter(|_| found < MAX_FINDINGS) else {
                    continue;
                };
                found += 1;
                let (message, place) = own.said(file, target.ip());
                let finding = report
                    .add(at, message)
                    .help("write the address of a server outside of the cluster, or /etc/resolv.conf with a file that has one")
                    .note("each query comes back until loop ends CoreDNS at its next start, or its memory is used up");
                if let Some((at, label)) = place {
                    finding.also(at, label);
                }
            }
        }
    }
}

/// Why an address is its own.
enum Own<'b> {
    /// The block is bound to it.
    Bound(&'b Word),
    /// Its Service has it.
    Service(Option<At>),
    /// It is any address of the machine or pod.
    Any,
}

impl Own<'_> {
    fn said(
        &self,
        file: &CorefileText<'_>,
        address: IpAddr,
    ) -> (String, Option<(At, &'static str)>) {
        match self {
            Self::Bound(word) => {
                let place = file.at(word.at).map(|it| (it, "it listens there"));
                (
                    format!("forward to {address} goes to this server block itself"),
                    place,
                )
            }
            Self::Service(at) => {
                let place = at.map(|it| (it, "the address of the cluster's DNS"));
                let message = format!(
                    "forward to {address} goes to the cluster's DNS, which is this CoreDNS"
                );
                (message, place)
            }
            Self::Any => (format!("forward to {address} goes to the pod itself"), None),
        }
    }
}

fn own<'b>(
    block: &'b ServerBlock,
    target: SocketAddr,
    services: &[Known<IpAddr>],
) -> Option<Own<'b>> {
    let address = target.ip();
    let is_same_port =
        |(_, key): (&Word, Key)| key.transport == Transport::Dns && key.port == target.port();
    let listens = blocks::keys(block).any(is_same_port);
    let mut binds = blocks::binds(block);
    let bound = binds.find(|it| it.text.parse() == Ok(address) && listens);
    if let Some(bound) = bound {
        return Some(Own::Bound(bound));
    }
    if address.is_unspecified() && listens && !blocks::has(block, "bind") {
        return Some(Own::Any);
    }
    // A link-local address is that of a cache on the node.
    let is_service = |it: &&Known<IpAddr>| it.value == address && !blocks::is_link_local(&address);
    let service = services
        .iter()
        .find(is_service)
        .filter(|_| target.port() == 53)?;
    Some(Own::Service(service.at))
}

/// Whether the cluster's own names are answered before they are forwarded.
fn is_answered(block: &ServerBlock, forward: &Directive) -> bool {
    let Some(zone) = blocks::from(forward) else {
        return true;
    };
    let mut kubernetes = blocks::named(block, "kubernetes");
    let passes = |it: &Directive| it.options("fallthrough").next().is_some();
    kubernetes.any(|it| {
        let zones = blocks::cluster_zones(block, it);
        !passes(it) && zone != "." && zones.iter().any(|own| blocks::is_within(&zone, own))
    })
}
