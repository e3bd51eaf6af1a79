//! What is wrong with NodeLocal DNSCache: its link, its rules, its socket.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::{Evidence, Fact, Finding};
use crate::address::DNS_PORT;
use crate::finding::Severity;
use crate::path::{Address, Host, Outcome, Packet, Protocol, Stage, Start, Step, Tree, evaluate};
use crate::rules::rule::{Action, Addresses, Match, Part, Rule, Side};
use crate::rules::table::Hook;
use crate::text::{Place, ordered};

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
    /// Its rule for queries over TCP is not come to, and that for answers is: one
    /// half of each connection is tracked.
    HalfTracked {
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

/// One of those that clients ask from.
const CLIENT_PORT: u16 = 40_000;

pub(super) fn find(host: &Host, trees: &[Tree]) -> Vec<Finding> {
    let untracked = untracked(host, Hook::Prerouting, Side::Destination);
    let halves = trees.iter().filter_map(|it| half(host, it, &untracked));
    let mut found: Vec<Finding> = halves.collect();
    let Some(addresses) = &host.addresses else {
        return found;
    };
    let is_asked = |ip: IpAddr| trees.iter().any(|it| it.packet.destination == ip);
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
        } else if has_rules(host) && !untracked.iter().any(|it| it.ip == address) {
            let fact = Fact::Cache(CacheFinding::RulesMissing { address, link });
            found.push(Finding::new(Severity::Warning, fact, evidence));
        }
    }
    found.extend(left(host, &untracked, is_asked));
    let asked: BTreeSet<IpAddr> = ordered(trees.iter().map(|it| it.packet.destination));
    for address in asked.into_iter().filter(|it| is_of_cache(*it)) {
        let is_there = addresses.iter().any(|it| it.ip == address);
        let has_rules = untracked.iter().any(|it| it.ip == address);
        if !is_there && !has_rules {
            let fact = Fact::Cache(CacheFinding::LinkMissing { address });
            found.push(Finding::new(Severity::Error, fact, Vec::new()));
        }
    }
    found
}

/// Whether what is wrong with this address is said of a node's cache.
pub(super) fn has_to_do_with(host: &Host, ip: IpAddr) -> bool {
    is_cached(host, ip) || host.addresses.is_some() && is_of_cache(ip)
}

/// Whether rules of a node's cache are about an address.
pub(in crate::path) fn is_cached(host: &Host, ip: IpAddr) -> bool {
    let rules = untracked(host, Hook::Prerouting, Side::Destination);
    rules.iter().any(|it| it.ip == ip)
}

/// What is wrong where a rule before that of the cache ends the table: connections of
/// which the kernel sees no answer, so that it calls what comes later invalid.
fn half(host: &Host, tree: &Tree, untracked: &[Untracked]) -> Option<Finding> {
    let packet = &tree.packet;
    let is_it =
        |it: &&Untracked| it.ip == packet.destination && it.is_of(packet.protocol) && it.is_for_all;
    let is_gone = |all: &Vec<Address>| all.iter().all(|it| it.ip != packet.destination);
    let is_of_pod = matches!(packet.start, Start::Link { .. });
    let is_tcp = (packet.protocol, packet.port) == (Protocol::Tcp, DNS_PORT);
    let rule = untracked.iter().find(is_it)?;
    if !is_tcp || !is_of_pod || host.addresses.as_ref().is_some_and(is_gone) {
        return None;
    }
    let ends = tree
        .outcomes
        .iter()
        .map(|it| accepted(host, rule.table, it));
    let ends = ends.collect::<Option<Vec<&Step>>>()?;
    let ends = ends.first()?;
    let answers = self::untracked(host, Hook::Output, Side::Source);
    let answer = answers.iter().find(is_it)?;
    let back = Packet {
        source: packet.destination,
        source_port: Some(DNS_PORT),
        destination: packet.source,
        port: CLIENT_PORT,
        start: Start::Host,
        ..packet.clone()
    };
    if !evaluate(host, &back)
        .outcomes
        .iter()
        .all(|it| it.is_untracked)
    {
        return None;
    }
    let ends = Evidence::new(ends.place.clone(), ends.rule().to_owned());
    let fact = Fact::Cache(CacheFinding::HalfTracked { address: rule.ip });
    let evidence = vec![ends, rule.evidence.clone(), answer.evidence.clone()];
    Some(Finding::new(Severity::Warning, fact, evidence))
}

/// The rule by which this table lets a packet that is tracked pass.
fn accepted<'o>(host: &Host, table: usize, outcome: &'o Outcome) -> Option<&'o Step> {
    let is_raw = |it: &&Step| matches!(&it.stage, Stage::Table(name) if name.contains("raw"));
    let step = outcome.steps.iter().rfind(is_raw)?;
    let rules = host.rules.rules(table, &step.chain)?;
    let rule = rules
        .iter()
        .find(|it| host.rules.place(it.view) == step.place)?;
    let accepts = rule.parts.contains(&Part::Do(Action::Accept));
    (accepts && !outcome.is_untracked && !outcome.is_translated).then_some(step)
}

/// Whether a node's cache mostly has this address.
fn is_of_cache(ip: IpAddr) -> bool {
    USUAL.iter().any(|it| ip == IpAddr::from(*it))
}

/// Rules for addresses that the node does not have.
fn left(host: &Host, untracked: &[Untracked], is_asked: impl Fn(IpAddr) -> bool) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut seen: BTreeSet<IpAddr> = BTreeSet::new();
    for rule in untracked {
        let address = rule.ip;
        let is_there = host.addresses.iter().flatten().any(|it| it.ip == address);
        if is_there || !seen.insert(address) {
            continue;
        }
        let is_asked = is_asked(address);
        let fact = CacheFinding::RulesLeft { address, is_asked };
        let severity = Severity::error_if(is_asked);
        let evidence = vec![rule.evidence.clone()];
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

/// A rule that keeps DNS packets of one address from being tracked.
struct Untracked {
    ip: IpAddr,
    /// Over what; `None`: whatever it is.
    protocol: Option<u8>,
    /// Whether it tests nothing else.
    is_for_all: bool,
    /// Its table.
    table: usize,
    evidence: Evidence,
}

impl Untracked {
    fn is_of(&self, protocol: Protocol) -> bool {
        self.protocol.is_none_or(|it| it == protocol.number())
    }
}

/// Such rules for queries, where those from pods come in, or for answers of the node.
fn untracked(host: &Host, hook: Hook, side: Side) -> Vec<Untracked> {
    let mut found = Vec::new();
    for (index, table) in host.rules.tables.iter().enumerate() {
        let mut bases = table.bases.iter();
        let is_its = table.name.as_ref() == "raw";
        let Some(base) = bases.find(|it| it.hook == hook && is_its) else {
            continue;
        };
        for rule in host.rules.rules(index, &base.chain).unwrap_or_default() {
            let Some((ip, protocol, is_for_all)) = untracks(&rule, side) else {
                continue;
            };
            let evidence = Evidence::new(
                host.rules.place(rule.view),
                host.rules.words(rule.view, table.is_of_nft()),
            );
            found.push(Untracked {
                ip,
                protocol,
                is_for_all,
                table: index,
                evidence,
            });
        }
    }
    found
}

/// The one address on this side whose DNS packets the rule does not let be tracked, and
/// over what; and whether it tests nothing else.
fn untracks(rule: &Rule, side: Side) -> Option<(IpAddr, Option<u8>, bool)> {
    let mut parts = rule.parts.iter();
    let is_no_track = parts.any(|it| matches!(it, Part::Do(Action::NoTrack)));
    let (mut network, mut is_dns, mut protocol, mut is_for_all) = (None, false, None, true);
    for part in &rule.parts {
        let Part::If(test) = part else { continue };
        match &test.what {
            _ if test.is_negated => return None,
            Match::Address(of, all) if *of == side => network = all.first().copied(),
            Match::Ports(sides, ranges) => {
                is_dns = sides.contains(&side) && ranges.contains(&(DNS_PORT, DNS_PORT));
            }
            Match::Protocol(number) => protocol = Some(*number),
            _ => is_for_all = false,
        }
    }
    let Some(Addresses::Range(first, last)) = network.filter(|_| is_no_track && is_dns) else {
        return None;
    };
    (first == last).then(|| (address(first), protocol, is_for_all))
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
    use crate::address::number;
    use crate::rules::Rules;
    use crate::text::Source;

    const HALF: &str = include_str!("../../../testdata/path/half-tracked/rules.txt");

    /// Whether queries of a pod to the cache are said to be tracked by half.
    fn is_half(rules: &str, start: &Start) -> bool {
        let rules = Rules::parse(vec![Box::new(Source::new("rules", rules))]).unwrap();
        let host = Host {
            rules,
            ..Host::default()
        };
        let packet = Packet {
            protocol: Protocol::Tcp,
            source: [10, 233, 64, 9].into(),
            source_port: None,
            destination: [169, 254, 25, 10].into(),
            port: DNS_PORT,
            start: start.clone(),
            length: None,
        };
        let found = find(&host, &[evaluate(&host, &packet)]);
        let mut facts = found.iter().map(|it| &it.fact);
        facts.any(|it| matches!(it, Fact::Cache(CacheFinding::HalfTracked { .. })))
    }

    #[test]
    fn half_is_tracked_where_a_rule_accepts_before_that_of_the_cache() {
        let pod = Start::Link { name: None };
        assert!(is_half(HALF, &pod));
        assert!(!is_half(HALF, &Start::Host));
        let accept = "-A PREROUTING ! -p 253 -j ACCEPT";
        let notrack = "-A PREROUTING -d 169.254.25.10/32 -p tcp";
        let output = "-A OUTPUT -s 169.254.25.10/32 -p tcp";
        assert!([accept, notrack, output].iter().all(|it| HALF.contains(it)));
        for (rule, other) in [
            // It ends nothing.
            (accept, "-A PREROUTING -j MARK --set-xmark 0x0/0xf0000"),
            (accept, "-A PREROUTING -p tcp -j DROP"),
            // Pods do not come in there: the rule is not met.
            (notrack, "-A PREROUTING -i eth1 -d 169.254.25.10/32 -p tcp"),
            // Their answers are tracked, too.
            (output, &format!("-A OUTPUT -p tcp -j ACCEPT\n{output}")),
        ] {
            let mut rules = HALF.replacen(rule, other, 1);
            if rule == notrack {
                rules = rules.replacen(accept, "-A PREROUTING -j MARK --set-xmark 0x0/0x1", 1);
            }
            assert!(!is_half(&rules, &pod), "{other}");
        }
    }

    #[test]
    fn numbers_are_addresses() {
        for text in ["169.254.20.10", "10.96.0.10", "fd00::a", "::1"] {
            let ip: IpAddr = text.parse().unwrap();
            assert_eq!(address(number(ip)), ip);
        }
    }

    #[test]
    fn a_cache_is_silent_where_nothing_listens_at_its_address_over_udp() {
        let cache: IpAddr = [169, 254, 25, 10].into();
        for (listeners, expected) in [
            (Some(vec![]), true),
            (Some(vec![(cache, DNS_PORT, Protocol::Udp)]), false),
            (Some(vec![([0; 4].into(), DNS_PORT, Protocol::Udp)]), false),
            (Some(vec![(cache, DNS_PORT, Protocol::Tcp)]), true),
            (Some(vec![(cache, 9253, Protocol::Udp)]), true),
            (
                Some(vec![([10, 0, 0, 1].into(), DNS_PORT, Protocol::Udp)]),
                true,
            ),
            (None, false),
        ] {
            let host = Host {
                addresses: Some(vec![Address {
                    ip: cache,
                    prefix: 32,
                    link: LINK.into(),
                }]),
                listeners: listeners.clone(),
                ..Host::default()
            };
            let found = find(&host, &[]);
            let is_it = |it: &Finding| matches!(it.fact, Fact::Cache(CacheFinding::Silent { .. }));
            assert_eq!(found.iter().any(is_it), expected, "{listeners:?}");
        }
    }
}
