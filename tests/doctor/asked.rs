//! Servers that are asked, in a network of its own.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;

use crate::lab::Node;
use crate::root::trial;

const HIDDEN: &str = "--alone";

/// How the server of the node is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Server {
    Healthy,
    Dead,
    Slow,
    WithoutTcp,
    /// It answers, and the node lets no query to it out.
    Kept,
    /// What lets queries to it through says by ICMP that it has no route.
    Rejected,
    /// Its address is one that means all of a network.
    Broadcast,
}

const SERVERS: &[(&str, Server, &str)] = &[
    ("healthy", Server::Healthy, ""),
    ("dead", Server::Dead, "server-silent"),
    ("slow", Server::Slow, "server-slow"),
    ("without-tcp", Server::WithoutTcp, "no-tcp"),
    ("kept", Server::Kept, "query-not-sent"),
    ("rejected", Server::Rejected, "server-silent"),
    ("broadcast", Server::Broadcast, "server-silent"),
];

pub(crate) fn trials() -> Vec<Trial> {
    let one = |&(name, server, _): &(&'static str, Server, &str)| {
        let needs: &[&str] = match server {
            Server::Kept | Server::Rejected => &["unshare", "ip", "iptables-legacy"],
            _ => &["unshare", "ip"],
        };
        trial(&format!("asked::{name}"), needs, move || alone(name))
    };
    let on_node = trial(
        "asked::a DNS pod on the node's network",
        &["unshare", "ip"],
        || {
            alone(ON_NODE);
        },
    );
    SERVERS.iter().map(one).chain([on_node]).collect()
}

const ON_NODE: &str = "on-node";

/// NodeLocal DNSCache is on the node's network; everybody answers.
fn on_node() {
    shell(
        "ip link set lo up
         for it in 169.254.25.10 10.244.0.9 172.31.0.53; do ip address add $it/32 dev lo; done",
    );
    for server in ["169.254.25.10:53", "10.244.0.9:53", "172.31.0.53:53"] {
        udp(server, Duration::ZERO);
        tcp(server);
    }
    let said = Node::copy_of("row07-nodelocal").doctor(&["--ask"]);
    assert_eq!(said.state("servers"), "ok", "{said:#?}");
    let fact = said.fact("servers");
    assert!(fact.contains("nodelocaldns"), "{said:#?}");
}

/// Runs the scene in a network namespace of its own.
fn alone(name: &str) {
    let output = Command::new("unshare")
        .arg("--net")
        .arg(std::env::current_exe().unwrap())
        .args([HIDDEN, name])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Runs a scene, if this process was started for that.
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let name = std::env::args().skip_while(|it| it != HIDDEN).nth(1)?;
    if name == ON_NODE {
        on_node();
        return Some(ExitCode::SUCCESS);
    }
    let (_, server, expected) = SERVERS.iter().find(|it| it.0 == name)?;
    scene(*server, expected);
    Some(ExitCode::SUCCESS)
}

/// The server of the node `cluster-without-kubelet`, its DNS pods, which always
/// answer, and what doctor says.
fn scene(server: Server, expected: &str) {
    shell(
        "ip link set lo up; ip address add 172.31.0.53/32 dev lo
         ip address add 10.244.0.24/32 dev lo; ip address add 10.244.0.25/32 dev lo",
    );
    for pod in ["10.244.0.24:53", "10.244.0.25:53"] {
        udp(pod, Duration::ZERO);
        tcp(pod);
    }
    if server != Server::Dead {
        let delay = if server == Server::Slow { 900 } else { 0 };
        udp("172.31.0.53:53", Duration::from_millis(delay));
    }
    if server == Server::Kept {
        shell("iptables-legacy -A OUTPUT -d 172.31.0.53 -p udp -j DROP");
    }
    if server == Server::Rejected {
        shell(
            "iptables-legacy -A INPUT -d 172.31.0.53 -p udp -j REJECT --reject-with \
             icmp-net-unreachable",
        );
    }
    if server == Server::Broadcast {
        shell(
            "ip address del 172.31.0.53/32 dev lo
             ip route add broadcast 172.31.0.53 dev lo table local",
        );
    }
    if matches!(server, Server::Healthy | Server::Slow | Server::Kept) {
        tcp("172.31.0.53:53");
    }
    let node = Node::copy_of("cluster-without-kubelet");
    let quiet = node.doctor(&[]);
    assert_eq!(quiet.state("servers"), "unknown", "{quiet:#?}");
    let said = node.doctor(&["--ask"]);
    assert_eq!(said.first(), expected, "{said:#?}");
    let state = match server {
        Server::Healthy => "ok",
        _ => "warning",
    };
    assert_eq!(said.state("servers"), state, "{said:#?}");
    // There is a route to each.
    assert!(
        !said.document["causes"].to_string().contains("no route"),
        "{said:#?}"
    );
    if server == Server::Kept {
        // A full table would explain it.
        node.write("proc/sys/net/netfilter/nf_conntrack_count", "64000\n");
        node.write("proc/sys/net/netfilter/nf_conntrack_max", "65536\n");
        let said = node.doctor(&["--ask"]);
        assert_eq!(said.first(), "connection-table-full", "{said:#?}");
    }
}

#[track_caller]
fn shell(script: &str) {
    let status = Command::new("sh").args(["-ec", script]).status().unwrap();
    assert!(status.success(), "{script}");
}

/// Answers each query with its own bytes, as a reply.
fn udp(address: &str, delay: Duration) {
    let socket = UdpSocket::bind(address).unwrap();
    thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            thread::sleep(delay);
            buffer[2] |= 0x80;
            socket.send_to(&buffer[..length], from).unwrap();
        }
    });
}

fn tcp(address: &str) {
    let listener = TcpListener::bind(address).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
            stream.read_exact(&mut message).unwrap();
            message[2] |= 0x80;
            stream.write_all(&length).unwrap();
            stream.write_all(&message).unwrap();
        }
    });
}
