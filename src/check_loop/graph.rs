//! Who is there: the DNS servers of a node and of its pods, and what each
//! finds in the file that it reads.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use super::facts::Unknown;
use super::quote;
use super::report::{Proof, When};
use super::servers::{self, Others, Role, Server};
use super::view::{self, View};
use super::walk::Who;
use crate::address::is_link_local;
use crate::config::corefile::is_within;
use crate::node::{HostFile, Node, Pod, is_cluster_dns};
use crate::pod::DEFAULT_CLUSTER_DOMAIN;
use crate::text::Source;
use crate::topology::{self, Forward, Network, Program, Target};

/// What a server does with queries: each zone, its policy, and its targets with
/// the servers of those that are files.
pub(super) type Treatment<'g> = Vec<(
    &'g str,
    topology::Policy,
    Vec<(&'g Target, Option<Vec<SocketAddr>>)>,
)>;

/// The servers of a node and how to get from one to the next.
#[derive(Debug)]
pub(super) struct Graph<'n> {
    pub(super) node: &'n Node,
    pub(super) servers: Vec<Server<'n>>,
    /// Which of their pods are somebody's own.
    pub(super) others: Others<'n>,
    /// The addresses of the service of the cluster's DNS, each with what says
    /// so.
    pub(super) services: Vec<(IpAddr, Option<Proof>)>,
    /// Whether rules that were not read are taken for ones that send packets on.
    pub(super) is_sent_on: bool,
    /// The pods by their keys: there can be thousands.
    pods: BTreeMap<String, &'n Pod>,
    /// The same by their addresses.
    by_address: BTreeMap<IpAddr, &'n Pod>,
    /// The files of the node that were kept, by their names.
    sources: BTreeMap<&'n str, &'n Source>,
    /// The servers behind the service of the cluster's DNS, in order.
    behind: Vec<usize>,
    /// The same with the files of now, and those of the next start, in groups that treat
    /// queries alike.
    groups: [OnceCell<Vec<Vec<usize>>>; 2],
    /// The servers of each network namespace, in order.
    here: BTreeMap<Network, Vec<usize>>,
}

impl<'n> Graph<'n> {
    /// Everything of `node` that answers DNS.
    pub(super) fn of_node(node: &'n Node) -> Self {
        let servers = servers::of_node(node);
        let services = services(node, &servers);
        let mut pods = BTreeMap::new();
        let mut by_address = BTreeMap::new();
        for pod in &node.pods {
            pods.entry(pod.key()).or_insert(pod);
            for ip in &pod.addresses {
                by_address.entry(*ip).or_insert(pod);
            }
        }
        let mut sources = BTreeMap::new();
        for source in quote::sources(node) {
            sources.entry(source.name.as_str()).or_insert(source);
        }
        let mut here: BTreeMap<Network, Vec<usize>> = BTreeMap::new();
        for (index, server) in servers.iter().enumerate() {
            let network = server.dns.network.clone();
            here.entry(network).or_default().push(index);
        }
        let mut graph = Self {
            node,
            servers,
            others: Others::of_node(node),
            services,
            is_sent_on: false,
            pods,
            by_address,
            sources,
            behind: Vec::new(),
            groups: Default::default(),
            here,
        };
        graph.behind = graph.find_behind();
        graph
    }

    /// The server at a hop; `None`: it is the service that stands for several.
    pub(super) fn server(&self, who: &Who) -> Option<&Server<'n>> {
        match who {
            Who::Server(index) => self.servers.get(*index),
            Who::Service(_) => None,
        }
    }

    /// The pod that has this address.
    pub(super) fn pod_at(&self, ip: IpAddr) -> Option<&'n Pod> {
        self.by_address.get(&ip).copied()
    }

    /// A file of the node that was kept.
    pub(super) fn source(&self, file: &str) -> Option<&'n Source> {
        self.sources.get(file).copied()
    }

    /// The servers of this network namespace, by their places in `servers`.
    pub(super) fn here(&self, network: &Network) -> &[usize] {
        self.here.get(network).map_or(&[], Vec::as_slice)
    }

    /// The name servers in the file at `path`, as the server sees it.
    pub(super) fn view(&self, server: &Server<'n>, path: &str, when: When) -> View {
        if server.is_in_pod() && path != view::RESOLV_CONF {
            if let Some(file) = server.named_file(path) {
                return Ok(view::listed(file));
            }
            return Err(Unknown::OwnFileSystem {
                who: server.dns.name(),
                path: path.to_owned(),
            });
        }
        match (server.pod, when) {
            (Some(pod), When::Now) => view::now(pod),
            (Some(pod), When::NextStart) => view::next(self.node, Some(pod)),
            (None, _) if server.is_in_pod() => view::next(self.node, None),
            (None, _) => match self.file_of_node(path) {
                Some(file) => view::of_file(file),
                None => Err(Unknown::NotRead(path.to_owned())),
            },
        }
    }

    /// Whether the end of that file was not read: it can list more servers.
    pub(super) fn is_cut(&self, server: &Server<'n>, path: &str, when: When) -> bool {
        let conf = match (server.pod, when) {
            (Some(_), _) if path != view::RESOLV_CONF => server.named_file(path),
            (Some(pod), When::Now) => pod.own_file(),
            _ if server.is_in_pod() => {
                let file = self.node.kubelet_file.as_ref();
                file.and_then(HostFile::conf)
            }
            _ => self.file_of_node(path).and_then(HostFile::conf),
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
            Network::Pod(key) => {
                let pod = self.pods.get(key);
                pod.map_or(&[], |pod| pod.addresses.as_slice())
            }
        }
    }

    /// The servers that can be behind the service of the cluster's DNS. Somebody's own
    /// CoreDNS is no such server.
    pub(super) fn backends(&self) -> impl Iterator<Item = (usize, &Server<'n>)> {
        let is_backend = |it: &Server<'_>| {
            let in_pod = it.pod.is_some() || it.assumed.is_some();
            // Whose Corefile was given is else not known: it can be a cache's.
            let is_known = in_pod || (it.is_elsewhere() && self.has_names(it));
            let is_others = it.pod.is_some_and(|it| self.others.has(it));
            it.role == Role::Cluster
                && can_be_endpoint(it)
                && is_known
                && !is_others
                && it.dns.program != Program::NodeCache
        };
        let servers = self.servers.iter().enumerate();
        servers.filter(move |(_, it)| is_backend(it))
    }

    /// Those behind it.
    pub(super) fn behind_service(&self) -> &[usize] {
        &self.behind
    }

    /// Those behind it in groups that treat queries alike. What files those of other nodes
    /// have now is not known here, and those that wait for their containers are not asked.
    pub(super) fn groups(&self, when: When) -> &[Vec<usize>] {
        let [now, next_start] = &self.groups;
        let groups = match when {
            When::Now => now,
            When::NextStart => next_start,
        };
        groups.get_or_init(|| {
            let is_there = |index: &&usize| {
                let server = self.servers.get(**index);
                server.is_some_and(|it| it.is_there(when))
            };
            let mut groups: Vec<(Treatment<'_>, Vec<usize>)> = Vec::new();
            for &index in self.behind.iter().filter(is_there) {
                let treatment = self.treatment(index, when);
                match groups.iter_mut().find(|it| it.0 == treatment) {
                    Some((_, group)) => group.push(index),
                    None => groups.push((treatment, vec![index])),
                }
            }
            groups.into_iter().map(|it| it.1).collect()
        })
    }

    /// Those that answer the cluster's names, else those that are named as installers
    /// name them, and whom the service was seen to lead to.
    fn find_behind(&self) -> Vec<usize> {
        let have_names = self.backends().any(|(_, it)| self.has_names(it));
        let is_behind = |it: &Server<'_>| {
            it.pod
                .is_some_and(|pod| servers::is_behind_service(self.node, pod))
                || if have_names {
                    self.has_names(it)
                } else {
                    it.pod.is_none_or(is_cluster_dns)
                }
        };
        let behind = self.backends().filter(|(_, it)| is_behind(it));
        behind.map(|(index, _)| index).collect()
    }

    /// Whether the server has the names of the cluster itself.
    fn has_names(&self, server: &Server<'_>) -> bool {
        let zone = cluster_zone(self.node);
        let mut forwards = server.dns.forwards.iter();
        let own = forwards.find(|own| is_within(&zone, &own.zone));
        own.is_some_and(|own| own.to.is_empty())
    }

    /// What the server does with queries, whatever it is called.
    pub(super) fn treatment<'g>(&'g self, index: usize, when: When) -> Treatment<'g> {
        let Some(server) = self.servers.get(index) else {
            return Vec::new();
        };
        let of_file = |it: &Target| match it {
            Target::File(path) => {
                let listed = self.view(server, path, when).ok()?;
                Some(listed.into_iter().map(|it| it.to).collect())
            }
            _ => None,
        };
        let of_zone = |own: &'g Forward| {
            let to = own.to.iter().map(|it| (&it.value, of_file(&it.value)));
            (own.zone.as_str(), own.policy, to.collect())
        };
        server.dns.forwards.iter().map(of_zone).collect()
    }

    /// Whether it is known which address the Service kube-dns has: `clusterDNS` can
    /// be that of NodeLocal DNSCache alone.
    pub(super) fn knows_service(&self) -> bool {
        let kubelet = self.node.kubelet.as_ref();
        let mut named = kubelet.into_iter().flat_map(|it| &it.cluster_dns.value);
        named.any(|it| !is_link_local(*it))
            || self.node.pods.iter().any(|it| it.dns_service.is_some())
    }

    /// What says that the address is that of the cluster's DNS; `None`: it is
    /// not.
    pub(super) fn service(&self, ip: IpAddr) -> Option<&Option<Proof>> {
        let mut services = self.services.iter();
        services.find(|(own, _)| *own == ip).map(|(_, proof)| proof)
    }
}

/// Whether a service can lead to the server: not to one that listens on loopback
/// and link-local addresses alone, as caches of a node do.
///
/// Source: kubernetes `pkg/apis/core/validation/validation.go: ValidateNonSpecialIP`.
fn can_be_endpoint(server: &Server<'_>) -> bool {
    let is_special = |ip: IpAddr| ip.is_loopback() || is_link_local(ip);
    let mut listens = server.dns.listens.iter();
    listens.len() == 0 || listens.any(|it| it.address.is_none_or(|ip| !is_special(ip)))
}

/// What names the Service in the environment of pods beside it.
const KUBE_DNS: &str = "KUBE_DNS_SERVICE_HOST";

/// The addresses of the cluster's DNS: `clusterDNS`, the Service kube-dns, and
/// where NodeLocal DNSCache sends the names of the cluster. What a pod has in its
/// file can be any server.
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
    for own in node.pods.iter().filter_map(|it| it.dns_service.as_ref()) {
        if known.insert(own.value) {
            let proof = quote::quote(node, &own.place, &format!("{KUBE_DNS}={}", own.value));
            services.push((own.value, Some(proof)));
        }
    }
    let zone = cluster_zone(node);
    // AKS has a CoreDNS for a cache.
    let is_cache = |it: &&Server<'_>| match it.dns.program {
        Program::NodeCache => true,
        Program::CoreDns => it.dns.network == Network::Node && !can_be_endpoint(it),
        _ => false,
    };
    let caches = servers.iter().filter(is_cache);
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

/// The cluster's domain as a zone.
fn cluster_zone(node: &Node) -> String {
    let kubelet = node.kubelet.as_ref();
    let domain = kubelet.map(|it| it.cluster_domain.value.as_str());
    let domain = domain
        .filter(|it| !it.is_empty())
        .unwrap_or(DEFAULT_CLUSTER_DOMAIN);
    format!("{}.", domain.trim_end_matches('.').to_lowercase())
}

/// The address as packets see it: "this host" is the loopback address.
pub(super) fn reached(to: SocketAddr) -> SocketAddr {
    let ip = crate::address::Address::from(to.ip()).reached();
    SocketAddr::new(ip, to.port())
}
