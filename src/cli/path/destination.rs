//! `DESTINATION`: an address, with a port and a protocol or without, or a name.

use std::net::{IpAddr, SocketAddr};

use crate::address::DNS_PORT;
use crate::order::Order as _;
use crate::path::{Host, Protocol};
use crate::rules::Named;

/// Where packets are to go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Destination {
    /// To an address.
    Address(IpAddr, Option<u16>, Option<Protocol>),
    /// To a Service of this name.
    Name(String, Option<u16>, Option<Protocol>),
}

const BOTH: [Protocol; 2] = [Protocol::Udp, Protocol::Tcp];

impl Destination {
    /// `ADDRESS`, `ADDRESS:PORT`, `NAME`, each also with `/udp` or `/tcp`.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let (text, protocol) = match text.rsplit_once('/') {
            Some((before, "udp" | "UDP")) => (before, Some(Protocol::Udp)),
            Some((before, "tcp" | "TCP")) => (before, Some(Protocol::Tcp)),
            _ => (text, None),
        };
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self::Address(address.ip(), Some(address.port()), protocol));
        }
        let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        if let Ok(ip) = bare.unwrap_or(text).parse() {
            return Ok(Self::Address(ip, None, protocol));
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => match port.parse() {
                Ok(port) => (name, Some(port)),
                // The name of a port is part of the Service's.
                Err(_) => (text, None),
            },
            None => (text, None),
        };
        let name = name.strip_prefix("svc/").unwrap_or(name);
        let is_name = |it: char| it.is_ascii_alphanumeric() || "-._/:".contains(it);
        let head = name.split([':', '/']).next().unwrap_or_default();
        let is_broken = name.contains("://") || head.parse::<IpAddr>().is_ok();
        if name.is_empty() || is_broken || !name.chars().all(is_name) {
            let text = crate::text::escaped(text.as_bytes());
            anyhow::bail!(
                "{text} is no destination: give ADDRESS, ADDRESS:PORT/udp or the name of a Service"
            );
        }
        Ok(Self::Name(name.to_owned(), port, protocol))
    }
}

/// Where a packet goes, and over what.
pub(super) type To = (IpAddr, u16, Protocol);

/// The packets to send to these addresses: to port 53, by UDP and TCP, unless it is said.
pub(super) fn at_each(ips: &[IpAddr], port: Option<u16>, protocol: Option<Protocol>) -> Vec<To> {
    let port = port.unwrap_or(DNS_PORT);
    let is_wanted = |it: &Protocol| protocol.is_none_or(|wanted| wanted == *it);
    let of = |ip: &IpAddr| -> Vec<To> {
        let all = BOTH.into_iter().filter(is_wanted);
        all.map(|it| (*ip, port, it)).collect()
    };
    ips.iter().flat_map(of).collect()
}

/// The Services of this name among those that the rules of a node name, with the
/// port and the protocol that is asked for: port 53, if it has it.
pub(super) fn named(
    node: &Host,
    name: &str,
    port: Option<u16>,
    protocol: Option<Protocol>,
) -> anyhow::Result<Vec<To>> {
    let services = node.rules.services_named();
    let all: Vec<&Named> = services.iter().filter(|it| is_called(it, name)).collect();
    if all.is_empty() {
        let pod = node.pods.iter().find(|it| it.1 == name);
        anyhow::bail!(match pod {
            Some((address, _)) => format!(
                "{name} is a pod, and no Service: its address as DESTINATION, {address}, is what is sent to; \
                 with --target {name} it is the one that sends"
            ),
            None => unknown(&services, name),
        });
    }
    let wanted = |it: &&Named| {
        let is_port = port.is_none_or(|port| it.port == port);
        is_port && protocol.is_none_or(|protocol| protocol_of(it) == protocol)
    };
    let mut fit: Vec<&Named> = all.iter().copied().filter(wanted).collect();
    if port.is_none() && fit.iter().any(|it| it.port == DNS_PORT) {
        fit.retain(|it| it.port == DNS_PORT);
    }
    if fit.is_empty() {
        let ports: Vec<String> = all
            .iter()
            .map(|it| format!("{}/{}", it.port, protocol_of(it).word()))
            .collect();
        anyhow::bail!(
            "{name} has no such port in the rules, but {}",
            ports.join(", ")
        );
    }
    let mut found: Vec<_> = fit
        .iter()
        .map(|it| (it.address, it.port, protocol_of(it)))
        .collect();
    found.order_by_key(|it| (it.0, it.1, it.2));
    found.dedup();
    Ok(found)
}

fn protocol_of(service: &Named) -> Protocol {
    if service.is_udp {
        Protocol::Udp
    } else {
        Protocol::Tcp
    }
}

/// `NAMESPACE/NAME[:PORT]`, `NAME`, `NAME.NAMESPACE[.svc[.ZONE]]`.
fn is_called(service: &Named, name: &str) -> bool {
    let (whole, _) = service.name.split_once(':').unwrap_or((&service.name, ""));
    let Some((namespace, own)) = whole.split_once('/') else {
        return false;
    };
    if name.contains('/') {
        return name == whole || name == service.name;
    }
    let mut labels = name.trim_end_matches('.').split('.');
    let is_own = labels.next() == Some(own);
    is_own && labels.next().is_none_or(|it| it == namespace)
}

/// So many near names are given.
const NEAR: usize = 3;

fn unknown(services: &[Named], name: &str) -> String {
    let mut names: Vec<&str> = services
        .iter()
        .map(|it| it.name.split(':').next().unwrap_or_default())
        .collect();
    names.order();
    names.dedup();
    if names.is_empty() {
        return format!("the rules name no Service, so {name} cannot be found; give its address");
    }
    names.sort_by_cached_key(|it| {
        let own = it.split('/').nth(1).unwrap_or(it);
        let asked = name.rsplit('/').next().unwrap_or(name);
        strsim::damerau_levenshtein(own, asked.split('.').next().unwrap_or(asked))
    });
    names.truncate(NEAR);
    format!(
        "no Service {name} in the rules; near names: {}",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_an_address_is_no_service() {
        for word in [
            "10.96.0.10:53/tpc",
            "10.96.0.10:dns",
            "https://10.96.0.10",
            "[::1",
        ] {
            let said = Destination::parse(word).unwrap_err().to_string();
            assert!(said.contains("is no destination: give ADDRESS"), "{said}");
        }
        let name = |it: &str| Destination::Name(it.to_owned(), None, None);
        for (word, expected) in [("svc/kube-dns", "kube-dns"), ("a/b:dns", "a/b:dns")] {
            assert_eq!(Destination::parse(word).unwrap(), name(expected));
        }
    }

    #[test]
    fn a_pod_is_told_from_a_service() {
        let address = IpAddr::from([10, 244, 0, 10]);
        let node = Host {
            pods: [(address, "shop/web".to_owned())].into(),
            ..Host::default()
        };
        let said = |name| named(&node, name, None, None).unwrap_err().to_string();
        assert!(said("shop/web").contains("--target shop/web"));
        assert!(said("shop/cart").contains("cannot be found"));
    }
}
