//! Where server blocks listen.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::doubts::Doubts;
use super::{MAX_PARTS, Places, Site, Socket};
use crate::config::corefile::{Directive, ServerBlock, Word, split_key};
use crate::order::Order as _;
use crate::text::escaped;
use crate::topology::{Doubt, Evidence, Network, Role};

/// Addresses beyond this number are not looked at.
const MAX_BOUNDS: usize = 64;

/// To what a listener is bound.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Bound {
    /// Any address.
    Any,
    /// This address.
    Address(IpAddr),
    /// An address that cannot be known.
    Unknown,
}

/// A listener of a block and the zones that it serves there.
pub(super) struct Part {
    pub(super) socket: Socket,
    pub(super) zones: Vec<String>,
    pub(super) evidence: Evidence,
}

/// The listeners of a block. A key that CoreDNS would not start with has none.
///
/// Source: `CoreDNS`, core/dnsserver/register.go `InspectServerBlocks`.
pub(super) fn parts(
    block: &ServerBlock,
    site: &Site<'_>,
    places: &Places<'_>,
    doubts: &mut Doubts,
) -> Vec<Part> {
    let bounds = bounds(block, site, places, doubts);
    let mut parts: BTreeMap<Socket, Part> = BTreeMap::new();
    for key in block.keys.iter().take(MAX_PARTS) {
        let split = match split_key(&key.text) {
            Ok(split) if !key.has_variable() && !key.text.contains("__PILLAR__") => split,
            Ok(_) => {
                doubts.add(Doubt::Variable {
                    word: escaped(key.text.as_bytes()),
                    role: Role::Key,
                    place: places.place(key.at),
                });
                continue;
            }
            Err(message) => {
                doubts.stop(&escaped(message.as_bytes()), places.place(key.at));
                continue;
            }
        };
        for (bound, word) in &bounds {
            if parts.len() == MAX_PARTS {
                return parts.into_values().collect();
            }
            let socket = (split.transport, split.port, *bound);
            let part = parts.entry(socket).or_insert_with(|| Part {
                socket,
                zones: Vec::new(),
                evidence: Evidence::Configuration(places.place(word.unwrap_or(key).at)),
            });
            part.zones.extend(split.zones.iter().cloned());
        }
    }
    parts.into_values().collect()
}

/// To what a block binds, each with the word that says so.
///
/// Source: `CoreDNS`, plugin/bind/setup.go.
fn bounds<'b>(
    block: &'b ServerBlock,
    site: &Site<'_>,
    places: &Places<'_>,
    doubts: &mut Doubts,
) -> Vec<(Bound, Option<&'b Word>)> {
    let mut bounds: Vec<(Bound, Option<&Word>)> = Vec::new();
    let is_bind = |it: &&Directive| it.name.text == "bind";
    for bind in block.directives.iter().filter(is_bind) {
        let except: Vec<Bound> = bind
            .options("except")
            .flatten()
            .take(MAX_PARTS)
            .flat_map(|word| bound(word, site).unwrap_or_default())
            .collect();
        for word in bind.arguments.iter().take(MAX_PARTS) {
            let found = bound(word, site).unwrap_or_else(|| {
                doubts.add(Doubt::Variable {
                    word: escaped(word.text.as_bytes()),
                    role: Role::Address,
                    place: places.place(word.at),
                });
                vec![Bound::Unknown]
            });
            let kept = found.into_iter().filter(|it| !except.contains(it));
            bounds.extend(kept.map(|it| (it, Some(word))));
        }
    }
    bounds.order_by_key(|it| it.0);
    bounds.dedup_by_key(|it| it.0);
    bounds.truncate(MAX_BOUNDS);
    if bounds.is_empty() {
        bounds.push((Bound::Any, None));
    }
    bounds
}

/// What an address or the name of an interface stands for.
fn bound(word: &Word, site: &Site<'_>) -> Option<Vec<Bound>> {
    let address = |address: IpAddr| {
        if address.is_unspecified() {
            Bound::Any
        } else {
            Bound::Address(address)
        }
    };
    let text = word.text.as_str();
    if let Ok(parsed) = text.split('%').next().unwrap_or_default().parse() {
        return Some(vec![address(parsed)]);
    }
    if text == "lo" {
        let both: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        return Some(both.map(address).to_vec());
    }
    let named = site.interfaces.iter().filter(|(_, name)| name == text);
    let mut found: Vec<Bound> = named.map(|(it, _)| address(*it)).collect();
    // A pod has one interface apart from lo, nearly always eth0.
    if found.is_empty() && text == "eth0" && matches!(site.network, Network::Pod(_)) {
        found.extend(site.addresses.iter().map(|it| address(*it)));
    }
    (!found.is_empty()).then_some(found)
}
