//! `kdns path` on a node that is there: reads it, and sends packets through what
//! was read.

use std::net::{IpAddr, SocketAddr};

use super::answer::Answer;
use super::args::PathArgs;
use super::client::{self, Both, Client, Sources};
use super::destination::{self, Destination, To};
use super::files;
use crate::address::{DNS_PORT, any_like};
use crate::cli::node::{is_pod_alone, node_below};
use crate::cli::output;
use crate::cli::streams::Streams;
use crate::host::netlink::NetlinkError;
use crate::host::network::NetworkSeen;
use crate::host::network::saved::{self, ClientSaved};
use crate::host::node::kernel;
use crate::host::root::Root;
use crate::node::kernel::ConntrackCounters;
use crate::path::findings::Around;
use crate::path::probe::{self, ProbeSeen};
use crate::path::{self, Host, Link, LinkKind, Packet, RulesKnown, Site, Start, Tree};
use crate::text::escaped;
use crate::wire::endpoints;

/// The network namespaces of more DNS pods are not read.
const MAX_INSIDE: usize = 8;

/// Reads the node and the client, and sends the packets through what they say.
pub(super) fn answer(args: &PathArgs, streams: &mut Streams<'_>) -> anyhow::Result<Answer> {
    let root = node_below(args.root.as_deref())?;
    let client = Client::find(&root, args.target.as_deref())?;
    let wanted = args
        .destination
        .as_deref()
        .map(Destination::parse)
        .transpose()?;
    let mut skipped = Vec::new();
    let to = addresses(&client, wanted.as_ref(), &mut skipped)?;
    let mut both = client.both_networks(&root, &ports(wanted.as_ref()))?;
    skipped.extend(name_pods(&root, &mut both));
    args.set_cluster_dns(&mut both.node.host);
    // A pod has no rules of Services: these are on its node.
    let is_elsewhere = || both.node.host.rules.services_named().is_empty() && is_pod_alone();
    if args.root.is_none() && is_elsewhere() {
        both.node.host.known = RulesKnown::Part;
    }
    skipped.extend(both.skipped());
    let start = start(args, &client, &both);
    let known = to.as_deref().unwrap_or_default();
    save(args, streams, (&client, &both), (&start, known))?;
    let before = both.node.before;
    let mut site = both.into_site(&mut skipped)?;
    let to = match (to, wanted) {
        (Some(to), _) => to,
        (None, wanted) => named(&site.node, wanted)?,
    };
    let sources = client.sources(&sockets(&to))?;
    let trees: Vec<Tree> = to
        .iter()
        .map(|it| tree(&site, *it, args.source, &sources, &start))
        .collect();
    let probe = args
        .probe
        .then(|| ask(&client, &trees, args.max_packets))
        .transpose()?;
    if probe.is_some() {
        count_again(&client, &root, &mut site.node);
    }
    let findings = site.findings(&trees, around(&root, before));
    Ok(Answer {
        host: site.node,
        trees,
        findings,
        skipped,
        probe,
    })
}

fn around(root: &Root, before: Option<ConntrackCounters>) -> Around<'static> {
    Around {
        uptime: kernel::uptime(root),
        before,
        ..Around::default()
    }
}

/// Where one packet goes, or why it does not leave the client.
fn tree(site: &Site, to: To, source: Option<IpAddr>, sources: &Sources, start: &Start) -> Tree {
    let (destination, port, protocol) = to;
    let found = match source {
        Some(source) if source.is_ipv4() == destination.is_ipv4() => Ok(source),
        Some(source) => Err(format!("{source} is of another family")),
        None => sources
            .get(&destination)
            .cloned()
            .unwrap_or_else(|| Err("it was not asked".to_owned())),
    };
    let packet = |source| Packet {
        protocol,
        source,
        source_port: None,
        destination,
        port,
        start: start.clone(),
        length: None,
    };
    match found {
        Ok(source) => site.send(&packet(source)),
        Err(reason) => path::unroutable(packet(any_like(destination)), &escaped(reason.as_bytes())),
    }
}

/// Names the pods of the node, and reads the rules of its DNS pods; gives what could
/// not be read of them.
fn name_pods(root: &Root, both: &mut Both) -> Vec<String> {
    let (mut skipped, servers) = files::name_pods(root, &mut both.node.host);
    for pid in servers.into_iter().take(MAX_INSIDE) {
        match client::read_process(root, pid) {
            Ok(seen) => both.pods.push(seen),
            Err(error) => skipped.push(format!("{error:#}")),
        }
    }
    skipped
}

/// Reads the counters of connections once more: what a probe has lost counts, too.
fn count_again(client: &Client, root: &Root, node: &mut Host) {
    if let Some(conntrack) = &mut node.conntrack {
        conntrack.counters = client.counters(root).or(conntrack.counters);
    }
}

/// Writes all that was read to the file that was asked for.
fn save(
    args: &PathArgs,
    streams: &mut Streams<'_>,
    (client, both): (&Client, &Both),
    (start, to): (&Start, &[To]),
) -> anyhow::Result<()> {
    let Some(path) = &args.save else {
        return Ok(());
    };
    let sources = client.sources(&sockets(to))?;
    let client = saved_client(client, start, &sources);
    output::write(Some(path), args.outputs.others, streams.out, |out| {
        saved::write(&client, &both.node, both.own.as_ref(), &both.pods, out)
    })
}

impl Both {
    /// The node with its rules and its DNS pods', and who asks there.
    fn into_site(self, skipped: &mut Vec<String>) -> anyhow::Result<Site> {
        let own = self.own.map(NetworkSeen::into_host).transpose()?;
        let mut node = self.node.into_host()?;
        for pod in self.pods {
            match pod.into_host() {
                Ok(host) => node.inside.push(host),
                Err(error) => skipped.push(error.to_string()),
            }
        }
        Ok(Site { node, own })
    }

    /// Where the client's packets come to the rules of the node.
    fn start(&self, client: &Client) -> Start {
        match &self.own {
            Some(own) => match way_in(own, &self.node, &self.node_number) {
                None if has_links(own) && has_links(&self.node) => Start::Elsewhere,
                name => Start::Link { name },
            },
            None if client.is_node => Start::Host,
            None => Start::Link { name: None },
        }
    }

    /// What is there and could not be read, with whose it is.
    fn skipped(&self) -> Vec<String> {
        let of = |whose: &'static str, seen: &NetworkSeen| {
            let sentences = seen.skipped.iter().map(move |it| format!("{whose}: {it}"));
            sentences.collect::<Vec<_>>()
        };
        let mut all = of("the node", &self.node);
        if let Some(own) = &self.own {
            all.extend(of("the target", own));
            all.extend(unusual(own));
        }
        all
    }
}

/// The addresses to send to, as far as they are known without the rules.
fn addresses(
    client: &Client,
    wanted: Option<&Destination>,
    skipped: &mut Vec<String>,
) -> anyhow::Result<Option<Vec<To>>> {
    let (ips, port, protocol) = match wanted {
        None => (client.name_servers()?, None, None),
        Some(Destination::Address(ip, port, protocol)) => (vec![*ip], *port, *protocol),
        // No DNS name has that.
        Some(Destination::Name(name, ..)) if name.contains('/') => return Ok(None),
        Some(Destination::Name(name, port, protocol)) => match client.look_up(name) {
            Ok(ips) => (ips, *port, *protocol),
            // That may be what is to be found out.
            Err(error) => {
                skipped.push(format!("{error}; its address is taken from the rules"));
                return Ok(None);
            }
        },
    };
    Ok(Some(destination::at_each(&ips, port, protocol)))
}

/// The addresses of a Service that the rules name.
fn named(node: &Host, wanted: Option<Destination>) -> anyhow::Result<Vec<To>> {
    match wanted {
        Some(Destination::Name(name, port, protocol)) => {
            destination::named(node, &name, port, protocol)
        }
        _ => Ok(Vec::new()),
    }
}

/// Connections and sockets of these ports count.
fn ports(wanted: Option<&Destination>) -> Vec<u16> {
    let port = match wanted {
        Some(Destination::Address(_, port, _) | Destination::Name(_, port, _)) => *port,
        None => None,
    };
    std::iter::once(DNS_PORT)
        .chain(port.filter(|it| *it != DNS_PORT))
        .collect()
}

fn sockets(to: &[To]) -> Vec<SocketAddr> {
    to.iter().map(|it| SocketAddr::new(it.0, it.1)).collect()
}

/// Where the packets come to the rules of the node.
fn start(args: &PathArgs, client: &Client, both: &Both) -> Start {
    if let Some(name) = &args.in_interface {
        return Start::Link {
            name: Some(name.as_str().into()),
        };
    }
    if both.own.is_none() && args.source.is_some() && !args.from_host {
        return Start::Link { name: None };
    }
    both.start(client)
}

fn saved_client(client: &Client, start: &Start, sources: &Sources) -> ClientSaved {
    let in_link = match start {
        Start::Link { name } => name.as_ref().map(ToString::to_string),
        Start::Host | Start::Elsewhere => None,
    };
    let sources = sources
        .iter()
        .filter_map(|(to, from)| Some((*to, *from.as_ref().ok()?)));
    ClientSaved {
        label: client.label.clone(),
        servers: client.servers(),
        is_node: *start == Start::Host,
        is_elsewhere: *start == Start::Elsewhere,
        in_link,
        sources: sources.collect(),
    }
}

/// Asks the Services and endpoints of the trees for real.
fn ask(client: &Client, trees: &[Tree], most: u32) -> anyhow::Result<ProbeSeen> {
    let plan = probe::plan(trees, usize::try_from(most).unwrap_or(usize::MAX));
    let asked = client.within(|| endpoints::ask_all(&plan.asks))?;
    Ok(ProbeSeen::from_answers(trees, &plan, &asked))
}

/// The link of the node whose other end is in the client's network namespace, or
/// the bridge that this is a port of: rules see the bridge.
fn way_in(
    own: &NetworkSeen,
    node: &NetworkSeen,
    number: &Result<Option<i32>, NetlinkError>,
) -> Option<Box<str>> {
    let of_node = |index: u32| {
        node.host
            .links
            .iter()
            .flatten()
            .find(move |it| it.index == index)
    };
    let other_end = |it: &Link| {
        let peer = own.peers.get(&it.index)?;
        let other = of_node(peer.index)?;
        // Every namespace numbers its links from 1: a link of a third one can have this
        // number, too.
        let is_there = match number {
            Ok(number) => number.is_some() && peer.namespace == *number,
            Err(_) => true,
        };
        let is_back = node.peers.get(&other.index)?.index == it.index;
        (is_there && is_back).then_some(other)
    };
    let mut links = own.host.links.iter().flatten().filter(|it| it.is_up);
    let other = links.find_map(other_end)?;
    let is_bridge = |it: &&Link| it.is_a("bridge");
    let bridge = other.master.and_then(of_node).filter(is_bridge);
    Some(bridge.unwrap_or(other).name.clone())
}

fn has_links(seen: &NetworkSeen) -> bool {
    seen.host.links.is_some()
}

/// What keeps a client's packets away from the rules of the node.
fn unusual(own: &NetworkSeen) -> Option<String> {
    let passes = |kind: &LinkKind| matches!(kind, LinkKind::Named(it) if matches!(it.as_ref(), "macvlan" | "ipvlan" | "macvtap"));
    let links = own.host.links.iter().flatten();
    let link = links.filter(|it| it.is_up).find(|it| passes(&it.kind))?;
    let LinkKind::Named(kind) = &link.kind else {
        return None;
    };
    Some(format!(
        "the target's link {} is a {kind}: its packets leave the node without meeting its rules",
        link.name
    ))
}
