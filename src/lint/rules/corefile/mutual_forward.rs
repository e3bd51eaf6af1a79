#![doc = include_str!("mutual_forward.md")]

use std::net::IpAddr;

use crate::lint::context::Known;
use crate::lint::facts::{CorefileFacts, Forward, Text};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;
use crate::text::Span;
use crate::topology::coredns::CLUSTER_DNS;

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    if !blocks::is_cluster_dns(blocks) {
        return;
    }
    let own = file.document.at(Span::default());
    let others = context.other_corefiles(file.document.file, own);
    let services = context.cluster_dns(file.document.file);
    let caches: Vec<&CorefileFacts> = others
        .into_iter()
        .filter(|it| it.cluster_zones.is_empty() && !it.binds.is_empty())
        .take(MAX_PARTS)
        .collect();
    let targets = blocks.iter().flat_map(blocks::forwards);
    let targets = targets.flat_map(blocks::targets);
    for word in targets.take(MAX_PARTS) {
        let Some(target) = blocks::address(&word.text).filter(|it| it.port() == 53) else {
            continue;
        };
        let found = caches.iter().find_map(|cache| {
            let bind = cache
                .binds
                .iter()
                .find(|it| it.address() == Some(target.ip()))?;
            Some((bind, way_back(cache, &services)?))
        });
        let (Some((bind, back)), Some(at)) = (found, file.at(word.at)) else {
            continue;
        };
        // Nearer said by KC003.
        if blocks::service(&services, target.ip()).is_some() {
            continue;
        }
        report
            .add(at, format!("CoreDNS forwards to the node's cache at {}, which forwards back", target.ip()))
            .label("to the cache")
            .also(bind.at, "the cache listens here")
            .also(back.at, "and forwards to CoreDNS")
            .help("let one of the two forward to a server outside of the cluster: /etc/resolv.conf in the cache")
            .note("names outside of the cluster go round between the two until the queries time out");
    }
}

/// More caches, and servers in one file, are not compared.
const MAX_PARTS: usize = 100;

/// The server of the cluster's DNS to which a cache forwards the root zone.
fn way_back<'f>(cache: &'f CorefileFacts, services: &[Known<IpAddr>]) -> Option<&'f Text> {
    let of_root = |it: &&Forward| it.from == "." && it.of_root;
    let mut targets = cache.forwards.iter().filter(of_root).flat_map(|it| &it.to);
    targets.find(|it| {
        let address = blocks::address(&it.text).map(|it| it.ip());
        it.text == CLUSTER_DNS || address.is_some_and(|it| blocks::service(services, it).is_some())
    })
}
