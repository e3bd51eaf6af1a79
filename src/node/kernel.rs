//! What the kernel keeps about connections, from its tables as text.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::address::DNS_PORT;
use crate::rules::conntrack;
use crate::rules::ipvs::{self, Key};
use crate::text::{Place, escaped};

/// What the kernel of a node says about connections. What could not be read is
/// `None` or empty.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Kernel {
    /// How full the table of connections is.
    pub conntrack: Option<Room>,
    /// What went wrong with it since the machine started.
    pub statistics: Option<Statistics>,
    /// How long the machine has run, in seconds.
    pub uptime: Option<u64>,
    /// Whether packets that cross a bridge go through iptables:
    /// `net.bridge.bridge-nf-call-iptables`.
    pub bridge_calls_iptables: Option<bool>,
    /// Whether it is known that the module `br_netfilter`, which has that
    /// setting, is not loaded.
    pub lacks_bridge_module: bool,
    /// The connections to servers on port 53, in the order of the table, at
    /// most [`MAX_FLOWS`].
    pub flows: Vec<Flow>,
    /// The services of IPVS on port 53; `None`: there is no IPVS.
    pub services: Option<Vec<Service>>,
    /// The connections of IPVS to port 53, at most [`MAX_FLOWS`].
    pub service_flows: Vec<ServiceFlow>,
    /// Whether IPVS forgets a connection whose server is gone when the next
    /// packet comes: `net.ipv4.vs.expire_nodest_conn`.
    pub expires_without_server: Option<bool>,
    /// How full the file system is that has the kubelet's directory, in bytes,
    /// without what only root may write; `None`: the node does not run here.
    pub disk: Option<Room>,
}

/// How full a table is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Room {
    /// How many entries it has.
    pub count: u64,
    /// How many fit.
    pub max: u64,
}

/// What a file says about the table of connections.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Statistics {
    /// The file that says so.
    pub file: String,
    /// Its counters.
    pub counters: ConntrackCounters,
}

/// Counters of the table of connections, over all processors; 0 where the kernel
/// has no such counter. In JSON `insert_failed`, `drop` and `early_drop`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub struct ConntrackCounters {
    /// Packets that were dropped because their connection could not be
    /// entered: another one had the same addresses and ports.
    pub insert_failed: u64,
    /// Packets that were dropped because there was no room for their
    /// connection, or it was given up.
    pub drop: u64,
    /// Connections that were entered although another one had the same addresses
    /// and ports: harmless by itself (Linux 5.10 and later).
    pub clash_resolve: u64,
    /// Connections that were thrown out because the table was full.
    pub early_drop: u64,
}

impl From<(u64, u64, u64)> for ConntrackCounters {
    fn from((insert_failed, drop, early_drop): (u64, u64, u64)) -> Self {
        Self {
            insert_failed,
            drop,
            early_drop,
            ..Self::default()
        }
    }
}

impl From<ConntrackCounters> for (u64, u64, u64) {
    fn from(it: ConntrackCounters) -> Self {
        (it.insert_failed, it.drop, it.early_drop)
    }
}

impl ConntrackCounters {
    /// How far they have risen since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            insert_failed: self.insert_failed.saturating_sub(before.insert_failed),
            drop: self.drop.saturating_sub(before.drop),
            clash_resolve: self.clash_resolve.saturating_sub(before.clash_resolve),
            early_drop: self.early_drop.saturating_sub(before.early_drop),
        }
    }

    /// Packets that were lost, at least: one that loses a race counts as both, one
    /// whose chain is too long as the first, and one without room as the second.
    ///
    /// Source: Linux, `net/netfilter/nf_conntrack_core.c`: `__nf_conntrack_confirm`,
    /// `nf_ct_resolve_clash` and `nf_conntrack_in`.
    pub fn lost(self) -> u64 {
        self.insert_failed.max(self.drop)
    }
}

/// A connection to a server on port 53.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Flow {
    /// Its line.
    pub place: Place,
    /// Whether it is UDP; otherwise it is TCP.
    pub is_udp: bool,
    /// The address that the client asked.
    pub server: IpAddr,
    /// The address from which the answer comes: another one where the packets
    /// are sent on.
    pub answers_from: IpAddr,
    /// Whether no answer has come.
    pub is_unreplied: bool,
}

/// A service of IPVS.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Service {
    /// Its line.
    pub place: Place,
    /// Whether it is UDP; otherwise it is TCP.
    pub is_udp: bool,
    /// Its address.
    pub address: SocketAddr,
    /// Its servers with their weights, in order. Weight 0: it gets no new
    /// connections.
    pub servers: Vec<(SocketAddr, u32)>,
}

/// A connection of IPVS.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServiceFlow {
    /// Its line.
    pub place: Place,
    /// Whether it is UDP; otherwise it is TCP.
    pub is_udp: bool,
    /// The address of the service.
    pub service: SocketAddr,
    /// The server that it goes to.
    pub server: SocketAddr,
}

/// More connections are not looked at.
pub const MAX_FLOWS: usize = 10_000;

/// What `/proc/net/stat/nf_conntrack` says; `None`: it has not those counters.
///
/// The columns are found by their names: versions of the kernel have others.
///
/// Source: Linux `net/netfilter/nf_conntrack_standalone.c: ct_cpu_seq_show`.
pub fn statistics(file: &str, text: &[u8]) -> Option<Statistics> {
    let mut lines = numbered(file, text).map(|it| it.1);
    let header: Vec<&str> = lines.next()?.split_ascii_whitespace().collect();
    let column = |name: &str| header.iter().position(|it| *it == name);
    let (failed, early) = (column("insert_failed")?, column("early_drop")?);
    let mut counters = ConntrackCounters::default();
    for line in lines {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let add = |sum: &mut u64, at: Option<usize>| {
            let word = at.and_then(|it| words.get(it)).copied().unwrap_or_default();
            *sum = sum.saturating_add(u64::from_str_radix(word, 16).unwrap_or_default());
        };
        add(&mut counters.drop, column("drop"));
        add(&mut counters.clash_resolve, column("clashres"));
        add(&mut counters.insert_failed, Some(failed));
        add(&mut counters.early_drop, Some(early));
    }
    Some(Statistics {
        file: file.to_owned(),
        counters,
    })
}

/// The connections to port 53 in `/proc/net/nf_conntrack`.
///
/// Source: Linux `net/netfilter/nf_conntrack_standalone.c: ct_seq_show`.
pub fn flows(file: &str, text: &[u8]) -> Vec<Flow> {
    let flows = numbered(file, text).filter_map(|(place, line)| flow(place, line));
    flows.take(MAX_FLOWS).collect()
}

fn flow(place: Place, line: &str) -> Option<Flow> {
    let entry = conntrack::parse(line, 0)?;
    (entry.original.destination_port == DNS_PORT).then_some(Flow {
        place,
        is_udp: is_udp(entry.protocol)?,
        server: entry.original.destination,
        answers_from: entry.reply.source,
        is_unreplied: entry.is_unreplied,
    })
}

fn is_udp(protocol: u8) -> Option<bool> {
    match protocol {
        17 => Some(true),
        6 => Some(false),
        _ => None,
    }
}

/// The services on port 53 in `/proc/net/ip_vs`.
///
/// Source: Linux `net/netfilter/ipvs/ip_vs_ctl.c: ip_vs_info_seq_show`.
pub fn services(file: &str, text: &[u8]) -> Vec<Service> {
    let mut taken = ipvs::Taken::default();
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        taken.take(&String::from_utf8_lossy(line), number);
    }
    let file = escaped(file.as_bytes());
    let service = |it: ipvs::Service| match it.key {
        Key::Address(protocol, address) if address.port() == DNS_PORT => Some(Service {
            place: Place::new(file.clone(), it.line as usize, 1),
            is_udp: is_udp(protocol)?,
            address,
            servers: it
                .servers
                .iter()
                .map(|it| (it.address, it.weight))
                .collect(),
        }),
        _ => None,
    };
    taken.services.into_iter().filter_map(service).collect()
}

/// The connections to services on port 53 in `/proc/net/ip_vs_conn`.
///
/// Source: Linux `net/netfilter/ipvs/ip_vs_conn.c: ip_vs_conn_seq_show`.
pub fn service_flows(file: &str, text: &[u8]) -> Vec<ServiceFlow> {
    let flows = numbered(file, text).filter_map(|(place, line)| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [
            protocol @ ("UDP" | "TCP"),
            _,
            _,
            to,
            to_port,
            server,
            server_port,
            ..,
        ] = words.as_slice()
        else {
            return None;
        };
        let port = |text: &str| u16::from_str_radix(text, 16).ok();
        let service = SocketAddr::new(ip(to)?, port(to_port)?);
        (service.port() == DNS_PORT).then_some(ServiceFlow {
            place,
            is_udp: *protocol == "UDP",
            service,
            server: SocketAddr::new(ip(server)?, port(server_port)?),
        })
    });
    flows.take(MAX_FLOWS).collect()
}

/// Eight hexadecimal digits in network order, or an IPv6 address.
fn ip(text: &str) -> Option<IpAddr> {
    let text = text.trim_start_matches('[').trim_end_matches(']');
    if text.len() == 8 && !text.contains(':') {
        let bits = u32::from_str_radix(text, 16).ok()?;
        return Some(Ipv4Addr::from(bits).into());
    }
    text.parse().ok()
}

/// The lines that are texts, with their places.
fn numbered<'t>(file: &str, text: &'t [u8]) -> impl Iterator<Item = (Place, &'t str)> {
    let file = escaped(file.as_bytes());
    let lines = text.split(|&byte| byte == b'\n').enumerate();
    lines.filter_map(move |(index, line)| {
        let place = Place::new(file.clone(), index + 1, 1);
        Some((place, std::str::from_utf8(line).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let text = b"entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  expect_new\n\
            00000000  00000001 00000002 00000003 00000000 00000000 00000000 00000000 00000000 0000000a 00000002 00000001 00000000  00000000\n\
            00000000  00000001 00000002 00000003 00000000 00000000 00000000 00000000 00000000 00000006 00000000 00000000 00000000  00000000\n";
        let found = statistics("/s", text).unwrap().counters;
        assert_eq!((found.insert_failed, found.drop), (16, 2));
        assert_eq!(found.clash_resolve, 2);
        assert_eq!(found.early_drop, 1);
        assert_eq!(statistics("/s", b""), None);
        assert_eq!(statistics("/s", b"entries found\n1 2\n"), None);
    }

    #[test]
    fn only_connections_to_port_53_count() {
        let text = b"ipv4     2 udp      17 29 [UNREPLIED] src=10.244.0.7 dst=10.96.0.10 sport=5 dport=53 [UNREPLIED] src=10.244.2.6 dst=10.244.0.7 sport=53 dport=5 mark=0 use=2\n\
            ipv6     10 tcp      6 431999 ESTABLISHED src=fd00::7 dst=fd00::a sport=5 dport=53 src=fd00::a dst=fd00::7 sport=53 dport=5 [ASSURED] mark=0 use=2\n\
            ipv4     2 udp      17 29 src=10.244.0.7 dst=10.96.0.10 sport=53 dport=123 src=10.244.2.6 dst=10.244.0.7 sport=123 dport=53 mark=0 use=2\n\
            ipv4     2 udp      17 2";
        let found = flows("/f", text);
        let shown: Vec<String> = found
            .iter()
            .map(|it| {
                format!(
                    "{} {} {} {} {}",
                    it.place.line, it.is_udp, it.server, it.answers_from, it.is_unreplied
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "1 true 10.96.0.10 10.244.2.6 true",
                "2 false fd00::a fd00::a false"
            ]
        );
    }

    #[test]
    fn services_have_their_servers() {
        let text = b"IP Virtual Server version 1.2.1 (size=4096)\n\
            Prot LocalAddress:Port Scheduler Flags\n  -> RemoteAddress:Port Forward Weight ActiveConn InActConn\n\
            TCP  0A60000A:23C1 rr  \n  -> 0AF40008:23C1      Masq    1      0          0         \n\
            UDP  0A60000A:0035 rr  \n  -> 0AF40008:0035      Masq    1      0          3         \n\
            UDP  0A6:0035 rr  \n  -> 0AF40009:0035      Masq    1      0          3         \n\
            TCP  [fd00:0000:0000:0000:0000:0000:0000:000a]:0035 rr\n  -> [fd00:0000:0000:0000:0000:0000:0000:0008]:0035 Masq 0 0 0\n";
        let found = services("/s", text);
        let shown: Vec<String> = found
            .iter()
            .map(|it| format!("{} {} {:?}", it.place.line, it.address, it.servers))
            .collect();
        assert_eq!(
            shown,
            [
                "6 10.96.0.10:53 [(10.244.0.8:53, 1)]",
                "10 [fd00::a]:53 [([fd00::8]:53, 0)]"
            ]
        );
    }

    #[test]
    fn connections_of_services_have_their_server() {
        let text =
            b"Pro FromIP   FPrt ToIP     TPrt DestIP   DPrt State       Expires PEName PEData\n\
            UDP 0AF40006 B041 0A60000A 0035 0AF40008 0035 UDP             276\n\
            TCP 0AF40007 9C66 0A600001 01BB AC1F000A 192B ESTABLISHED     893\n";
        let found = service_flows("/s", text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].service.to_string(), "10.96.0.10:53");
        assert_eq!(found[0].server.to_string(), "10.244.0.8:53");
    }
}
