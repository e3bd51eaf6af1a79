//! An address that is asked for DNS, and that no Service has.

use std::net::IpAddr;

use super::{Evidence, Fact, Finding, cache};
use crate::address::DNS_PORT;
use crate::finding::Severity;
use crate::path::{Host, Tree, Verdict};
use crate::rules::Named;
use crate::text::{Place, escaped};

/// No rule is about an address of Services that is asked for DNS, and the rules
/// know DNS elsewhere.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServiceFinding {
    /// The address that is asked.
    pub asked: IpAddr,
    /// What the rules know at port 53 of UDP; not empty.
    pub others: Vec<Named>,
}

pub(super) fn find(host: &Host, trees: &[Tree]) -> Option<Finding> {
    // What a node's cache should have is said of the cache.
    let is_known = |ip: IpAddr| host.addresses.is_some() && cache::is_of_cache(ip);
    let is_it = |it: &&Tree| {
        let is_lost = it.verdict == Verdict::NoRule && it.packet.port == DNS_PORT;
        is_lost && !is_known(it.packet.destination)
    };
    let asked = trees.iter().find(is_it)?.packet.destination;
    let is_other =
        |it: &Named| it.port == DNS_PORT && it.is_udp && it.address.is_ipv4() == asked.is_ipv4();
    let mut others = host.rules.services_named();
    // By another protocol alone it is there.
    if others.iter().any(|it| it.address == asked) {
        return None;
    }
    others.retain(is_other);
    let evidence = others.iter().map(|it| {
        let words = escaped(it.name.as_bytes());
        Evidence::new(Place::nowhere("service"), format!("{words} {}", it.address))
    });
    let evidence: Vec<Evidence> = evidence.collect();
    let fact = Fact::Service(ServiceFinding { asked, others });
    (!evidence.is_empty()).then(|| Finding::new(Severity::Error, fact, evidence))
}
