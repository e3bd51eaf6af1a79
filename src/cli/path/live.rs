//! What `kdns path` reads of a node that is there: the network namespaces of
//! the node and of the target.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;

use crate::address::DNS_PORT;
use crate::cli::node::node_below;
use crate::cli::target::label;
use crate::config::resolv_conf::ResolvConf;
use crate::dig::lookup::Lookup;
use crate::dig::translation;
use crate::engine::machine::Outcome;
use crate::host::network::{self, NetworkSeen};
use crate::host::node::{Parts, pods, processes};
use crate::host::root::Root;
use crate::host::{io_reason, situation};
use crate::loopback::name_servers;
use crate::netns::{self, Aim, EnterError, Namespace};
use crate::path::{Host, LinkKind, Start};
use crate::resolver;
use crate::scenario::{Scenario, default_hosts};
use crate::wire::live::{self as wire, Limits, Means};
use crate::wire::{client_cookie, socket_address};

/// Who sends, and where from.
#[derive(Debug)]
pub(super) struct Client {
    /// In words: `pod default/app, process 7`.
    pub(super) label: String,
    /// Its resolv.conf.
    conf: Option<ResolvConf>,
    /// Its network namespace; `None`: that of whoever runs kdns, which is not
    /// to be entered.
    namespace: Option<Namespace>,
    /// Whether it is the node itself.
    is_node: bool,
}

/// A node as it is now, and the client on it.
#[derive(Debug, Default)]
pub(super) struct Scene {
    /// The node.
    pub(super) node: Host,
    /// The client's own network namespace, where it is another one.
    pub(super) own: Option<Host>,
    /// Where its packets come to the rules of the node; `None`: not known.
    pub(super) start: Option<Start>,
    /// The address that it sends from, for each destination; or why it cannot.
    pub(super) sources: BTreeMap<IpAddr, Result<IpAddr, String>>,
    /// What is there and could not be read: sentences without a full stop.
    pub(super) skipped: Vec<String>,
}

/// A lookup of a Service's name ends then: its answer is not what is asked for.
const LOOKUP: Duration = Duration::from_secs(5);

impl Client {
    /// The target that the word names, or the node itself.
    pub(super) fn find(root: Option<&Path>, word: Option<&str>) -> anyhow::Result<Self> {
        let root = node_below(root)?;
        let Some(word) = word else {
            return Self::node(&root);
        };
        let aim = netns::aim(&root, word)?;
        let label = label(&aim);
        let Aim {
            namespace, seen, ..
        } = aim;
        let namespace = namespace?;
        let node = node_namespace(&root).ok();
        let is_node = node.is_some_and(|it| it.number() == namespace.number());
        let conf = seen.resolv_conf.map(|it| ResolvConf::parse(it.source));
        Ok(Self {
            label,
            conf,
            namespace: Some(namespace),
            is_node,
        })
    }

    fn node(root: &Root) -> anyhow::Result<Self> {
        let conf = situation::read_situation(root)?.resolv_conf;
        // Who may not look into process 1 is mostly in its network namespace.
        let namespace = node_namespace(root).ok();
        Ok(Self {
            label: "the node".to_owned(),
            conf: conf.map(|it| ResolvConf::parse(it.source)),
            namespace,
            is_node: true,
        })
    }

    /// The name servers of its file, in its order, each once.
    pub(super) fn servers(&self) -> Vec<IpAddr> {
        let mut servers = Vec::new();
        for (ip, _) in self.conf.iter().flat_map(name_servers) {
            if !servers.contains(&ip) {
                servers.push(ip);
            }
        }
        servers
    }

    /// The addresses of a name, as its search list and its servers have them.
    ///
    /// # Errors
    ///
    /// Its network namespace cannot be entered, or nobody knows the name.
    pub(super) fn look_up(&self, name: &str) -> anyhow::Result<Vec<IpAddr>> {
        let mut scenario = Scenario::new("path", name);
        scenario.resolv_conf.clone_from(&self.conf);
        scenario.hosts = Some(default_hosts(&scenario.hostname));
        let found = match &self.namespace {
            Some(namespace) => namespace.within(|| look_up(&scenario))?,
            None => look_up(&scenario),
        };
        match found {
            Outcome::Found(addresses) if !addresses.is_empty() => {
                Ok(addresses.iter().map(|it| it.ip).collect())
            }
            outcome => {
                let code = outcome.code().unwrap_or("no address");
                anyhow::bail!("{} cannot look up {name}: {code}", self.label)
            }
        }
    }

    /// Reads the node and the client's network namespace. Of connections and
    /// sockets those of these ports count.
    ///
    /// # Errors
    ///
    /// A network namespace cannot be entered.
    pub(super) fn read(&self, root: &Root, destinations: &[SocketAddr]) -> anyhow::Result<Scene> {
        let ports: BTreeSet<u16> = destinations
            .iter()
            .map(SocketAddr::port)
            .chain([DNS_PORT])
            .collect();
        let ports: Vec<u16> = ports.into_iter().collect();
        let read = || (network::read_live(&ports), sources(destinations));
        let (own, sources) = match &self.namespace {
            Some(namespace) => namespace.within_to_read(read)?,
            None => read(),
        };
        let mut scene = Scene {
            sources,
            ..Scene::default()
        };
        let node = if self.is_node {
            scene.start = Some(Start::Host);
            own
        } else {
            let node = node_namespace(root)?.within_to_read(|| network::read_live(&ports))?;
            scene.start = way_in(&own, &node, scene.sources.values().flatten());
            scene.skipped.extend(unusual(&own));
            scene.own = Some(scene.take(own, "the target")?);
            node
        };
        let mut host = scene.take(node, "the node")?;
        host.pods = pod_names(root, &mut scene.skipped);
        scene.node = host;
        Ok(scene)
    }

    /// Runs `work` where the client is.
    ///
    /// # Errors
    ///
    /// Its network namespace cannot be entered.
    pub(super) fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, EnterError> {
        match &self.namespace {
            Some(namespace) => namespace.within(work),
            None => Ok(work()),
        }
    }
}

impl Scene {
    /// A network namespace with its rules; what is missing is noted.
    fn take(&mut self, seen: NetworkSeen, whose: &str) -> anyhow::Result<Host> {
        let skipped = seen.skipped.iter().map(|it| format!("{whose}: {it}"));
        self.skipped.extend(skipped);
        Ok(seen.into_host()?)
    }
}

/// The network namespace of process 1.
fn node_namespace(root: &Root) -> Result<Namespace, EnterError> {
    Namespace::of_process(&netns::hold(root, 1)?.0)
}

/// Asks for the name as glibc does.
fn look_up(scenario: &Scenario) -> Outcome {
    let Some(resolver) = resolver::find("glibc") else {
        return Outcome::Hung;
    };
    let cookie = client_cookie();
    let plain = Lookup::default();
    let means = Means {
        destination: &|server| socket_address(&server.address, server.port),
        message: &|query, id| translation::message(query, &plain, id, &cookie),
        ..Means::default()
    };
    let limits = Limits {
        time: LOOKUP,
        interrupt: None,
    };
    wire::run(resolver.machine(scenario), &means, limits, &mut |_| {}).outcome
}

/// The address that the kernel sends from to each destination. Nothing is sent.
fn sources(destinations: &[SocketAddr]) -> BTreeMap<IpAddr, Result<IpAddr, String>> {
    let source = |to: &SocketAddr| {
        let any: IpAddr = if to.is_ipv4() {
            [0; 4].into()
        } else {
            [0; 16].into()
        };
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(to)?;
        Ok(socket.local_addr()?.ip())
    };
    let one = |to: &SocketAddr| {
        (
            to.ip(),
            source(to).map_err(|it: std::io::Error| io_reason(&it)),
        )
    };
    destinations.iter().map(one).collect()
}

/// The link of the node at the other end of the link that has the client's
/// address.
fn way_in<'s>(
    own: &NetworkSeen,
    node: &NetworkSeen,
    mut sources: impl Iterator<Item = &'s IpAddr>,
) -> Option<Start> {
    let source = sources.next()?;
    let address = own
        .host
        .addresses
        .iter()
        .flatten()
        .find(|it| it.ip == *source)?;
    let link = own
        .host
        .links
        .iter()
        .flatten()
        .find(|it| it.name == address.link)?;
    let peer = own.peers.get(&link.index)?;
    let is_other_end = |index: &u32| node.peers.get(index) == Some(&link.index);
    let other = node
        .host
        .links
        .iter()
        .flatten()
        .find(|it| it.index == *peer)?;
    is_other_end(&other.index).then(|| Start::Link {
        name: Some(other.name.clone()),
    })
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

/// The pods of the node by their addresses.
fn pod_names(root: &Root, skipped: &mut Vec<String>) -> BTreeMap<IpAddr, String> {
    let (processes, unseen) = processes::scan(root);
    let (pods, unread) = pods::read_pods(root, &processes, Parts::PODS, |_| true);
    skipped.extend(unseen);
    skipped.extend(unread.denied);
    let named = pods
        .iter()
        .flat_map(|pod| pod.addresses.iter().map(|it| (*it, pod.label())));
    named.collect()
}
