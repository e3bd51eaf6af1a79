//! `@server`: addresses, ports and zones.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Families;
use crate::address::{Address, inet_aton};
use crate::dig::lookup::Server;

/// Source: BIND bin/dig/dighost.c: `DIG_MAX_ADDRESSES` (9.18)
const MAX_ADDRESSES: usize = 20;

/// Why a word behind `@` is no server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Refused {
    /// It has no address, in BIND's words.
    Unknown(&'static str),
    /// kdns does not speak to it; a sentence.
    Unsupported(String),
}

/// The names behind `@` whose addresses the parser needs, in order.
pub fn server_names<'w>(words: &[&'w [u8]]) -> Vec<&'w [u8]> {
    let servers = words.iter().filter_map(|word| word.strip_prefix(b"@"));
    let hosts = servers.filter(|word| !word.contains(&b'/'));
    hosts
        .map(|word| split_port(word).0)
        .filter(|host| !host.is_empty() && literal(host).is_none())
        .collect()
}

/// The servers of a word: `10.0.0.1`, `fe80::1%eth0`, `[::1]:5353`,
/// `10.0.0.1#5353`, a name. An address must be of one of the families.
///
/// Source: BIND lib/bind9/getaddresses.c: `bind9_getaddresses` (9.18)
pub(super) fn read(
    word: &[u8],
    addresses: &BTreeMap<Vec<u8>, Vec<Address>>,
    families: Families,
) -> Result<Vec<Server>, Refused> {
    for scheme in ["tls://", "https://"] {
        if word.starts_with(scheme.as_bytes()) {
            return Err(Refused::Unsupported(format!(
                "@{} is not supported: kdns dig speaks UDP and TCP to port 53 only",
                String::from_utf8_lossy(word)
            )));
        }
    }
    let (host, port) = split_port(word);
    let server = |address: &Address| Server {
        address: address.clone(),
        port,
        word: word.to_vec(),
    };
    if let Some(address) = literal(host) {
        return match address.ip {
            // It is not asked, but said to be skipped.
            IpAddr::V4(ip) if !families.v4 => {
                let mapped = IpAddr::V6(ip.to_ipv6_mapped());
                Ok(vec![server(&mapped.into())])
            }
            IpAddr::V6(_) if !families.v6 => Err(Refused::Unknown("address family not supported")),
            _ => Ok(vec![server(&address)]),
        };
    }
    let known = addresses.get(host).map(Vec::as_slice).unwrap_or_default();
    let known = known.iter().filter(|address| match address.ip {
        IpAddr::V4(_) => families.v4,
        IpAddr::V6(_) => families.v6,
    });
    let servers: Vec<Server> = known.take(MAX_ADDRESSES).map(server).collect();
    if servers.is_empty() {
        return Err(Refused::Unknown("not found"));
    }
    Ok(servers)
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
    if let Some((host, after)) = text.rsplit_once(':')
        && (host.ends_with(']') || host.parse::<Ipv4Addr>().is_ok())
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
    if let Some(ip) = inet_aton(host) {
        return Some(IpAddr::V4(ip).into());
    }
    let text = std::str::from_utf8(host).ok()?;
    let (ip, scope) = match text.split_once('%') {
        Some((ip, scope)) => (ip, Some(scope)),
        None => (text, None),
    };
    let ip: Ipv6Addr = ip.parse().ok()?;
    if scope == Some("") {
        return None;
    }
    Some(Address {
        ip: ip.into(),
        scope: scope.map(Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Families = Families { v4: true, v6: true };

    #[test]
    fn an_address_must_be_of_the_family() {
        let v6 = Families { v4: false, ..BOTH };
        let mapped = read(b"10.0.0.1", &BTreeMap::new(), v6).unwrap();
        assert_eq!(mapped[0].address.to_string(), "::ffff:10.0.0.1");
        let v4 = Families { v6: false, ..BOTH };
        let refused = read(b"::1", &BTreeMap::new(), v4);
        let why = Refused::Unknown("address family not supported");
        assert_eq!(refused, Err(why));
    }

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
            let servers = read(word.as_bytes(), &BTreeMap::new(), BOTH).unwrap();
            let server = &servers[0];
            assert_eq!(format!("{} {:?}", server.address, server.port), shown);
        }
        for word in ["", "dns.example", "::1%", "10.0.0.1#0"] {
            let refused = read(word.as_bytes(), &BTreeMap::new(), BOTH).unwrap_err();
            assert_eq!(refused, Refused::Unknown("not found"), "{word}");
        }
        assert!(read(b"tls://10.0.0.1", &BTreeMap::new(), BOTH).is_err());
    }

    #[test]
    fn only_names_need_an_address() {
        let words: [&[u8]; 5] = [b"@10.0.0.1", b"a", b"@dns.test", b"@ns#53", b"@[::1]:53"];
        let names: [&[u8]; 2] = [b"dns.test", b"ns"];
        assert_eq!(server_names(&words), names);
    }
}
