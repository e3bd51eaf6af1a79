//! The words of the `resolver` directive, from a `resolv.conf`.

use std::net::{IpAddr, Ipv6Addr};
use std::rc::Rc;
use std::time::Duration;

use crate::address::{DNS_PORT, Server};
use crate::config::resolv_conf::{ResolvConf, Word};
use crate::engine::io::Io;
use crate::resolver::glibc;
use crate::resolver::nginx::ngx_inet_addr;
use crate::resolver::reading::{Dropped, MAX_SERVERS, Reading, Setting, TOO_MANY_SERVERS};
use crate::scenario::own::{self, Daemon, Own};
use crate::scenario::{Family, Scenario};

/// How long it waits before it asks the next server. Source: `ngx_resolver_create`
pub(super) const RESEND_TIMEOUT: Duration = Duration::from_secs(5);
/// Of `netdb.h`.
const AI_ADDRCONFIG: u32 = 0x20;

/// What stands where a server should.
#[derive(Clone, Debug)]
pub(super) enum Given<'a> {
    Address(Server),
    /// nginx asks the C library for it when it starts.
    Name(&'a [u8], u16),
    /// nginx does not start.
    Bad,
}

fn of_directive<'a>(own: &'a Own, reading: &mut Reading<'_>) -> Vec<Given<'a>> {
    let mut given = Vec::new();
    for (at, word) in own.servers.iter().enumerate() {
        match &word.value {
            own::Given::Server(server) => {
                reading.servers.push(Setting::own(server.clone(), at));
                given.push(Given::Address(server.clone()));
            }
            own::Given::Name(name, port) => given.push(Given::Name(name.as_bytes(), *port)),
            own::Given::ResolvConf | own::Given::Unknown(_) => {}
        }
    }
    given
}

/// The second words of the lines that begin with `nameserver`, IPv6 addresses
/// in brackets.
///
/// Source: nginx's official image, `/docker-entrypoint.d/15-local-resolvers.envsh`,
/// whose awk is `$1=="nameserver" {if ($2 ~ ":") {print "["$2"]"} else {print $2}}`
pub(super) fn words(scenario: &Scenario) -> (Vec<Given<'_>>, Reading<'_>) {
    let mut reading = Reading {
        timeout: Setting::built_in(RESEND_TIMEOUT),
        attempts: Setting::built_in(6),
        ..Reading::default()
    };
    if let Some(own) = scenario.own_of(Daemon::Nginx) {
        let given = of_directive(own, &mut reading);
        return (given, reading);
    }
    let mut given = Vec::new();
    let lines = scenario.resolv_conf.iter().flat_map(ResolvConf::lines);
    for line in lines {
        let mut fields = line.split(b" \t");
        match (fields.next(), fields.next()) {
            (Some(keyword), Some(word)) if keyword.bytes == b"nameserver" => {
                if given.len() < MAX_SERVERS {
                    given.push(server(word, &mut reading));
                } else {
                    reading.drop(word.span, TOO_MANY_SERVERS);
                }
            }
            (Some(keyword), Some(_)) if keyword.bytes != b"#" && keyword.bytes != b";" => {
                let why = "nginx has servers only, from its `resolver` directive";
                reading.drop(line.span(), why);
            }
            _ => {}
        }
    }
    (given, reading)
}

fn server<'a>(word: Word<'a>, reading: &mut Reading<'_>) -> Given<'a> {
    let given = given(word.bytes);
    match given {
        Given::Address(ref server) => {
            let setting = Setting::file(server.clone(), word.span);
            reading.servers.push(setting);
        }
        Given::Name(..) => {
            let why = "it is no address: nginx asks the C library for it when it starts";
            reading.drop(word.span, why);
        }
        Given::Bad if reading.refused.is_none() => {
            reading.refused = Some(Dropped {
                span: word.span,
                why: "nginx does not start with it in a `resolver` directive".into(),
            });
        }
        Given::Bad => {}
    }
    given
}

fn given(word: &[u8]) -> Given<'_> {
    // Brackets are put around a carriage return, too; alone it is a blank.
    if word.contains(&b':') {
        let text = std::str::from_utf8(word).unwrap_or_default();
        return match text.parse::<Ipv6Addr>() {
            Ok(ip) => Given::Address(Server::from(IpAddr::from(ip))),
            Err(_) => Given::Bad,
        };
    }
    let word = word.trim_ascii_end();
    // Of nginx' own syntax.
    let is_syntax = |byte: &u8| b";{}\"'\\/?$[".contains(byte);
    if word.iter().any(is_syntax) || word.starts_with(b"#") {
        return Given::Bad;
    }
    let address = |ip| Given::Address(Server::from(IpAddr::from(ip)));
    ngx_inet_addr(word).map_or(Given::Name(word, DNS_PORT), address)
}

/// The servers of the directive; `None`: nginx does not start.
///
/// Source: nginx `src/core/ngx_resolver.c: ngx_resolver_create`,
/// `src/core/ngx_inet.c: ngx_inet_resolve_host` (1.22)
pub(super) async fn resolver_create(io: &Rc<Io>, scenario: &Scenario) -> Option<Vec<Server>> {
    let mut servers = Vec::new();
    for given in words(scenario).0 {
        match given {
            Given::Address(server) => servers.push(server),
            Given::Name(name, port) => {
                let flags = AI_ADDRCONFIG;
                let found = glibc::addresses_of(io, scenario, name, (Family::Both, flags)).await;
                let server = |address| Server { address, port };
                servers.extend(found?.into_iter().map(server));
            }
            Given::Bad => return None,
        }
    }
    (!servers.is_empty()).then_some(servers)
}
