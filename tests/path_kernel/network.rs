//! A node with a pod and endpoints behind a link, of both families.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::process::Command;

use kdns::path::{Address, Host, Protocol, Route, RouteKind, RulesKnown};
use kdns::rules::{Rules, Text};
use kdns::text::Source;
use nix::sched::{CloneFlags, setns};
use socket2::{Domain, Socket, Type};

use crate::dialect::Dialect;
use crate::lab::{NODE, POD, PORTS};

/// Neighbours are written down: rules must not keep them from being found.
const NETWORK: &str = "mount -t tmpfs tmpfs /run
    mkdir -p /run/netns
    set_up() {
        for it in all default; do
            echo 0 > /proc/sys/net/ipv4/conf/$it/rp_filter
            echo 0 > /proc/sys/net/ipv6/conf/$it/disable_ipv6
            echo 0 > /proc/sys/net/ipv6/conf/$it/accept_dad
        done
        echo 1 > /proc/sys/net/ipv4/tcp_synack_retries
        ip link set lo up
    }
    set_up
    echo 1 > /proc/sys/net/ipv4/ip_forward
    echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
    echo 0 > /proc/sys/net/ipv4/icmp_ratelimit
    echo 0 > /proc/sys/net/ipv6/icmp/ratelimit
    for it in udp_timeout udp_timeout_stream tcp_timeout_syn_sent tcp_timeout_syn_recv \
        tcp_timeout_established tcp_timeout_close; do
        echo 5 > /proc/sys/net/netfilter/nf_conntrack_$it
    done
    ip netns add pod
    ip netns add far
    mac=02:00:00:00:00:0
    ip link add cali7 address ${mac}1 type veth peer name eth0 address ${mac}2 netns pod
    ip link add eth9 address ${mac}3 type veth peer name eth0 address ${mac}4 netns far
    up() {
        ip link set $1 addrgenmode none up
        for it in $2; do ip addr add $it dev $1 nodad; done
        for it in $3; do ip neigh add $it lladdr $mac$4 dev $1 nud permanent; done
    }
    up cali7 '10.244.0.1/24 fd44::1/32' '10.244.0.7 fd44::7' 2
    up eth9 '172.31.0.10/24 fd31::10/64' '172.31.0.11 fd31::11' 4
    ip route add default via 172.31.0.11
    ip -6 route add default via fd31::11
    export mac
    ip netns exec pod sh -ec \"$(declare -f set_up up)\"'
        set_up
        up eth0 \"10.244.0.7/24 fd44::7/32\" \"10.244.0.1 fd44::1\" 1
        ip route add default via 10.244.0.1
        ip -6 route add default via fd44::1'
    ip netns exec far sh -ec \"$(declare -f set_up up)\"'
        set_up
        up eth0 \"172.31.0.11/24 fd31::11/64\" \"172.31.0.10 fd31::10\" 3
        for it in 10.244.1.5 10.244.2.6 10.244.3.7; do ip addr add $it/32 dev lo; done
        for it in fd44:1::5 fd44:2::6 fd44:3::7; do ip addr add $it/128 dev lo nodad; done
        ip route add 10.244.0.0/24 via 172.31.0.10
        ip -6 route add fd44::/32 via fd31::10'";

/// A script that must succeed.
fn sh(script: &str) {
    let output = Command::new("bash").args(["-ec", script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{said}");
}

/// Works in a network namespace.
pub(crate) fn within<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> T {
    let file = File::open(format!("/run/netns/{name}")).unwrap();
    std::thread::scope(|scope| {
        let enter = || {
            setns(&file, CloneFlags::CLONE_NEWNET).unwrap();
            work()
        };
        scope.spawn(enter).join().unwrap()
    })
}

/// Sockets that wait at an address.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) udp: UdpSocket,
    pub(crate) tcp: TcpListener,
}

/// Makes the network, with all that listens in it.
pub(crate) fn make() -> Vec<Server> {
    sh(NETWORK);
    let of = |hosts: &[&str]| -> Vec<IpAddr> {
        let families = [Dialect::ALL[0], Dialect::ALL[2]];
        let both = |it: &&str| families.map(|family| family.ip(it));
        hosts.iter().flat_map(both).collect()
    };
    let far = of(&["10.244.1.5", "10.244.2.6", "10.244.3.7"]);
    let mut servers = within("far", || listen(&far));
    servers.extend(within("pod", || listen(&of(&[POD]))));
    servers.extend(listen(&of(&["127.0.0.1", "10.244.0.1", NODE])));
    servers
}

fn listen(addresses: &[IpAddr]) -> Vec<Server> {
    let server = |address: SocketAddr| {
        let udp = UdpSocket::bind(address).unwrap();
        udp.set_nonblocking(true).unwrap();
        let tcp = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
        tcp.bind(&address.into()).unwrap();
        // Of more the kernel would keep no connections but cookies.
        tcp.listen(4096).unwrap();
        tcp.set_nonblocking(true).unwrap();
        let tcp = TcpListener::from(tcp);
        Server { address, udp, tcp }
    };
    let at = |ip: &IpAddr| PORTS.map(|port| SocketAddr::new(*ip, port));
    addresses.iter().flat_map(at).map(server).collect()
}

/// Connections that have come to a server: its address, and the sender's. One
/// whose handshake has not ended counts, too.
pub(crate) fn connections() -> BTreeSet<(SocketAddr, SocketAddr)> {
    let read = || -> String {
        let text = |it| std::fs::read_to_string(format!("/proc/thread-self/net/{it}")).unwrap();
        ["tcp", "tcp6"].map(text).concat()
    };
    let texts = [read(), within("far", read), within("pod", read)];
    let lines = texts.iter().flat_map(|it| it.lines());
    lines.filter_map(connection).collect()
}

/// `0: 0500F40A:0035 0700F40A:2710 03 …`.
fn connection(line: &str) -> Option<(SocketAddr, SocketAddr)> {
    const ESTABLISHED: &str = "01";
    const SYN_RECV: &str = "03";
    let mut words = line.split_whitespace().skip(1);
    let (local, remote, state) = (words.next()?, words.next()?, words.next()?);
    let (local, remote) = (socket(local)?, socket(remote)?);
    let is_it = [ESTABLISHED, SYN_RECV].contains(&state) && PORTS.contains(&local.port());
    is_it.then_some((local, remote))
}

/// Numbers of four bytes, as the processor has them.
fn socket(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let mut bytes = Vec::new();
    for at in (0..ip.len()).step_by(8) {
        let number = u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?;
        bytes.extend(number.to_ne_bytes());
    }
    let ip: IpAddr = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => Ipv4Addr::from(four).into(),
        Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?).into(),
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// What kdns knows of the node.
pub(crate) fn host(texts: &[Source]) -> Host {
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
    let own = ["127.0.0.1", "10.244.0.1", NODE];
    let listeners = Dialect::ALL.iter().flat_map(|it| {
        let at = |ip: &&str| PORTS.map(|port| (it.ip(ip), port, it.protocol()));
        own.iter()
            .flat_map(at)
            .collect::<Vec<(IpAddr, u16, Protocol)>>()
    });
    let known = texts.iter().filter(|it| !it.bytes.is_empty());
    Host {
        known: RulesKnown::All,
        rules: Rules::parse(known.map(boxed).collect()).unwrap(),
        addresses: Some(vec![
            address("127.0.0.1", 8, "lo"),
            address("10.244.0.1", 24, "cali7"),
            address(NODE, 24, "eth9"),
            address("::1", 128, "lo"),
            address("fd44::1", 32, "cali7"),
            address("fd31::10", 64, "eth9"),
        ]),
        routes: Some(vec![
            route("10.244.0.0", 24, None, "cali7"),
            route("172.31.0.0", 24, None, "eth9"),
            route("0.0.0.0", 0, Some("172.31.0.11"), "eth9"),
            route("fd44::", 32, None, "cali7"),
            route("fd31::", 64, None, "eth9"),
            route("::", 0, Some("fd31::11"), "eth9"),
        ]),
        listeners: Some(listeners.collect()),
        ..Host::default()
    }
}
