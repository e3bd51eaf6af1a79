//! A node in namespaces: a bridge with pods, and a second node behind a link.
//!
//! A scene runs as process 1 of namespaces of its own, which are the node's; all
//! that it makes ends with it.

use std::fmt::Write as _;
use std::fs::File;
use std::process::{Command, ExitCode};

use nix::sched::{CloneFlags, setns};
use serde_json::Value;

use crate::Scene;
use crate::answerer::Answerer;
pub(crate) use crate::namespaces::feed;
use crate::namespaces::in_namespaces;

pub(crate) const KDNS: &str = env!("CARGO_BIN_EXE_kdns");
const HIDDEN: &str = "--alone";

/// The cluster's DNS.
pub(crate) const SERVICE: &str = "10.96.0.10";
/// The pod that asks.
pub(crate) const CLIENT: &str = "10.244.0.7";
/// DNS pods of this node, and one of the other node.
pub(crate) const NEAR: [&str; 2] = ["10.244.0.2", "10.244.0.3"];
pub(crate) const FAR: &str = "10.244.1.4";

/// Runs the scene of this name in namespaces of its own.
#[track_caller]
pub(crate) fn alone(scene: &str) {
    in_namespaces(&[HIDDEN, scene]);
}

/// Runs a scene, if this process was started for that.
pub(crate) fn run_hidden(scenes: &[Scene]) -> Option<ExitCode> {
    let mut arguments = std::env::args().skip_while(|it| it != HIDDEN).skip(1);
    let wanted = arguments.next()?;
    let (_, run) = scenes.iter().find(|it| it.0 == wanted).unwrap();
    run();
    Some(ExitCode::SUCCESS)
}

/// A script that must succeed.
#[track_caller]
pub(crate) fn sh(script: &str) {
    let output = Command::new("sh").args(["-ec", script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{said}");
}

/// Runs in the network namespace of a pod, on a thread of its own.
pub(crate) fn within<T: Send>(pod: &str, work: impl FnOnce() -> T + Send) -> T {
    let file = File::open(format!("/run/netns/{pod}")).unwrap();
    std::thread::scope(|scope| {
        let enter = || {
            setns(&file, CloneFlags::CLONE_NEWNET).unwrap();
            work()
        };
        scope.spawn(enter).join().unwrap()
    })
}

/// A node.
pub(crate) struct Lab {
    /// Who answers.
    pub(crate) servers: Vec<Answerer>,
}

impl Lab {
    /// A node with a bridge, the pod that asks, and two DNS pods that answer; and
    /// another node with one. No rules yet.
    pub(crate) fn new() -> Self {
        sh("mount -t tmpfs tmpfs /run
            mkdir -p /run/netns
            printf 'nameserver 10.96.0.10\\nsearch default.svc.cluster.local svc.cluster.local\\n' > /run/resolv.conf
            mount --bind /run/resolv.conf /etc/resolv.conf
            ip link set lo up
            echo 1 > /proc/sys/net/ipv4/ip_forward
            ip link add cni0 type bridge
            ip addr add 10.244.0.1/24 dev cni0
            ip link set cni0 up
            ip netns add far
            ip link add uplink type veth peer name eth0 netns far
            ip addr add 172.31.0.10/24 dev uplink
            ip link set uplink up
            ip route add default via 172.31.0.11
            ip netns exec far sh -ec '
                ip link set lo up
                ip addr add 172.31.0.11/24 dev eth0
                ip link set eth0 up
                ip addr add 10.244.1.4/32 dev lo
                ip route add 10.244.0.0/24 via 172.31.0.10'");
        let mut lab = Self {
            servers: Vec::new(),
        };
        Self::pod("client", CLIENT);
        Self::pod("dns1", NEAR[0]);
        Self::pod("dns2", NEAR[1]);
        lab.answer("dns1", NEAR[0]);
        lab.answer("dns2", NEAR[1]);
        lab.answer("far", FAR);
        lab
    }

    /// A pod on the bridge.
    pub(crate) fn pod(name: &str, address: &str) {
        sh(&format!(
            "ip netns add {name}
             ip link add veth-{name} type veth peer name eth0 netns {name}
             ip link set veth-{name} master cni0
             ip link set veth-{name} up
             ip netns exec {name} sh -ec '
                ip link set lo up
                ip addr add {address}/24 dev eth0
                ip link set eth0 up
                ip route add default via 10.244.0.1'"
        ));
    }

    /// A DNS server in a network namespace.
    pub(crate) fn answer(&mut self, pod: &str, address: &str) {
        let server = within(pod, || Answerer::start(address));
        self.servers.push(server);
    }
}

/// What kube-proxy writes in iptables mode for the cluster's DNS with these
/// endpoints.
#[expect(clippy::too_many_lines, reason = "the rules are read as one text")]
pub(crate) fn kube_proxy(endpoints: &[&str]) -> String {
    let mut chains = String::new();
    let mut rules = String::new();
    for (protocol, chain) in [
        ("udp", "KUBE-SVC-TCOU7JCQXEZGVUNU"),
        ("tcp", "KUBE-SVC-ERIFXISQEP7F7OF4"),
    ] {
        let port = if protocol == "udp" { "dns" } else { "dns-tcp" };
        let name = format!("kube-system/kube-dns:{port}");
        writeln!(chains, ":{chain} - [0:0]").unwrap();
        writeln!(
            rules,
            "-A KUBE-SERVICES -d {SERVICE}/32 -p {protocol} -m comment --comment \"{name} cluster IP\" -m {protocol} --dport 53 -j {chain}"
        )
        .unwrap();
        for (index, endpoint) in endpoints.iter().enumerate() {
            let separate = format!("KUBE-SEP-{}{index}", protocol.to_uppercase());
            let left = endpoints.len() - index;
            let lot = if left == 1 {
                String::new()
            } else {
                format!(
                    "-m statistic --mode random --probability {:.11} ",
                    1.0 / f64::from(u32::try_from(left).unwrap())
                )
            };
            writeln!(chains, ":{separate} - [0:0]").unwrap();
            writeln!(
                rules,
                "-A {chain} -m comment --comment \"{name} -> {endpoint}:53\" {lot}-j {separate}\n\
                 -A {separate} -s {endpoint}/32 -m comment --comment \"{name}\" -j KUBE-MARK-MASQ\n\
                 -A {separate} -p {protocol} -m comment --comment \"{name}\" -m {protocol} -j DNAT --to-destination {endpoint}:53"
            )
            .unwrap();
        }
    }
    format!(
        "*nat
:KUBE-MARK-MASQ - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-SERVICES - [0:0]
{chains}-A PREROUTING -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES
-A OUTPUT -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES
-A POSTROUTING -m comment --comment \"kubernetes postrouting rules\" -j KUBE-POSTROUTING
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
-A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
-A KUBE-POSTROUTING -m comment --comment \"kubernetes service traffic requiring SNAT\" -j MASQUERADE
{rules}COMMIT
*filter
:KUBE-FORWARD - [0:0]
:KUBE-SERVICES - [0:0]
-A INPUT -m conntrack --ctstate NEW -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES
-A FORWARD -m comment --comment \"kubernetes forwarding rules\" -j KUBE-FORWARD
-A FORWARD -m conntrack --ctstate NEW -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES
-A OUTPUT -m conntrack --ctstate NEW -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES
-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
-A KUBE-FORWARD -m comment --comment \"kubernetes forwarding rules\" -m mark --mark 0x4000/0x4000 -j ACCEPT
-A KUBE-FORWARD -m comment --comment \"kubernetes forwarding conntrack rule\" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
COMMIT
"
    )
}

/// What kube-proxy writes in nftables mode, for the cluster's DNS.
pub(crate) fn kube_proxy_nftables(endpoints: &[&str]) -> String {
    let mut chains = String::new();
    let mut services = Vec::new();
    for protocol in ["udp", "tcp"] {
        let jumps: Vec<String> = endpoints
            .iter()
            .enumerate()
            .map(|(index, _)| format!("{index} : goto endpoint-{protocol}-{index}"))
            .collect();
        for (index, endpoint) in endpoints.iter().enumerate() {
            writeln!(
                chains,
                "  chain endpoint-{protocol}-{index} {{\n    ip saddr {endpoint} jump mark-for-masquerade\n    meta l4proto {protocol} dnat to {endpoint}:53\n  }}"
            )
            .unwrap();
        }
        writeln!(
            chains,
            "  chain service-ULMVA6XW-kube-system/kube-dns/{protocol}/dns {{\n    numgen random mod {} vmap {{ {} }}\n  }}",
            endpoints.len(),
            jumps.join(", ")
        )
        .unwrap();
        services.push(format!(
            "{SERVICE} . {protocol} . 53 : goto service-ULMVA6XW-kube-system/kube-dns/{protocol}/dns"
        ));
    }
    format!(
        "table ip kube-proxy {{
  comment \"rules for kube-proxy\"
  chain mark-for-masquerade {{
    mark set mark or 0x4000
  }}
  chain masquerading {{
    mark and 0x4000 == 0 return
    mark set mark xor 0x4000
    masquerade fully-random
  }}
{chains}  map service-ips {{
    type ipv4_addr . inet_proto . inet_service : verdict
    elements = {{ {} }}
  }}
  chain services {{
    ip daddr . meta l4proto . th dport vmap @service-ips
  }}
  chain nat-prerouting {{
    type nat hook prerouting priority dstnat; policy accept;
    jump services
  }}
  chain nat-output {{
    type nat hook output priority -100; policy accept;
    jump services
  }}
  chain nat-postrouting {{
    type nat hook postrouting priority srcnat; policy accept;
    jump masquerading
  }}
}}
",
        services.join(", ")
    )
}

/// Which program loads rules of iptables.
pub(crate) fn restore(backend: &str, rules: &str) {
    feed(
        &[&format!("iptables-{backend}-restore"), "--noflush"],
        rules,
    );
}

/// kdns path as JSON, for the client's pod; with its status.
pub(crate) fn path(arguments: &[&str]) -> (i32, Value) {
    run(&[
        &["path", "--target", "/run/netns/client", "--format", "json"],
        arguments,
    ]
    .concat())
}

pub(crate) fn run(arguments: &[&str]) -> (i32, Value) {
    let output = Command::new(KDNS).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text);
    let value = value.unwrap_or_else(|error| panic!("{error}\n{text}\n{said}"));
    (output.status.code().unwrap(), value)
}

/// The codes of the findings, sorted, each once.
pub(crate) fn codes(value: &Value) -> Vec<String> {
    let findings = value["findings"].as_array().unwrap();
    let mut codes: Vec<String> = findings
        .iter()
        .map(|it| it["code"].as_str().unwrap().to_owned())
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// kdns path as JSON, from the node itself; with its status.
pub(crate) fn of_node(arguments: &[&str]) -> (i32, Value) {
    run(&[&["path", "--format", "json"], arguments].concat())
}
