//! Which servers a probe asks, and about which zones.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::check_loop::seen::{NamespaceFile, Target};
use crate::node::{Node, Pod};
use crate::order::Order as _;
use crate::topology::{DnsServer, Forward, Instance, Listen, Network, Policy, Program, ServerName};

/// More servers are not asked: with one zone each they are all that can be
/// asked in half of the probe's time.
pub const MAX_TARGETS: usize = 50;

/// One zone is asked so many times at most.
const MAX_TIMES: usize = 3;

/// The servers that can be asked, one target for each address where one
/// listens, and what listens on the node without being known.
///
/// A server is asked in its own namespace, at its own address: there nothing
/// rewrites the packets.
pub fn targets_of(servers: &[DnsServer], node: &Node) -> Vec<Target> {
    let mut targets = Vec::new();
    for server in servers {
        let mut own: Vec<Target> = Vec::new();
        for listen in &server.listens {
            let target = target_of(server, listen, servers, node);
            own.extend(target.filter(|it| !is_asked(&own, it)));
        }
        for target in own {
            add(&mut targets, target);
        }
    }
    let strangers = node.listeners.iter().filter(|it| it.is_udp);
    for listener in strangers {
        let address = asked_at(listener.address);
        let owner = listener.owner.as_ref();
        let target = Target {
            who: match owner {
                Some(owner) => ServerName {
                    program: owner.comm.clone(),
                    instance: Instance::Process(owner.pid),
                },
                None => ServerName {
                    program: Program::Other.name().to_owned(),
                    instance: Instance::Only,
                },
            },
            network: listener.network.clone(),
            namespace: namespace_of(&listener.network, node),
            server: SocketAddr::new(address, listener.port),
            takes_any: listener.address.is_none(),
            others: others(&listener.network, listener.port, node, servers),
            zones: vec![".".to_owned()],
        };
        if !is_asked(&targets, &target) && is_reachable(&target, node) {
            targets.push(target);
        }
    }
    targets.truncate(MAX_TARGETS);
    targets
}

fn target_of(
    server: &DnsServer,
    listen: &Listen,
    servers: &[DnsServer],
    node: &Node,
) -> Option<Target> {
    let zones = zones_of(server);
    let target = Target {
        who: server.name(),
        network: server.network.clone(),
        namespace: namespace_of(&server.network, node),
        server: SocketAddr::new(asked_at(listen.address), listen.port),
        takes_any: listen.address.is_none(),
        others: others(&server.network, listen.port, node, servers),
        zones,
    };
    (!target.zones.is_empty() && is_reachable(&target, node)).then_some(target)
}

/// A server that does different things for different zones can stand in the
/// list several times.
fn add(targets: &mut Vec<Target>, target: Target) {
    let same = |it: &&mut Target| it.network == target.network && it.server == target.server;
    match targets.iter_mut().find(same) {
        Some(known) => known.zones.extend(target.zones),
        None => targets.push(target),
    }
}

fn is_asked(targets: &[Target], target: &Target) -> bool {
    targets
        .iter()
        .any(|known| known.network == target.network && known.server == target.server)
}

/// Only the namespace that kdns is in itself needs no file.
fn is_reachable(target: &Target, node: &Node) -> bool {
    let is_own = target.network == Network::Node && node.is_live;
    is_own || target.namespace.is_some()
}

/// The zones that it forwards, each as often as it takes to meet any of its
/// servers; the root, if it is not known what it does.
fn zones_of(server: &DnsServer) -> Vec<String> {
    if server.forwards.is_empty() && !server.doubts.is_empty() {
        return vec![".".to_owned()];
    }
    let times = |forward: &Forward| match forward.policy {
        Policy::Sequential => 1,
        _ => forward.to.len().clamp(1, MAX_TIMES),
    };
    let zones = server
        .forwards
        .iter()
        .flat_map(|it| std::iter::repeat_n(it.zone.clone(), times(it)));
    zones.collect()
}

/// A server that listens on any address is asked on the loopback one.
fn asked_at(address: Option<IpAddr>) -> IpAddr {
    address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// The addresses of the namespace that a server has for itself.
fn others(network: &Network, port: u16, node: &Node, servers: &[DnsServer]) -> Vec<IpAddr> {
    let seen = node
        .listeners
        .iter()
        .filter(|it| it.is_udp && it.network == *network && it.port == port)
        .filter_map(|it| it.address);
    let written = servers
        .iter()
        .filter(|it| it.network == *network)
        .flat_map(|it| &it.listens)
        .filter(|it| it.port == port)
        .filter_map(|it| it.address);
    let mut others: Vec<IpAddr> = seen.chain(written).collect();
    others.order();
    others.dedup();
    others
}

fn namespace_of(network: &Network, node: &Node) -> Option<NamespaceFile> {
    let Network::Pod(key) = network else {
        return (!node.is_live).then(|| NamespaceFile {
            path: "/proc/1/ns/net".to_owned(),
            number: None,
        });
    };
    let pod = node.pods.iter().find(|pod| pod.key() == *key)?;
    Some(NamespaceFile {
        path: namespace_path(pod)?,
        number: pod.netns,
    })
}

/// A file that keeps the namespace stays when the process ends.
fn namespace_path(pod: &Pod) -> Option<String> {
    let of_process = || {
        let process = pod.processes.first()?;
        Some(format!("/proc/{}/ns/net", process.pid))
    };
    // The same directory, by a link that could lead elsewhere below `--root`.
    let real = |path: &String| match path.strip_prefix("/var/run/") {
        Some(rest) => format!("/run/{rest}"),
        None => path.clone(),
    };
    pod.netns_path.as_ref().map(real).or_else(of_process)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Listener;
    use crate::text::{Place, Placed};
    use crate::topology::Evidence;

    fn place() -> Place {
        Place::new("f", 1, 1)
    }

    fn server(network: Network, address: Option<&str>, policy: Policy, to: usize) -> DnsServer {
        let upstream = Placed {
            value: crate::topology::Target::Address("192.0.2.1:53".parse().unwrap()),
            place: place(),
        };
        DnsServer {
            forwards: vec![Forward {
                zone: ".".to_owned(),
                to: vec![upstream; to],
                policy,
            }],
            listens: vec![Listen {
                address: address.map(|it| it.parse().unwrap()),
                port: 53,
                evidence: Evidence::Default,
            }],
            network,
            ..DnsServer::new(Program::CoreDns, Instance::Only, Network::Node)
        }
    }

    fn node() -> Node {
        let pod = |name: &str, path: Option<&str>| Pod {
            name: Some(name.to_owned()),
            netns_path: path.map(str::to_owned),
            ..Pod::default()
        };
        Node {
            is_live: true,
            pods: vec![pod("a", Some("/var/run/netns/cni-1")), pod("dead", None)],
            listeners: vec![Listener {
                network: Network::Node,
                address: Some("127.0.0.53".parse().unwrap()),
                port: 53,
                is_udp: true,
                file: "/proc/net/udp".to_owned(),
                dropped: 0,
                owner: None,
            }],
            ..Node::default()
        }
    }

    /// Each target as `WHO SERVER FILE ANY OTHERS ZONES`.
    fn check(servers: &[DnsServer], expected: &[&str]) {
        let shown = targets_of(servers, &node()).into_iter().map(|it| {
            let path = it.namespace.map_or("-".to_owned(), |it| it.path);
            let any = if it.takes_any { "any" } else { "one" };
            let others: Vec<String> = it.others.iter().map(ToString::to_string).collect();
            let (others, zones) = (others.join(","), it.zones.join(" "));
            format!("{} {} {path} {any} [{others}] {zones}", it.who, it.server)
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    const STRANGER: &str = "a DNS server 127.0.0.53:53 - one [127.0.0.53] .";

    #[test]
    fn every_server_is_asked_where_it_listens() {
        check(&[], &[STRANGER]);
        let pod = || Network::Pod("a".to_owned());
        let any = server(pod(), None, Policy::Random, 2);
        let one = "CoreDNS 127.0.0.1:53 /run/netns/cni-1 any [] . .";
        check(std::slice::from_ref(&any), &[one, STRANGER]);
        // Two server blocks at one port.
        let twice = "CoreDNS 127.0.0.1:53 /run/netns/cni-1 any [] . . . .";
        check(&[any.clone(), any], &[twice, STRANGER]);
        let stub = server(Network::Node, Some("127.0.0.53"), Policy::Sequential, 2);
        check(&[stub], &["CoreDNS 127.0.0.53:53 - one [127.0.0.53] ."]);
        let node = server(Network::Node, None, Policy::Unknown, 1);
        let node_any = "CoreDNS 127.0.0.1:53 - any [127.0.0.53] .";
        check(&[node], &[node_any, STRANGER]);
    }

    #[test]
    fn who_cannot_be_reached_or_forwards_nothing_is_not_asked() {
        let dead = server(Network::Pod("dead".to_owned()), None, Policy::Random, 1);
        check(&[dead], &[STRANGER]);
        let mut own = server(Network::Node, Some("10.0.0.1"), Policy::Random, 1);
        own.forwards.clear();
        let stranger = "a DNS server 127.0.0.53:53 - one [10.0.0.1,127.0.0.53] .";
        check(&[own], &[stranger]);
    }
}
