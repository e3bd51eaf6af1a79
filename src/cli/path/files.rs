//! What the files of a node tell: those below `/proc` have routes, connections and
//! IPVS, but no rules of iptables; a snapshot of a node has these, too.

use std::io;
use std::net::IpAddr;
use std::path::Path;

use crate::cli::node::node_below;
use crate::config::resolv_conf::ResolvConf;
use crate::host::network::{self, NetworkSeen};
use crate::host::node::processes::{self, ProcessSeen};
use crate::host::node::{Parts, kubelet, pods, sockets};
use crate::host::root::Root;
use crate::host::{situation, snapshot};
use crate::kubelet::{Kubelet, Origin};
use crate::loopback::name_servers;
use crate::node::{Listener, Pod, Process};
use crate::path::Host;
use crate::rules::Text;
use crate::topology::Network;

/// The node below a directory or in a snapshot.
#[derive(Debug)]
pub(super) struct Below {
    root: Root,
    /// What its files say: nothing that only its kernel could tell.
    pub(super) seen: NetworkSeen,
}

/// Reads the files below a directory, or of a snapshot.
pub(super) fn below(directory: &Path) -> anyhow::Result<Below> {
    let root = node_below(Some(directory))?;
    let mut seen = network::read_files(&root);
    let (skipped, _) = name_pods(&root, &mut seen.host);
    seen.skipped.extend(skipped);
    Ok(Below { root, seen })
}

impl Below {
    /// The name servers of the node's own file.
    pub(super) fn servers(&self) -> anyhow::Result<Vec<IpAddr>> {
        let conf = situation::read_situation(&self.root)?.resolv_conf;
        let conf = conf.map(|it| ResolvConf::parse(it.source));
        let servers = conf.iter().flat_map(name_servers);
        Ok(servers.map(|it| it.0).collect())
    }

    /// What `kdns path` read when the snapshot was made; `None`: it holds no such thing.
    pub(super) fn saved(&self) -> io::Result<Option<Box<dyn Text + Send>>> {
        snapshot::rules(&self.root)
    }
}

/// Names the pods of the node by their addresses; gives what could not be read, and
/// the processes of DNS servers in networks of their own.
pub(super) fn name_pods(root: &Root, host: &mut Host) -> (Vec<String>, Vec<u32>) {
    let (processes, mut skipped) = processes::scan(root);
    let (pods, unread) = pods::read_pods(root, &processes, Parts::PODS, |_| true);
    skipped.extend(unread.denied);
    let named = pods.iter().flat_map(|pod| {
        let addresses = pod.addresses.iter();
        addresses.map(|it| (*it, pod.label()))
    });
    host.pods = named.collect();
    let (kubelet, _) = kubelet::read_kubelet(root, &processes, None);
    host.cluster_dns = kubelet.and_then(cluster_dns);
    let deaf = pods.iter().filter(|it| is_deaf(root, &processes, it));
    host.deaf = deaf.flat_map(|it| it.addresses.clone()).collect();
    let servers = pods.iter().filter_map(server).map(|it| it.pid);
    (skipped, servers.collect())
}

/// What a kubelet has pods ask, where that is no guess.
fn cluster_dns(kubelet: Kubelet) -> Option<Vec<IpAddr>> {
    let is_known = match kubelet.cluster_dns.origin {
        Origin::Unread(_) => false,
        Origin::BuiltIn => !kubelet.is_not_seen,
        _ => true,
    };
    is_known.then_some(kubelet.cluster_dns.value)
}

/// The DNS server of a pod that is not on the node's network.
fn server(pod: &Pod) -> Option<&Process> {
    let mut own = pod.processes.iter();
    own.find(|it| pod.host_network == Some(false) && OF_DNS.contains(&it.comm.as_str()))
}

/// Whether no socket of a DNS pod takes UDP packets to its port 53. A sandbox that
/// has its sockets for itself, as gVisor's, has no process of that name either.
fn is_deaf(root: &Root, processes: &[ProcessSeen], pod: &Pod) -> bool {
    let Some(server) = server(pod) else {
        return false;
    };
    let network = Network::Pod(pod.key());
    let listeners = sockets::of_process(root, processes, &network, server.pid);
    let takes = |it: &Listener| {
        it.is_udp
            && it
                .address
                .is_none_or(|it| pod.addresses.contains(&it.to_canonical()))
    };
    listeners.is_some_and(|all| !all.iter().any(takes))
}

/// Programs of DNS pods.
const OF_DNS: [&str; 3] = ["coredns", "kube-dns", "dnsmasq"];
