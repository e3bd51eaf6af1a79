//! nginx: names that it looks up at run time, with the servers of its
//! `resolver` directive, as `proxy_pass http://$name` does.
//!
//! nginx reads no `resolv.conf`, has no search list and no hosts file. The
//! servers are those of its configuration, if that is known, else those that the
//! official image writes into the directive (`read`). `ngx_resolver` and `node` follow `src/core/ngx_resolver.c`.

mod ngx_resolver;
mod node;
mod read;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use crate::address::Address;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::nginx::ngx_resolver::Resolver;
use crate::resolver::nginx::read::{resolver_create, words};
use crate::resolver::reading::Reading;
use crate::scenario::own::{Daemon, Own, UNKNOWN};
use crate::scenario::{Family, Scenario};

/// When it is asked, as a sentence without a full stop.
pub const CONDITION: &str = "names in variables of its configuration, with the target's own `resolver` directive if there is a target, else one with the file's servers, as the official image writes them there; other names go to the C library when nginx starts: --resolver glibc, musl";

/// The lookup of `scenario`, by an nginx that has just started.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario) -> Outcome {
    let Some(servers) = resolver_create(&io, scenario).await else {
        return Outcome::Failed("CONFIG_ERROR");
    };
    let host = match parse_url(scenario.name.as_bytes()) {
        Ok(host) => host,
        Err(outcome) => return outcome,
    };
    let own = scenario.own_of(Daemon::Nginx);
    // AAAA alone can be asked from 1.23.1 on (`ipv4=off`).
    let has = [
        own.is_none_or(|it| it.has_ipv4),
        scenario.family() != Family::Inet && own.is_none_or(|it| it.has_ipv6),
    ];
    let timeout = own.and_then(|it| it.timeout);
    if own.is_some_and(Own::has_unknown) {
        io.note(UNKNOWN);
    }
    let mut resolver = Resolver::new(&io, servers, has);
    resolver.timeout = timeout.unwrap_or(resolver.timeout);
    resolver.resolve(host).await
}

/// What it takes from the configuration.
pub fn reading(scenario: &Scenario) -> Reading<'_> {
    words(scenario).1
}

/// The host of `http://NAME:PORT`, if it has to be looked up.
///
/// Source: nginx `src/core/ngx_inet.c: ngx_parse_url` (1.22)
fn parse_url(name: &[u8]) -> Result<&[u8], Outcome> {
    // An IPv6 address stands in brackets there.
    if name.contains(&b':') {
        let ip = std::str::from_utf8(name).ok().map(str::parse::<Ipv6Addr>);
        return Err(match ip {
            Some(Ok(ip)) => found(ip.into()),
            _ => Outcome::Failed("BAD_NAME"),
        });
    }
    let end = name.iter().position(|byte| b"/?".contains(byte));
    match name.get(..end.unwrap_or(name.len())).unwrap_or_default() {
        b"" => Err(Outcome::Failed("BAD_NAME")),
        host => ngx_inet_addr(host).map_or(Ok(host), |ip| Err(found(ip.into()))),
    }
}

fn found(ip: IpAddr) -> Outcome {
    Outcome::Found(vec![Address::from(ip)])
}

/// Three dots between numbers, which can be missing.
///
/// Source: nginx `src/core/ngx_inet.c: ngx_inet_addr` (1.22)
fn ngx_inet_addr(text: &[u8]) -> Option<Ipv4Addr> {
    let mut octets = [0_u8; 4];
    let mut parts = text.split(|&byte| byte == b'.');
    for octet in &mut octets {
        for digit in parts.next()? {
            let digit = digit.checked_sub(b'0').filter(|it| *it < 10)?;
            *octet = octet.checked_mul(10)?.checked_add(digit)?;
        }
    }
    // INADDR_NONE
    let is_one = parts.next().is_none() && octets != [255; 4];
    is_one.then(|| octets.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_nginx_own() {
        let check = |text: &str, expected: Option<[u8; 4]>| {
            let found = ngx_inet_addr(text.as_bytes());
            assert_eq!(found, expected.map(Ipv4Addr::from), "{text}");
        };
        check("10.96.0.10", Some([10, 96, 0, 10]));
        check("010.96.0.10", Some([10, 96, 0, 10]));
        check("10..0.1", Some([10, 0, 0, 1]));
        for other in [
            "10.96.10",
            "10.96.0.10.",
            "10.96.0.256",
            "a.b.c.d",
            "255.255.255.255",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn a_host_ends_where_its_url_goes_on() {
        assert_eq!(parse_url(b"a.b/c"), Ok(&b"a.b"[..]));
        assert_eq!(parse_url(b"/c"), Err(Outcome::Failed("BAD_NAME")));
        assert_eq!(parse_url(b"a:b"), Err(Outcome::Failed("BAD_NAME")));
        assert_eq!(parse_url(b"::1"), Err(found(Ipv6Addr::LOCALHOST.into())));
    }
}
