//! DNS servers as the search for loops sees them: who listens where, in which
//! network namespace, and forwards to what.
//!
//! Each kind of server has a file here that makes such a value of its
//! configuration.

pub mod coredns;
pub mod dnsmasq;
mod doubt;
pub mod named;
pub mod resolved;
pub mod unbound;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::address::DNS_PORT;
use crate::text::{Place, Placed, escaped};

pub use doubt::{Beyond, CorefileUnknown, Doubt, Plugin, Role, Weight};

/// A DNS server of the node or of a pod.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DnsServer {
    /// Which program.
    pub program: Program,
    /// Whose it is, before the program's name: `NetworkManager's `; empty:
    /// anyone's.
    pub whose: &'static str,
    /// Which of several servers of that program.
    pub instance: Instance,
    /// In which network namespace it listens and sends.
    pub network: Network,
    /// Where it listens. Empty: not known.
    pub listens: Vec<Listen>,
    /// What it does with the names of each zone, the most special zone first:
    /// the first that a name lies in counts. What lies in none is answered,
    /// or refused, without asking.
    pub forwards: Vec<Forward>,
    /// Whether it notices that it loops and says so: CoreDNS's `loop` for the
    /// zone `.`, dnsmasq's `--dns-loop-detect`.
    pub notices_loops: bool,
    /// What cannot be known from its configuration, in its order.
    pub doubts: Vec<Doubt>,
}

/// Which server of a node it is.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ServerName {
    /// Its program, or the name of its process: `dnsmasq`, `NetworkManager's dnsmasq`.
    pub program: String,
    /// Which of several of them.
    pub instance: Instance,
}

/// Which one of the servers of a kind.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Instance {
    /// It is the only one.
    #[default]
    Only,
    /// The process with this id.
    Process(u32),
    /// That of the pod of this label.
    Pod(String),
    /// The one that this file or place configures; nothing tells whether it
    /// runs.
    Configured(Place),
}

/// The programs that kdns knows as DNS servers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Program {
    /// CoreDNS, also as AKS LocalDNS.
    CoreDns,
    /// NodeLocal DNSCache.
    NodeCache,
    /// dnsmasq, also NetworkManager's and that of old kube-dns.
    Dnsmasq,
    /// unbound.
    Unbound,
    /// BIND's named.
    Named,
    /// systemd-resolved.
    SystemdResolved,
    /// Something else that listens.
    Other,
}

/// A network namespace.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Network {
    /// The node's own.
    Node,
    /// A pod's, by the pod's key (`Pod::key`).
    Pod(String),
}

/// Where a server listens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listen {
    /// The address; `None`: any address of its network namespace.
    pub address: Option<IpAddr>,
    /// The port.
    pub port: u16,
    /// Where that is written or seen.
    pub evidence: Evidence,
}

impl Listen {
    /// `None` is any address.
    pub const fn new(address: Option<IpAddr>, port: u16, evidence: Evidence) -> Self {
        Self {
            address,
            port,
            evidence,
        }
    }
}

/// What tells that a server listens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// Its configuration.
    Configuration(Place),
    /// The program's own default.
    Default,
    /// The socket itself, in this file: `/proc/812/net/udp`.
    Socket(String),
}

/// What a server does with the names of a zone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Forward {
    /// The zone, lower case, with its final dot: `.`, `corp.example.`.
    pub zone: String,
    /// To whom, in the order of the configuration. Empty: it answers, or
    /// refuses, the names of this zone without asking.
    pub to: Vec<Placed<Target>>,
    /// Which of them is asked.
    pub policy: Policy,
}

/// To whom a server forwards.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Target {
    /// This address and port.
    Address(SocketAddr),
    /// The name servers of this file in resolv.conf syntax, as the server
    /// itself sees the file system.
    File(String),
    /// The servers of the root zone and those below, one after the other: it
    /// asks nobody on the node.
    Roots,
    /// The DNS pods of the cluster, by way of a service whose address stands
    /// in no file.
    ClusterDns,
    /// Something that is not followed: a host name, TLS with a name. As
    /// written, safe to print.
    Other(String),
}

impl Target {
    /// As a configuration has it: an address without the usual port; `None`: no word of it
    /// stands for this.
    pub fn written(&self) -> Option<String> {
        match self {
            Self::Address(SocketAddr::V4(to)) if to.port() == DNS_PORT => Some(to.ip().to_string()),
            Self::Address(SocketAddr::V6(to)) if to.port() == DNS_PORT => {
                Some(format!("[{}]", to.ip()))
            }
            Self::Address(to) => Some(to.to_string()),
            Self::File(text) | Self::Other(text) => Some(text.clone()),
            Self::Roots | Self::ClusterDns => None,
        }
    }

    /// A server by its address, whose scope is left out, and its port; as `written`,
    /// where one of them is none.
    fn server(address: &str, port: Option<u16>, written: &str) -> Self {
        let (ip, _scope) = address.split_once('%').unwrap_or((address, ""));
        match (ip.parse(), port) {
            (Ok(ip), Some(port)) => Self::Address(SocketAddr::new(ip, port)),
            _ => Self::Other(escaped(written.as_bytes())),
        }
    }
}

/// Which of several servers is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Policy {
    /// Any, by lot, and another one when it fails.
    Random,
    /// One after the other.
    RoundRobin,
    /// The first, and the next one only when it fails.
    Sequential,
    /// All, or any: the program does not promise.
    Unknown,
}

/// What a server's configuration is read together with.
#[derive(Clone, Debug, Default)]
pub struct Surroundings<'a> {
    /// [`DnsServer::instance`].
    pub instance: Instance,
    /// The addresses of its network namespace, loopback ones left out.
    pub addresses: &'a [IpAddr],
    /// The interfaces of those of them whose interface is known.
    pub interfaces: &'a [(IpAddr, String)],
    /// Paths of files in resolv.conf syntax that are there.
    pub files: &'a [String],
}

/// Most zones of a server that are kept.
const MAX_ZONES: usize = 1000;

/// Most targets of a zone that are kept.
const MAX_TARGETS: usize = 100;

/// Lets a server forward the names of `zone` to one more target.
fn add(server: &mut DnsServer, zone: &str, policy: Policy, target: Target, place: Place) {
    let to = Placed::new(target, place);
    if let Some(forward) = server.forwards.iter_mut().find(|it| it.zone == zone) {
        if forward.to.len() < MAX_TARGETS {
            forward.to.push(to);
        } else {
            server.doubt(Doubt::Beyond(Beyond::Targets(MAX_TARGETS)));
        }
        return;
    }
    let forward = Forward {
        zone: zone.to_owned(),
        to: vec![to],
        policy,
    };
    if server.forwards.len() >= MAX_ZONES && zone != "." {
        server.doubt(Doubt::Beyond(Beyond::Zones(MAX_ZONES)));
        return;
    }
    // The most special zone stands first; of equal ones, the older.
    let labels = |zone: &str| zone.split('.').filter(|it| !it.is_empty()).count();
    let more = |it: &Forward| labels(&it.zone) >= labels(zone);
    let at = server.forwards.partition_point(more);
    server.forwards.insert(at, forward);
}

/// A zone as [`Forward::zone`] has it.
fn zone(text: &str) -> String {
    let name = escaped(text.trim_matches('.').to_ascii_lowercase().as_bytes());
    // dnsmasq's way to say that all names below it are meant.
    let name = name.strip_prefix("*.").unwrap_or(&name);
    match name {
        "" | "#" => ".".to_owned(),
        name => format!("{name}."),
    }
}

impl DnsServer {
    /// A server of which nothing is known but what it is.
    pub fn new(program: Program, instance: Instance, network: Network) -> Self {
        Self {
            program,
            whose: "",
            instance,
            network,
            listens: Vec::new(),
            forwards: Vec::new(),
            notices_loops: false,
            doubts: Vec::new(),
        }
    }

    /// Which one it is.
    pub fn name(&self) -> ServerName {
        ServerName {
            program: format!("{}{}", self.whose, self.program.name()),
            instance: self.instance.clone(),
        }
    }

    /// To whom it forwards the names of a zone.
    fn targets(&self, zone: &str) -> Vec<Target> {
        let forward = self.forwards.iter().find(|it| it.zone == zone);
        let to = forward.into_iter().flat_map(|it| &it.to);
        to.map(|it| it.value.clone()).collect()
    }

    /// Adds a doubt, once.
    fn doubt(&mut self, doubt: Doubt) {
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    /// The first doubt of this weight.
    pub fn first(&self, weight: Weight) -> Option<&Doubt> {
        self.doubts.iter().find(|it| it.weight() == weight)
    }

    /// Whether it leaves this server out, though its files list it, because
    /// it would be asking itself. `addresses` are those of its network
    /// namespace without the loopback ones.
    ///
    /// Source: dnsmasq `src/network.c: check_servers` (only addresses that an
    /// interface has and that it listens on: not 127.0.1.1), systemd
    /// `src/resolve/resolved-util.h: dns_server_address_valid`.
    pub fn leaves_out(&self, server: SocketAddr, addresses: &[IpAddr]) -> bool {
        let ip = server.ip();
        match self.program {
            Program::Dnsmasq => {
                let is_on_interface = ip == IpAddr::V4(Ipv4Addr::LOCALHOST)
                    || ip == IpAddr::V6(Ipv6Addr::LOCALHOST)
                    || addresses.contains(&ip);
                let listens = |it: &Listen| {
                    it.port == server.port() && it.address.is_none_or(|own| own == ip)
                };
                is_on_interface && self.listens.iter().any(listens)
            }
            Program::SystemdResolved => resolved::refuses(ip),
            _ => false,
        }
    }
}

impl Program {
    /// The program's name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::CoreDns => "CoreDNS",
            Self::NodeCache => "NodeLocal DNSCache",
            Self::Dnsmasq => "dnsmasq",
            Self::Unbound => "unbound",
            Self::Named => "named",
            Self::SystemdResolved => "systemd-resolved",
            Self::Other => "a DNS server",
        }
    }
}

/// `/etc/dnsmasq.conf:3:1`, `/proc/812/net/udp`.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration(place) => place.fmt(f),
            Self::Default => f.write_str("its default"),
            Self::Socket(file) => f.write_str(file),
        }
    }
}
