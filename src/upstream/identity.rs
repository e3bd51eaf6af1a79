//! Who has an address on a node.

use std::net::{IpAddr, SocketAddr};

use crate::address::Address;
use crate::config::resolv_conf::ResolvConf;
use crate::loopback::owners::Reach;
use crate::loopback::{self, Confirmation, Evidence, Lead};
use crate::node::{Listener, Node, Pod};
use crate::topology::resolved::Stub;
use crate::topology::{self, DnsServer, Listen, Network, Program};

/// All that points at an address.
pub(super) struct Identity<'n> {
    /// The address that packets reach.
    pub(super) reached: SocketAddr,
    /// The sockets that take its packets.
    pub(super) sockets: Vec<&'n Listener>,
    /// The server that listens there, as an index of [`Node::servers`].
    pub(super) server: Option<usize>,
    /// What the table of well-known addresses and the files say.
    pub(super) lead: Option<Lead>,
    /// Where the kubelet's `clusterDNS` names the address.
    pub(super) cluster_dns: Option<String>,
    /// Whether it is an address of the node, loopback ones included.
    pub(super) is_own: bool,
    /// The interface that has it.
    pub(super) interface: Option<String>,
}

/// Finds all that points at `address`, which `conf` lists.
///
/// `evidence` has what was found beside that file.
pub(super) fn of<'n>(
    node: &'n Node,
    address: SocketAddr,
    conf: &ResolvConf,
    evidence: &Evidence,
) -> Identity<'n> {
    let ip = Address::from(address.ip()).reached();
    let reached = SocketAddr::new(ip, address.port());
    let is_own = ip.is_loopback() || node.addresses.contains(&ip);
    let takes = |it: &&Listener| {
        it.network == Network::Node
            && it.port == reached.port()
            && it.address.is_none_or(|own| own == ip)
    };
    let sockets: Vec<&Listener> = if is_own {
        node.listeners.iter().filter(takes).collect()
    } else {
        Vec::new()
    };
    let interface = node.interfaces.iter().find(|(own, _)| *own == ip);
    Identity {
        reached,
        server: server(node, reached, is_own, &sockets),
        sockets,
        lead: loopback::lead(address.ip(), conf, evidence),
        cluster_dns: cluster_dns(node, ip),
        is_own,
        interface: interface.map(|(_, name)| name.clone()),
    }
}

/// The server that answers there: the one whose process has the socket, else
/// one that listens on this very address, else one that listens on any.
fn server(node: &Node, address: SocketAddr, is_own: bool, sockets: &[&Listener]) -> Option<usize> {
    let servers = || {
        node.servers
            .iter()
            .enumerate()
            .filter(|(_, it)| it.network == Network::Node)
    };
    let owners = sockets.iter().filter_map(|it| it.owner.as_ref());
    for owner in owners {
        let has = |it: &&Pod| it.processes.iter().any(|own| own.pid == owner.pid);
        let label = match node.pods.iter().find(has) {
            Some(pod) => format!("(pod {})", pod.label()),
            None => format!("(process {})", owner.pid),
        };
        let listens = |it: &DnsServer| it.listens.iter().any(|own| listens_at(own, address));
        let is_its =
            |it: &DnsServer| it.label.ends_with(&label) && (it.listens.is_empty() || listens(it));
        let found = servers().find(|(_, it)| is_its(it));
        if let Some((index, _)) = found {
            return Some(index);
        }
    }
    if sockets.iter().any(|it| it.owner.is_some()) {
        return None;
    }
    let exact = |it: &Listen| it.address == Some(address.ip()) && it.port == address.port();
    let any = |it: &Listen| it.address.is_none() && it.port == address.port();
    let find = |fits: &dyn Fn(&Listen) -> bool| {
        let found = servers().find(|(_, it)| it.listens.iter().any(fits));
        found.map(|(index, _)| index)
    };
    find(&exact).or_else(|| find(&any).filter(|_| is_own))
}

fn listens_at(listen: &Listen, address: SocketAddr) -> bool {
    listen.port == address.port() && listen.address.is_none_or(|own| own == address.ip())
}

fn cluster_dns(node: &Node, ip: IpAddr) -> Option<String> {
    let setting = &node.kubelet.as_ref()?.cluster_dns;
    let is_it = setting.value.contains(&ip);
    is_it.then(|| setting.origin.to_string())
}

impl Identity<'_> {
    /// Short name and name.
    pub(super) fn names(&self, node: &Node) -> (&'static str, String) {
        if let Some(server) = self.server.and_then(|index| node.servers.get(index)) {
            return (id(server.program), server.label.clone());
        }
        let owner = self.sockets.iter().find_map(|it| it.owner.as_ref());
        if let Some(owner) = owner {
            let who = format!("{} (process {})", owner.comm, owner.pid);
            let id = self.lead.as_ref().map_or("process", |it| it.owner.id);
            return (id, who);
        }
        if let Some(lead) = &self.lead {
            return (lead.owner.id, lead.owner.who.to_owned());
        }
        if self.cluster_dns.is_some() {
            return ("cluster-dns", "the cluster's DNS service".to_owned());
        }
        match (&self.interface, self.is_own) {
            (Some(interface), _) => {
                let who = format!(
                    "this node's own address on {interface}{}",
                    bridge(interface)
                );
                ("own-address", who)
            }
            (None, true) => ("own-address", "this node's own address".to_owned()),
            (None, false) => ("server", "a server outside the node".to_owned()),
        }
    }

    /// What confirms the name.
    pub(super) fn confirmed_by(&self, node: &Node) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        if let Some(lead) = &self.lead {
            let server = self.server.and_then(|index| node.servers.get(index));
            let agrees = server.is_none_or(|it| id(it.program) == lead.owner.id);
            let by = lead.confirmed_by.iter().filter(|_| agrees);
            found.extend(by.map(Confirmation::to_string));
        }
        let mut owners: Vec<Option<u32>> = Vec::new();
        for socket in &self.sockets {
            let pid = socket.owner.as_ref().map(|it| it.pid);
            if owners.contains(&pid) {
                continue;
            }
            owners.push(pid);
            found.push(match &socket.owner {
                Some(owner) => {
                    let (comm, pid) = (&owner.comm, owner.pid);
                    format!("the socket of {comm} (process {pid}) in {}", socket.file)
                }
                None => format!("the socket in {}", socket.file),
            });
        }
        if let Some(server) = self.server.and_then(|index| node.servers.get(index)) {
            found.extend(self.configured(server));
        }
        let origin = self.cluster_dns.iter();
        found.extend(origin.map(|it| format!("the kubelet's clusterDNS, {it}")));
        found
    }

    /// The setting that makes the server listen there.
    fn configured(&self, server: &DnsServer) -> Option<String> {
        let listens = server.listens.iter();
        let here = |it: &&Listen| listens_at(it, self.reached);
        let mut here = listens.filter(here);
        let listen = here.find(|it| matches!(it.evidence, topology::Evidence::Configuration(_)))?;
        Some(format!("the setting at {}", listen.evidence))
    }

    /// Why nobody answers there; `None`: somebody may.
    pub(super) fn refused(&self, node: &Node) -> Option<String> {
        let is_stub = self
            .lead
            .as_ref()
            .is_some_and(|it| matches!(it.owner.id, "systemd-resolved" | "systemd-resolved-proxy"));
        if let (true, Some(resolved)) = (is_stub, &node.resolved) {
            let place = resolved.stub_place.as_ref();
            let place = place.map_or_else(String::new, |it| format!(" ({it})"));
            match resolved.stub {
                Stub::No if self.sockets.is_empty() => {
                    return Some(format!(
                        "the stub is switched off by DNSStubListener={place}"
                    ));
                }
                Stub::Tcp => {
                    return Some(format!(
                        "the stub listens on TCP only by DNSStubListener={place}, and resolvers ask over UDP"
                    ));
                }
                _ => {}
            }
        }
        // Docker's server listens on another port, behind rules.
        let is_redirected = self.lead.as_ref().is_some_and(|it| it.owner.id == "docker");
        // kube-proxy in IPVS mode keeps service addresses on the node that
        // belong to no route.
        let is_plain = self.reached.ip().is_loopback() || self.interface.is_some();
        if !node.sockets_known || is_redirected || !is_plain || self.reached.port() != 53 {
            return None;
        }
        if self.sockets.is_empty() {
            return Some("nobody listens there on port 53".to_owned());
        }
        if self.sockets.iter().all(|it| !it.is_udp) {
            return Some("only TCP is listened to there, and resolvers ask over UDP".to_owned());
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

/// Whose bridge an interface is by its usual name.
fn bridge(interface: &str) -> &'static str {
    match interface {
        "docker0" => ", Docker's bridge",
        "lxdbr0" => ", LXD's bridge",
        "incusbr0" => ", Incus's bridge",
        "lxcbr0" => ", LXC's bridge",
        "cni0" | "cbr0" => ", the bridge of the pods",
        "nodelocaldns" => ", NodeLocal DNSCache's interface",
        _ if interface.starts_with("virbr") => ", libvirt's bridge",
        _ if interface.starts_with("podman") => ", Podman's bridge",
        _ if interface.starts_with("tailscale") => ", Tailscale's interface",
        _ => "",
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
