//! Whole situations as values. The verdict of each stands before it.

mod cases;
mod doubts;
mod fixes;
mod lots;
mod now;
mod others;
mod states;

use std::net::IpAddr;

use super::facts::{Cause, Caveat, FileRemark, Manifest, Round, Step, Supposed, Unknown, Useless};
use super::*;
use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::{Found, Kubelet, Origin, Setting};
use crate::node::{Container, HostFile, Pod, kernel};
use crate::pod::assumed_kubelet;
use crate::text::{Place, Placed, Source};
use crate::topology::{
    CorefileUnknown, DnsServer, Doubt, Evidence, Forward, Instance, Listen, Network, Policy,
    Program, ServerName, Target,
};

pub(super) fn source(name: &str, text: &str) -> Source {
    Source::new(name, text)
}

pub(super) fn ips(words: &str) -> Vec<IpAddr> {
    words
        .split_whitespace()
        .map(|it| it.parse().unwrap())
        .collect()
}

pub(super) fn place(file: &str, line: usize, column: usize) -> Place {
    Place::new(file, line, column)
}

/// A resolv.conf with these servers.
pub(super) fn resolv_conf(path: &str, servers: &str) -> ResolvConf {
    let words = servers.split_whitespace();
    let lines: Vec<String> = words
        .map(|it| {
            format!(
                "nameserver {it}
"
            )
        })
        .collect();
    let lines = lines.concat();
    ResolvConf::parse(source(path, &format!("{lines}search corp.example\n")))
}

pub(super) fn host_file(path: &str, links: &[&str], servers: &str) -> HostFile {
    HostFile {
        path: path.to_owned(),
        links: links.iter().map(|it| (*it).to_owned()).collect(),
        content: Ok(resolv_conf(path, servers)),
    }
}

/// A node whose kubelet hands out `/etc/resolv.conf` with these servers.
pub(super) fn node(servers: &str) -> Node {
    let set = |line, value: String| Setting {
        value,
        origin: Origin::File(place("/var/lib/kubelet/config.yaml", line, 13)),
        overrode: Vec::new(),
    };
    let file = host_file("/etc/resolv.conf", &[], servers);
    Node {
        kubelet: Some(Kubelet {
            found: Found::Process {
                pid: 700,
                comm: "kubelet".to_owned(),
                started: None,
            },
            resolv_conf: set(31, "/etc/resolv.conf".to_owned()),
            cluster_dns: Setting {
                value: ips("10.96.0.10"),
                origin: Origin::File(place("/var/lib/kubelet/config.yaml", 13, 3)),
                overrode: Vec::new(),
            },
            cluster_domain: set(14, "cluster.local".to_owned()),
            ..assumed_kubelet()
        }),
        kubelet_file: Some(file.clone()),
        node_file: Some(file),
        addresses: ips("172.31.0.10"),
        sockets_known: true,
        ..Node::default()
    }
}

/// kubeadm's Corefile that forwards there.
pub(super) fn corefile(forward: &str) -> String {
    format!(
        ".:53 {{\n    errors\n    kubernetes cluster.local in-addr.arpa ip6.arpa {{\n       \
         fallthrough in-addr.arpa ip6.arpa\n    }}\n    forward . {forward}\n    loop\n}}\n"
    )
}

/// A pod of the cluster's DNS with this Corefile, and these servers in its
/// file.
pub(super) fn dns_pod(name: &str, corefile: &str, servers: &str) -> Pod {
    let sandbox = format!("{name}-sandbox");
    let path =
        format!("/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/{sandbox}/resolv.conf");
    let mounted = format!("/var/lib/kubelet/pods/{name}/volumes/config-volume/Corefile");
    Pod {
        namespace: Some("kube-system".to_owned()),
        name: Some(name.to_owned()),
        sandbox: Some(sandbox),
        host_network: Some(false),
        resolv_conf: Some(resolv_conf(&path, servers)),
        addresses: ips("10.244.0.7"),
        containers: vec![Container {
            name: "coredns".to_owned(),
            ..Container::default()
        }],
        corefiles: vec![source(&mounted, corefile)],
        ..Pod::default()
    }
}

/// CoreDNS with kubeadm's Corefile, whose file has the servers of the node's.
pub(super) fn with_coredns(servers: &str, corefile: &str) -> Node {
    Node {
        pods: vec![dns_pod("coredns-a", corefile, servers)],
        ..node(servers)
    }
}

/// NodeLocal DNSCache with this Corefile.
pub(super) fn node_cache(corefile: &str, servers: &str) -> Pod {
    let pod = dns_pod("node-local-dns-x", corefile, servers);
    Pod {
        host_network: Some(true),
        addresses: Vec::new(),
        containers: vec![Container {
            name: "node-cache".to_owned(),
            ..Container::default()
        }],
        ..pod
    }
}

/// A server on the node: `127.0.0.1`, or `*`, forwards everything to these.
pub(super) fn server(program: Program, listens: &str, to: &str) -> DnsServer {
    let configured = |line| place("/etc/server.conf", line, 1);
    let listen = |word: &str| Listen {
        address: (word != "*").then(|| word.parse().unwrap()),
        port: 53,
        evidence: Evidence::Default,
    };
    let target = |word: &str| Placed {
        value: match word.parse::<IpAddr>() {
            Ok(ip) => Target::Address((ip, 53).into()),
            Err(_) => Target::File(word.to_owned()),
        },
        place: configured(2),
    };
    DnsServer {
        listens: listens.split_whitespace().map(listen).collect(),
        forwards: vec![Forward {
            zone: ".".to_owned(),
            to: to.split_whitespace().map(target).collect(),
            policy: Policy::Unknown,
        }],
        ..DnsServer::new(program, Instance::Process(812), Network::Node)
    }
}

/// The verdict, and the states now and at the next start.
pub(super) fn check(name: &str, node: &Node, expected: (Verdict, State, State)) -> Report {
    let report = judge(node);
    let found = (report.verdict, report.now, report.next_start);
    assert_eq!(found, expected, "{name}: {report:#?}");
    report
}

/// The step that recreates these pods.
pub(super) fn recreate(pods: &[&str]) -> Step {
    Step::Recreate {
        namespace: "kube-system".to_owned(),
        pods: pods.iter().map(|it| (*it).to_owned()).collect(),
    }
}

/// Whether it is the server of a pod whose label has `part` in it.
pub(super) fn is_pod(name: &ServerName, part: &str) -> bool {
    matches!(&name.instance, Instance::Pod(pod) if pod.contains(part))
}

pub(super) fn is_drift(remark: &Remark) -> bool {
    matches!(remark, Remark::File(FileRemark::Drift { .. }))
}
