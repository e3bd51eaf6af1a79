//! What systemd-resolved says itself of its servers, while it runs.
//!
//! Its files say the same with places, so a place is taken from there where
//! they agree. Where they do not, what it says counts: a file can have been
//! written after it was started, and zones that were delegated to it have no
//! file of links at all.
//!
//! Source: systemd `src/resolve/resolved-manager.c:
//! manager_dump_dns_configuration_json`.

use std::net::IpAddr;

use serde::Deserialize;

use super::{Domain, Resolved, Scope, ServerWord};
use crate::address::DNS_PORT;
use crate::order::Order as _;
use crate::text::{Place, Placed, escaped};
use crate::topology::{MAX_TARGETS, MAX_ZONES};

/// More links and delegated zones than this are left out.
pub const MAX_SCOPES: usize = 1000;

/// What systemd-resolved reports of its servers and domains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reported {
    /// The servers that belong to no link.
    pub global: Scope,
    /// Its links, by number; also those without servers.
    pub links: Vec<(u32, Scope)>,
    /// The zones that are delegated to servers of their own, by name.
    pub delegates: Vec<(String, Scope)>,
    /// What it asks when it has no other server.
    pub fallback: Vec<Placed<ServerWord>>,
}

/// A domain that it tells.
fn domain(name: &str, route_only: bool) -> Domain {
    let mut domain = Domain::parse(name.as_bytes());
    domain.route_only |= route_only;
    domain
}

/// The answer to `io.systemd.Resolve.DumpDNSConfiguration`.
#[derive(Deserialize)]
struct Reply {
    error: Option<String>,
    parameters: Option<Parameters>,
}

#[derive(Default, Deserialize)]
struct Parameters {
    #[serde(default)]
    configuration: Vec<Configuration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Configuration {
    ifindex: Option<u32>,
    delegate: Option<String>,
    default_route: Option<bool>,
    #[serde(rename = "dnsOverTLS")]
    dns_over_tls: Option<String>,
    servers: Option<Vec<Server>>,
    fallback_servers: Option<Vec<Server>>,
    search_domains: Option<Vec<SearchDomain>>,
}

#[derive(Deserialize)]
struct Server {
    address: Vec<u8>,
    port: Option<u16>,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SearchDomain {
    name: String,
    #[serde(default)]
    route_only: bool,
}

/// Why a reply says nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// It has no such method: it is older than systemd 259.
    NoSuchMethod,
    /// Another reason, safe to print: what follows a colon in a sentence.
    Other(String),
}

/// Reads the reply to `io.systemd.Resolve.DumpDNSConfiguration`, without the
/// byte that ends it. `by` is what takes the place of a line in a file.
///
/// # Errors
///
/// It says no, or is not what systemd-resolved says.
pub fn varlink(reply: &[u8], by: &str) -> Result<Reported, Refusal> {
    let reply: Reply = serde_json::from_slice(reply).map_err(|error| {
        let error = escaped(error.to_string().as_bytes());
        Refusal::Other(format!("the reply is not what it says usually: {error}"))
    })?;
    match reply.error.as_deref() {
        None => {}
        Some(
            "org.varlink.service.MethodNotFound"
            | "org.varlink.service.MethodNotImplemented"
            | "org.varlink.service.InterfaceNotFound",
        ) => return Err(Refusal::NoSuchMethod),
        Some(error) => {
            let error = escaped(error.as_bytes());
            return Err(Refusal::Other(format!("it says {error}")));
        }
    }
    let Some(parameters) = reply.parameters else {
        let reason = "the reply has no parameters".to_owned();
        return Err(Refusal::Other(reason));
    };
    let mut reported = Reported::default();
    for it in parameters.configuration.into_iter().take(MAX_SCOPES) {
        let fallback = servers(it.fallback_servers.as_deref(), by);
        let domains = it.search_domains.unwrap_or_default().into_iter();
        let domains = domains.map(|it| domain(&it.name, it.route_only));
        let scope = Scope {
            servers: servers(it.servers.as_deref(), by),
            domains: domains.collect(),
            dns_over_tls: it
                .dns_over_tls
                .as_deref()
                .and_then(|it| super::dns_over_tls(it.as_bytes())),
            default_route: it.default_route,
        };
        match (it.delegate, it.ifindex) {
            (Some(delegate), _) => {
                let name = escaped(delegate.as_bytes());
                reported.delegates.push((name, scope));
            }
            (None, Some(index)) => reported.links.push((index, scope)),
            (None, None) => (reported.global, reported.fallback) = (scope, fallback),
        }
    }
    // It tells them in the order of a hash table.
    reported.links.order_by_key(|(index, _)| *index);
    reported.delegates.order_by(|a, b| a.0.cmp(&b.0));
    Ok(reported)
}

fn servers(list: Option<&[Server]>, by: &str) -> Vec<Placed<ServerWord>> {
    let place = || Place::nowhere(by);
    let servers = list.unwrap_or_default().iter().filter_map(Server::word);
    servers.map(|it| Placed::new(it, place())).collect()
}

impl Server {
    /// `None`: there is no such address.
    fn word(&self) -> Option<ServerWord> {
        let address = self.address.as_slice();
        let ip = match (<[u8; 4]>::try_from(address), <[u8; 16]>::try_from(address)) {
            (Ok(v4), _) => IpAddr::from(v4),
            (_, Ok(v6)) => IpAddr::from(v6),
            _ => return None,
        };
        let name = self.name.as_deref().filter(|it| !it.is_empty());
        Some(ServerWord {
            ip,
            // 0 is what it says of a server without one.
            port: self.port.filter(|it| *it != 0).unwrap_or(DNS_PORT),
            name: name.map(|it| escaped(it.as_bytes())),
        })
    }
}

impl Resolved {
    /// The same with what it says itself, and places from its files where
    /// they say the same.
    #[must_use]
    pub fn with(mut self, reported: Reported) -> Self {
        let known = self.written();
        let placed = |mut scope: Scope| {
            scope.servers.truncate(MAX_TARGETS);
            scope.domains.truncate(MAX_ZONES);
            for server in &mut scope.servers {
                place(server, &known);
            }
            scope
        };
        let of_all = reported.global.dns_over_tls.clone();
        let of_link = |scope: Scope| Scope {
            // Of a link it tells what is in force: mostly what holds for all.
            dns_over_tls: scope
                .dns_over_tls
                .clone()
                .filter(|_| scope.dns_over_tls != of_all),
            ..placed(scope)
        };
        let links = reported.links.into_iter();
        let links = links.filter(|(_, scope)| !scope.servers.is_empty());
        self.links = links.map(|(index, it)| (index, of_link(it))).collect();
        let delegates = reported.delegates.into_iter();
        self.delegates = delegates.map(|(name, it)| (name, placed(it))).collect();
        // A file of others is read again with the next query, and kdns has
        // just read it.
        if !self.is_foreign {
            let asked: Vec<IpAddr> = reported.global.addresses().collect();
            self.unread.retain(|it| !asked.contains(&it.value.ip));
            self.global = placed(reported.global);
        }
        let mut fallback = reported.fallback;
        fallback.truncate(MAX_TARGETS);
        for server in &mut fallback {
            place(server, &known);
        }
        self.fallback = Some(fallback);
        let addresses: Vec<IpAddr> = self.scopes().flat_map(Scope::addresses).collect();
        self.uplink.retain(|it| !addresses.contains(&it.value.ip));
        let domains: Vec<String> = self
            .scopes()
            .flat_map(|it| it.domains.iter().map(|it| it.name.clone()))
            .collect();
        self.uplink_domains.retain(|it| !domains.contains(it));
        self
    }

    /// Every server that a file names; the file with the real servers, which
    /// it writes itself, last.
    fn written(&self) -> Vec<Placed<ServerWord>> {
        let scopes = self.scopes().flat_map(|it| &it.servers);
        let fallback = self.fallback.iter().flatten();
        let all = scopes.chain(fallback).chain(&self.uplink);
        all.cloned().collect()
    }
}

/// Gives a server the place where a file names it: just so, else its address.
fn place(server: &mut Placed<ServerWord>, known: &[Placed<ServerWord>]) {
    let same = known.iter().find(|it| it.value == server.value);
    let alike = || known.iter().find(|it| it.value.ip == server.value.ip);
    if let Some(found) = same.or_else(alike) {
        server.place = found.place.clone();
    }
}

#[cfg(test)]
mod tests;
