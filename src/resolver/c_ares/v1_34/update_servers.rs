//! The servers of `nameserver` lines.
//!
//! Source: c-ares 1.34 `src/lib/ares_update_servers.c`.

use std::net::IpAddr;

use crate::address::{Address, DNS_PORT, Server};
use crate::config::resolv_conf::Word;
use crate::resolver::c_ares::address::{dns_pton, is_blacklisted};
use crate::resolver::c_ares::v1_34::buffer::{fits, parse_uint, split};
use crate::resolver::c_ares::v1_34::version::Version;
use crate::resolver::reading::{MAX_SERVERS, Setting, TOO_MANY_SERVERS, Unused};

/// Room for the text of an IPv6 address (`INET6_ADDRSTRLEN`).
const ADDRESS_BUFFER: usize = 46;
/// Room for the name of an interface (`IF_NAMESIZE`).
const INTERFACE_BUFFER: usize = 16;
/// Room for a host in a URI.
const HOST_BUFFER: usize = 256;
/// The interfaces of a pod, in the order of their indices from 1: a link-local
/// server must name one that exists.
const INTERFACES: [&str; 2] = ["lo", "eth0"];

const NO_SERVER: &str = "it is no server";

/// A server as written: 0 stands for the usual port.
struct Parsed {
    ip: IpAddr,
    port: u32,
    interface: Option<String>,
}

/// Adds the servers in `list`, which blanks and commas separate. What is no
/// server is passed over.
///
/// Source: c-ares 1.34 `src/lib/ares_update_servers.c: ares_sconfig_append_fromstr,
/// ares_sconfig_append, ares_server_isdup`.
pub(super) fn ares_sconfig_append_fromstr(
    servers: &mut Vec<Setting<Server>>,
    dropped: &mut Unused,
    list: Word<'_>,
    version: &Version,
) {
    for word in split(list, b" ,", usize::MAX, false) {
        let server = match parse(word.bytes, version) {
            Some(parsed) => server(&parsed, version),
            None => Err(NO_SERVER),
        };
        let reason = match server {
            Ok(server) if servers.iter().any(|other| other.value == server) => "it is repeated",
            Ok(_) if servers.len() >= MAX_SERVERS => TOO_MANY_SERVERS,
            Ok(server) => {
                servers.push(Setting::file(server, word.span));
                continue;
            }
            Err(reason) => reason,
        };
        dropped.push(word.span, reason);
    }
}

fn parse(text: &[u8], version: &Version) -> Option<Parsed> {
    let uri = version.takes_uris.then(|| parse_nameserver_uri(text));
    uri.flatten().or_else(|| parse_nameserver(text))
}

/// A port beyond 65535 is none in a strict version, else it is cut to 16 bits.
fn server(parsed: &Parsed, version: &Version) -> Result<Server, &'static str> {
    if is_blacklisted(parsed.ip) {
        return Err("site-local servers are skipped");
    }
    let is_link_local = matches!(parsed.ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
    let has_scope = version.needs_interface || parsed.interface.is_some();
    let scope = if is_link_local && has_scope {
        let interface = parsed.interface.as_deref().and_then(ares_sconfig_linklocal);
        Some(
            interface
                .ok_or("a link-local server needs the name of an interface")?
                .into(),
        )
    } else {
        None
    };
    let [.., high, low] = parsed.port.to_be_bytes();
    let port = match u16::try_from(parsed.port) {
        Err(_) if version.strict_files => return Err(NO_SERVER),
        _ => u16::from_be_bytes([high, low]),
    };
    Ok(Server {
        address: Address::scoped(parsed.ip, scope),
        port: if port == 0 { DNS_PORT } else { port },
    })
}

/// Source: c-ares 1.34 `src/lib/ares_update_servers.c: ares_sconfig_linklocal`.
fn ares_sconfig_linklocal(interface: &str) -> Option<&'static str> {
    match parse_uint(interface.as_bytes()) {
        Some(index) => INTERFACES
            .get(usize::try_from(index).ok()?.checked_sub(1)?)
            .copied(),
        None => INTERFACES.into_iter().find(|known| *known == interface),
    }
}

/// `10.0.0.1`, `10.0.0.1:53`, `[fd00::1]:53`, `fe80::1%eth0`.
///
/// Source: c-ares 1.34 `src/lib/ares_update_servers.c: parse_nameserver`.
fn parse_nameserver(text: &[u8]) -> Option<Parsed> {
    let (address, rest) = if let Some(inner) = text.strip_prefix(b"[") {
        bracketed(inner)?
    } else {
        // A dot near the beginning tells IPv4 from IPv6.
        let is_ipv4 = matches!(text.iter().position(|&byte| byte == b'.'), Some(1..4));
        let belongs = |byte: u8| match byte {
            b'0'..=b'9' | b'.' => true,
            b'a'..=b'f' | b'A'..=b'F' | b':' => !is_ipv4,
            _ => false,
        };
        split_before(text, |byte| !belongs(byte))
    };
    if !fits(address, ADDRESS_BUFFER) {
        return None;
    }
    let ip = dns_pton(address)?;
    let (port, rest) = match rest.strip_prefix(b":") {
        None => (0, rest),
        Some(rest) => {
            let (digits, rest) = split_before(rest, |byte| !byte.is_ascii_digit());
            (parse_port(digits)?, rest)
        }
    };
    let interface = match (rest, rest.strip_prefix(b"%")) {
        ([], _) => None,
        (_, Some(interface)) => Some(interface_name(interface)?),
        _ => return None,
    };
    Some(Parsed {
        ip,
        port,
        interface,
    })
}

/// What stands before `]`, and what behind it.
fn bracketed(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (inner, rest) = split_before(text, |byte| byte == b']');
    Some((inner, rest.strip_prefix(b"]")?))
}

/// The text before the first such byte, and the rest with it.
fn split_before(text: &[u8], is_end: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let end = text.iter().position(|&byte| is_end(byte));
    text.split_at(end.unwrap_or(text.len()))
}

fn parse_port(digits: &[u8]) -> Option<u32> {
    // There is room for five digits.
    parse_uint(digits).filter(|_| digits.len() <= 5)
}

fn interface_name(text: &[u8]) -> Option<String> {
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_\\:{}".contains(byte);
    if text.is_empty() || !text.iter().all(belongs) || !fits(text, INTERFACE_BUFFER) {
        return None;
    }
    Some(String::from_utf8_lossy(text).into_owned())
}

/// `dns://10.0.0.1:53`. User, path, query and fragment have no effect; a
/// `tcpport` in the query would, but is not modelled.
///
/// Source: c-ares 1.34 `src/lib/ares_update_servers.c: parse_nameserver_uri`,
/// `src/lib/util/ares_uri.c: ares_uri_parse_buf`.
fn parse_nameserver_uri(text: &[u8]) -> Option<Parsed> {
    let scheme = text.windows(3).position(|three| three == b"://")?;
    if !text.get(..scheme)?.eq_ignore_ascii_case(b"dns") {
        return None;
    }
    let rest = text.get(scheme + 3..)?;
    let (authority, _) = split_before(rest, |byte| b"/?#".contains(&byte));
    let (user, host) = split_before(authority, |byte| byte == b'@');
    let host = host.strip_prefix(b"@").unwrap_or(user);
    let (host, port) = match host.strip_prefix(b"[") {
        Some(inner) => bracketed(inner)?,
        None => split_before(host, |byte| byte == b':'),
    };
    let port = match (port, port.strip_prefix(b":")) {
        ([], _) => 0,
        (_, Some(digits)) => parse_port(digits)?,
        _ => return None,
    };
    if !fits(host, HOST_BUFFER) {
        return None;
    }
    let (address, interface) = split_before(host, |byte| byte == b'%');
    let ip = dns_pton(address)?;
    let interface = match interface.strip_prefix(b"%") {
        None => None,
        Some(interface) => Some(interface_name(interface)?),
    };
    if interface.is_some() && ip.is_ipv4() {
        return None;
    }
    Some(Parsed {
        ip,
        port,
        interface,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_many_spellings() {
        let check_as = |version: &Version, text: &str, expected: Option<&str>| {
            let parsed = parse(text.as_bytes(), version);
            let server = parsed.and_then(|parsed| server(&parsed, version).ok());
            assert_eq!(
                server.map(|server| server.to_string()).as_deref(),
                expected,
                "{text}"
            );
        };
        check_as(&Version::V1_34_3, "10.96.0.10:65589", Some("10.96.0.10"));
        check_as(&Version::V1_33, "dns://10.96.0.10", None);
        check_as(&Version::V1_31, "fe80::1", None);
        check_as(&Version::V1_28, "fe80::1", Some("fe80::1"));
        let check =
            |text: &str, expected: Option<&str>| check_as(&Version::V1_34_9, text, expected);
        check("10.96.0.10:65589", None);
        check("10.96.0.10", Some("10.96.0.10"));
        check("127.1", Some("127.1.0.0"));
        check("10.96.0.10:5353", Some("10.96.0.10#5353"));
        check("[10.96.0.10]", Some("10.96.0.10"));
        check("[fd00::10]:53", Some("fd00::10"));
        check("fe80::1%eth0", Some("fe80::1%eth0"));
        check("fe80::1%2", Some("fe80::1%eth0"));
        check("fd00::1%eth0", Some("fd00::1"));
        check("dns://10.96.0.10:53/", Some("10.96.0.10"));
        for bad in [
            "fe80::1",
            "fe80::1%nope",
            "fec0::1",
            "foo",
            "10.96.0.300",
            "10.96.0.10:",
            "10.96.0.10#53",
            "dns://",
        ] {
            check(bad, None);
        }
    }
}
