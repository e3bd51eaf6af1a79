//! Reads the configuration of DNS servers that run in pods and have no
//! Corefile: kube-dns's dnsmasq, and those that people bring along.

use super::reader::Reader;
use crate::host::node::processes::{Directory, ProcessSeen, find};
use crate::host::root::Root;
use crate::node::Pod;
use crate::topology::{DnsServer, Instance, Network};

/// The servers of the pods, with the files that their containers have. With
/// what could not be read.
pub(super) fn read_servers_of_pods(
    root: &Root,
    processes: &[ProcessSeen],
    pods: &[Pod],
) -> (Vec<DnsServer>, Vec<String>) {
    let mut servers: Vec<DnsServer> = Vec::new();
    let mut skipped = Vec::new();
    for pod in pods {
        for process in pod.processes.iter().filter(|it| is_server(&it.comm)) {
            let Some(seen) = find(processes, process.pid) else {
                continue;
            };
            if let Some(mut server) = of_process(root, seen, pod, &mut skipped) {
                server.network = match pod.host_network {
                    Some(true) => Network::Node,
                    Some(false) | None => Network::Pod(pod.key()),
                };
                // dnsmasq's second process; another pod can have the same name.
                let same = |it: &DnsServer| {
                    it.instance == server.instance
                        && it.program == server.program
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

/// The same without Corefiles.
pub(super) fn is_server(comm: &str) -> bool {
    matches!(comm, "dnsmasq" | "unbound" | "named")
}

fn of_process(
    root: &Root,
    seen: &ProcessSeen,
    pod: &Pod,
    skipped: &mut Vec<String>,
) -> Option<DnsServer> {
    // Without the container's files its arguments still count; the process's
    // own directory has no /etc.
    let process = Directory::of_seen(root, seen)?;
    let own = process.root().ok();
    let mut reader = Reader {
        root: own.as_ref().unwrap_or(process.itself()),
        addresses: pod.addresses.clone(),
        interfaces: Vec::new(),
        files: Vec::new(),
        skipped: Vec::new(),
    };
    let arguments = process.arguments();
    let instance = Instance::Pod(pod.label());
    let server = reader.of_program(&seen.comm, &arguments, instance);
    skipped.append(&mut reader.skipped);
    server
}
