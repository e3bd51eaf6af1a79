//! What is wrong with an address of Services: none has the one that is asked for DNS,
//! or packets pass by the rules of the one that has it.

use std::net::{IpAddr, SocketAddr};

use super::{Evidence, Fact, Finding, cache};
use crate::address::DNS_PORT;
use crate::finding::Severity;
use crate::path::{
    Assumption, Condition, Host, Kind, Outcome, Protocol, Stage, Step, Tree, Verdict,
};
use crate::rules::Named;
use crate::text::{Place, escaped};

/// What is wrong with an address of Services.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ServiceFinding {
    /// No rule is about one that is asked for DNS, and the rules know other
    /// Services.
    Elsewhere {
        /// The address that is asked.
        asked: IpAddr,
        /// What the rules know at port 53 of UDP, or else of TCP.
        others: Vec<Named>,
    },
    /// The Service there has other ports.
    WithoutPort {
        /// What is asked.
        asked: SocketAddr,
        /// Over what.
        protocol: Protocol,
        /// The ports that it has; not empty.
        others: Vec<Named>,
    },
    /// Rules lead queries over UDP elsewhere, and leave those over TCP alone.
    UdpAlone {
        /// What is asked.
        asked: SocketAddr,
        /// Where those over UDP come.
        to: SocketAddr,
    },
    /// A rule says that the Service there has no endpoints, and packets do not come to it.
    Empty {
        /// The Service.
        service: Named,
    },
    /// The rules have a Service there, and packets do not come to its rules.
    PassedBy {
        /// The Service.
        service: Named,
        /// Why they do not.
        why: Bypass,
    },
}

/// Why packets do not come to the rules of a Service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Bypass {
    /// Another rule leads them to this address and port before.
    Led(IpAddr, u16),
    /// A rule keeps connection tracking from them, without which none is translated.
    Untracked,
    /// No rule leads there.
    Unled,
    /// They do come there, and nothing translates them: the chain behind this rule was flushed.
    Emptied,
}

pub(super) fn find(host: &Host, trees: &[Tree]) -> Option<Finding> {
    let is_empty = |it: &Tree| it.verdict == Verdict::NoEndpoints;
    let has_no_endpoints = |ip: IpAddr| {
        trees
            .iter()
            .any(|it| it.packet.destination == ip && is_empty(it))
    };
    let is_suspect = |it: &&Tree| {
        let is_lost = it.verdict == Verdict::NoRule || it.outcomes.iter().any(is_led);
        // What a node's cache should have is said of the cache.
        let ip = it.packet.destination;
        is_lost && !has_no_endpoints(ip) && !cache::has_to_do_with(host, ip)
    };
    let suspects: Vec<&Tree> = trees.iter().filter(is_suspect).collect();
    // A cache of the node takes some for itself, and answers what it still has.
    let is_bare = |it: &&Tree| leaves(it) && !cache::is_cached(host, it.packet.destination);
    let bare: Vec<&Tree> = trees.iter().filter(is_bare).collect();
    if suspects.is_empty() && bare.is_empty() {
        return None;
    }
    let services = host.rules.services_named();
    if let Some(empty) = bare.iter().find_map(|it| empty(it, &services)) {
        return Some(empty);
    }
    let passed_by = suspects
        .iter()
        .find_map(|it| passed_by(host, it, &services));
    passed_by.or_else(|| suspects.iter().find_map(|it| elsewhere(it, &services)))
}

/// Whether a rule that is no Service's translates it, beyond what the asker does by itself.
fn is_led(outcome: &Outcome) -> bool {
    outcome.is_translated && outcome.service.is_none() && !outcome.is_own
}

/// The Service that packets are for.
fn service_of(tree: &Tree, services: &[Named]) -> Option<Named> {
    let packet = &tree.packet;
    let is_udp = packet.protocol == Protocol::Udp;
    let is_it =
        |it: &&Named| (it.address, it.port, it.is_udp) == (packet.destination, packet.port, is_udp);
    services.iter().find(is_it).cloned()
}

/// Whether packets leave the node as they are, and none is taken or refused.
fn leaves(tree: &Tree) -> bool {
    let is_plain = |it: &Outcome| {
        !it.is_translated && !it.has_no_endpoints && it.kind != Kind::Local && !it.is_own
    };
    let mut outcomes = tree.outcomes.iter();
    outcomes.clone().all(is_plain) && outcomes.any(|it| it.kind == Kind::Endpoint)
}

/// What a rule has that leads packets elsewhere.
const LEADS: &[&str] = &["DNAT", "REDIRECT", "dnat", "redirect", "TPROXY"];

/// The user and the group of a mesh's proxy, whose own packets its rules pass over.
///
/// Source: istio, `DefaultProxyUID` and `DefaultProxyGID`.
const OF_MESH: [&str; 2] = ["-m owner --uid-owner 1337", "-m owner --gid-owner 1337"];

/// Queries of one server over UDP and TCP that come to different ones.
pub(super) fn half_led(trees: &[Tree]) -> Option<Finding> {
    let over = |protocol| {
        let all = trees.iter().filter(|it| it.packet.port == DNS_PORT);
        all.filter(move |it| it.packet.protocol == protocol)
    };
    let is_plain = |it: &Outcome| !it.is_translated && it.arrives();
    over(Protocol::Udp).find_map(|udp| {
        let ip = udp.packet.destination;
        let led = udp
            .outcomes
            .iter()
            .find(|it| it.address != ip && is_led_for_all(it))?;
        let mut tcp = over(Protocol::Tcp).filter(|it| it.packet.destination == ip);
        tcp.find(|it| it.outcomes.iter().all(is_plain))?;
        let fact = Fact::Service(ServiceFinding::UdpAlone {
            asked: SocketAddr::new(ip, DNS_PORT),
            to: SocketAddr::new(led.address, led.port),
        });
        Some(Finding::new(Severity::Warning, fact, shown(led, LEADS)))
    })
}

/// Whether a rule that is no Service's, and none of IPVS, leads there whoever asks, but for
/// the proxy of a mesh.
fn is_led_for_all(outcome: &Outcome) -> bool {
    let is_of_mesh = |it: &Assumption| match &it.condition {
        Condition::Match { words, .. } => !it.holds && OF_MESH.contains(&&**words),
        _ => false,
    };
    let is_of_rule = outcome.is_translated && outcome.service.is_none();
    let is_of_ipvs = outcome.steps.iter().any(|it| it.stage == Stage::Ipvs);
    let is_for_all = outcome.share.is_all() && outcome.depends_on.iter().all(is_of_mesh);
    is_of_rule && !is_of_ipvs && is_for_all
}

/// The first rule on its way that has one of these words.
fn shown(outcome: &Outcome, words: &[&str]) -> Vec<Evidence> {
    let is_by = |it: &&Step| {
        matches!(it.stage, Stage::Table(_)) && words.iter().any(|word| it.rule().contains(word))
    };
    let by = outcome.steps.iter().find(is_by);
    let evidence = by.map(|it| Evidence::new(it.place.clone(), it.rule().to_owned()));
    evidence.into_iter().collect()
}

fn empty(tree: &Tree, services: &[Named]) -> Option<Finding> {
    let service = service_of(tree, services).filter(|it| it.is_empty)?;
    let fact = Fact::Service(ServiceFinding::Empty { service });
    Some(Finding::new(Severity::Error, fact, Vec::new()))
}

fn passed_by(host: &Host, tree: &Tree, services: &[Named]) -> Option<Finding> {
    let service = service_of(tree, services)?;
    // Where that depends on what was not seen, it need not be so.
    let mut outcomes = tree.outcomes.iter().filter(|it| it.depends_on.is_empty());
    let led = outcomes.clone().find(|it| is_led(it));
    let outcome = led.or_else(|| outcomes.find(|it| !it.is_translated))?;
    let (why, words): (_, &[&str]) = if led.is_some() {
        (Bypass::Led(outcome.address, outcome.port), LEADS)
    } else if outcome.is_untracked {
        (Bypass::Untracked, &["NOTRACK", "notrack"])
    } else if outcome.service.is_some() {
        (Bypass::Emptied, &["-j KUBE-SVC-"])
    } else {
        (Bypass::Unled, &[])
    };
    // Somebody can mean a cache of the node, or a DNS pod of his own.
    let is_meant = outcome.kind == Kind::Local || host.pods.contains_key(&outcome.address);
    let severity = Severity::error_if(!(outcome.arrives() && is_meant));
    let fact = Fact::Service(ServiceFinding::PassedBy { service, why });
    Some(Finding::new(severity, fact, shown(outcome, words)))
}

fn elsewhere(tree: &Tree, services: &[Named]) -> Option<Finding> {
    let packet = &tree.packet;
    let (asked, protocol) = (packet.destination, packet.protocol);
    let others = services.iter().cloned();
    let mut others: Vec<Named> = others
        .filter(|it| it.address.is_ipv4() == asked.is_ipv4())
        .collect();
    if others.is_empty() || tree.verdict != Verdict::NoRule || packet.port != DNS_PORT {
        return None;
    }
    let fact = if others.iter().any(|it| it.address == asked) {
        others.retain(|it| it.address == asked);
        let others = others.clone();
        let asked = SocketAddr::new(asked, packet.port);
        ServiceFinding::WithoutPort {
            asked,
            protocol,
            others,
        }
    } else {
        others.retain(|it| it.port == DNS_PORT);
        if others.iter().any(|it| it.is_udp) {
            others.retain(|it| it.is_udp);
        }
        let others = others.clone();
        ServiceFinding::Elsewhere { asked, others }
    };
    let evidence = others.iter().map(|it| {
        let words = escaped(it.name.as_bytes());
        Evidence::new(Place::nowhere("service"), format!("{words} {}", it.address))
    });
    let evidence = evidence.collect();
    Some(Finding::new(Severity::Error, Fact::Service(fact), evidence))
}
