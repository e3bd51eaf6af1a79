//! systemd-resolved as a server: listeners and forwards.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::words::{ServerWord, Stub};
use super::{Resolved, Scope};
use crate::address::DNS_PORT;
use crate::text::Placed;
use crate::topology::{
    DnsServer, Doubt, Evidence, Instance, Listen, Network, Policy, Program, Target, add,
};

/// The server that these settings make.
pub fn server(resolved: &Resolved, instance: Instance) -> DnsServer {
    let mut server = DnsServer::new(Program::SystemdResolved, instance, Network::Node);
    server.listens = listens(resolved);
    // Scopes that fit equally well are asked at the same time.
    let is_default = |it: &&Scope| !it.servers.is_empty() && takes_everything(it);
    let has_root = |it: &&Scope| it.domains.iter().any(|domain| domain.name == ".");
    let global = &resolved.global;
    let routed: Vec<&Scope> = resolved
        .scopes()
        .filter(has_root)
        .filter(is_default)
        .collect();
    let defaults: Vec<&Scope> = if routed.is_empty() {
        let links = resolved.own_scopes().filter(is_default);
        std::iter::once(global).chain(links).collect()
    } else {
        routed
    };
    let asked = |it: &&&Scope| !it.servers.is_empty();
    let count = defaults.iter().filter(asked).count() + usize::from(!resolved.uplink.is_empty());
    let policy = if count > 1 {
        Policy::Unknown
    } else {
        Policy::Sequential
    };
    for scope in defaults {
        forward(&mut server, ".", policy, &scope.servers);
    }
    forward(&mut server, ".", policy, &resolved.uplink);
    let usual = server.targets(".");
    for scope in resolved.scopes() {
        for domain in scope.domains.iter().filter(|it| it.name != ".") {
            forward(&mut server, &domain.name, policy, &scope.servers);
        }
    }
    let zones: Vec<String> = server.forwards.iter().map(|it| it.zone.clone()).collect();
    for zone in zones.iter().filter(|zone| *zone != ".") {
        if server.targets(zone) == usual {
            server.forwards.retain(|it| it.zone != *zone);
        }
    }
    if resolved.scopes().all(|it| it.servers.is_empty()) && resolved.uplink.is_empty() {
        fallback(resolved, &mut server);
    }
    server
}

fn fallback(resolved: &Resolved, server: &mut DnsServer) {
    match &resolved.fallback {
        Some(fallback) => forward(server, ".", Policy::Sequential, fallback),
        None => server.doubts.push(Doubt::CompiledIn),
    }
}

fn forward(server: &mut DnsServer, zone: &str, policy: Policy, to: &[Placed<ServerWord>]) {
    for word in to {
        let address = SocketAddr::new(word.value.ip, word.value.port);
        if server.leaves_out(address, &[]) {
            continue;
        }
        let same = server.forwards.iter().filter(|it| it.zone == zone);
        let mut same = same.flat_map(|it| &it.to);
        if same.any(|it| it.value == Target::Address(address)) {
            continue;
        }
        let target = Target::Address(address);
        add(server, zone, policy, target, word.place.clone());
    }
}

/// Whether names of no domain of any link are asked here.
///
/// Source: systemd `src/resolve/resolved-dns-scope.c:
/// dns_scope_is_default_route`.
fn takes_everything(scope: &Scope) -> bool {
    let only_routes = !scope.domains.is_empty() && scope.domains.iter().all(|it| it.route_only);
    let has_root = scope.domains.iter().any(|it| it.name == ".");
    has_root || scope.default_route.unwrap_or(!only_routes)
}

fn listens(resolved: &Resolved) -> Vec<Listen> {
    let evidence = resolved
        .stub_place
        .clone()
        .map_or(Evidence::Default, Evidence::Configuration);
    let stub = [53, 54].map(|last| {
        let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, last));
        Listen::new(Some(address), DNS_PORT, evidence.clone())
    });
    let stub = stub.into_iter().filter(|_| resolved.stub != Stub::No);
    let extra = resolved.extra.iter().map(|it| {
        let evidence = Evidence::Configuration(it.place.clone());
        Listen::new(it.value.ip, it.value.port, evidence)
    });
    stub.chain(extra).collect()
}

impl Resolved {
    /// What a file that lists its servers says less than it knows.
    ///
    /// Source: systemd `src/resolve/resolved-resolv-conf.c:
    /// write_resolv_conf_server`.
    pub fn lost(&self) -> Vec<Lost> {
        let mut lost: Vec<Lost> = self.unread.iter().cloned().map(Lost::Unread).collect();
        let links = self.links.iter();
        let links = links.map(|(index, it)| (ScopeName::Link(*index), it));
        let delegates = self.delegates.iter();
        let delegates = delegates.map(|(name, it)| (ScopeName::Delegate(name.clone()), it));
        let global = std::iter::once((ScopeName::Global, &self.global));
        let scopes: Vec<(ScopeName, &Scope)> = global.chain(links).chain(delegates).collect();
        let full = scopes.iter().filter(|(_, it)| !it.servers.is_empty());
        let many = full.count() + usize::from(!self.uplink.is_empty()) > 1;
        for (name, scope) in scopes {
            let domains = scope.domains.iter();
            let wanted = domains.filter(|it| it.name != "." && (many || it.route_only));
            let names: Vec<String> = wanted.map(|it| it.name.clone()).collect();
            if !names.is_empty() && !scope.servers.is_empty() {
                lost.push(Lost::Route {
                    names,
                    servers: scope.servers.clone(),
                    scope: name.clone(),
                });
            }
            if let Some(mode) = scope.dns_over_tls.clone() {
                lost.push(Lost::Tls { mode, scope: name });
            }
            let ports = scope.servers.iter().filter(|it| it.value.port != DNS_PORT);
            lost.extend(ports.cloned().map(Lost::Port));
        }
        lost
    }
}

/// What a list of servers does not say.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Lost {
    /// This server was set after systemd-resolved was started, and is not asked.
    Unread(Placed<ServerWord>),
    /// Names of these domains go to these servers only.
    Route {
        /// The domains, with their final dots.
        names: Vec<String>,
        /// The servers; not empty.
        servers: Vec<Placed<ServerWord>>,
        /// The link, or the system, that has these servers.
        scope: ScopeName,
    },
    /// DNS over TLS is in this mode.
    Tls {
        /// `DNSOverTLS`.
        mode: String,
        /// Whose servers are asked so.
        scope: ScopeName,
    },
    /// This server is left out, as it has a port.
    Port(Placed<ServerWord>),
}

/// The scope that has servers and domains.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ScopeName {
    /// Those of resolved.conf.
    Global,
    /// Those of the link with this index.
    Link(u32),
    /// Those of this delegated zone.
    Delegate(String),
}

/// `192.0.2.1`, `192.0.2.1:5353`, `192.0.2.1#dns.example`.
impl std::fmt::Display for ServerWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.port == DNS_PORT {
            self.ip.fmt(f)?;
        } else {
            SocketAddr::new(self.ip, self.port).fmt(f)?;
        }
        match &self.name {
            Some(name) => write!(f, "#{name}"),
            None => Ok(()),
        }
    }
}
