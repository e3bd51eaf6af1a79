//! CoreDNS, also as NodeLocal DNSCache and AKS LocalDNS: a Corefile as DNS
//! servers.
//!
//! Blocks that listen on the same sockets are one server, in which the most
//! special zone counts; blocks on other ports or addresses are another one.

mod block;
mod doubts;
mod forward;
mod listen;
mod places;
mod start;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::config::corefile::{Corefile, Transport, parse};
use crate::order::Order as _;
use crate::text::{Source, escaped};
pub use crate::topology::coredns::block::PLUGINS;

use crate::topology::coredns::block::Block;
use crate::topology::coredns::doubts::Doubts;
use crate::topology::coredns::listen::Bound;
use crate::topology::coredns::places::Places;
use crate::topology::{
    Beyond, DnsServer, Doubt, Evidence, Forward, Instance, Listen, Network, Program,
};

pub use forward::{CLUSTER_DNS, UPSTREAM_SERVERS, has_places};
pub use start::{Conf, conf};

/// Zones, server blocks, listeners and directives of a kind beyond this
/// number are not looked at.
const MAX_PARTS: usize = 1000;

/// Which CoreDNS, and where it runs.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Which program: CoreDNS or NodeLocal DNSCache.
    pub program: Program,
    /// Which of the node's CoreDNS processes or pods it is.
    pub instance: &'a Instance,
    /// In which network namespace it runs.
    pub network: &'a Network,
    /// The addresses of that network namespace, loopback ones left out.
    pub addresses: &'a [IpAddr],
    /// The interfaces of those of them whose interface is known.
    pub interfaces: &'a [(IpAddr, String)],
}

/// The DNS servers that the first of the files makes, a Corefile; the others
/// are what it can import. None if there is no Corefile.
pub fn servers_of_files(files: &[Source], site: &Site<'_>) -> Vec<DnsServer> {
    let Some((main, others)) = files.split_first() else {
        return Vec::new();
    };
    servers(&parse(main.clone(), others), site)
}

/// Puts the Corefile among the files of a DNS pod before all that it can
/// import: `Corefile`, NodeLocal DNSCache's `Corefile.base`, AKS's
/// `localdns.corefile`; else the first one is it.
pub fn main_first(files: &mut [Source]) {
    let base = |source: &Source| {
        let name = source.name.rsplit('/').next().unwrap_or_default();
        name.to_lowercase()
    };
    let is_main: [&dyn Fn(&str) -> bool; 4] = [
        &|name| name == "corefile",
        &|name| name == "corefile.base",
        &|name| name.ends_with(".corefile"),
        &|name| name.starts_with("corefile"),
    ];
    let mut named = is_main
        .iter()
        .filter_map(|is_main| files.iter().position(|source| is_main(&base(source))));
    let at = named.next().unwrap_or_default();
    if let Some(before) = files.get_mut(..=at) {
        before.rotate_right(1);
    }
}

/// What tells one listener from another.
type Socket = (Transport, u16, Bound);

/// Blocks by number, each with those of its zones that a listener serves.
type Served = Vec<(usize, Vec<String>)>;

/// The DNS servers that a Corefile makes, in the order of their transports,
/// ports and addresses. One of which nothing is known, if it makes none.
///
/// Source: `CoreDNS`, core/dnsserver/register.go `MakeServers`,
/// `groupConfigsByListenAddr`.
pub fn servers(corefile: &Corefile, site: &Site<'_>) -> Vec<DnsServer> {
    let places = Places::new(corefile);
    let replaced = block::upstream_nameservers(corefile);
    let parsed = corefile.blocks.iter().take(MAX_PARTS);
    let mut doubts = doubts(corefile, &places);
    let blocks: Vec<Block> = parsed
        .map(|block| Block::read_block(block, &replaced, &places, &mut doubts))
        .collect();
    let mut sockets: BTreeMap<Socket, (Served, Evidence)> = BTreeMap::new();
    for (number, block) in corefile.blocks.iter().take(blocks.len()).enumerate() {
        for part in listen::parts(block, site, &places, &mut doubts) {
            if sockets.len() == MAX_PARTS && !sockets.contains_key(&part.socket) {
                doubts.add(Doubt::Beyond(Beyond::Listeners));
                break;
            }
            let (served, _) = sockets
                .entry(part.socket)
                .or_insert_with(|| (Vec::new(), part.evidence));
            served.push((number, part.zones));
        }
    }
    let mut groups = grouped(sockets);
    if groups.is_empty() {
        doubts.add(Doubt::NoServerBlock);
        groups.push((Vec::new(), Vec::new()));
    }
    let made = groups.into_iter();
    let mut servers: Vec<DnsServer> = made
        .map(|(served, listens)| server(&blocks, &served, listens, site, &mut doubts))
        .collect();
    let doubts = doubts.short();
    for server in &mut servers {
        server.doubts.clone_from(&doubts);
    }
    servers
}

/// Listeners that serve the same blocks, as one server.
fn grouped(sockets: BTreeMap<Socket, (Served, Evidence)>) -> Vec<(Served, Vec<Listen>)> {
    let mut numbers: BTreeMap<(Transport, Served), usize> = BTreeMap::new();
    let mut groups: Vec<(Served, Vec<Listen>)> = Vec::new();
    for ((transport, port, bound), (served, evidence)) in sockets {
        let known = (transport, served);
        let next = groups.len();
        let number = *numbers.entry(known.clone()).or_insert(next);
        if number == next {
            groups.push((known.1, Vec::new()));
        }
        let address = match bound {
            Bound::Any => None,
            Bound::Address(address) => Some(address),
            Bound::Unknown => continue,
        };
        if let Some((_, listens)) = groups.get_mut(number) {
            listens.push(Listen::new(address, port, evidence));
        }
    }
    groups
}

fn server(
    blocks: &[Block],
    served: &Served,
    listens: Vec<Listen>,
    site: &Site<'_>,
    doubts: &mut Doubts,
) -> DnsServer {
    let mut zones: BTreeMap<&str, &Block> = BTreeMap::new();
    for (number, keys) in served {
        let Some(block) = blocks.get(*number) else {
            continue;
        };
        for zone in keys {
            // With views several blocks can have one zone; the first is taken.
            zones.entry(zone.as_str()).or_insert(block);
        }
    }
    let looking = zones.get(".").or_else(|| zones.values().next());
    DnsServer {
        listens,
        forwards: forwards(&zones, doubts),
        notices_loops: looking.is_some_and(|block| block.has_loop),
        ..DnsServer::new(site.program, site.instance.clone(), site.network.clone())
    }
}

/// What a server does with each zone that it treats in its own way, the most
/// special zone first.
fn forwards(zones: &BTreeMap<&str, &Block>, doubts: &mut Doubts) -> Vec<Forward> {
    let mut candidates: Vec<&str> = zones.keys().copied().collect();
    for block in zones.values() {
        candidates.extend(block.zones_of_note().take(MAX_PARTS));
    }
    candidates.order_by_key(|zone| (labels(zone), Reverse(*zone)));
    candidates.dedup();
    if candidates.len() > MAX_PARTS {
        doubts.add(Doubt::Beyond(Beyond::CorefileZones));
    }
    candidates.truncate(MAX_PARTS);
    let mut outcomes: BTreeMap<&str, (Option<usize>, &Block)> = BTreeMap::new();
    let mut forwards = Vec::new();
    for zone in candidates {
        let Some(block) = above(zone).find_map(|it| zones.get(it).copied()) else {
            continue;
        };
        let outcome = block.forward_for(zone);
        let parent = above(zone).skip(1).find_map(|it| outcomes.get(it));
        let is_new = match parent {
            None => outcome.is_some(),
            Some((forward, other)) => {
                *forward != outcome || outcome.is_some() && !std::ptr::eq(*other, block)
            }
        };
        outcomes.insert(zone, (outcome, block));
        if is_new {
            forwards.push(block.forward(zone, outcome));
        }
    }
    forwards.reverse();
    forwards
}

/// How many labels a zone has.
fn labels(zone: &str) -> usize {
    zone.split('.').filter(|label| !label.is_empty()).count()
}

/// A zone and all above it, up to the root.
fn above(zone: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(zone), |zone| match zone.split_once('.') {
        Some((_, "")) if *zone != "." => Some("."),
        Some((_, rest)) if !rest.is_empty() => Some(rest),
        _ => None,
    })
}

/// What makes everything that is read off this Corefile doubtful.
fn doubts(corefile: &Corefile, places: &Places<'_>) -> Doubts {
    let mut doubts = Doubts::default();
    if let Some(finding) = corefile.stop() {
        doubts.stop(&finding.message, places.place(finding.at));
    }
    for import in corefile.imports.iter().filter(|import| import.found == 0) {
        doubts.add(Doubt::Import {
            pattern: escaped(import.pattern.as_bytes()),
            place: places.place(import.at),
        });
    }
    if let Some(cut) = corefile.sources.iter().find(|it| it.is_cut()) {
        doubts.add(Doubt::Cut(escaped(cut.name.as_bytes())));
    }
    if corefile.blocks.len() > MAX_PARTS {
        doubts.add(Doubt::Beyond(Beyond::Blocks));
    }
    doubts
}
