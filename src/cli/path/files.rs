//! What the files of a node tell: those below `/proc` have routes, connections and
//! IPVS, but no rules of iptables; a snapshot of a node has these, too.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::Path;

use crate::cli::node::node_below;
use crate::config::resolv_conf::ResolvConf;
use crate::host::network::{self, NetworkSeen};
use crate::host::node::{Parts, pods, processes};
use crate::host::root::Root;
use crate::host::{situation, snapshot};
use crate::loopback::name_servers;
use crate::rules::Text;

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
    let (pods, skipped) = pod_names(&root);
    seen.host.pods = pods;
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

/// The pods of the node by their addresses, and what could not be read.
pub(super) fn pod_names(root: &Root) -> (BTreeMap<IpAddr, String>, Vec<String>) {
    let (processes, mut skipped) = processes::scan(root);
    let (pods, unread) = pods::read_pods(root, &processes, Parts::PODS, |_| true);
    skipped.extend(unread.denied);
    let named = pods.iter().flat_map(|pod| {
        let addresses = pod.addresses.iter();
        addresses.map(|it| (*it, pod.label()))
    });
    (named.collect(), skipped)
}
