//! A node with a pod and endpoints behind a link, and packets that are sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use kdns::path::{Address, Host, Packet, Protocol, Route, RouteKind, Start, evaluate};
use kdns::rules::{Rules, Text};
use kdns::text::Source;
use nix::sched::{CloneFlags, setns};

use crate::loader::{Loader, feed};
use crate::lots::Lots;
use crate::{iptables, judge, nftables};

pub(crate) const VIPS: [&str; 2] = ["10.96.0.10", "10.96.0.11"];
/// The last one is the pod that asks.
pub(crate) const ENDPOINTS: [&str; 4] = ["10.244.1.5", "10.244.2.6", "10.244.3.7", "10.244.0.7"];
pub(crate) const NODE: &str = "172.31.0.10";
pub(crate) const NODE_PORT: u16 = 30053;
const POD: &str = "10.244.0.7";
pub(crate) const PORTS: [u16; 2] = [53, 5353];

/// So many packets go to each destination.
const PACKETS: u16 = 80;
/// Nothing comes any more after so long a silence.
const SILENCE: Duration = Duration::from_millis(12);
/// A machine that does much else may be late.
const ATTEMPTS: usize = 3;

const QUESTION: &[u8] = b"a question";
const ANSWER: &[u8] = b"the answer";

/// A script that must succeed.
fn sh(script: &str) {
    let output = Command::new("sh").args(["-ec", script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{said}");
}

/// Opens sockets in a network namespace.
fn within<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> T {
    let file = File::open(format!("/run/netns/{name}")).unwrap();
    std::thread::scope(|scope| {
        let enter = || {
            setns(&file, CloneFlags::CLONE_NEWNET).unwrap();
            work()
        };
        scope.spawn(enter).join().unwrap()
    })
}

/// What a socket has, and where it is.
struct Server {
    address: SocketAddr,
    socket: UdpSocket,
}

/// What came of packets to one destination.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) sent: usize,
    /// By endpoint, and whether its sender was another than the asker.
    pub(crate) arrived: BTreeMap<(SocketAddr, bool), usize>,
    pub(crate) answered: usize,
    /// Errors by number, when they were sent or later.
    pub(crate) errors: BTreeMap<i32, usize>,
}

struct Lab {
    servers: Vec<Server>,
    next_port: u16,
}

/// Runs rule sets, as the first process of namespaces of its own.
#[expect(clippy::print_stderr, reason = "tests say what they skip")]
pub(crate) fn run(loader: Loader, seed: u64, count: u64) -> ExitCode {
    let mut lab = Lab::new();
    if loader != Loader::Nft {
        feed(&["ipset", "restore"], iptables::SETS);
    }
    let mut is_good = true;
    for index in 0..count {
        let seed = seed.wrapping_add(index);
        let mut lots = Lots::new(seed);
        let rules = match loader {
            Loader::Nft => nftables::rules(&mut lots),
            _ => iptables::rules(&mut lots),
        };
        if let Err(why) = lab.compare(loader, &rules, &mut lots) {
            eprintln!(
                "KDNS_SEED={seed} KDNS_SCENARIOS=1 {}: {why}\n{rules}",
                loader.name()
            );
            is_good = false;
        }
    }
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

impl Lab {
    fn new() -> Self {
        sh("mount -t tmpfs tmpfs /run
            mkdir -p /run/netns
            ip link set lo up
            echo 1 > /proc/sys/net/ipv4/ip_forward
            echo 0 > /proc/sys/net/ipv4/icmp_ratelimit
            for it in udp_timeout udp_timeout_stream; do echo 5 > /proc/sys/net/netfilter/nf_conntrack_$it; done
            for it in all default; do echo 0 > /proc/sys/net/ipv4/conf/$it/rp_filter; done
            ip netns add pod
            ip netns add far
            ip link add cali7 type veth peer name eth0 netns pod
            ip link add eth9 type veth peer name eth0 netns far
            ip addr add 10.244.0.1/24 dev cali7
            ip addr add 172.31.0.10/24 dev eth9
            ip link set cali7 up
            ip link set eth9 up
            ip netns exec pod sh -ec '
                ip link set lo up
                ip addr add 10.244.0.7/24 dev eth0
                ip link set eth0 up
                ip route add default via 10.244.0.1'
            ip netns exec far sh -ec '
                ip link set lo up
                ip addr add 172.31.0.11/24 dev eth0
                ip link set eth0 up
                for it in 10.244.1.5 10.244.2.6 10.244.3.7; do ip addr add $it/32 dev lo; done
                ip route add 10.244.0.0/24 via 172.31.0.10'
            ip route add default via 172.31.0.11
            ping -c1 -W1 172.31.0.11 >/dev/null 2>&1 || true
            ping -c1 -W1 10.244.0.7 >/dev/null 2>&1 || true");
        let mut servers = within("far", || {
            listen(&["10.244.1.5", "10.244.2.6", "10.244.3.7"])
        });
        servers.extend(within("pod", || listen(&[POD])));
        servers.extend(listen(&["127.0.0.1", "10.244.0.1", NODE]));
        Self {
            servers,
            next_port: 10_000,
        }
    }

    /// Loads the rules, and holds what becomes of packets against what kdns says.
    fn compare(&mut self, loader: Loader, rules: &str, lots: &mut Lots) -> Result<(), String> {
        loader.load(rules);
        let texts = loader.saved();
        let host = host(&texts);
        let mut destinations: Vec<SocketAddr> = [VIPS[0], VIPS[1], ENDPOINTS[0]]
            .iter()
            .map(|it| format!("{it}:53").parse().unwrap())
            .collect();
        destinations.push(format!("{NODE}:{NODE_PORT}").parse().unwrap());
        for _ in 0..2 {
            let to = destinations.swap_remove(lots.below(destinations.len()));
            let is_host = lots.one_in(3);
            let mut attempt = 1;
            loop {
                let result = self.compare_one(&host, to, is_host);
                match result {
                    Err(_) if attempt < ATTEMPTS => attempt += 1,
                    Err(why) => return Err(why),
                    Ok(()) => break,
                }
            }
        }
        Ok(())
    }

    fn compare_one(&mut self, host: &Host, to: SocketAddr, is_host: bool) -> Result<(), String> {
        let source: IpAddr = if !is_host {
            POD.parse().unwrap()
        } else if to.ip().to_string() == NODE {
            to.ip()
        } else {
            NODE.parse().unwrap()
        };
        let start = if is_host {
            Start::Host
        } else {
            Start::Link {
                name: Some("cali7".into()),
            }
        };
        let packet = Packet {
            protocol: Protocol::Udp,
            source,
            source_port: None,
            destination: to.ip(),
            port: to.port(),
            start,
            length: Some(28 + u16::try_from(QUESTION.len()).unwrap()),
        };
        let tree = evaluate(host, &packet);
        let observed = self.ask(source, to, is_host);
        judge::judge(&tree, &observed, is_host).map_err(|why| {
            let mut text = format!(
                "{why}\nfrom {source} to {to}, predicted {:?}:\n",
                tree.verdict
            );
            for it in &tree.outcomes {
                let steps: Vec<String> = it
                    .steps
                    .iter()
                    .map(|it| format!("    {} {}", it.table, it.rule))
                    .collect();
                writeln!(
                    text,
                    "  {} {:?} {}:{} masqueraded {} {:?} {:?} if {:?}\n{}",
                    it.share,
                    it.kind,
                    it.address,
                    it.port,
                    it.masqueraded,
                    it.error,
                    it.reply,
                    it.depends_on,
                    steps.join("\n")
                )
                .unwrap();
            }
            writeln!(text, "observed {observed:?}").unwrap();
            text
        })
    }

    /// Sends packets, each from a port of its own.
    fn ask(&mut self, source: IpAddr, to: SocketAddr, is_host: bool) -> Observed {
        let first = self.next_port;
        self.next_port = if first > 60_000 {
            10_000
        } else {
            first + PACKETS
        };
        let open = || -> Vec<UdpSocket> {
            let one = |port| {
                let socket = UdpSocket::bind((source, port)).unwrap();
                socket.set_nonblocking(true).unwrap();
                socket
            };
            (first..first + PACKETS).map(one).collect()
        };
        let clients = if is_host { open() } else { within("pod", open) };
        self.drain(source, &mut Observed::default());
        let mut observed = Observed::default();
        let fail = |errors: &mut BTreeMap<i32, usize>, error: &std::io::Error| {
            *errors.entry(error.raw_os_error().unwrap()).or_default() += 1;
        };
        let mut open: Vec<&UdpSocket> = Vec::new();
        for client in &clients {
            observed.sent += 1;
            let sent = client.connect(to).and_then(|()| client.send(QUESTION));
            match sent {
                Ok(_) => open.push(client),
                Err(error) => fail(&mut observed.errors, &error),
            }
        }
        let mut quiet = Instant::now();
        let mut buffer = [0; 64];
        while quiet.elapsed() < SILENCE {
            if self.drain(source, &mut observed) {
                quiet = Instant::now();
            }
            open.retain(|client| match client.recv(&mut buffer) {
                Ok(_) => {
                    observed.answered += 1;
                    quiet = Instant::now();
                    false
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => true,
                Err(error) => {
                    fail(&mut observed.errors, &error);
                    false
                }
            });
            std::thread::sleep(Duration::from_micros(300));
        }
        observed
    }

    /// Takes what has arrived, and answers it.
    fn drain(&self, source: IpAddr, observed: &mut Observed) -> bool {
        let mut buffer = [0; 64];
        let mut is_any = false;
        for server in &self.servers {
            while let Ok((length, from)) = server.socket.recv_from(&mut buffer) {
                is_any = true;
                // An answer can be led to another server.
                if &buffer[..length] != QUESTION {
                    continue;
                }
                let key = (server.address, from.ip() != source);
                *observed.arrived.entry(key).or_default() += 1;
                // A rule may forbid it.
                let _ = server.socket.send_to(ANSWER, from);
            }
        }
        is_any
    }
}

fn listen(addresses: &[&str]) -> Vec<Server> {
    let mut servers = Vec::new();
    for address in addresses {
        for port in PORTS {
            let address: SocketAddr = format!("{address}:{port}").parse().unwrap();
            let socket = UdpSocket::bind(address).unwrap();
            socket.set_nonblocking(true).unwrap();
            servers.push(Server { address, socket });
        }
    }
    servers
}

/// What kdns knows of the node.
fn host(texts: &[Source]) -> Host {
    let boxed = |it: &Source| Box::new(it.clone()) as Box<dyn Text + Send>;
    let address = |ip: &str, prefix, link: &str| Address {
        ip: ip.parse().unwrap(),
        prefix,
        link: link.into(),
    };
    let route = |destination: &str, prefix, gateway: Option<&str>, link: &str| Route {
        table: 254,
        kind: RouteKind::Unicast,
        destination: destination.parse().unwrap(),
        prefix,
        gateway: gateway.map(|it| it.parse().unwrap()),
        link: Some(link.into()),
        source: None,
        metric: 0,
    };
    let listener = |ip: &str, port| (ip.parse().unwrap(), port, Protocol::Udp);
    let own = ["127.0.0.1", "10.244.0.1", NODE];
    Host {
        known: RulesKnown::All,
        rules: Rules::read(
            texts
                .iter()
                .filter(|it| !it.bytes.is_empty())
                .map(boxed)
                .collect(),
        )
        .unwrap(),
        addresses: Some(vec![
            address("127.0.0.1", 8, "lo"),
            address("10.244.0.1", 24, "cali7"),
            address(NODE, 24, "eth9"),
        ]),
        routes: Some(vec![
            route("10.244.0.0", 24, None, "cali7"),
            route("172.31.0.0", 24, None, "eth9"),
            route("0.0.0.0", 0, Some("172.31.0.11"), "eth9"),
        ]),
        listeners: Some(
            own.iter()
                .flat_map(|ip| PORTS.map(|port| listener(ip, port)))
                .collect(),
        ),
        ..Host::default()
    }
}
