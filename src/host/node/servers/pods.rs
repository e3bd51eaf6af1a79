//! Reads the configuration of DNS servers that run in pods and have no
//! Corefile: kube-dns's dnsmasq, and those that people bring along.

use std::path::PathBuf;

use super::reader::Reader;
use crate::host::node::processes::{self, Directory, Seen};
use crate::host::root::Root;
use crate::node::{Pod, Process};
use crate::topology::{DnsServer, Network};

/// The servers of the pods, with the files that their containers have. With
/// what could not be read.
pub(super) fn read(root: &Root, processes: &[Seen], pods: &[Pod]) -> (Vec<DnsServer>, Vec<String>) {
    let mut servers: Vec<DnsServer> = Vec::new();
    let mut skipped = Vec::new();
    for pod in pods {
        for process in pod.processes.iter().filter(|it| is_server(it)) {
            let mut processes = processes.iter();
            let Some(seen) = processes.find(|it| it.pid == process.pid) else {
                continue;
            };
            for mut server in of_process(root, seen, pod, &mut skipped) {
                server.network = match pod.host_network {
                    Some(true) => Network::Node,
                    Some(false) | None => Network::Pod(pod.key()),
                };
                // dnsmasq's second process; another pod can have the same name.
                let same = |it: &DnsServer| {
                    it.label == server.label
                        && it.listens == server.listens
                        && it.network == server.network
                };
                if !servers.iter().any(same) {
                    servers.push(server);
                }
            }
        }
    }
    (servers, skipped)
}

fn is_server(process: &Process) -> bool {
    matches!(process.comm.as_str(), "dnsmasq" | "unbound" | "named")
}

fn of_process(root: &Root, seen: &Seen, pod: &Pod, skipped: &mut Vec<String>) -> Vec<DnsServer> {
    // Without the container's files its arguments still count; the process's
    // own directory has no /etc.
    let own = Directory::of(root, seen).and_then(|it| it.root().ok());
    let bare = || {
        root.enter(&PathBuf::from(format!("/proc/{}", seen.pid)))
            .ok()
    };
    let Some(own) = own.or_else(bare) else {
        return Vec::new();
    };
    let mut reader = Reader {
        root: &own,
        addresses: pod.addresses.clone(),
        interfaces: Vec::new(),
        files: Vec::new(),
        skipped: Vec::new(),
    };
    let arguments = processes::arguments(root, seen);
    let label = format!("(pod {})", pod.label());
    let servers = match seen.comm.as_str() {
        "dnsmasq" => reader
            .dnsmasq(Some(&arguments), &label)
            .into_iter()
            .collect(),
        "unbound" => vec![reader.unbound(&arguments, &label)],
        _ => vec![reader.named(&arguments, &label)],
    };
    skipped.append(&mut reader.skipped);
    servers
}
