//! Who is there: the DNS servers of a node and of its pods, and what each
//! finds in the file that it reads.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use super::quote;
use super::report::{Proof, When};
use super::servers::{self, Role, Server};
use super::view::{self, Policy, View};
use crate::node::{HostFile, Node};
use crate::pod::DEFAULT_CLUSTER_DOMAIN;
use crate::topology::{Network, Program, Target};

/// The servers of a node and how to get from one to the next.
#[derive(Debug)]
pub(super) struct Graph<'n> {
    pub(super) node: &'n Node,
    pub(super) servers: Vec<Server<'n>>,
    /// The addresses of the service of the cluster's DNS, each with what says
    /// so.
    pub(super) services: Vec<(IpAddr, Option<Proof>)>,
}

impl<'n> Graph<'n> {
    /// Everything of `node` that answers DNS.
    pub(super) fn of(node: &'n Node) -> Self {
        let servers = servers::of(node);
        let services = services(node, &servers);
        Self {
            node,
            servers,
            services,
        }
    }

    /// The name servers in the file at `path`, as the server sees it.
    pub(super) fn view(&self, server: &Server<'n>, path: &str, when: When) -> View {
        if server.is_in_pod() && path != view::RESOLV_CONF {
            return Err(format!(
                "{} reads {path} in its own file system, which is not read",
                server.dns.label
            ));
        }
        match (server.pod, when) {
            (Some(pod), When::Now) => view::now(pod),
            (Some(pod), When::NextStart) => view::next(self.node, Some(pod)),
            (None, _) if server.is_in_pod() => view::next(self.node, None),
            (None, _) => match self.file_of_node(path) {
                Some(file) => view::of_file(file),
                None => Err(format!("{path} was not read")),
            },
        }
    }

    /// Whether the end of that file was not read: it can list more servers.
    pub(super) fn is_cut(&self, server: &Server<'n>, path: &str, when: When) -> bool {
        let conf = match (server.pod, when) {
            (Some(pod), When::Now) => view::own_file(pod),
            _ if server.is_in_pod() => {
                let file = self.node.kubelet_file.as_ref();
                file.and_then(|it| it.content.as_ref().ok())
            }
            _ => {
                let file = self.file_of_node(path);
                file.and_then(|it| it.content.as_ref().ok())
            }
        };
        conf.is_some_and(|conf| conf.source.is_cut())
    }

    /// The file of the node at `path`, or at the end of a link there.
    fn file_of_node(&self, path: &str) -> Option<&'n HostFile> {
        let files = self.node.node_file.iter().chain(&self.node.files);
        let mut files = files.chain(&self.node.kubelet_file);
        files.find(|file| file.path == path || file.links.iter().any(|it| it == path))
    }

    /// The addresses of a network namespace, loopback ones left out.
    pub(super) fn addresses(&self, network: &Network) -> &'n [IpAddr] {
        match network {
            Network::Node => &self.node.addresses,
            Network::Pod(key) => self
                .node
                .pods
                .iter()
                .find(|pod| pod.key() == *key)
                .map_or(&[], |pod| pod.addresses.as_slice()),
        }
    }

    /// The servers behind the service of the cluster's DNS.
    pub(super) fn behind_service(&self) -> Vec<usize> {
        // Those that answer a zone themselves have the cluster's names.
        let serves = |it: &Server<'_>| it.dns.forwards.iter().any(|zone| zone.to.is_empty());
        let is_backend = |it: &Server<'_>| {
            let in_pod = it.pod.is_some() || it.assumed.is_some();
            // Whose Corefile was given is else not known: it can be a cache's.
            let is_known = in_pod || (it.is_elsewhere() && serves(it));
            it.role == Role::Cluster && is_known && it.dns.program != Program::NodeCache
        };
        let backends: Vec<usize> = (0..self.servers.len())
            .filter(|&index| self.servers.get(index).is_some_and(is_backend))
            .collect();
        let has_names = |index: &usize| self.servers.get(*index).is_some_and(serves);
        let serving: Vec<usize> = backends.iter().copied().filter(has_names).collect();
        if serving.is_empty() {
            backends
        } else {
            serving
        }
    }

    /// What says that the address is that of the cluster's DNS; `None`: it is
    /// not.
    pub(super) fn service(&self, ip: IpAddr) -> Option<&Option<Proof>> {
        let mut services = self.services.iter();
        services.find(|(own, _)| *own == ip).map(|(_, proof)| proof)
    }
}

/// The addresses of the cluster's DNS: `clusterDNS`, what pods that use the
/// cluster's DNS have in their files, and where NodeLocal DNSCache sends the
/// names of the cluster.
fn services(node: &Node, servers: &[Server<'_>]) -> Vec<(IpAddr, Option<Proof>)> {
    let mut services = Vec::new();
    let mut known = BTreeSet::new();
    if let Some(kubelet) = &node.kubelet {
        for ip in &kubelet.cluster_dns.value {
            known.insert(*ip);
            let proof = view::origin(node, &kubelet.cluster_dns, &ip.to_string());
            services.push((*ip, proof));
        }
    }
    for pod in &node.pods {
        if view::policy(node, pod) != Policy::Cluster {
            continue;
        }
        // What follows the first one can be the pod's own dnsConfig.
        let first = view::now(pod).ok().and_then(|it| it.into_iter().next());
        if let Some(first) = first
            && known.insert(first.to.ip())
        {
            services.push((first.to.ip(), first.proof.into_iter().next()));
        }
    }
    let domain = node
        .kubelet
        .as_ref()
        .map(|it| it.cluster_domain.value.as_str());
    let domain = domain
        .filter(|it| !it.is_empty())
        .unwrap_or(DEFAULT_CLUSTER_DOMAIN);
    let zone = format!("{}.", domain.trim_end_matches('.').to_lowercase());
    let caches = servers
        .iter()
        .filter(|it| it.dns.program == Program::NodeCache);
    let forwards = caches.flat_map(|it| &it.dns.forwards);
    let is_of_pod = |ip: &IpAddr| node.pods.iter().any(|pod| pod.addresses.contains(ip));
    for target in forwards.filter(|it| it.zone == zone).flat_map(|it| &it.to) {
        if let Target::Address(to) = &target.value
            && !is_of_pod(&to.ip())
            && known.insert(to.ip())
        {
            let proof = quote::quote(node, &target.place, &to.to_string());
            services.push((to.ip(), Some(proof)));
        }
    }
    services
}

/// The address as packets see it: "this host" is the loopback address.
pub(super) fn reached(to: SocketAddr) -> SocketAddr {
    let ip = crate::address::Address::from(to.ip()).reached();
    SocketAddr::new(ip, to.port())
}

/// The address without the usual port.
pub(super) fn short(to: &str) -> String {
    to.strip_suffix(":53").unwrap_or(to).to_owned()
}
