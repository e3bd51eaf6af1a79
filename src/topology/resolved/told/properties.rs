//! What systemd-resolved says on D-Bus: properties of its manager and links.
//!
//! Source: `org.freedesktop.resolve1(5)`; systemd `src/resolve/resolved-bus.c`,
//! `src/resolve/resolved-link-bus.c`.

use super::message::Reader;
use super::{Told, dns_over_tls, domain, server};
use crate::text::Placed;
use crate::topology::resolved::{Scope, ServerWord};

/// The type of `GetAll`'s reply.
pub const SIGNATURE: &str = "a{sv}";

/// The properties that count, of the manager or of a link.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    /// `DNSEx` and `FallbackDNSEx` of the manager: a number and the server.
    /// The number is that of the link that packets leave by, which is not
    /// always the one that has the server: for 127.0.0.1 it is 1.
    servers: Vec<(u32, Placed<ServerWord>)>,
    fallback: Vec<(u32, Placed<ServerWord>)>,
    /// `DNSEx` of a link.
    own: Vec<Placed<ServerWord>>,
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
            ("DNSEx", "a(iayqs)") => found.own = of_link(&mut body, by)?,
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
        let link = body.number()?;
        let servers = next(body, by)?.into_iter();
        found.extend(servers.map(|it| (link, it)));
    }
    Some(found)
}

fn of_link(body: &mut Reader<'_>, by: &str) -> Option<Vec<Placed<ServerWord>>> {
    let mut found = Vec::new();
    let end = body.array(8)?;
    while body.next_in(end).is_some() {
        found.extend(next(body, by)?);
    }
    Some(found)
}

/// The family, the address, the port and the name of a server: none if the
/// address is no address.
fn next(body: &mut Reader<'_>, by: &str) -> Option<Vec<Placed<ServerWord>>> {
    let _family = body.number()?;
    let address = body.bytes()?;
    let (port, name) = (body.short()?, body.text()?);
    Some(server(address, port, name, by).into_iter().collect())
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
    /// The numbers of the links that can have servers.
    pub fn links(&self) -> Vec<u32> {
        let servers = self.servers.iter().map(|it| it.0);
        let numbers = servers.chain(self.domains.iter().map(|it| it.0));
        numbers.filter(|it| *it != 0).collect()
    }

    /// Whether other links can have servers, too: those on loopback addresses
    /// do not show whose they are.
    ///
    /// Source: systemd `src/resolve/resolved-dns-server.c: dns_server_ifindex`.
    pub fn hides_links(&self) -> bool {
        let mut servers = self.servers.iter();
        servers.any(|(link, it)| *link != 0 && it.value.ip.is_loopback())
    }

    /// All that is said, with the properties of links by their numbers. A
    /// server that no link has belongs to all.
    pub fn told(&self, links: &[(u32, Self)]) -> Told {
        let mut of_links: Vec<&ServerWord> = links
            .iter()
            .flat_map(|(_, it)| it.own.iter().map(|it| &it.value))
            .collect();
        let is_of_all = |it: &&(u32, Placed<ServerWord>)| {
            let mut own = of_links.iter();
            match own.position(|own| it.0 != 0 && **own == it.1.value) {
                Some(at) => {
                    of_links.swap_remove(at);
                    false
                }
                None => true,
            }
        };
        let global = self.servers.iter().filter(is_of_all);
        let global = global.map(|it| it.1.clone()).collect();
        let links = links.iter();
        let links = links.map(|(number, it)| (*number, self.scope(*number, it.own.clone(), it)));
        Told {
            links: links.collect(),
            global: self.scope(0, global, self),
            delegates: Vec::new(),
            fallback: self.fallback.iter().map(|it| it.1.clone()).collect(),
        }
    }

    fn scope(&self, number: u32, servers: Vec<Placed<ServerWord>>, of: &Self) -> Scope {
        let domains = self.domains.iter().filter(|it| it.0 == number);
        Scope {
            servers,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &[u8]) -> Placed<ServerWord> {
        server(address, 0, "", "it").unwrap()
    }

    /// The manager gives servers by the link that packets leave by.
    #[test]
    fn servers_belong_to_the_links_that_have_them() {
        let (own, twice) = (at(&[127, 0, 0, 1]), at(&[192, 0, 2, 1]));
        let scoped = at(&[0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        let manager = Properties {
            servers: vec![
                (1, own.clone()),
                (0, twice.clone()),
                (3, scoped.clone()),
                (3, twice.clone()),
            ],
            ..Properties::default()
        };
        assert!(manager.hides_links());
        let link = |own: &[&Placed<ServerWord>]| Properties {
            own: own.iter().map(|it| (*it).clone()).collect(),
            ..Properties::default()
        };
        let told = manager.told(&[(2, link(&[&own])), (3, link(&[&twice]))]);
        assert_eq!(told.global.servers, [twice.clone(), scoped]);
        let links: Vec<_> = told
            .links
            .iter()
            .map(|it| (it.0, it.1.servers.clone()))
            .collect();
        assert_eq!(links, [(2, vec![own]), (3, vec![twice])]);
        assert_eq!(link_path(12), "/org/freedesktop/resolve1/link/_312");
    }
}
