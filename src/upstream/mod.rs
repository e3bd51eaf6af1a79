//! Who each name server of a node is, and where its queries end up.
//!
//! Every server is followed to the end: the stub, what it forwards to, what
//! that forwards to, until an address outside the node, a cycle, or an
//! address where nobody listens.

mod follow;
mod identity;
mod kubelet;
mod report;

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use crate::address::{DNS_PORT, is_link_local};
use crate::check_loop::{self, ClusterDns};
use crate::config::resolv_conf::ResolvConf;
use crate::loopback;
use crate::node::{HostFile, Node, Unread};
use crate::order::Order as _;
use crate::rules::{SMALLEST, is_amid};
use crate::text::Place;
use crate::topology::Target;
use crate::topology::resolved::{Mode, UPLINK_FILE};
use crate::upstream::follow::Walk;

pub use report::{
    Confirmed, End, FileReport, Health, Lost, Note, Problem, Refused, Remark, Report, Role, Step,
    Unknown, Who,
};

/// How many servers resolvers take from a file.
///
/// Source: glibc and musl `resolv.h: MAXNS`, kubernetes
/// `pkg/apis/core/validation: MaxDNSNameservers`.
const MAX_SERVERS: usize = 3;

/// How many servers of a file are followed.
const MAX_FOLLOWED: usize = 100;

/// A node with the DNS servers of its pods, as check-loop finds them: with the
/// Corefiles and the files of their containers.
struct NodeWithDns {
    node: Node,
    cluster: ClusterDns,
}

impl NodeWithDns {
    fn of_node(node: &Node) -> Self {
        let cluster = check_loop::cluster_dns(node);
        let mut node = node.clone();
        let mut labels = BTreeSet::new();
        for (number, server) in &cluster.servers {
            let Some(pod) = node.pods.get(*number) else {
                continue;
            };
            let mut server = server.clone();
            let own = pod
                .own_file()
                .map(|conf| (RESOLV_CONF.to_owned(), conf.clone()));
            // What it reads it reads in its own file system.
            let label = pod.label();
            let key = if labels.insert(label.clone()) {
                label
            } else {
                pod.key()
            };
            let files = pod.files.iter().cloned().chain(own);
            let files: Vec<HostFile> = files
                .map(|(path, conf)| in_pod(&key, &path, conf))
                .collect();
            for target in server.forwards.iter_mut().flat_map(|it| &mut it.to) {
                if let Target::File(path) = &mut target.value {
                    *path = pod_path(&key, path);
                }
            }
            node.files.extend(files);
            node.servers.push(server);
        }
        Self { node, cluster }
    }

    /// The addresses of the pods behind the Service of the cluster's DNS, each once,
    /// of the family that its own address has.
    fn endpoints(&self, is_v4: bool) -> Vec<SocketAddr> {
        let of_pod = |(pod, port): &(usize, u16)| {
            let pod = self.node.pods.get(*pod)?;
            let own = match pod.host_network {
                Some(true) => &self.node.addresses,
                _ => &pod.addresses,
            };
            let found = own.iter().find(|it| it.is_ipv4() == is_v4)?;
            Some(SocketAddr::new(*found, *port))
        };
        let mut found: Vec<SocketAddr> = self.cluster.endpoints.iter().filter_map(of_pod).collect();
        found.order();
        found.dedup();
        found
    }
}

const RESOLV_CONF: &str = "/etc/resolv.conf";

/// A file of a pod under a path that no file of the node has.
fn in_pod(key: &str, path: &str, conf: ResolvConf) -> HostFile {
    HostFile::without_links(pod_path(key, path), Ok(conf))
}

fn pod_path(key: &str, path: &str) -> String {
    format!("{path} of pod {key}")
}

/// Follows the servers of the kubelet's file and of `/etc/resolv.conf`. The
/// kubelet's is the one that it has while it runs.
pub fn of_node(node: &Node) -> Report {
    let mut files = Vec::new();
    let running = check_loop::as_running(node);
    let restarted = running.as_ref().map(|_| NodeWithDns::of_node(node));
    let all = NodeWithDns::of_node(running.as_ref().unwrap_or(node));
    let seen = &all.node;
    let end = |file: &HostFile| file.links.last().unwrap_or(&file.path).clone();
    let is_read = |it: &HostFile| it.content.is_ok();
    let kubelet = seen.kubelet_file.as_ref();
    let own = seen.node_file.as_ref();
    match (kubelet, own) {
        (Some(kubelet), Some(own))
            if end(kubelet) == end(own) && is_read(kubelet) == is_read(own) =>
        {
            files.push(file(&all, own, Role::Both));
        }
        _ => {
            files.extend(kubelet.map(|it| kubelet::file(&all, it)));
            files.extend(own.map(|it| file(&all, it, Role::Node)));
        }
    }
    let later = restarted.as_ref().zip(node.kubelet_file.as_ref());
    if let Some((restarted, later)) = later {
        let at = files.len().min(1);
        files.insert(at, file(restarted, later, Role::Restarted));
    }
    files.extend(cluster(&all, &files));
    let unseen = node.unseen.as_ref().filter(|_| node.kubelet.is_none());
    let mut steps = files.iter().flat_map(|it| &it.servers);
    let unread = seen.files.iter().filter_map(|it| it.content.as_ref().err());
    let mut unread = unread.filter(|it| !it.is_missing);
    let hidden = unread.next().filter(|_| !steps.any(Step::leads_out));
    Report {
        kubelet_unseen: unseen.cloned(),
        hidden: hidden.map(|it| it.reason.clone()),
        files,
        remarks: kubelet::remarks(node, running.as_ref()),
        skipped: node.skipped.clone(),
    }
}

/// The Service of the cluster's DNS, where its pods send queries on to servers that none of
/// the files leads to.
fn cluster(seen: &NodeWithDns, files: &[FileReport]) -> Option<FileReport> {
    let service = SocketAddr::new(seen.cluster.services.first()?.0, DNS_PORT);
    let step = Walk::new(seen).step(service, None, &ResolvConf::default(), &[]);
    let known = report::outside(files.iter().flat_map(|it| &it.servers));
    let found = report::outside([&step]);
    let is_new = found.iter().any(|it| !known.contains(it));
    is_new.then(|| FileReport {
        servers: vec![step],
        ..FileReport::new(Role::Cluster)
    })
}

/// Follows one address, as if a resolver on the node asked it. `ruled` is what
/// rules of the node make of it, where they translate it.
pub fn of_address(node: &Node, address: IpAddr, ruled: Option<Who>) -> Report {
    let seen = NodeWithDns::of_node(node);
    let wanted = SocketAddr::new(address, DNS_PORT);
    let all = node
        .kubelet_file
        .iter()
        .chain(&node.node_file)
        .chain(&node.files);
    let mut listed = all.filter_map(|file| {
        let conf = file.conf()?;
        Some((file, conf, place_in(conf, address)?))
    });
    let mut report = FileReport::new(Role::Asked);
    let mut walk = Walk::new(&seen);
    let mut step = match listed.next() {
        Some((file, conf, place)) => {
            report.path.clone_from(&file.path);
            report.links.clone_from(&file.links);
            walk.step(wanted, Some(place), conf, &file.links)
        }
        None => walk.step(wanted, None, &ResolvConf::default(), &[]),
    };
    let services = seen.cluster.services.iter().map(|it| it.0);
    let is_amid = is_amid(services.filter(|it| !is_link_local(*it)), address, SMALLEST);
    let ruled = ruled.or_else(|| is_amid.then_some(Who::Service(None)));
    if let Some(who) = ruled.filter(|_| step.end == End::Outside) {
        step.be_service(who);
    }
    report.servers.push(step);
    Report {
        files: vec![report],
        kubelet_unseen: None,
        hidden: None,
        remarks: Vec::new(),
        skipped: node.skipped.clone(),
    }
}

fn place_in(conf: &ResolvConf, address: IpAddr) -> Option<Place> {
    let mut servers = loopback::name_servers(conf);
    let (_, span) = servers.find(|(ip, _)| *ip == address)?;
    Some(conf.place_of(span.start))
}

/// Why a file has no servers.
///
/// Source: kubernetes `pkg/kubelet/network/dns/dns.go: GetPodDNS` reads it for
/// every pod.
fn unread_problem(file: &HostFile, unread: &Unread, role: Role) -> Problem {
    let stops_pods = role != Role::Node;
    match (unread.is_missing, file.links.last()) {
        (true, Some(target)) => Problem::Leads {
            to: target.clone(),
            stops_pods,
        },
        (true, None) => Problem::Missing { stops_pods },
        (false, _) => Problem::Unread(unread.reason.clone()),
    }
}

fn file(seen: &NodeWithDns, file: &HostFile, role: Role) -> FileReport {
    let node = &seen.node;
    let end = file.links.last().unwrap_or(&file.path);
    let exists = file.content.is_ok();
    let unread = file.content.as_ref().err();
    let is_known = unread.is_none_or(|it| it.is_missing);
    let is_own = file.path == "/etc/resolv.conf" && node.resolved.is_some() && is_known;
    let mut report = FileReport {
        path: file.path.clone(),
        links: file.links.clone(),
        mode: is_own.then(|| Mode::of_file(exists.then_some(end.as_str()))),
        ..FileReport::new(role)
    };
    let conf = match &file.content {
        Ok(conf) => conf,
        Err(unread) => {
            report.problem = Some(unread_problem(file, unread, role));
            return report;
        }
    };
    // Each role is told in full.
    report.servers = Walk::new(seen).all(conf, &file.links, |_| true);
    if report.servers.is_empty() {
        report.problem = Some(Problem::Empty);
    }
    if let Some(resolved) = node.resolved.as_ref().filter(|_| end == UPLINK_FILE) {
        report.lost = resolved.lost().into_iter().map(Lost::Links).collect();
    }
    let count = loopback::name_servers(conf).count();
    if count > MAX_FOLLOWED {
        let most = MAX_FOLLOWED;
        report.lost.push(Lost::Shown { count, most });
    }
    if count > MAX_SERVERS {
        let most = MAX_SERVERS;
        report.lost.push(Lost::Taken { count, most });
    }
    report
}

impl Report {
    /// How it is with the servers; a node of which nothing is known has
    /// nothing.
    pub fn health(&self, node: &Node) -> Health {
        let is_there = |it: &HostFile| it.content.is_ok() || !it.links.is_empty();
        let mut files = node.kubelet_file.iter().chain(&node.node_file);
        if !files.any(is_there)
            && node.files.is_empty()
            && node.servers.is_empty()
            && node.pods.is_empty()
            && !node.sockets_known
        {
            return Health::Nothing;
        }
        let is_dead = |it: &FileReport| it.problem.is_some() && !it.is_unknown();
        let is_dead = self.files.iter().any(is_dead);
        let is_dead = is_dead
            || self
                .files
                .iter()
                .flat_map(|it| &it.servers)
                .any(Step::is_dead);
        if is_dead {
            Health::Dead
        } else if self.unread().is_some() || self.kubelet_unseen.is_some() {
            Health::Unknown
        } else {
            Health::Clean
        }
    }
}

#[cfg(test)]
mod tests;
