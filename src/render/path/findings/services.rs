//! The words of what is wrong with an address of Services.

use std::net::{IpAddr, SocketAddr};

use super::{Step, Words, advice};
use crate::order::once;
use crate::path::findings::{Bypass, Evidence, ServiceFinding};
use crate::render::command::Command;
use crate::render::sentence::sentence;
use crate::rules::Named;
use crate::text::escaped;

/// Where Istio's agent takes DNS queries.
///
/// Source: istio, `pkg/dns/client`, `DNS_PROXY_ADDR`.
const ISTIO_DNS: u16 = 15053;

pub(super) fn words(finding: &ServiceFinding, evidence: &[Evidence]) -> Words {
    match finding {
        ServiceFinding::Elsewhere { asked, others } => elsewhere(*asked, others),
        ServiceFinding::WithoutPort {
            asked,
            protocol,
            others,
        } => without_port(&format!("{asked}/{}", protocol.word()), others),
        ServiceFinding::UdpAlone { asked, to } => Words {
            what: sentence!(
                "redirected-over-udp-alone",
                "rules lead queries over UDP to {asked} to {to}, and leave those over TCP alone"
            ),
            why: format!(
                "answers that are too long for UDP are asked for over TCP, and can come from another server: what only {to} knows is not found then"
            ),
            fix: vec![advice(if to.port() == ISTIO_DNS {
                "have who wrote the rule lead port 53 of TCP, too: newer versions of Istio do with their DNS capture"
            } else {
                "have who wrote the rule lead port 53 of TCP, too"
            })],
        },
        ServiceFinding::Empty { service } => Words {
            what: sentence!(
                "service-without-endpoints",
                "a rule says that {} ({}) has no endpoints, and packets to it do not come to that rule",
                escaped(service.name.as_bytes()),
                service.address
            ),
            why: "no pod behind it is ready: packets leave with an address that nobody has, where the rule would refuse them".to_owned(),
            fix: vec![
                Step::Command(
                    Command::new("kubectl -n")
                        .arg(service.name.split_once('/').map_or("kube-system", |it| it.0))
                        .args(["get", "endpointslices,pods", "-o", "wide"]),
                ),
                advice("find out why its pods are not ready, or not there: kubectl describe pod, kubectl logs POD --previous | kdns why -"),
            ],
        },
        ServiceFinding::PassedBy { service, why } => {
            passed_by(service, why, evidence.first().map_or("", |it| &it.words))
        }
    }
}

fn passed_by(service: &Named, why: &Bypass, shown: &str) -> Words {
    let protocol = if service.is_udp { "udp" } else { "tcp" };
    let asked = format!(
        "{}/{protocol}",
        SocketAddr::new(service.address, service.port)
    );
    let name = escaped(service.name.as_bytes());
    let colon = if shown.is_empty() { "" } else { ": " };
    let rule = format!(
        "find who wrote this rule (a firewall, a VPN, a cache of the node that is gone), and have \
         it leave port {} of the Service alone{colon}{shown}",
        service.port
    );
    match why {
        Bypass::Led(ip, port) => Words {
            what: sentence!(
                "service-passed-by",
                "a rule leads packets to {asked} away to {}, before the rules of the Service {name}",
                SocketAddr::new(*ip, *port)
            ),
            why: "the DNS pods get none of them: another server does not know the names of the \
                  cluster"
                .to_owned(),
            fix: vec![advice(rule)],
        },
        Bypass::Untracked => Words {
            what: sentence!(
                "service-untracked",
                "a rule keeps connection tracking from packets to {asked}, so the rules of \
                 the Service {name} do not translate them"
            ),
            why: "they leave the node with an address that nobody has".to_owned(),
            fix: vec![advice(rule)],
        },
        Bypass::Unled => Words {
            what: sentence!(
                "service-not-led",
                "no rule leads packets to {asked} to the rules of the Service {name}, which are there"
            ),
            why: "somebody has flushed a chain that kube-proxy jumps from: PREROUTING for pods, \
                  OUTPUT for the node"
                .to_owned(),
            fix: written_again(),
        },
        Bypass::Emptied => Words {
            what: sentence!(
                "service-chain-empty",
                "packets to {asked} come to the rules of the Service {name}, and none of these \
                 translates them"
            ),
            why: "somebody has flushed a chain of kube-proxy, and packets leave with an address \
                  that nobody has"
                .to_owned(),
            fix: written_again(),
        },
    }
}

/// Have kube-proxy write its rules.
fn written_again() -> Vec<Step> {
    vec![
        advice("restart kube-proxy on this node, so that it writes its rules again"),
        Step::Command(Command::new(
            "kubectl -n kube-system rollout restart daemonset kube-proxy",
        )),
    ]
}

/// Commands about the first of these Services.
fn about(verb: &str, services: &[Named]) -> Vec<Step> {
    let about = services.iter().filter_map(|it| {
        let (namespace, name) = it.name.split(':').next()?.split_once('/')?;
        let command = Command::new("kubectl -n").args([namespace, verb, "service", name]);
        Some(Step::Command(command))
    });
    let mut shown = once(about);
    shown.truncate(3);
    shown
}

fn without_port(asked: &str, others: &[Named]) -> Words {
    let name = others.first().map_or("", |it| &it.name);
    let name = escaped(name.split(':').next().unwrap_or_default().as_bytes());
    let port = |it: &Named| format!("{}/{}", it.port, if it.is_udp { "udp" } else { "tcp" });
    let ports: Vec<String> = others.iter().map(port).collect();
    Words {
        what: sentence!(
            "service-without-port",
            "no rule is about {asked}: the Service {name} has {} there",
            ports.join(", ")
        ),
        why: "DNS is asked at port 53, over UDP first and over TCP where an answer is long"
            .to_owned(),
        fix: [advice(
            "add the port to the Service: 53, with protocol UDP and once more with TCP",
        )]
        .into_iter()
        .chain(about("edit", others))
        .collect(),
    }
}

fn elsewhere(asked: IpAddr, others: &[Named]) -> Words {
    if others.is_empty() {
        return Words {
            what: sentence!(
                "no-dns-service",
                "{asked} is asked for DNS, and no rule is about it, nor about DNS anywhere: the \
                 rules know other Services"
            ),
            why:
                "the Service of the cluster's DNS was deleted, or kube-proxy has not heard of it: \
                  packets to it leave with an address that nobody has"
                    .to_owned(),
            fix: vec![
                Step::Command(Command::new("kubectl -n kube-system get service kube-dns")),
                advice(format!(
                    "if it is not there: create it again, with clusterIP: {asked}, which pods ask; if \
                     it is: see whether kube-proxy runs on this node, and what it logs"
                )),
            ],
        };
    }
    let known = others
        .iter()
        .map(|it| format!("{} is at {}", escaped(it.name.as_bytes()), it.address));
    let then = format!(
        "if the cluster's DNS is there: where clusterDNS of the kubelet (a flag --cluster-dns counts before the file) is not its address, write it and restart the kubelet; then recreate the pods that ask {asked}"
    );
    Words {
        what: sentence!(
            "no-such-service",
            "{asked} is asked for DNS, and no rule is about it: {}",
            known.collect::<Vec<_>>().join(", ")
        ),
        why: "clusterDNS of the kubelet, or a pod's file, names an address that no Service has on this node: packets to it leave with an address that nobody has".to_owned(),
        fix: about("get", others).into_iter().chain([advice(then)]).collect(),
    }
}
