//! The words of findings, and their form in JSON.

mod connections;
mod services;

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Serialize;

use crate::path::findings::{
    CacheFinding, Fact, Finding, LinkFinding, PolicyFinding, PolicyMaker, Proxy, ProxyFinding,
};
use crate::render::command::Command;
use crate::render::sentence::{Sentence, sentence};

/// A finding in words.
#[derive(Clone, Debug)]
pub(in crate::render) struct Words {
    /// Its code, and what is wrong.
    pub(in crate::render) what: Sentence,
    /// What follows from it: a sentence without a full stop.
    pub(in crate::render) why: String,
    /// What to do: commands, or sentences without a full stop.
    pub(in crate::render) fix: Vec<Step>,
}

/// A step of a fix.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::render) enum Step {
    /// To be typed, on the node or where kubectl is.
    Command(Command),
    /// To be read.
    Advice(String),
}

/// A finding.
#[derive(Serialize, JsonSchema)]
pub(in crate::render) struct FindingJson {
    /// What it is; it stays when the words change.
    code: &'static str,
    /// `error`, `warning` or `info`.
    severity: &'static str,
    /// What is wrong.
    message: String,
    /// What follows from it.
    why: String,
    /// What shows it.
    evidence: Vec<EvidenceJson>,
    /// What to do: commands, and sentences.
    fix: Vec<String>,
}

/// Something that was read and shows a finding.
#[derive(Serialize, JsonSchema)]
struct EvidenceJson {
    /// A file, a tool or a part of the kernel.
    file: String,
    /// The line there; absent: it is no line of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// What is written there.
    text: String,
}

/// A finding for JSON.
pub(in crate::render) fn json(finding: &Finding) -> FindingJson {
    let words = words(finding);
    let evidence = finding.evidence.iter().map(|it| EvidenceJson {
        file: it.place.file.clone(),
        line: Some(it.place.line).filter(|it| *it > 0),
        text: it.words.clone(),
    });
    FindingJson {
        code: words.what.code,
        severity: finding.severity.word(),
        message: words.what.text,
        why: words.why,
        evidence: evidence.collect(),
        fix: words.fix.iter().map(|it| it.text().to_owned()).collect(),
    }
}

impl Step {
    /// Its text.
    pub(in crate::render) fn text(&self) -> &str {
        match self {
            Self::Command(command) => command.as_str(),
            Self::Advice(text) => text,
        }
    }
}

/// A finding in words.
pub(in crate::render) fn words(finding: &Finding) -> Words {
    match &finding.fact {
        Fact::Connection(it) => connections::connection(it),
        Fact::Link(it) => link(it),
        Fact::Cache(it) => cache(it),
        Fact::Policy(it) => policy(it),
        Fact::Proxy(it) => proxy(it),
        Fact::Service(it) => services::words(it, &finding.evidence),
    }
}

fn command(said: &str) -> Step {
    Step::Command(Command::new(said))
}

fn advice(text: impl Into<String>) -> Step {
    Step::Advice(text.into())
}

fn link(finding: &LinkFinding) -> Words {
    match finding {
        LinkFinding::Bridge { bridge, endpoint, pod, is_missing, setting } => {
            let pod = pod.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
            let load = is_missing.then(|| command("modprobe br_netfilter"));
            let mut fix: Vec<Step> = load.into_iter().collect();
            fix.push(Step::Command(Command::new("sysctl -w").arg(format!("{setting}=1"))));
            fix.push(advice("put br_netfilter into /etc/modules-load.d and the setting into /etc/sysctl.d, so that it is there after the next start, too"));
            Words {
                what: sentence!(
                    "bridge-bypasses-rules",
                    "answers of {endpoint}{pod} cross the bridge {bridge} without the rules that give them back the address that was asked"
                ),
                why: "client and endpoint are on the same bridge: the answer does not pass through the node, comes from another address than was asked, and the resolver drops it (reply from unexpected source)".to_owned(),
                fix,
            }
        }
        LinkFinding::Narrow { from, from_mtu, to, to_mtu, endpoint } => Words {
            what: sentence!(
                "mtu-narrows",
                "the asker's {from} sends packets of up to {from_mtu} bytes, and {to}, on the way to {endpoint}, takes {to_mtu}"
            ),
            why: "short answers come and long ones are lost, or their fragments: with EDNS over UDP, and over TCP where ICMP does not come back".to_owned(),
            fix: vec![
                advice(format!("raise the MTU of {to} to {from_mtu}, if what is behind it takes that")),
                advice(format!(
                    "or set the MTU of pods to {to_mtu} in the configuration of the network plugin, and start the pods again"
                )),
            ],
        },
        LinkFinding::Small { link, mtu, needed } => Words {
            what: sentence!(
                "mtu-small",
                "{link} takes packets of {mtu} bytes: an answer of the usual EDNS size of 1232 bytes needs {needed}"
            ),
            why: "such answers come in fragments, which firewalls and NAT drop, or not at all".to_owned(),
            fix: vec![
                advice("raise the MTU of the link"),
                advice(format!(
                    "or write into the Corefile: bufsize {}",
                    mtu.saturating_sub(needed.saturating_sub(1232)).max(512)
                )),
            ],
        },
    }
}

fn cache(finding: &CacheFinding) -> Words {
    let elsewhere = |address: &IpAddr| {
        format!(
            "if there is to be no cache on this node: set clusterDNS of the kubelet to the Service's address, restart the kubelet, and recreate the pods that ask {address}"
        )
    };
    match finding {
        CacheFinding::RulesMissing { address, link } => Words {
            what: sentence!(
                "node-cache-rules-missing",
                "the node has {address} on {link}, an address of NodeLocal DNSCache, and no NOTRACK rule keeps its queries out of the connection tracking table"
            ),
            why: "queries are lost in races for entries, which the cache is there to prevent; the Service's address is sent on to a DNS pod in place of the cache".to_owned(),
            fix: vec![restart(), advice("it writes its rules at its start and once a minute, unless it has -setupiptables=false: look for who deletes them")],
        },
        CacheFinding::RulesLeft { address, is_asked } => Words {
            what: sentence!(
                "node-cache-rules-left",
                "NOTRACK rules of NodeLocal DNSCache are there for {address}, and the node does not have that address"
            ),
            why: if *is_asked {
                "queries are not tracked, so they are not translated: they leave the node as they are, through the default route".to_owned()
            } else {
                "queries to it would not be tracked, and so not be translated".to_owned()
            },
            fix: vec![
                advice("start the cache on this node again, or delete its rules"),
                Step::Command(Command::new("iptables-save -t raw | grep -F").arg(address)),
            ],
        },
        CacheFinding::Silent { address, link, is_asked } => Words {
            what: sentence!(
                "node-cache-silent",
                "the node has {address} on {link}, an address of NodeLocal DNSCache, and nobody listens there"
            ),
            why: "queries to it are refused; the cache has ended without taking its link away".to_owned(),
            fix: {
                let leave = if *is_asked {
                    format!("or, {}; then take the address away", elsewhere(address))
                } else {
                    "or, if there is to be no cache on this node, take the address away".to_owned()
                };
                let delete = Command::new("ip address delete").arg(alone(*address));
                let delete = delete.args(["dev", &**link]);
                vec![restart(), advice(leave), Step::Command(delete)]
            },
        },
        CacheFinding::HalfTracked { address } => half_tracked(*address),
        CacheFinding::LinkMissing { address } => Words {
            what: sentence!(
                "node-cache-missing",
                "{address} is an address of NodeLocal DNSCache, and this node does not have it"
            ),
            why: "it is in the file of who asks, and no cache runs here: queries leave through the default route, or are refused".to_owned(),
            fix: vec![restart(), advice(format!("or, {}", elsewhere(address)))],
        },
    }
}

fn restart() -> Step {
    command(
        "kubectl -n kube-system delete pod -l k8s-app=node-local-dns --field-selector spec.nodeName=$NODE",
    )
}

fn half_tracked(address: IpAddr) -> Words {
    Words {
        what: sentence!(
            "node-cache-half-tracked",
            "queries over TCP to {address} are tracked, as a rule ends the table raw before the NOTRACK rule of NodeLocal DNSCache, and their answers are not"
        ),
        why: "the kernel sees no answer to the first packet of a connection, and calls the next one INVALID: queries over TCP time out where a rule drops such packets, while those over UDP are answered".to_owned(),
        fix: vec![advice("put that rule behind the NOTRACK rules, or leave DNS out of it; who writes it puts it back")],
    }
}

/// The address as `ip` takes it, of a network of its own.
fn alone(address: IpAddr) -> String {
    let bits = if address.is_ipv4() { 32 } else { 128 };
    format!("{address}/{bits}")
}

fn policy(finding: &PolicyFinding) -> Words {
    let who = |ip: &IpAddr| {
        if ip.is_unspecified() {
            "a pod".to_owned()
        } else {
            ip.to_string()
        }
    };
    match finding {
        PolicyFinding::Forward { table, client, endpoint } => Words {
            what: sentence!(
                "forward-drop",
                "the policy of FORWARD in the table {table} is DROP, and no rule lets packets of {} to {endpoint} pass",
                who(client)
            ),
            why: "kube-proxy accepts what it has marked (0x4000), which a pod's query is not; queries of the node itself do not come through FORWARD, so they succeed".to_owned(),
            fix: vec![
                command("iptables -P FORWARD ACCEPT"),
                advice("or accept what comes from and goes to the pods' network, with clusterCIDR in kube-proxy's configuration; Docker and some firewalls set the policy again at their start"),
            ],
        },
        PolicyFinding::NetworkPolicy {
            maker,
            policies,
            chain,
            client,
            endpoint,
            pod,
            is_reply,
        } => {
            let by = match maker {
                PolicyMaker::KubeRouter => "kube-router",
                PolicyMaker::Calico => "Calico",
                PolicyMaker::Antrea => "Antrea",
                PolicyMaker::Weave => "Weave Net",
            };
            let names = match policies.as_slice() {
                [] => "a network policy, whose name the rules do not have,".to_owned(),
                [one] => format!("the network policy {one}"),
                many => format!("the network policies {}", many.join(", ")),
            };
            let drops = if policies.len() > 1 { "drop" } else { "drops" };
            let pod = pod.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
            let what = if *is_reply { "answers" } else { "queries" };
            let way = if *is_reply {
                format!("of {endpoint}{pod} to {}", who(client))
            } else {
                format!("of {} to {endpoint}{pod}", who(client))
            };
            Words {
                what: sentence!("network-policy-drops", "{names} {drops} {what} {way} ({by}, chain {chain})"),
                why: "a pod that a policy selects takes or sends only what some policy allows; DNS is port 53 of the DNS pods, over UDP and TCP: the rules see the pod's address, not the Service's".to_owned(),
                fix: policies.iter().map(|it| Step::Command(describe(it))).chain([advice(
                    "allow egress to, or ingress of, the pods k8s-app=kube-dns in kube-system at port 53, UDP and TCP",
                )]).collect(),
            }
        }
    }
}

fn describe(policy: &str) -> Command {
    match policy.split_once('/') {
        Some((namespace, name)) => Command::new("kubectl -n").arg(namespace).args([
            "get",
            "networkpolicy",
            name,
            "-o",
            "yaml",
        ]),
        None => Command::new("kubectl get networkpolicy -A | grep -w").arg(policy),
    }
}

fn proxy(finding: &ProxyFinding) -> Words {
    match finding {
        ProxyFinding::Two { proxies } => {
            let names: Vec<&str> = proxies
                .iter()
                .map(|it| match it {
                    Proxy::Iptables => "iptables",
                    Proxy::Nftables => "nftables",
                    Proxy::Ipvs => "IPVS",
                })
                .collect();
            Words {
                what: sentence!(
                    "two-proxies",
                    "Services are carried by more than one kind of rules at once: {}",
                    names.join(" and ")
                ),
                why: "kube-proxy has left rules of another mode behind: what they translate goes where endpoints were when the mode was changed, and never reaches the others".to_owned(),
                fix: vec![
                    command("kube-proxy --cleanup"),
                    advice("in a container of kube-proxy on this node; then start its pod again, or restart the node"),
                ],
            }
        }
        ProxyFinding::TwoBackends { table, is_proxy } => Words {
            what: sentence!(
                if *is_proxy {
                    "two-backends-conflict"
                } else {
                    "two-backends"
                },
                "the table {table} has rules in iptables-legacy and in iptables-nft at once"
            ),
            why: if *is_proxy {
                "each packet meets both, and both have rules of kube-proxy: those of the one that no program writes any more are out of date".to_owned()
            } else {
                "each packet meets both: what one accepts the other can still drop, and tools show one of them".to_owned()
            },
            fix: vec![
                advice(
                    "find out which one kube-proxy and the network plugin write (iptables --version in their containers), and delete the other's rules",
                ),
                command(&format!(
                    "iptables-legacy-save -t {table}; iptables-nft-save -t {table}"
                )),
            ],
        },
    }
}
