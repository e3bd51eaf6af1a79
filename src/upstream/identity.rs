//! Who has an address on a node.

use std::net::{IpAddr, SocketAddr};

use super::{Confirmed, NodeWithDns, Refused, Who};
use crate::address::{Address, is_link_local};
use crate::config::resolv_conf::ResolvConf;
use crate::loopback::owners::Reach;
use crate::loopback::{self, Evidence, Lead};
use crate::node::{Listener, Node, Pod};
use crate::topology::resolved::Stub;
use crate::topology::{self, DnsServer, Instance, Listen, Network, Program};

/// All that points at an address.
pub(super) struct Identity<'n> {
    /// The address that packets reach.
    pub(super) reached: SocketAddr,
    /// The sockets that take its packets.
    pub(super) sockets: Vec<&'n Listener>,
    /// The server that listens there, and its index in [`Node::servers`].
    pub(super) server: Option<(usize, &'n DnsServer)>,
    /// What the table of well-known addresses and the files say.
    pub(super) lead: Option<Lead>,
    /// What says that it is the Service of the cluster's DNS.
    pub(super) cluster_dns: Option<Confirmed>,
    /// The network namespace in which it is.
    pub(super) network: Network,
    /// The pod whose address it is.
    pod: Option<&'n Pod>,
    /// Whether it is an address of the node or of a pod, loopback ones included.
    pub(super) is_own: bool,
    /// The interface that has it.
    pub(super) interface: Option<String>,
}

/// Finds all that points at `address`, which `conf` lists, where it is asked from
/// this network namespace.
///
/// `evidence` has what was found beside that file.
pub(super) fn identify<'n>(
    (seen, from): (&'n NodeWithDns, &Network),
    address: SocketAddr,
    conf: &ResolvConf,
    evidence: &Evidence,
) -> Identity<'n> {
    let node = &seen.node;
    let ip = Address::from(address.ip()).reached();
    let reached = SocketAddr::new(ip, address.port());
    let pod = node.pods.iter().find(|it| it.addresses.contains(&ip));
    let network = match pod {
        _ if ip.is_loopback() => from.clone(),
        Some(pod) => Network::Pod(pod.key()),
        None => Network::Node,
    };
    let is_own = ip.is_loopback() || pod.is_some() || node.addresses.contains(&ip);
    let takes = |it: &&Listener| {
        it.network == network
            && it.port == reached.port()
            && it.address.map_or(is_own, |own| own == ip)
    };
    let (sockets, server) = if node.sent_on.contains(&ip) {
        (Vec::new(), None)
    } else {
        let sockets: Vec<&Listener> = node.listeners.iter().filter(takes).collect();
        let server = server(node, (&network, reached), is_own, &sockets);
        (sockets, server)
    };
    let interface = node.interfaces.iter().find(|(own, _)| *own == ip);
    let lead = loopback::lead(address.ip(), conf, evidence);
    Identity {
        reached,
        server,
        sockets,
        // In a pod other programs have the usual addresses.
        lead: lead.filter(|_| network == Network::Node),
        cluster_dns: cluster_dns(seen, ip),
        is_own,
        network,
        pod,
        interface: interface.map(|(_, name)| name.clone()),
    }
}

/// The server that answers there: the one whose process has the socket, else
/// one that listens on this very address, else one that listens on any.
fn server<'n>(
    node: &'n Node,
    (network, address): (&Network, SocketAddr),
    is_own: bool,
    sockets: &[&Listener],
) -> Option<(usize, &'n DnsServer)> {
    let servers = || {
        node.servers
            .iter()
            .enumerate()
            .filter(|(_, it)| it.network == *network)
    };
    let owners = sockets.iter().filter_map(|it| it.owner.as_ref());
    for owner in owners {
        let has = |it: &&Pod| it.processes.iter().any(|own| own.pid == owner.pid);
        let instance = match node.pods.iter().find(has) {
            Some(pod) => Instance::Pod(pod.label()),
            None => Instance::Process(owner.pid),
        };
        let listens = |it: &DnsServer| it.listens.iter().any(|own| listens_at(own, address));
        let is_its =
            |it: &DnsServer| it.instance == instance && (it.listens.is_empty() || listens(it));
        let found = servers().find(|(_, it)| is_its(it));
        if found.is_some() {
            return found;
        }
    }
    if sockets.iter().any(|it| it.owner.is_some()) {
        return None;
    }
    let exact = |it: &Listen| it.address == Some(address.ip()) && it.port == address.port();
    let any = |it: &Listen| it.address.is_none() && it.port == address.port();
    let find =
        |fits: &dyn Fn(&Listen) -> bool| servers().find(|(_, it)| it.listens.iter().any(fits));
    find(&exact).or_else(|| find(&any).filter(|_| is_own))
}

fn listens_at(listen: &Listen, address: SocketAddr) -> bool {
    listen.port == address.port() && listen.address.is_none_or(|own| own == address.ip())
}

fn cluster_dns(seen: &NodeWithDns, ip: IpAddr) -> Option<Confirmed> {
    let setting = seen.node.kubelet.as_ref().map(|it| &it.cluster_dns);
    if let Some(setting) = setting.filter(|it| it.value.contains(&ip)) {
        return Some(Confirmed::ClusterDns(setting.origin.clone()));
    }
    let mut services = seen.cluster.services.iter();
    let (_, proof) = services.find(|it| it.0 == ip)?;
    proof.clone().map(Confirmed::Said)
}

impl Identity<'_> {
    /// Its short name, and who it is.
    pub(super) fn names(&self) -> (&'static str, Who) {
        if let Some((_, server)) = self.server {
            return (id(server.program), Who::Server(server.name()));
        }
        let owner = self.sockets.iter().find_map(|it| it.owner.as_ref());
        if let Some(owner) = owner {
            let id = self.lead.as_ref().map_or("process", |it| it.owner.id);
            return (id, Who::Process(owner.clone()));
        }
        if let Some(lead) = &self.lead {
            return (lead.owner.id, Who::Usual(lead.owner.who));
        }
        if self.cluster_dns.is_some() {
            return ("cluster-dns", Who::ClusterDns);
        }
        if let Some(pod) = self.pod {
            return ("pod", Who::Pod(pod.label()));
        }
        if self.interface.is_some() || self.is_own {
            ("own-address", Who::Node(self.interface.clone()))
        } else {
            ("server", Who::Outside)
        }
    }

    /// What confirms the name.
    pub(super) fn confirmed_by(&self) -> Vec<Confirmed> {
        let mut found: Vec<Confirmed> = Vec::new();
        if let Some(lead) = &self.lead {
            let agrees = self
                .server
                .is_none_or(|it| id(it.1.program) == lead.owner.id);
            let by = lead.confirmed_by.iter().filter(|_| agrees);
            found.extend(by.cloned().map(Confirmed::File));
        }
        let mut owners: Vec<Option<u32>> = Vec::new();
        for socket in &self.sockets {
            let pid = socket.owner.as_ref().map(|it| it.pid);
            if owners.contains(&pid) {
                continue;
            }
            owners.push(pid);
            found.push(Confirmed::Socket {
                owner: socket.owner.clone(),
                file: socket.file.clone(),
            });
        }
        if let Some((_, server)) = self.server {
            found.extend(self.configured(server));
        }
        found.extend(self.cluster_dns.clone());
        found
    }

    /// The setting that makes the server listen there.
    fn configured(&self, server: &DnsServer) -> Option<Confirmed> {
        let listens = server.listens.iter();
        let mut here = listens.filter(|it| listens_at(it, self.reached));
        here.find_map(|it| match &it.evidence {
            topology::Evidence::Configuration(place) => Some(Confirmed::Setting(place.clone())),
            _ => None,
        })
    }

    /// Why nobody answers there; `None`: somebody may.
    pub(super) fn refused(&self, node: &Node) -> Option<Refused> {
        let is_stub = self
            .lead
            .as_ref()
            .is_some_and(|it| matches!(it.owner.id, "systemd-resolved" | "systemd-resolved-proxy"));
        if let (true, Some(resolved)) = (is_stub, &node.resolved) {
            let place = resolved.stub_place.clone();
            match resolved.stub {
                Stub::No if self.sockets.is_empty() => {
                    return Some(Refused::StubOff(place));
                }
                Stub::Tcp => {
                    return Some(Refused::StubTcp(place));
                }
                _ => {}
            }
        }
        // Docker's server listens on another port, behind rules.
        let is_redirected = self.lead.as_ref().is_some_and(|it| it.owner.id == "docker");
        // kube-proxy in IPVS mode keeps service addresses on the node that
        // belong to no route.
        let ip = self.reached.ip();
        // A cache of the node, whose link may be gone.
        let lead = self.lead.as_ref().map(|it| it.owner.reach);
        let is_caches = is_link_local(ip) && (self.server.is_some() || lead == Some(Reach::Node));
        let is_plain = ip.is_loopback() || self.interface.is_some() || is_caches;
        let is_plain = is_plain && self.network == Network::Node;
        if !node.sockets_known || is_redirected || !is_plain || self.reached.port() != 53 {
            return None;
        }
        if self.sockets.is_empty() {
            return Some(Refused::Nobody);
        }
        if self.sockets.iter().all(|it| !it.is_udp) {
            return Some(Refused::OnlyTcp);
        }
        None
    }

    /// Whether it is outside the node for certain.
    pub(super) fn is_outside(&self) -> bool {
        match &self.lead {
            Some(lead) => lead.owner.reach == Reach::Cloud,
            None => !self.is_own && self.cluster_dns.is_none() && self.server.is_none(),
        }
    }
}

/// The short name of a program.
fn id(program: Program) -> &'static str {
    match program {
        Program::CoreDns => "coredns",
        Program::NodeCache => "nodelocaldns",
        Program::Dnsmasq => "dnsmasq",
        Program::Unbound => "unbound",
        Program::Named => "named",
        Program::SystemdResolved => "systemd-resolved",
        Program::Other => "local",
    }
}
