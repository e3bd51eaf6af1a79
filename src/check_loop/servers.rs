//! The DNS servers of a node: those that were found as programs, and those of
//! its pods.

use std::net::IpAddr;

use super::facts::{Supposed, Unknown};
use super::report::When;
use crate::config::corefile::{parse, seconds};
use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::age::Age;
use crate::node::{Container, Node, Pod, Presence, Process, is_cluster_dns, is_node_cache};
use crate::order::Order as _;
use crate::text::{Place, Placed};
use crate::topology::coredns::{self, Site};
use crate::topology::{
    DnsServer, Doubt, Evidence, Forward, Instance, Listen, Network, Policy, Program, Target,
};

/// A DNS server.
#[derive(Debug)]
pub(super) struct Server<'n> {
    pub(super) dns: DnsServer,
    /// The pod that it runs in.
    pub(super) pod: Option<&'n Pod>,
    pub(super) role: Role,
    /// What is supposed of it, as its Corefile is not known.
    pub(super) assumed: Option<Supposed>,
    /// Its Corefile, where that was changed, and its process may not have read it since.
    pub(super) unread: Option<String>,
}

impl Server<'_> {
    /// Whether it runs in a pod, also one on the node's network.
    pub(super) fn is_in_pod(&self) -> bool {
        self.pod.is_some() || matches!(self.dns.network, Network::Pod(_))
    }

    /// A file of its own in the syntax of resolv.conf, by its path in the
    /// container.
    pub(super) fn named_file(&self, path: &str) -> Option<&ResolvConf> {
        let mut files = self.pod?.files.iter();
        files.find(|it| it.0 == path).map(|it| &it.1)
    }

    /// Whether it stands for pods that run on other nodes, or will start here:
    /// a Corefile without a pod.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.pod.is_none() && matches!(self.dns.network, Network::Pod(_))
    }

    /// Whether it is there with these files: a pod that is only supposed does not run, nor
    /// does one that waits for its containers.
    pub(super) fn is_there(&self, when: When) -> bool {
        when == When::NextStart || !self.is_elsewhere() && !self.waits()
    }

    /// Why it is not known what it does with queries: what it reads at its next start
    /// stands in its Corefile.
    pub(super) fn unread_at(&self, when: When) -> Option<Unknown> {
        let file = self.unread.clone().filter(|_| when == When::Now)?;
        let who = self.dns.name();
        Some(Unknown::UnreadCorefile { who, file })
    }

    /// Whether its pod has no container yet, and so sends no query.
    pub(super) fn waits(&self) -> bool {
        self.pod.is_some_and(|it| it.presence == Presence::Waits)
    }
}

/// Why a server is in the graph.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    /// It serves the cluster's names: the question is about it.
    Cluster,
    /// It is on the query path of others, or loops by itself.
    Other,
}

/// Which DNS pods are somebody's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Others<'n> {
    node: &'n Node,
    /// Whether the cluster's DNS runs beside them.
    has_cluster_dns: bool,
}

impl<'n> Others<'n> {
    pub(super) fn of_node(node: &'n Node) -> Self {
        let is_cluster = |it: &Pod| is_cluster_dns(it) && is_dns_pod(it);
        Self {
            node,
            has_cluster_dns: node.pods.iter().any(is_cluster),
        }
    }

    /// Whether the pod's DNS server is somebody's own: one in another namespace than
    /// that of the cluster's DNS, which runs beside it, and not seen to be asked in
    /// its place.
    pub(super) fn has(self, pod: &Pod) -> bool {
        self.has_cluster_dns
            && !is_cluster_dns(pod)
            && !is_node_cache(pod)
            && !is_behind_service(self.node, pod)
    }
}

/// Whether the kernel sent what was for the cluster's DNS on to the pod.
pub(super) fn is_behind_service(node: &Node, pod: &Pod) -> bool {
    let service = node.kubelet.as_ref().map(|it| &it.cluster_dns.value);
    let is_service = |ip: &IpAddr| service.is_some_and(|it| it.contains(ip));
    let is_pod = |ip: &IpAddr| pod.addresses.contains(ip);
    let mut flows = node.kernel.flows.iter();
    let mut services = node.kernel.services.iter().flatten();
    flows.any(|it| is_service(&it.server) && is_pod(&it.answers_from))
        || services.any(|it| {
            let mut servers = it.servers.iter().filter(|(_, weight)| *weight > 0);
            is_service(&it.address.ip()) && servers.any(|(to, _)| is_pod(&to.ip()))
        })
}

/// Every DNS server of the node, those of the cluster's DNS first.
pub(super) fn of_node(node: &Node) -> Vec<Server<'_>> {
    let mut servers: Vec<Server<'_>> = Vec::new();
    for pod in node.pods.iter().filter(|pod| is_dns_pod(pod)) {
        servers.extend(of_pod(node, pod));
    }
    servers.extend(without_pod(node, &servers));
    for dns in &node.servers {
        servers.push(found(node, dns));
    }
    if !servers.iter().any(|it| it.role == Role::Cluster) && node.kubelet.is_some() {
        servers.push(usual());
    }
    servers.order_by_key(|it| it.role == Role::Other);
    servers
}

/// Names of containers and processes of the cluster's DNS: CoreDNS's, NodeLocal
/// DNSCache's, `OpenShift`'s, those of kube-dns.
const DNS_CONTAINERS: [&str; 5] = ["coredns", "node-cache", "dns", "kubedns", "dnsmasq"];

/// Whether a container of this name is one of the cluster's DNS.
pub(super) fn is_dns_container(name: &str) -> bool {
    DNS_CONTAINERS.contains(&name)
}

/// Whether the pod serves the cluster's DNS.
pub(super) fn is_dns_pod(pod: &Pod) -> bool {
    let container = |it: &Container| is_dns_container(&it.name) && it.name != "dnsmasq";
    let process = |it: &Process| it.comm == "coredns" || it.comm == "node-cache";
    let name = pod.name.as_deref().unwrap_or_default();
    let is_named = ["coredns-", "kube-dns-", "node-local-dns-", "nodelocaldns-"]
        .iter()
        .any(|start| name.starts_with(start) && !name.contains("autoscaler"));
    !pod.corefiles.is_empty()
        || pod.containers.iter().any(container)
        || pod.processes.iter().any(process)
        || (is_named && pod.containers.is_empty())
}

fn of_pod<'n>(node: &'n Node, pod: &'n Pod) -> Vec<Server<'n>> {
    let program = if is_node_cache(pod) {
        Program::NodeCache
    } else {
        Program::CoreDns
    };
    let network = network_of(pod);
    let is_on_node = network == Network::Node;
    let site = Site {
        program,
        instance: &Instance::Pod(pod.label()),
        network: &network,
        addresses: if is_on_node {
            &node.addresses
        } else {
            &pod.addresses
        },
        interfaces: if is_on_node { &node.interfaces } else { &[] },
    };
    // That of `--corefile`, or of the manifest that the pods are made of: the
    // cluster's, and so not NodeLocal DNSCache's.
    let corefiles = match pod.corefiles.as_slice() {
        [] if program == Program::CoreDns => &node.corefiles,
        own => own,
    };
    let read = coredns::servers_of_files(corefiles, &site);
    let is_kube_dns = pod.containers.iter().any(|it| it.name == "kubedns");
    if read.is_empty() && is_kube_dns {
        return Vec::new();
    }
    if read.is_empty() {
        return vec![unread(pod, &site)];
    }
    let unread = unread_corefile(pod);
    let server = |dns| Server {
        dns,
        pod: Some(pod),
        role: Role::Cluster,
        assumed: None,
        unread: unread.clone(),
    };
    read.into_iter().map(server).collect()
}

/// The Corefile of the pod, where its CoreDNS may run with what stood there before: only
/// with `reload` it reads it again, some time later.
///
/// Source: CoreDNS, plugin/reload/setup.go `setup`.
fn unread_corefile(pod: &Pod) -> Option<String> {
    const INTERVAL: f64 = 30.0;
    /// For the reading itself, and clocks that are cut to seconds.
    const SPARE: f64 = 15.0;
    let written = pod.corefile_written.filter(|it| it.age() != Age::Older)?;
    let (main, others) = pod.corefiles.split_first()?;
    let corefile = parse(main.clone(), others);
    let mut directives = corefile.blocks.iter().flat_map(|it| &it.directives);
    let reload = directives.find(|it| it.name.text == "reload");
    let is_read = reload.is_some_and(|it| {
        let interval = it.arguments.first().and_then(|it| seconds(&it.text));
        // The jitter is at most the half of it.
        written.is_past(1.5 * interval.unwrap_or(INTERVAL) + SPARE)
    });
    (!is_read).then(|| main.name.clone())
}

fn network_of(pod: &Pod) -> Network {
    match pod.host_network {
        Some(true) => Network::Node,
        Some(false) | None => Network::Pod(pod.key()),
    }
}

/// The servers of a Corefile that belongs to no pod of this node: pods like
/// these run elsewhere, or start here.
fn without_pod<'n>(node: &'n Node, known: &[Server<'n>]) -> Vec<Server<'n>> {
    let mut known = known.iter();
    if known.any(|it| it.dns.program != Program::NodeCache) {
        return Vec::new();
    }
    let site = Site {
        program: Program::CoreDns,
        instance: &Instance::Only,
        network: &Network::Pod(String::new()),
        addresses: &[],
        interfaces: &[],
    };
    let server = |dns| Server {
        dns,
        pod: None,
        role: Role::Cluster,
        assumed: None,
        unread: None,
    };
    let read = coredns::servers_of_files(&node.corefiles, &site);
    read.into_iter().map(server).collect()
}

/// A server that was found as a program.
fn found<'n>(node: &'n Node, dns: &DnsServer) -> Server<'n> {
    let pod = match &dns.network {
        Network::Node => None,
        Network::Pod(key) => node.pods.iter().find(|pod| pod.key() == *key),
    };
    let is_coredns = matches!(dns.program, Program::CoreDns | Program::NodeCache);
    let is_cluster = is_coredns || pod.is_some_and(is_dns_pod);
    Server {
        dns: dns.clone(),
        pod,
        role: if is_cluster {
            Role::Cluster
        } else {
            Role::Other
        },
        assumed: None,
        unread: None,
    }
}

/// A DNS pod whose Corefile was not found: where it sends queries is not known.
fn unread<'n>(pod: &'n Pod, site: &Site<'_>) -> Server<'n> {
    let doubt = Doubt::Corefile {
        pod: pod.namespace.clone().zip(pod.name.clone()),
        label: pod.label(),
        why: pod.corefile_unknown.clone(),
    };
    let mut dns = DnsServer::new(site.program, site.instance.clone(), site.network.clone());
    dns.doubts.push(doubt.clone());
    Server {
        dns,
        pod: Some(pod),
        role: Role::Cluster,
        assumed: Some(Supposed::Corefile(doubt)),
        unread: None,
    }
}

/// CoreDNS as every installer sets it up, where no pod of it is on the node.
fn usual<'n>() -> Server<'n> {
    let network = Network::Pod(String::new());
    let mut dns = DnsServer::new(Program::CoreDns, Instance::Only, network);
    dns.forwards.push(Forward {
        zone: ".".to_owned(),
        to: vec![Placed {
            value: Target::File(super::view::RESOLV_CONF.to_owned()),
            place: Place::new("", 1, 1),
        }],
        policy: Policy::Random,
    });
    dns.listens.push(Listen {
        address: None,
        port: crate::address::DNS_PORT,
        evidence: Evidence::Default,
    });
    dns.notices_loops = true;
    Server {
        dns,
        pod: None,
        role: Role::Cluster,
        assumed: Some(Supposed::Usual),
        unread: None,
    }
}
