//! What comments and maps of rules know of Services and endpoints.

use std::net::IpAddr;

use super::Rules;
use super::text::{contains, lines};
use crate::order::Order as _;

/// A Service port that a rule's comment names.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Named {
    /// `kube-system/kube-dns:dns`.
    pub name: String,
    /// Its cluster address.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
    /// Whether it is UDP, and not TCP.
    pub is_udp: bool,
    /// Whether a rule says that it has no endpoints.
    pub is_empty: bool,
}

/// What kube-proxy says of a Service without endpoints.
const EMPTY: &str = " has no endpoints";

/// Bits of the hosts in a network of Services as small as GKE's smallest.
pub const SMALLEST: u32 = 12;

/// The same of the largest.
///
/// Source: kubernetes, cmd/kube-apiserver/app/options/validation.go `maxCIDRBits`.
pub const LARGEST: u32 = 20;

/// Whether the address can be amid those of Services, in a network that has so many
/// bits for hosts.
pub fn is_amid(services: impl IntoIterator<Item = IpAddr>, ip: IpAddr, bits: u32) -> bool {
    let is_near = |it: IpAddr| match (it, ip) {
        (IpAddr::V4(one), IpAddr::V4(ip)) => one.to_bits() >> bits == ip.to_bits() >> bits,
        (IpAddr::V6(one), IpAddr::V6(ip)) => one.to_bits() >> bits == ip.to_bits() >> bits,
        _ => false,
    };
    services.into_iter().any(is_near)
}

impl Rules {
    /// All Services that rules of kube-proxy name; reads every text once.
    pub fn services_named(&self) -> Vec<Named> {
        let mut found = Vec::new();
        for text in &self.texts {
            let taken = lines(&**text, &mut |line| {
                if memchr::memmem::find(line, b" cluster IP\"").is_some()
                    || memchr::memmem::find(line, b" has no endpoints\"").is_some()
                {
                    found.extend(of_iptables(&String::from_utf8_lossy(line)));
                } else if memchr::memmem::find(line, b" cluster IP */").is_some()
                    || memchr::memmem::find(line, b" has no endpoints */").is_some()
                {
                    found.extend(of_list(&String::from_utf8_lossy(line)));
                }
            });
            // What could not be read is not named.
            if taken.is_err() {
                break;
            }
        }
        found.extend(self.nft_services());
        found.order();
        found.dedup();
        found
    }

    /// Whether a rule translates to this address: it is an endpoint.
    pub fn has_endpoint(&self, ip: IpAddr) -> bool {
        let words = [
            format!("--to-destination {ip}:"),
            format!("--to-destination [{ip}]:"),
            format!("__{ip}/"),
            format!(" to:{ip}:"),
            format!(" to:[{ip}]:"),
            // nft list ruleset: dnat to ADDRESS:PORT
            format!(" to {ip}:"),
            format!(" to [{ip}]:"),
        ];
        let is_server = |it: &super::ipvs::Server| it.address.ip() == ip;
        if self
            .services
            .iter()
            .any(|it| it.servers.iter().any(is_server))
        {
            return true;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.mentions(&words)
    }

    /// Whether one of the words stands in a text, as far as that can be read.
    pub fn mentions(&self, words: &[&str]) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|it| contains(&**it, words).unwrap_or(false))
    }

    /// Those of kube-proxy's maps, whose chains have the Service's name.
    fn nft_services(&self) -> Vec<Named> {
        let mut found = Vec::new();
        for (index, table) in self.tables.iter().enumerate() {
            if &*table.name != "kube-proxy" {
                continue;
            }
            for map in ["service-ips", "no-endpoint-services"] {
                let Some(set) = self.nft_set(index, map) else {
                    continue;
                };
                found.extend(
                    set.elements
                        .iter()
                        .filter_map(|it| of_element(it, table.family)),
                );
            }
        }
        found
    }
}

/// `-A KUBE-SERVICES -d 10.96.0.10/32 … --comment "NS/NAME:PORT cluster IP" … --dport 53 …`.
fn of_iptables(line: &str) -> Option<Named> {
    let after = |word: &str| line.split_once(word)?.1.split([' ', '/']).next();
    let comment = line.split_once("--comment \"")?.1;
    let name = comment.split(['"', ' ']).next()?;
    Some(Named {
        name: name.to_owned(),
        address: after(" -d ")?.parse().ok()?,
        port: after("--dport ")?.parse().ok()?,
        is_udp: line.contains(" -p udp "),
        is_empty: comment.contains(EMPTY),
    })
}

/// `KUBE-SVC-… udp -- 0.0.0.0/0 10.96.0.10 /* NS/NAME:PORT cluster IP */ udp dpt:53`.
fn of_list(line: &str) -> Option<Named> {
    let (columns, comment) = line.split_once("/* ")?;
    let port = line.split_once(" dpt:")?.1.split_whitespace().next()?;
    Some(Named {
        name: comment.split_whitespace().next()?.to_owned(),
        address: columns.split_whitespace().last()?.parse().ok()?,
        port: match port {
            "domain" => 53,
            number => number.parse().ok()?,
        },
        is_udp: line.contains("udp dpt"),
        is_empty: comment.contains(EMPTY),
    })
}

fn of_element(element: &super::nft::Element, family: Option<super::Family>) -> Option<Named> {
    use super::nft::{Atom, Values};
    let Values::One(atoms) = &element.key else {
        return None;
    };
    let [Atom::Number(ip), Atom::Number(protocol), Atom::Number(port)] = atoms.as_slice() else {
        return None;
    };
    let data = element.data.as_ref()?.to_string();
    // "service-FY5PMXPG-kube-system/kube-dns/udp/dns"
    let name = data.split_once("service-").map_or("", |it| it.1);
    let name = name.split_once('-').map_or("", |it| it.1);
    let mut parts = name.split(['/', '"']);
    let (namespace, name) = (parts.next()?, parts.next()?);
    let port_name = parts.nth(1).filter(|it| !it.is_empty());
    let address = match family {
        Some(super::Family::V6) => IpAddr::V6((*ip).into()),
        _ => IpAddr::V4(u32::try_from(*ip).ok()?.into()),
    };
    Some(Named {
        name: match port_name {
            Some(port) => format!("{namespace}/{name}:{port}"),
            None => format!("{namespace}/{name}"),
        },
        address,
        port: u16::try_from(*port).ok()?,
        is_udp: *protocol == 17,
        is_empty: false,
    })
}
