//! What is wrong with NodeLocal DNSCache: its link, its rules, its socket.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::{Evidence, Fact, Finding};
use crate::address::DNS_PORT;
use crate::finding::Severity;
use crate::path::{Host, Protocol, Tree};
use crate::rules::rule::{Action, Addresses, Match, Part, Rule, Side};
use crate::rules::table::Hook;
use crate::text::Place;

/// What is wrong with the node's cache.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CacheFinding {
    /// The node has its address, and no rule keeps its queries out of the
    /// connection tracking table.
    RulesMissing {
        /// The address.
        address: IpAddr,
        /// The link that has it.
        link: Box<str>,
    },
    /// Its rules are there and its address is not: what they are about is not
    /// translated, and leaves the node as it is.
    RulesLeft {
        /// The address.
        address: IpAddr,
        /// Whether it is the one that is asked.
        is_asked: bool,
    },
    /// The node has its address, and nobody listens there.
    Silent {
        /// The address.
        address: IpAddr,
        /// The link that has it.
        link: Box<str>,
        /// Whether it is the one that is asked.
        is_asked: bool,
    },
    /// An address of its kind is asked that the node does not have.
    LinkMissing {
        /// The address.
        address: IpAddr,
    },
}

/// The link that it makes.
///
/// Source: kubernetes/dns `cmd/node-cache/app/cache_app.go`, `interfaceName`.
const LINK: &str = "nodelocaldns";

/// The addresses that the manifests of Kubernetes and of kubespray give it.
///
/// Source: kubernetes `cluster/addons/dns/nodelocaldns`; kubespray `nodelocaldns_ip`.
const USUAL: [[u8; 4]; 2] = [[169, 254, 20, 10], [169, 254, 25, 10]];

pub(super) fn find(host: &Host, trees: &[Tree]) -> Vec<Finding> {
    let Some(addresses) = &host.addresses else {
        return Vec::new();
    };
    let is_asked = |ip: IpAddr| trees.iter().any(|it| it.packet.destination == ip);
    let untracked = untracked(host);
    let mut found = Vec::new();
    for own in addresses {
        let is_its = own.link.as_ref() == LINK || is_of_cache(own.ip);
        // Its link has a link-local IPv6 address like any other.
        if !is_its || matches!(own.ip, IpAddr::V6(ip) if ip.is_unicast_link_local()) {
            continue;
        }
        let (address, link) = (own.ip, own.link.clone());
        let evidence = vec![Evidence::new(
            Place::nowhere("link"),
            format!("{address} dev {link}"),
        )];
        if is_silent(host, address) {
            let is_asked = is_asked(address);
            let fact = CacheFinding::Silent {
                address,
                link,
                is_asked,
            };
            let severity = Severity::error_if(is_asked);
            found.push(Finding::new(severity, Fact::Cache(fact), evidence));
        } else if has_rules(host) && !untracked.iter().any(|it| it.0 == address) {
            let fact = Fact::Cache(CacheFinding::RulesMissing { address, link });
            found.push(Finding::new(Severity::Warning, fact, evidence));
        }
    }
    found.extend(left(host, &untracked, is_asked));
    let asked: BTreeSet<IpAddr> = trees.iter().map(|it| it.packet.destination).collect();
    for address in asked.into_iter().filter(|it| is_of_cache(*it)) {
        let is_there = addresses.iter().any(|it| it.ip == address);
        let has_rules = untracked.iter().any(|it| it.0 == address);
        if !is_there && !has_rules {
            let fact = Fact::Cache(CacheFinding::LinkMissing { address });
            found.push(Finding::new(Severity::Error, fact, Vec::new()));
        }
    }
    found
}

/// Whether what is wrong with this address is said of a node's cache.
pub(super) fn has_to_do_with(host: &Host, ip: IpAddr) -> bool {
    let is_known = host.addresses.is_some();
    is_known && (is_of_cache(ip) || untracked(host).iter().any(|it| it.0 == ip))
}

/// Whether a node's cache mostly has this address.
fn is_of_cache(ip: IpAddr) -> bool {
    USUAL.iter().any(|it| ip == IpAddr::from(*it))
}

/// Rules for addresses that the node does not have.
fn left(
    host: &Host,
    untracked: &[(IpAddr, Evidence)],
    is_asked: impl Fn(IpAddr) -> bool,
) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut seen: BTreeSet<IpAddr> = BTreeSet::new();
    for (address, evidence) in untracked {
        let is_there = host.addresses.iter().flatten().any(|it| it.ip == *address);
        if is_there || !seen.insert(*address) {
            continue;
        }
        let is_asked = is_asked(*address);
        let fact = CacheFinding::RulesLeft {
            address: *address,
            is_asked,
        };
        let severity = Severity::error_if(is_asked);
        let evidence = vec![evidence.clone()];
        found.push(Finding::new(severity, Fact::Cache(fact), evidence));
    }
    found
}

/// Whether it is known that nobody takes queries there.
fn is_silent(host: &Host, address: IpAddr) -> bool {
    let Some(listeners) = &host.listeners else {
        return false;
    };
    !listeners.iter().any(|(ip, port, protocol)| {
        let is_there = *ip == address || ip.is_unspecified();
        is_there && *port == DNS_PORT && *protocol == Protocol::Udp
    })
}

/// Whether rules of iptables were seen at all.
fn has_rules(host: &Host) -> bool {
    let mut tables = host.rules.tables.iter();
    tables.any(|it| !it.is_empty() && matches!(it.name.as_ref(), "nat" | "filter" | "raw"))
}

/// Addresses whose queries no rule lets be tracked, each with its rule. Rules
/// are looked at where packets from pods come in.
fn untracked(host: &Host) -> Vec<(IpAddr, Evidence)> {
    let mut found = Vec::new();
    for (index, table) in host.rules.tables.iter().enumerate() {
        let mut bases = table.bases.iter();
        let Some(base) =
            bases.find(|it| it.hook == Hook::Prerouting && table.name.as_ref() == "raw")
        else {
            continue;
        };
        for rule in host.rules.rules(index, &base.chain).unwrap_or_default() {
            let Some(ip) = untracks(&rule) else {
                continue;
            };
            let evidence = Evidence::new(
                host.rules.place(rule.view),
                host.rules.words(rule.view, table.is_of_nft()),
            );
            found.push((ip, evidence));
        }
    }
    found
}

/// The one address whose DNS queries the rule does not let be tracked.
fn untracks(rule: &Rule) -> Option<IpAddr> {
    let mut parts = rule.parts.iter();
    let is_no_track = parts.any(|it| matches!(it, Part::Do(Action::NoTrack)));
    let (mut network, mut is_dns) = (None, false);
    for part in &rule.parts {
        let Part::If(test) = part else { continue };
        match &test.what {
            _ if test.is_negated => return None,
            Match::Address(Side::Destination, all) => network = all.first().copied(),
            Match::Ports(sides, ranges) => {
                let is_to = sides.contains(&Side::Destination);
                is_dns = is_to && ranges.contains(&(DNS_PORT, DNS_PORT));
            }
            _ => {}
        }
    }
    let Some(Addresses::Range(first, last)) = network.filter(|_| is_no_track && is_dns) else {
        return None;
    };
    (first == last).then(|| address(first))
}

/// The address of this number: of IPv4 where one is meant.
fn address(bits: u128) -> IpAddr {
    match u32::try_from(bits) {
        Ok(bits) if bits > u32::from(u8::MAX) => IpAddr::V4(bits.into()),
        _ => IpAddr::V6(bits.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::rule::number;

    #[test]
    fn numbers_are_addresses() {
        for text in ["169.254.20.10", "10.96.0.10", "fd00::a", "::1"] {
            let ip: IpAddr = text.parse().unwrap();
            assert_eq!(address(number(ip)), ip);
        }
    }
}
