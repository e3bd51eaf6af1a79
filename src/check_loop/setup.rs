//! What decides where the DNS of a node leads.

use std::collections::BTreeSet;

use super::graph::Graph;
use super::report::Setup;
use super::servers::{Role, Server};
use super::view;
use crate::kubelet::{Kubelet, Origin};
use crate::text::{escaped, ordered};
use crate::topology::{Network, Target};

/// More of a kind than this is left out.
const MAX_LISTED: usize = 32;

/// How the node is set up.
pub(super) fn of_graph(graph: &Graph<'_>) -> Setup {
    let node = graph.node;
    let setting = node.kubelet.as_ref().map(|it| &it.resolv_conf);
    let file = node.kubelet_file.as_ref().filter(|it| it.content.is_ok());
    let leads_to = file.map(|it| it.links.last().unwrap_or(&it.path));
    let listed = file.and_then(|it| view::of_file(it).ok());
    let name_servers = listed.into_iter().flatten();
    Setup {
        resolv_conf: setting.map(|it| escaped(it.value.as_bytes())),
        resolv_conf_from: node.kubelet.as_ref().map(origin),
        leads_to: leads_to.map(|it| escaped(it.as_bytes())),
        name_servers: name_servers
            .map(|it| it.to.ip().to_string())
            .take(MAX_LISTED)
            .collect(),
        on_node: on_node(graph),
        forwards: forwards(graph),
    }
}

/// Without the place in the file and the number of the process.
fn origin(kubelet: &Kubelet) -> String {
    match &kubelet.resolv_conf.origin {
        Origin::File(place) => place.file.clone(),
        Origin::Argument { argument, .. } => format!("the argument {argument}"),
        Origin::Unread(_) => "a file that could not be read".to_owned(),
        Origin::BuiltIn => "the built-in default".to_owned(),
        Origin::Option(option) => (*option).to_owned(),
        Origin::Pod(pod) => format!("what the kubelet gave to pod {pod}"),
    }
}

fn on_node(graph: &Graph<'_>) -> Vec<String> {
    let servers = graph.servers.iter().filter(|it| it.assumed.is_none());
    let servers = servers.filter(|it| it.dns.network == Network::Node);
    let names: BTreeSet<&str> = ordered(servers.map(|it| it.dns.program.name()));
    names.into_iter().map(str::to_owned).collect()
}

fn forwards(graph: &Graph<'_>) -> Vec<String> {
    let is_read = |it: &&Server<'_>| it.role == Role::Cluster && it.assumed.is_none();
    let servers = graph.servers.iter().filter(is_read);
    let mut lines = BTreeSet::new();
    let forwards = servers.flat_map(|it| &it.dns.forwards);
    // Zones that a server answers itself are forwarded to nobody.
    for forward in forwards.filter(|it| !it.to.is_empty()) {
        let to: Vec<String> = forward.to.iter().map(|it| target(&it.value)).collect();
        lines.insert(format!("{} to {}", forward.zone, to.join(" ")));
    }
    lines.into_iter().take(MAX_LISTED).collect()
}

fn target(target: &Target) -> String {
    match target {
        Target::Address(address) if address.port() == 53 => address.ip().to_string(),
        Target::Address(address) => address.to_string(),
        Target::File(path) | Target::Other(path) => escaped(path.as_bytes()),
        Target::Roots => "the root servers".to_owned(),
        Target::ClusterDns => "the cluster's DNS".to_owned(),
    }
}
