//! `@server`: addresses, ports and zones.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::Families;
use crate::address::Address;
use crate::dig::lookup::{DEFAULT_PATH, Server};
use crate::engine::secure::Secure;

/// Source: BIND bin/dig/dighost.c: `DIG_MAX_ADDRESSES` (9.18)
const MAX_ADDRESSES: usize = 20;

/// The names behind `@` whose addresses the parser needs, in order.
pub fn server_names<'w>(words: &[&'w [u8]]) -> Vec<&'w [u8]> {
    let servers = words.iter().filter_map(|word| word.strip_prefix(b"@"));
    servers
        .map(host)
        .filter(|host| !host.is_empty() && literal(host).is_none())
        .collect()
}

/// The name or address of a word behind `@`.
pub fn host(word: &[u8]) -> &[u8] {
    split_port(schemeless(word).0).0
}

/// The servers of a word: `10.0.0.1`, `fe80::1%eth0`, `[::1]:5353`,
/// `10.0.0.1#5353`, a name, and these behind `tls://`, or behind `https://`
/// and with a path. An address must be of one of the families. The error says
/// why there is none.
///
/// Source: BIND lib/bind9/getaddresses.c: `bind9_getaddresses` (9.18)
pub(super) fn read_server(
    word: &[u8],
    addresses: &BTreeMap<Vec<u8>, Vec<Address>>,
    families: Families,
) -> Result<Vec<Server>, &'static str> {
    let (place, scheme) = schemeless(word);
    let (host, port) = split_port(place);
    let secure = scheme.map(|scheme| {
        let path = match scheme {
            Scheme::Tls => None,
            Scheme::Https(path) => Some(path),
        };
        Box::new(Secure::of_scheme(&String::from_utf8_lossy(host), path))
    });
    let server = |address: &Address| Server {
        address: address.clone(),
        port,
        word: Some(word.to_vec()),
        secure: secure.clone(),
    };
    if let Some(address) = literal(host) {
        return match address.ip {
            IpAddr::V6(_) if !families.v6 => Err("address family not supported"),
            _ => Ok(vec![server(&address)]),
        };
    }
    let known = addresses.get(host).map(Vec::as_slice).unwrap_or_default();
    let known = known.iter().filter(|address| families.has(address.ip));
    let servers: Vec<Server> = known.take(MAX_ADDRESSES).map(server).collect();
    if servers.is_empty() {
        return Err("not found");
    }
    Ok(servers)
}

/// Maps an IPv4 address where the whole line, a `-b` behind the server too,
/// leaves IPv6 only: it is not asked, but said to be skipped.
pub(super) fn fit(address: &mut Address, families: Families) {
    if let IpAddr::V4(ip) = address.ip
        && !families.v4
    {
        *address = IpAddr::V6(ip.to_ipv6_mapped()).into();
    }
}

/// What stands before `://`.
enum Scheme {
    Tls,
    /// With the path.
    Https(String),
}

/// Host and port of a word, and its scheme, if it has one.
fn schemeless(word: &[u8]) -> (&[u8], Option<Scheme>) {
    if let Some(place) = word.strip_prefix(b"tls://") {
        return (place.strip_suffix(b"/").unwrap_or(place), Some(Scheme::Tls));
    }
    let Some(rest) = word.strip_prefix(b"https://") else {
        return (word, None);
    };
    let end = rest.iter().position(|&byte| byte == b'/');
    let (place, path) = rest.split_at(end.unwrap_or(rest.len()));
    let path = match path {
        b"" | b"/" => DEFAULT_PATH.to_owned(),
        path => String::from_utf8_lossy(path).into_owned(),
    };
    (place, Some(Scheme::Https(path)))
}

/// Takes `#PORT`, or `:PORT` behind brackets or an IPv4 address, off.
fn split_port(word: &[u8]) -> (&[u8], Option<u16>) {
    let text = std::str::from_utf8(word).unwrap_or_default();
    let port = |port: &str| {
        let digits = port.bytes().all(|byte| byte.is_ascii_digit());
        port.parse::<u16>().ok().filter(|&port| digits && port != 0)
    };
    if let Some((host, after)) = text.rsplit_once('#')
        && let Some(port) = port(after)
    {
        return (unbracketed(host).as_bytes(), Some(port));
    }
    // Two colons are an IPv6 address without a port.
    if let Some((host, after)) = text.rsplit_once(':')
        && (host.ends_with(']') || !host.contains(':'))
        && let Some(port) = port(after)
    {
        return (unbracketed(host).as_bytes(), Some(port));
    }
    if text.is_empty() {
        return (word, None);
    }
    (unbracketed(text).as_bytes(), None)
}

fn unbracketed(host: &str) -> &str {
    host.strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host)
}

fn literal(host: &[u8]) -> Option<Address> {
    let literal = Address::parse_c(host)?;
    (literal.scope.as_deref() != Some("")).then_some(literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Families = Families { v4: true, v6: true };

    #[test]
    fn servers_are_written_in_many_ways() {
        for (word, shown) in [
            ("10.0.0.1", "10.0.0.1 None"),
            ("127.1", "127.0.0.1 None"),
            ("10.0.0.1#5353", "10.0.0.1 Some(5353)"),
            ("10.0.0.1:5353", "10.0.0.1 Some(5353)"),
            ("::1", "::1 None"),
            ("::1#5353", "::1 Some(5353)"),
            ("[::1]:5353", "::1 Some(5353)"),
            ("[::1]", "::1 None"),
            ("fe80::1%eth0", "fe80::1%eth0 None"),
            ("[fe80::1%eth0]:53", "fe80::1%eth0 Some(53)"),
        ] {
            let servers = read_server(word.as_bytes(), &BTreeMap::new(), BOTH).unwrap();
            let server = &servers[0];
            assert_eq!(format!("{} {:?}", server.address, server.port), shown);
        }
        for word in ["", "dns.example", "::1%", "10.0.0.1#0"] {
            let refused = read_server(word.as_bytes(), &BTreeMap::new(), BOTH).unwrap_err();
            assert_eq!(refused, "not found", "{word}");
        }
    }

    #[test]
    fn servers_behind_tls() {
        let check = |word: &[u8], host: &str, path: Option<&str>, port: u16| {
            let address = IpAddr::from([10, 0, 0, 1]).into();
            let known = BTreeMap::from([(b"dns.test".to_vec(), vec![address])]);
            let servers = read_server(word, &known, BOTH).unwrap();
            let secure = servers[0].secure.as_ref().unwrap();
            let found = (
                secure.tls.as_ref().unwrap().host.as_str(),
                secure.http.as_ref().map(|http| http.path.as_str()),
                servers[0].port(),
            );
            assert_eq!(found, (host, path, port));
        };
        check(b"tls://10.0.0.1", "10.0.0.1", None, 853);
        check(b"tls://[::1]:8853", "::1", None, 8853);
        check(b"tls://dns.test#8853", "dns.test", None, 8853);
        check(b"https://dns.test", "dns.test", Some("/dns-query"), 443);
        check(b"https://dns.test:8443/q", "dns.test", Some("/q"), 8443);
    }

    #[test]
    fn only_names_need_an_address() {
        let words: [&[u8]; 6] = [
            b"@10.0.0.1",
            b"a",
            b"@dns.test",
            b"@ns#53",
            b"@[::1]:53",
            b"@https://doh.test/dns-query",
        ];
        let names: [&[u8]; 3] = [b"dns.test", b"ns", b"doh.test"];
        assert_eq!(server_names(&words), names);
    }
}
