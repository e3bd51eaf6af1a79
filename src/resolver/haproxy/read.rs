//! The servers of HAProxy: those of its section, if that is known, else of
//! `resolv.conf`, of which it takes nothing else.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::time::Duration;

use crate::address::{DNS_PORT, Server};
use crate::config::resolv_conf::{ResolvConf, Word};
use crate::engine::io::Io;
use crate::name::MAX_LABEL_BYTES;
use crate::resolver::glibc;
use crate::resolver::reading::{MAX_SERVERS, Reading, Setting, TOO_MANY_SERVERS};
use crate::scenario::own::{self, Daemon, Own};
use crate::scenario::{Family, Scenario};

/// `timeout retry` and `resolve_retries`. Source: `resolvers_new`
pub(super) const RETRY: Duration = Duration::from_secs(1);
pub(super) const RESOLVE_RETRIES: u32 = 3;

const BLANKS: &[u8] = b"\r\n\t ";

/// What stands where a server should.
#[derive(Clone, Debug)]
pub(super) enum Given<'a> {
    Address(Server),
    /// HAProxy asks the C library for it when it starts.
    Name(&'a [u8], u16),
}

/// The servers of the section that is used: of the daemon's own, if it is known,
/// else of one that says `parse-resolv-conf`.
pub(super) fn configured(scenario: &Scenario) -> (Vec<Given<'_>>, Reading<'_>) {
    let of_section = scenario.own_of(Daemon::Haproxy);
    let retry = of_section.and_then(|it| it.retry);
    let retries = of_section.and_then(|it| it.retries);
    let mut reading = Reading {
        timeout: Setting::built_in(retry.unwrap_or(RETRY)),
        attempts: Setting::built_in(retries.unwrap_or(RESOLVE_RETRIES)),
        ..Reading::default()
    };
    let Some(of_section) = of_section else {
        let given = parse_resolve_conf(scenario, &mut reading);
        return (given, reading);
    };
    let mut given = Vec::new();
    for (at, word) in of_section.servers.iter().enumerate() {
        match &word.value {
            own::Given::Server(server) => {
                reading.servers.push(Setting::own(server.clone(), at));
                given.push(Given::Address(server.clone()));
            }
            own::Given::Name(name, port) => given.push(Given::Name(name.as_bytes(), *port)),
            own::Given::ResolvConf => given.extend(parse_resolve_conf(scenario, &mut reading)),
            own::Given::Unknown(_) => {}
        }
    }
    (given, reading)
}

/// Source: HAProxy `src/resolvers.c: parse_resolve_conf` (2.6)
fn parse_resolve_conf<'s>(scenario: &'s Scenario, reading: &mut Reading<'s>) -> Vec<Given<'s>> {
    let (mut given, mut ids) = (Vec::new(), Vec::new());
    let lines = scenario.resolv_conf.iter().flat_map(ResolvConf::lines);
    for line in lines {
        // C's strings end at a NUL.
        let text = line.bytes().split(|&byte| byte == 0).next();
        let text = text.unwrap_or_default();
        let value = text.strip_prefix(b"nameserver");
        let is_whole = |it: &&[u8]| it.first().is_none_or(|byte| BLANKS.contains(byte));
        let Some(value) = value.filter(is_whole) else {
            if text.first().is_some_and(u8::is_ascii_alphabetic) {
                reading.drop(line.span(), "HAProxy takes only the servers");
            }
            continue;
        };
        let Some(word) = line.split(BLANKS).nth(1).filter(|_| !value.is_empty()) else {
            reading.drop(line.span(), "nothing follows it");
            continue;
        };
        let Some(word) = word.split(b"\0").next() else {
            continue;
        };
        if ids.contains(&word.bytes) {
            reading.drop(word.span, "it is there already");
        } else if given.len() == MAX_SERVERS {
            reading.drop(word.span, TOO_MANY_SERVERS);
        } else if let Some(server) = server(word, reading) {
            ids.push(word.bytes);
            given.push(server);
        }
    }
    given
}

fn server<'a>(word: Word<'a>, reading: &mut Reading<'_>) -> Option<Given<'a>> {
    let given = str2ip2(word.bytes);
    match &given {
        Some(Given::Address(server)) => {
            let setting = Setting::file(server.clone(), word.span);
            reading.servers.push(setting);
        }
        Some(Given::Name(..)) => {
            let why = "it is no address: HAProxy asks the C library for it when it starts";
            reading.drop(word.span, why);
        }
        None => reading.drop(word.span, "it is no address"),
    }
    given
}

/// Source: HAProxy `src/tools.c: str2ip2`, `src/resolvers.c: resolv_hostname_validation` (2.6)
fn str2ip2(word: &[u8]) -> Option<Given<'_>> {
    let bare = match word {
        [b'[', bare @ .., b']'] if (2..46).contains(&bare.len()) => bare,
        [b'[', ..] => return None,
        bare => bare,
    };
    if bare == b"*" {
        let ip = IpAddr::from(Ipv4Addr::UNSPECIFIED);
        return Some(Given::Address(ip.into()));
    }
    let text = std::str::from_utf8(bare).ok()?;
    let v6 = text.parse::<Ipv6Addr>().map(IpAddr::from);
    let ip = v6.or_else(|_| text.parse::<Ipv4Addr>().map(IpAddr::from));
    if let Ok(ip) = ip {
        return Some(Given::Address(ip.into()));
    }
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let mut labels = bare.split(|&byte| byte == b'.');
    let is_name = bare.iter().all(is_of_name) && labels.all(|it| it.len() < MAX_LABEL_BYTES);
    is_name.then_some(Given::Name(bare, DNS_PORT))
}

/// The servers; `None`: there is no file, and HAProxy does not start.
///
/// It reads the file for its section `default`, too, and asks for servers that
/// are given by name each time. Where no server is left, its HTTP client makes
/// that section once more.
///
/// Source: HAProxy `src/resolvers.c: resolvers_create_default`,
/// `src/http_client.c: httpclient_resolve_init` (2.6)
pub(super) async fn nameservers(io: &Rc<Io>, scenario: &Scenario) -> Option<Vec<Server>> {
    let needs_file = scenario
        .own_of(Daemon::Haproxy)
        .is_none_or(Own::has_resolv_conf);
    if needs_file && scenario.resolv_conf.is_none() {
        return None;
    }
    let of_file = parse_resolve_conf(scenario, &mut Reading::default());
    let of_default = section(io, scenario, &of_file).await;
    let servers = section(io, scenario, &configured(scenario).0).await;
    if of_default.is_empty() {
        section(io, scenario, &of_file).await;
    }
    Some(servers)
}

/// The servers of one section.
async fn section(io: &Rc<Io>, scenario: &Scenario, given: &[Given<'_>]) -> Vec<Server> {
    let mut servers = Vec::new();
    for server in given {
        match server {
            Given::Address(server) => servers.push(server.clone()),
            Given::Name(name, port) => {
                let found = by_name(io, scenario, name).await;
                servers.extend(found.map(|it| Server { port: *port, ..it }));
            }
        }
    }
    servers
}

/// `getaddrinfo`, and after that `gethostbyname`; the first address counts.
async fn by_name(io: &Rc<Io>, scenario: &Scenario, name: &[u8]) -> Option<Server> {
    for family in [Family::Both, Family::Inet] {
        let found = glibc::addresses_of(io, scenario, name, (family, 0)).await;
        if let Some(first) = found.and_then(|it| it.into_iter().next()) {
            return Some(Server::from(first));
        }
    }
    None
}
