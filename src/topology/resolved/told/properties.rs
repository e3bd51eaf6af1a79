//! What systemd-resolved says on D-Bus: properties of its manager and links.
//!
//! Source: `org.freedesktop.resolve1(5)`; systemd `src/resolve/resolved-bus.c`,
//! `src/resolve/resolved-link-bus.c`.

use super::message::Reader;
use super::{MAX_SCOPES, Told, dns_over_tls, domain, server};
use crate::text::Placed;
use crate::topology::resolved::{Scope, ServerWord};

/// The type of `GetAll`'s reply.
pub const SIGNATURE: &str = "a{sv}";

/// The properties that count, of the manager or of a link.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    /// `DNSEx` and `FallbackDNSEx`: the number of the link, 0 for none, and
    /// the server.
    servers: Vec<(u32, Placed<ServerWord>)>,
    fallback: Vec<(u32, Placed<ServerWord>)>,
    /// `Domains`: the number of the link, 0 for none, the name, whether it
    /// only routes.
    domains: Vec<(u32, String, bool)>,
    dns_over_tls: Option<String>,
    default_route: Option<bool>,
}

/// Reads the body of a reply to `GetAll`; `None`: it is none. `by` is what
/// takes the place of a line in a file.
pub fn read(mut body: Reader<'_>, by: &str) -> Option<Properties> {
    let mut found = Properties::default();
    let end = body.array(8)?;
    while body.next_in(end).is_some() {
        let name = body.text()?;
        match (name, body.signature()?) {
            ("DNSEx", "a(iiayqs)") => found.servers = servers(&mut body, by)?,
            ("FallbackDNSEx", "a(iiayqs)") => found.fallback = servers(&mut body, by)?,
            ("Domains", "a(isb)") => found.domains = domains(&mut body)?,
            ("DNSOverTLS", "s") => found.dns_over_tls = dns_over_tls(body.text()?),
            ("DefaultRoute", "b") => found.default_route = Some(body.flag()?),
            (_, other) => body.skip(other.as_bytes(), 0)?,
        }
    }
    Some(found)
}

fn servers(body: &mut Reader<'_>, by: &str) -> Option<Vec<(u32, Placed<ServerWord>)>> {
    let mut found = Vec::new();
    let end = body.array(8)?;
    while body.next_in(end).is_some() {
        let (link, _family) = (body.number()?, body.number()?);
        let address = body.bytes()?;
        let (port, name) = (body.short()?, body.text()?);
        found.extend(server(address, port, name, by).map(|it| (link, it)));
    }
    Some(found)
}

fn domains(body: &mut Reader<'_>) -> Option<Vec<(u32, String, bool)>> {
    let mut found = Vec::new();
    let end = body.array(8)?;
    while body.next_in(end).is_some() {
        let link = body.number()?;
        let name = body.text()?.to_owned();
        found.push((link, name, body.flag()?));
    }
    Some(found)
}

impl Properties {
    /// The numbers of the links that have servers.
    pub fn links(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.servers.iter().map(|it| it.0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|it| *it != 0);
        numbers.truncate(MAX_SCOPES);
        numbers
    }

    /// All that is said, with the properties of links by their numbers.
    pub fn told(&self, links: &[(u32, Self)]) -> Told {
        let links = links.iter();
        let links = links.map(|(number, it)| (*number, self.scope(*number, it)));
        Told {
            global: self.scope(0, self),
            links: links.collect(),
            delegates: Vec::new(),
            fallback: self.fallback.iter().map(|it| it.1.clone()).collect(),
        }
    }

    fn scope(&self, number: u32, of: &Self) -> Scope {
        let servers = self.servers.iter().filter(|it| it.0 == number);
        let domains = self.domains.iter().filter(|it| it.0 == number);
        Scope {
            servers: servers.map(|it| it.1.clone()).collect(),
            domains: domains.map(|it| domain(&it.1, it.2)).collect(),
            dns_over_tls: of.dns_over_tls.clone(),
            default_route: of.default_route,
        }
    }
}

/// The object of a link.
///
/// Source: systemd `src/libsystemd/sd-bus/bus-label.c: bus_label_escape`: a
/// digit at the beginning is written as its code.
pub fn link_path(number: u32) -> String {
    format!("/org/freedesktop/resolve1/link/_3{number}")
}
