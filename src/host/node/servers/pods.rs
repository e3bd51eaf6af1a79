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
                if !servers.iter().any(|it| is_same(it, &server)) {
                    servers.push(server);
                }
            }
        }
    }
    (servers, skipped)
}

/// dnsmasq's second process; another pod can have the same name.
fn is_same(one: &DnsServer, other: &DnsServer) -> bool {
    one.instance == other.instance
        && one.program == other.program
        && one.listens == other.listens
        && one.network == other.network
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Evidence, Listen, Program};

    #[test]
    fn one_server_has_one_instance_program_and_network_and_listens_where_it_does() {
        let server = DnsServer {
            program: Program::Dnsmasq,
            whose: "",
            instance: Instance::Pod("kube-system/dns".to_owned()),
            network: Network::Pod("one".to_owned()),
            listens: Vec::new(),
            forwards: Vec::new(),
            notices_loops: false,
            doubts: Vec::new(),
        };
        assert!(is_same(&server, &server.clone()));
        let mut others = [(); 4].map(|()| server.clone());
        let [instance, program, network, listens] = &mut others;
        instance.instance = Instance::Only;
        program.program = Program::Unbound;
        // What a pod of the same name, made again, has.
        network.network = Network::Pod("two".to_owned());
        listens.listens.push(Listen {
            address: None,
            port: 53,
            evidence: Evidence::Default,
        });
        for other in others {
            assert!(!is_same(&server, &other), "{other:?}");
        }
    }
}
