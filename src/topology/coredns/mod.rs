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
use crate::text::{Source, escaped};
pub use crate::topology::coredns::block::PLUGINS;

use crate::topology::coredns::block::Block;
use crate::topology::coredns::doubts::Doubts;
use crate::topology::coredns::listen::Bound;
use crate::topology::coredns::places::Places;
use crate::topology::{DnsServer, Evidence, Forward, Listen, Network, Program};

pub use forward::has_places;
pub use start::{Conf, conf};

/// Zones, server blocks, listeners and directives of a kind beyond this
/// number are not looked at.
const MAX_PARTS: usize = 1000;

/// Which CoreDNS, and where it runs.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Which program: CoreDNS or NodeLocal DNSCache.
    pub program: Program,
    /// What people call it.
    pub label: &'a str,
    /// In which network namespace it runs.
    pub network: &'a Network,
    /// The addresses of that network namespace, loopback ones left out.
    pub addresses: &'a [IpAddr],
    /// The interfaces of those of them whose interface is known.
    pub interfaces: &'a [(IpAddr, String)],
}

/// The DNS servers that the first of the files makes, a Corefile; the others
/// are what it can import. None if there is no Corefile.
pub fn read(files: &[Source], site: &Site<'_>) -> Vec<DnsServer> {
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
        .map(|block| Block::read(block, &replaced, &places, &mut doubts))
        .collect();
    let mut sockets: BTreeMap<Socket, (Served, Evidence)> = BTreeMap::new();
    for (number, block) in corefile.blocks.iter().take(blocks.len()).enumerate() {
        for part in listen::parts(block, site, &places, &mut doubts) {
            if sockets.len() == MAX_PARTS && !sockets.contains_key(&part.socket) {
                doubts.hide("There are more listeners than kdns looks at".to_owned());
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
        doubts.hide("The Corefile has no server block that CoreDNS could serve".to_owned());
        groups.push((Vec::new(), Vec::new()));
    }
    let made = groups.into_iter();
    let mut servers: Vec<DnsServer> = made
        .map(|(served, listens)| server(&blocks, &served, listens, site, &mut doubts))
        .collect();
    let doubts = doubts.short();
    for server in &mut servers {
        server.unknown.clone_from(&doubts.unknown);
        server.hides.clone_from(&doubts.hides);
        server.stops.clone_from(&doubts.stops);
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
            listens.push(Listen {
                address,
                port,
                evidence,
            });
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
        program: site.program,
        label: site.label.to_owned(),
        network: site.network.clone(),
        listens,
        forwards: forwards(&zones, doubts),
        notices_loops: looking.is_some_and(|block| block.has_loop),
        unknown: Vec::new(),
        hides: Vec::new(),
        stops: None,
    }
}

/// What a server does with each zone that it treats in its own way, the most
/// special zone first.
fn forwards(zones: &BTreeMap<&str, &Block>, doubts: &mut Doubts) -> Vec<Forward> {
    let mut candidates: Vec<&str> = zones.keys().copied().collect();
    for block in zones.values() {
        candidates.extend(block.zones_of_note().take(MAX_PARTS));
    }
    candidates.sort_by_key(|zone| (labels(zone), Reverse(*zone)));
    candidates.dedup();
    if candidates.len() > MAX_PARTS {
        doubts.hide("There are more zones than kdns looks at".to_owned());
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

/// Whether a zone lies in another one, or is it.
fn is_within(zone: &str, other: &str) -> bool {
    other == "."
        || zone
            .strip_suffix(other)
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// What makes everything that is read off this Corefile doubtful.
fn doubts(corefile: &Corefile, places: &Places) -> Doubts {
    let mut doubts = Doubts::default();
    if let Some(finding) = corefile.stop() {
        let place = places.of(finding.at);
        doubts.stop(&finding.message, &place);
    }
    for import in corefile.imports.iter().filter(|import| import.found == 0) {
        let pattern = escaped(import.pattern.as_bytes());
        let place = places.of(import.at);
        let sentence = format!("No file was found for the import of {pattern} ({place})");
        // Files beside the Corefile need not be there, others must.
        if import.pattern.contains(['*', '?']) {
            doubts.note(sentence);
        } else {
            doubts.hide(sentence);
        }
    }
    if let Some(cut) = corefile.sources.iter().find(|it| it.is_cut()) {
        let name = escaped(cut.name.as_bytes());
        doubts.hide(format!("{name} is so long that its end was not read"));
    }
    if corefile.blocks.len() > MAX_PARTS {
        doubts.hide("There are more server blocks than kdns looks at".to_owned());
    }
    doubts
}
