//! What `kdns path --save` writes beside the rules, one line of JSON for each
//! network namespace.
//!
//! The rules stand behind these lines as the tools have printed them, so that
//! the file is read as any paste is; those of a target's own network namespace
//! and of DNS pods', which are not the node's, are inside their lines.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::NetworkSeen;
use crate::path::{Address, Conntrack, Host, Link, Neighbour, Policy, Protocol, Route, RulesKnown};
use crate::text::Source;

/// How each of these lines begins; then follows JSON.
const BEGINNING: &str = "# kdns path: ";

/// What a reader must know: 1 had no lines of DNS pods.
const VERSION: u32 = 2;

/// Who sends, and where from.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct ClientSaved {
    /// In words.
    pub label: String,
    /// The name servers of its file.
    pub servers: Vec<IpAddr>,
    /// Whether its packets start on the node itself.
    pub is_node: bool,
    /// Whether none of its links has its other end on the node.
    pub is_elsewhere: bool,
    /// The link of the node through which its packets come in.
    pub in_link: Option<String>,
    /// The address that it sends from, for each destination.
    pub sources: BTreeMap<IpAddr, IpAddr>,
}

/// A line.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Line {
    version: u32,
    of: Whose,
    client: Option<ClientSaved>,
    /// The rules, but for the node's.
    texts: Vec<(String, String)>,
    addresses: Option<Vec<(IpAddr, u8, String)>>,
    links: Option<Vec<Link>>,
    routes: Option<Vec<Route>>,
    policies: Option<Vec<Policy>>,
    neighbours: Option<Vec<(IpAddr, String, Option<bool>)>>,
    sysctls: BTreeMap<String, String>,
    conntrack: Option<Conntrack>,
    recent: BTreeMap<Box<str>, Vec<IpAddr>>,
    pods: BTreeMap<IpAddr, String>,
    cluster_dns: Option<Vec<IpAddr>>,
    deaf: Vec<IpAddr>,
    listeners: Option<Vec<(IpAddr, u16, u8)>>,
    is_partial: bool,
    skipped: Vec<String>,
}

/// Whose network namespace.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Whose {
    #[default]
    Node,
    Target,
    Pod,
}

/// Writes the file: a line for each network namespace, then the node's rules.
///
/// # Errors
///
/// It cannot be written.
pub fn write(
    client: &ClientSaved,
    node: &NetworkSeen,
    target: Option<&NetworkSeen>,
    pods: &[NetworkSeen],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut first = line(node, Whose::Node);
    first.client = Some(client.clone());
    let target = target.map(|seen| (seen, Whose::Target));
    let pods = pods.iter().map(|seen| (seen, Whose::Pod));
    let others = target.into_iter().chain(pods).map(|(seen, of)| Line {
        texts: texts(seen),
        ..line(seen, of)
    });
    for line in std::iter::once(first).chain(others) {
        out.write_all(BEGINNING.as_bytes())?;
        serde_json::to_writer(&mut *out, &line)?;
        writeln!(out)?;
    }
    for text in &node.texts {
        out.write_all(&text.bytes)?;
        if !text.bytes.ends_with(b"\n") {
            writeln!(out)?;
        }
    }
    Ok(())
}

fn texts(seen: &NetworkSeen) -> Vec<(String, String)> {
    let text = |it: &Source| {
        (
            it.name.clone(),
            String::from_utf8_lossy(&it.bytes).into_owned(),
        )
    };
    seen.texts.iter().map(text).collect()
}

/// What a line says.
#[derive(Debug)]
pub enum Saved {
    /// The node, without its rules, and who sends.
    Node(NetworkSeen, ClientSaved),
    /// The target's own network namespace.
    Target(NetworkSeen),
    /// A DNS pod's network namespace.
    Pod(NetworkSeen),
}

/// Reads a line.
///
/// # Errors
///
/// It was written by another version, or is cut: a sentence without a full stop.
pub fn parse(bytes: &[u8]) -> Result<Saved, String> {
    let json = bytes.strip_prefix(BEGINNING.as_bytes()).unwrap_or(bytes);
    let line: Line = serde_json::from_slice(json)
        .map_err(|error| format!("what kdns path --save wrote is damaged: {error}"))?;
    if !(1..=VERSION).contains(&line.version) {
        let version = line.version;
        return Err(format!(
            "another version of kdns path --save wrote this ({version})"
        ));
    }
    let mut seen = NetworkSeen {
        skipped: line.skipped.clone(),
        ..NetworkSeen::default()
    };
    let texts = line.texts.iter();
    seen.texts = texts
        .map(|(name, text)| Source::new(name.clone(), text.clone()))
        .collect();
    let (of, client) = (line.of, line.client.clone().unwrap_or_default());
    seen.host = host(line);
    Ok(match of {
        Whose::Node => Saved::Node(seen, client),
        Whose::Target => Saved::Target(seen),
        Whose::Pod => Saved::Pod(seen),
    })
}

fn line(seen: &NetworkSeen, of: Whose) -> Line {
    let host = &seen.host;
    Line {
        version: VERSION,
        of,
        addresses: listed(host.addresses.as_ref(), |it| {
            (it.ip, it.prefix, it.link.to_string())
        }),
        links: host.links.clone(),
        routes: host.routes.clone(),
        policies: host.policies.clone(),
        neighbours: listed(host.neighbours.as_ref(), |it| {
            (it.ip, it.link.to_string(), it.answers)
        }),
        sysctls: host.sysctls.clone(),
        conntrack: host.conntrack.clone(),
        recent: host.recent.clone(),
        pods: host.pods.clone(),
        cluster_dns: host.cluster_dns.clone(),
        deaf: host.deaf.clone(),
        listeners: listed(host.listeners.as_ref(), |it| (it.0, it.1, it.2.number())),
        skipped: seen.skipped.clone(),
        is_partial: host.known == RulesKnown::Part,
        ..Line::default()
    }
}

fn host(line: Line) -> Host {
    let address = |(ip, prefix, link): (IpAddr, u8, String)| Address {
        ip,
        prefix,
        link: link.into(),
    };
    let neighbour = |(ip, link, answers): (IpAddr, String, _)| Neighbour {
        ip,
        link: link.into(),
        answers,
    };
    let listener = |(ip, port, number)| {
        let protocol = if number == Protocol::Tcp.number() {
            Protocol::Tcp
        } else {
            Protocol::Udp
        };
        (ip, port, protocol)
    };
    Host {
        known: if line.is_partial {
            RulesKnown::Part
        } else {
            RulesKnown::All
        },
        addresses: line
            .addresses
            .map(|it| it.into_iter().map(address).collect()),
        links: line.links,
        routes: line.routes,
        policies: line.policies,
        neighbours: line
            .neighbours
            .map(|it| it.into_iter().map(neighbour).collect()),
        sysctls: line.sysctls,
        conntrack: line.conntrack,
        recent: line.recent,
        pods: line.pods,
        cluster_dns: line.cluster_dns,
        deaf: line.deaf,
        listeners: line
            .listeners
            .map(|it| it.into_iter().map(listener).collect()),
        ..Host::default()
    }
}

fn listed<T, U>(list: Option<&Vec<T>>, one: impl Fn(&T) -> U) -> Option<Vec<U>> {
    list.map(|it| it.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{LinkKind, RouteKind};

    const LINKS: &str = r#"[{"index":1,"name":"lo","kind":"loopback","is_up":true,"mtu":65536,"master":null,"hairpin":null},{"index":2,"name":"eth0","kind":"","is_up":true,"mtu":1500,"master":null,"hairpin":null},{"index":7,"name":"cali7","kind":"veth","is_up":false,"mtu":1450,"master":3,"hairpin":true}]"#;
    const ROUTES: &str = r#"[{"table":254,"kind":"unicast","destination":"0.0.0.0","prefix":0,"gateway":"172.31.0.1","link":"eth0","source":null,"metric":100},{"table":254,"kind":"blackhole","destination":"10.244.0.0","prefix":24,"gateway":null,"link":null,"source":"172.31.0.10","metric":0}]"#;
    const POLICIES: &str = r#"[{"priority":99,"from":["10.244.0.0",24],"to":null,"mark":[64,255],"in_link":"cali7","table":100,"is_odd":false}]"#;

    fn target(links: &str, routes: &str, policies: &str) -> NetworkSeen {
        let json = format!(
            r#"{{"version":1,"of":"target","links":{links},"routes":{routes},"policies":{policies}}}"#
        );
        match parse(json.as_bytes()).unwrap() {
            Saved::Target(seen) => seen,
            Saved::Node(..) | Saved::Pod(_) => unreachable!("it is a target's"),
        }
    }

    /// As version 1 has always written them.
    #[test]
    fn links_routes_and_policies_are_read_and_written_as_they_were() {
        let seen = target(LINKS, ROUTES, POLICIES);
        let kinds = seen.host.links.iter().flatten().map(|it| it.kind.clone());
        let veth = LinkKind::Named("veth".into());
        let expected = [LinkKind::Loopback, LinkKind::Device, veth];
        assert_eq!(kinds.collect::<Vec<_>>(), expected);
        let written = serde_json::to_string(&line(&seen, Whose::Target)).unwrap();
        for part in [LINKS, ROUTES, POLICIES] {
            assert!(written.contains(part), "{part} is not in {written}");
        }
        let later = target("null", &ROUTES.replace("blackhole", "anycast"), "null");
        let last = later.host.routes.iter().flatten().last();
        assert_eq!(last.map(|it| it.kind), Some(RouteKind::Other));
    }

    #[test]
    fn rules_of_pods_come_back_behind_the_node() {
        let seen = |text: &str| NetworkSeen {
            texts: vec![Source::new("nft list ruleset", text)],
            ..NetworkSeen::default()
        };
        let (node, pod) = (seen("table ip node {\n}\n"), seen("table ip pod {\n}\n"));
        let mut written = Vec::new();
        write(&ClientSaved::default(), &node, None, &[pod], &mut written).unwrap();
        let lines: Vec<&[u8]> = written.split(|it| *it == b'\n').take(2).collect();
        assert!(matches!(parse(lines[0]), Ok(Saved::Node(..))));
        let Ok(Saved::Pod(pod)) = parse(lines[1]) else {
            unreachable!("it is a pod's");
        };
        assert_eq!(&*pod.texts[0].bytes, b"table ip pod {\n}\n");
    }
}
