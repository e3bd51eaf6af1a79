//! Reads the configuration of the DNS servers on a node.

mod daemons;
mod include;
mod pods;
mod reader;
mod resolved;

use std::net::IpAddr;
use std::path::Path;

use self::reader::Reader;
use super::place::{Inside, Place};
use super::processes::{self, Directory, ProcessSeen};
use super::{files, networks, sockets};
use crate::host::root::Root;
use crate::host::situation;
use crate::node::{Listener, Node};
use crate::topology::resolved::Resolved;
use crate::topology::{self, DnsServer, Evidence, Instance, Listen, Network, Program};

pub use daemons::read_daemon;
pub use resolved::{PATIENCE, SOCKET, ask as ask_resolved, of_files as read_resolved};

/// The DNS servers that run on the node itself, whose addresses, files and
/// sockets have been read; where no process could be seen, those that its files
/// configure. `resolved` is what systemd-resolved does and which process it is. With what
/// could not be read.
pub fn read_servers(
    root: &Root,
    processes: &[ProcessSeen],
    node: &Node,
    resolved: Option<&(Resolved, Instance)>,
) -> (Vec<DnsServer>, Vec<String>) {
    let mut reader = Reader {
        root,
        addresses: node.addresses.clone(),
        interfaces: node.interfaces.clone(),
        files: node.files.iter().map(|it| it.path.clone()).collect(),
        skipped: Vec::new(),
    };
    let mut servers = Vec::new();
    let inside = Inside::of_processes(root, processes);
    let is_own = |it: &&ProcessSeen| is_server(&it.comm) && inside.place(it) == Place::Node;
    for process in processes.iter().filter(is_own) {
        let instance = Instance::Process(process.pid);
        let arguments = processes::arguments(root, process);
        let first = servers.len();
        if process.comm == "coredns" {
            let directory = processes::working_directory(root, process);
            servers.extend(reader.coredns(&arguments, &directory, &instance));
        } else {
            servers.extend(reader.of_program(&process.comm, &arguments, instance));
        }
        // Without a privilege nothing says in which network it is.
        let seen = Directory::of_seen(root, process);
        if process.netns.is_none() && seen.is_some_and(|it| it.is_live()) {
            let own = servers.split_off(first);
            let own = own.into_iter();
            servers.extend(own.filter(|it| can_be_on(it, &node.addresses)));
        }
    }
    // dnsmasq's second process, its helper, has the same settings.
    servers.dedup_by(|a, b| a.program == Program::Dnsmasq && a.listens == b.listens);
    if processes.is_empty() {
        servers.extend(reader.configured());
    }
    let resolved = resolved.map(|(it, instance)| topology::resolved::server(it, instance.clone()));
    servers.extend(resolved);
    seen_listening(&mut servers, &node.listeners);
    (servers, reader.skipped)
}

/// Whether a server can be one of a node with these addresses: one on another
/// network listens on addresses that the node does not have.
fn can_be_on(server: &DnsServer, addresses: &[IpAddr]) -> bool {
    let is_here = |it: &Listen| {
        it.address
            .is_none_or(|ip| ip.is_loopback() || addresses.contains(&ip))
    };
    server.listens.is_empty() || server.listens.iter().any(is_here)
}

/// Whether a process of this name answers queries by files that are read here.
fn is_server(comm: &str) -> bool {
    comm == "coredns" || pods::is_server(comm)
}

/// Reads the files in the syntax of resolv.conf, the addresses, the sockets
/// and the servers of a node, also the sockets of the pods that it has.
pub fn fill(root: &Root, processes: &[ProcessSeen], node: &mut Node) {
    let path = Path::new(situation::RESOLV_CONF);
    node.node_file = Some(files::host_file(root, path));
    let (read, mut skipped) = files::read_host_files(root);
    node.files = read;
    (node.addresses, node.interfaces) = networks::of_node(root);
    node.sockets_known = sockets::are_known(root, processes);
    let pods = node.pods.iter().filter(|it| it.host_network != Some(true));
    let pods = pods.filter_map(|it| Some((Network::Pod(it.key()), it.processes.first()?.pid)));
    let all: Vec<(Network, u32)> = std::iter::once((Network::Node, 1)).chain(pods).collect();
    let (listeners, more) = sockets::read_listeners(root, processes, &all);
    node.listeners = listeners;
    skipped.extend(more);
    let resolved = resolved::read_and_ask(root, processes, &mut skipped);
    let (servers, more) = read_servers(root, processes, node, resolved.as_ref());
    node.servers = servers;
    skipped.extend(more);
    let (servers, more) = pods::read_servers_of_pods(root, processes, &node.pods);
    node.servers.extend(servers);
    skipped.extend(more);
    node.resolved = resolved.map(|(resolved, _)| resolved);
    let unread = node
        .node_file
        .as_ref()
        .and_then(|it| it.content.as_ref().err());
    let unread = unread.filter(|it| !it.is_missing);
    skipped.extend(unread.map(|it| it.reason.clone()));
    for sentence in skipped {
        if !node.skipped.contains(&sentence) {
            node.skipped.push(sentence);
        }
    }
}

/// A server whose listeners no file tells has those that are its process's.
fn seen_listening(servers: &mut [DnsServer], listeners: &[Listener]) {
    for server in servers.iter_mut().filter(|it| it.listens.is_empty()) {
        for listener in listeners.iter().filter(|it| it.network == Network::Node) {
            let owner = listener.owner.as_ref();
            if owner.is_some_and(|it| server.instance == Instance::Process(it.pid)) {
                let evidence = Evidence::Socket(listener.file.clone());
                let listen = Listen::new(listener.address, listener.port, evidence);
                server.listens.push(listen);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_addresses_of_others_is_on_another_network() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let own = [address("172.31.0.10"), address("fd00::10")];
        for (listens, expected) in [
            (&["172.31.0.53"][..], false),
            (&["172.31.0.53", "fd00::53"], false),
            (&["172.31.0.53", "127.0.0.1"], true),
            (&["172.31.0.10"], true),
            (&["*"], true),
            (&[], true),
        ] {
            let instance = Instance::Process(102);
            let mut server = DnsServer::new(Program::Dnsmasq, instance, Network::Node);
            server.listens.extend(listens.iter().map(|it| Listen {
                address: it.parse().ok(),
                port: 53,
                evidence: Evidence::Default,
            }));
            assert_eq!(can_be_on(&server, &own), expected, "{listens:?}");
        }
    }
}
