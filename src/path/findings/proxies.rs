//! Rules of more than one hand: two proxies, or iptables twice.

use super::{Evidence, Fact, Finding};
use crate::finding::Severity;
use crate::path::Host;
use crate::rules::table::Table;
use crate::rules::{Backend, Family, View};
use crate::text::Place;

/// What is there twice.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ProxyFinding {
    /// More than one kind of rules carries Services.
    Two {
        /// Which, in the order in which packets meet them.
        proxies: Vec<Proxy>,
    },
    /// A table is there in the kernel's old tables, and in nftables once more.
    TwoBackends {
        /// Its name.
        table: Box<str>,
        /// Whether both have rules of kube-proxy.
        is_proxy: bool,
    },
}

/// What carries Services.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Proxy {
    /// kube-proxy's chains of iptables.
    Iptables,
    /// kube-proxy's table of nftables.
    Nftables,
    /// IPVS.
    Ipvs,
}

/// The device with the addresses of Services in IPVS mode.
const IPVS_LINK: &str = "kube-ipvs0";

pub(super) fn find(host: &Host) -> Vec<Finding> {
    two_proxies(host)
        .into_iter()
        .chain(two_backends(host))
        .collect()
}

fn two_proxies(host: &Host) -> Option<Finding> {
    let found = [
        (Proxy::Iptables, iptables(host)),
        (Proxy::Nftables, nftables(host)),
        (Proxy::Ipvs, ipvs(host)),
    ];
    let found = found
        .into_iter()
        .filter_map(|(proxy, evidence)| Some((proxy, evidence?)));
    let (proxies, evidence): (Vec<Proxy>, Vec<Evidence>) = found.unzip();
    let fact = Fact::Proxy(ProxyFinding::Two { proxies });
    (evidence.len() > 1).then_some(Finding::new(Severity::Warning, fact, evidence))
}

/// A chain that carries Services.
fn iptables(host: &Host) -> Option<Evidence> {
    let is_its = |it: &&Table| !it.is_gone && !it.is_of_nft() && it.name.as_ref() == "nat";
    let view = host.rules.tables.iter().filter(is_its).find_map(services)?;
    // In IPVS mode the chain is there, too.
    memchr::memmem::find(&host.rules.bytes(view), b"-j KUBE-SVC-")?;
    let (place, words) = (
        host.rules.place(view),
        "-A KUBE-SERVICES … -j KUBE-SVC-…".to_owned(),
    );
    Some(Evidence { place, words })
}

/// The rules of its chain for Services.
fn services(table: &Table) -> Option<View> {
    table.chain("KUBE-SERVICES")?.into_iter().next()
}

fn nftables(host: &Host) -> Option<Evidence> {
    let is_its = |it: &&Table| {
        it.is_of_nft() && !it.is_gone && it.name.as_ref() == "kube-proxy" && !it.is_empty()
    };
    let table = host.rules.tables.iter().find(is_its)?;
    let family = if table.family == Some(Family::V6) {
        "ip6"
    } else {
        "ip"
    };
    Some(Evidence::new(
        host.rules.place(table.view),
        format!("table {family} kube-proxy"),
    ))
}

fn ipvs(host: &Host) -> Option<Evidence> {
    let service = host
        .rules
        .services
        .iter()
        .find(|it| !it.servers.is_empty())?;
    let link = host
        .links
        .iter()
        .flatten()
        .find(|it| it.name.as_ref() == IPVS_LINK);
    let device = link
        .map(|it| format!(", link {}", it.name))
        .unwrap_or_default();
    Some(Evidence::new(
        Place {
            line: service.line as usize,
            ..Place::nowhere("ip_vs")
        },
        format!("{} services of IPVS{device}", host.rules.services.len()),
    ))
}

/// Tables of iptables that are there in both ways, with rules in both.
fn two_backends(host: &Host) -> Vec<Finding> {
    let mut found = Vec::new();
    let of = |backend| {
        let tables = host.rules.tables.iter();
        tables.filter(move |it| it.backend == backend && !it.is_gone && !it.is_empty())
    };
    for legacy in of(Backend::Legacy) {
        let is_same = |it: &&Table| it.name == legacy.name && it.family == legacy.family;
        let Some(other) = of(Backend::Iptables).find(is_same) else {
            continue;
        };
        let evidence = |it: &Table, by: &str| {
            Evidence::new(
                host.rules.place(it.view),
                format!("table {} of {by}", it.name),
            )
        };
        let is_proxy = services(legacy).is_some() && services(other).is_some();
        let fact = ProxyFinding::TwoBackends {
            table: legacy.name.clone(),
            is_proxy,
        };
        found.push(Finding::new(
            Severity::error_if(is_proxy),
            Fact::Proxy(fact),
            vec![
                evidence(legacy, "iptables-legacy"),
                evidence(other, "iptables-nft"),
            ],
        ));
    }
    found
}
