#![doc = include_str!("forward_itself.md")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use crate::config::corefile::{Directive, ServerBlock, Transport, Word, is_within};
use crate::lint::context::Known;
use crate::lint::document::At;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;
use crate::text::ordered;

/// More of a file are not looked at.
const MAX_FINDINGS: usize = 100;

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    let services = if blocks::is_cluster_dns(blocks) {
        context.cluster_dns(file.document.file)
    } else {
        Vec::new()
    };
    let mut places = blocks::Places::new(file);
    for block in blocks {
        let listener = Listener::from_block(block, &services);
        // Under another name the query is for another server block.
        let is_renamed = blocks::has(block, "rewrite") && blocks::key_of(block, ".").is_none();
        let forwards = blocks::forwards(block).filter(|it| !is_renamed && !listener.answers(it));
        for word in forwards.flat_map(blocks::targets) {
            let Some((message, place)) = said(file, context, &listener, word) else {
                continue;
            };
            let Some(at) = places.first(word) else {
                continue;
            };
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

/// Where a server block listens, and what it answers itself.
struct Listener<'b> {
    ports: BTreeSet<u16>,
    bound: BTreeMap<IpAddr, &'b Word>,
    has_bind: bool,
    services: &'b [Known<IpAddr>],
    /// The zones that are answered before anything is forwarded.
    answered: Vec<String>,
}

/// What is wrong, and another place with words for it.
type Said = (String, Option<(At, &'static str)>);

/// What is wrong with a server or file of a `forward`.
fn said(
    file: &CorefileText<'_>,
    context: &Context<'_>,
    listener: &Listener<'_>,
    word: &Word,
) -> Option<Said> {
    if let Some(target) = blocks::address(&word.text) {
        return Some(listener.own(target)?.said(file, target.ip()));
    }
    let read = blocks::handed_out(context, word)?;
    let mut servers = read.servers.iter().take(MAX_FINDINGS);
    let is_bound = |it: IpAddr| listener.bound.contains_key(&it);
    let server = servers.find(|it| it.address().is_some_and(is_bound))?;
    let message = format!(
        "{} lists {}, to which this server block is bound",
        word.text, server.text
    );
    Some((
        message,
        Some((server.at, "the kubelet hands out this file")),
    ))
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
    fn said(&self, file: &CorefileText<'_>, address: IpAddr) -> Said {
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

impl<'b> Listener<'b> {
    fn from_block(block: &'b ServerBlock, services: &'b [Known<IpAddr>]) -> Self {
        let plain = blocks::keys(block).filter(|(_, key)| key.transport == Transport::Dns);
        let bound = blocks::binds(block).filter_map(|it| Some((it.text.parse().ok()?, it)));
        let passes = |it: &&Directive| it.options("fallthrough").next().is_some();
        let kubernetes = blocks::named(block, "kubernetes").filter(|it| !passes(it));
        let answered = kubernetes.take(1);
        let answered = answered.flat_map(|it| blocks::cluster_zones(block, it));
        Self {
            ports: ordered(plain.map(|(_, key)| key.port)),
            bound: ordered(bound),
            has_bind: blocks::has(block, "bind"),
            services,
            answered: ordered(answered),
        }
    }

    /// Why an address is its own; `None`: it is another one's.
    fn own(&self, target: SocketAddr) -> Option<Own<'b>> {
        let address = target.ip();
        let listens = self.ports.contains(&target.port());
        if let Some(bound) = self.bound.get(&address).filter(|_| listens) {
            return Some(Own::Bound(bound));
        }
        if address.is_unspecified() && listens && !self.has_bind {
            return Some(Own::Any);
        }
        let service = blocks::service(self.services, address);
        Some(Own::Service(service.filter(|_| target.port() == 53)?.at))
    }

    /// Whether the names of a `forward` are answered before it.
    fn answers(&self, forward: &Directive) -> bool {
        blocks::forwarded_zone(forward).is_none_or(|zone| {
            let mut answered = self.answered.iter();
            zone != "." && answered.any(|own| is_within(&zone, own))
        })
    }
}
