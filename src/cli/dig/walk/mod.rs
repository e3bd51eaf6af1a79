//! `+search=RESOLVER`: the search list as that resolver walks it, by its own
//! machine on the wire.

mod text;
mod walked;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use self::text::Text;
use self::walked::Walked;
use super::output::Output;
use super::place::Place;
use super::session::Session;
use crate::address::{self, DNS_PORT};
use crate::cli::streams::Status;
use crate::dig::lookup::{Globals, Lookup};
use crate::dig::translation;
use crate::engine::machine::Outcome;
use crate::host::situation::RESOLV_CONF;
use crate::program::{self, Program};
use crate::render;
use crate::resolver::{self, Resolver, bind};
use crate::scenario::{self, Family, Scenario};
use crate::text::escaped;
use crate::text::nearest::nearest;
use crate::wire::live::{self, Limits, Means};
use crate::wire::{client_cookie, socket_address};

/// Resolvers give up sooner: the slowest, systemd-resolved, after two minutes.
const LIMIT: Duration = Duration::from_secs(300);
const A: u16 = 1;
const AAAA: u16 = 28;

/// Whose search is walked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Walker {
    /// This resolver's.
    Resolver(&'static Resolver),
    /// That of the target's program, whichever it has for a name.
    Target,
}

/// A lookup that is walked.
struct Walk<'w> {
    walker: Walker,
    place: &'w Place,
    globals: &'w Globals,
}

/// Walks all lookups as the resolver of this word would; `None`: a name that
/// cannot be printed ends everything.
pub(super) fn all(
    word: &str,
    session: &Session<'_>,
    lookups: &[Lookup],
    output: &mut Output<'_>,
) -> anyhow::Result<Option<Status>> {
    let walker = match Walker::named(word, session.place.is_target) {
        Ok(walker) => walker,
        Err(why) => {
            let _ = writeln!(output.err, "kdns: {}", escaped(why.as_bytes()));
            return Ok(Some(Status::Found));
        }
    };
    let walk = Walk {
        walker,
        place: session.place,
        globals: &session.parser.globals,
    };
    if lookups.iter().any(|lookup| !lookup.tls().is_empty()) {
        let why = "kdns: +search=RESOLVER asks without TLS: leave +tls and +https out\n";
        output.write(true, why)?;
        return Ok(Some(Status::Found));
    }
    let mut status = Status::Clean;
    for lookup in lookups {
        let Some(found) = walk.lookup(lookup, output)? else {
            return Ok(None);
        };
        status = status.max(found);
    }
    Ok(Some(status))
}

impl Walker {
    /// The resolver of a word.
    ///
    /// # Errors
    ///
    /// It is none: a sentence.
    pub(super) fn named(word: &str, is_target: bool) -> Result<Self, String> {
        let meant = resolver::alias(word).map_or(word, |it| it.resolver);
        match resolver::find(meant) {
            Some(resolver) => Ok(Self::Resolver(resolver)),
            None if word == "target" && is_target => Ok(Self::Target),
            None if word == "target" => Err(
                "+search=target is for `kdns nsenter TARGET dig`: here there is no target"
                    .to_owned(),
            ),
            None => {
                let hint = match nearest(word, resolver::names()) {
                    Some(near) => format!("did you mean {near}?"),
                    None => "write target, glibc, musl, go or another one of those in kdns \
                             explain --help"
                        .to_owned(),
                };
                Err(format!("+search={word} names no resolver: {hint}"))
            }
        }
    }
}

impl Walk<'_> {
    /// Walks, and prints as dig does: the last reply, with `+showsearch` all
    /// of them, and before it a comment for every query; `None`: a name that
    /// cannot be printed ends everything.
    fn lookup(&self, lookup: &Lookup, output: &mut Output<'_>) -> anyhow::Result<Option<Status>> {
        let (scenario, ports) = self.scenario(lookup);
        let resolver = match self.resolver(&scenario) {
            Ok(resolver) => resolver,
            Err(why) => {
                let _ = writeln!(output.err, "kdns: {}", escaped(why.as_bytes()));
                return Ok(Some(Status::Internal));
            }
        };
        let cookie = client_cookie();
        let means = Means {
            destination: &|server| destination(server, &ports),
            message: &|query, id| translation::message(query, lookup, id, &cookie),
            ..Means::default()
        };
        let limits = Limits {
            time: LIMIT,
            interrupt: None,
        };
        let mut walked = Walked::default();
        let machine = resolver.machine(&scenario);
        let finished = live::run(machine, &means, limits, &mut |event| walked.take(event));
        walked.end();
        walked.notes.extend(finished.notes);
        walked.notes.push(ending(resolver, &finished.outcome));
        let mut text = String::new();
        let written = Text {
            globals: self.globals,
        }
        .write(lookup, resolver, (&walked, &ports), &mut text);
        output.out.write_all(text.as_bytes())?;
        output.out.flush()?;
        if let Err(refused) = written {
            output.refuse(&refused)?;
            return Ok(None);
        }
        Ok(Some(match walked.last {
            Some(_) => Status::Clean,
            None => Status::NoReply,
        }))
    }

    fn resolver(&self, scenario: &Scenario) -> Result<&'static Resolver, String> {
        if let Walker::Resolver(resolver) = self.walker {
            return Ok(resolver);
        }
        let unknown = Program::default();
        let choice = program::choose(self.place.program.as_ref().unwrap_or(&unknown), scenario);
        choice.resolver.and_then(resolver::find).ok_or_else(|| {
            format!(
                "+search=target: {}; write +search=RESOLVER",
                render::program::choice(&choice)
            )
        })
    }

    /// What is looked up, with the command line's servers in the place of the
    /// file's, and the ports that no resolv.conf can say.
    fn scenario(&self, lookup: &Lookup) -> (Scenario, BTreeMap<IpAddr, u16>) {
        let mut scenario = self.place.scenario.clone();
        scenario.name = String::from_utf8_lossy(&lookup.text).into_owned();
        scenario.lookup = match lookup.rdtype {
            A => scenario::Lookup::Addresses(Family::Inet),
            AAAA => scenario::Lookup::Addresses(Family::Inet6),
            other => scenario::Lookup::Records(other.into()),
        };
        let mut ports = BTreeMap::new();
        let changes = !lookup.servers.is_empty() || self.globals.domain.is_some();
        if changes {
            let file = scenario.resolv_conf.as_ref();
            let name = file.map_or(RESOLV_CONF, |it| &it.source.name);
            let bytes = file.map_or(&b""[..], |it| &it.source.bytes);
            scenario.resolv_conf = Some(scenario::file(name, self.rewritten(bytes, lookup)));
        }
        let reading = bind::reading(&scenario, &bind::DIG_SEARCH);
        let servers = bind::settings(self.globals, &reading).servers;
        for server in servers.iter().chain(&lookup.servers) {
            ports.extend(server.port.map(|port| (server.address.ip, port)));
        }
        (scenario, ports)
    }

    /// The file with other name servers, and with the domain of `+domain`.
    fn rewritten(&self, bytes: &[u8], lookup: &Lookup) -> Vec<u8> {
        let begins = |line: &[u8], word: &str| {
            let first = line
                .split(u8::is_ascii_whitespace)
                .find(|it| !it.is_empty());
            first == Some(word.as_bytes())
        };
        let has_servers = !lookup.servers.is_empty();
        let domain = self.globals.domain.as_ref();
        let kept = bytes.split(|&byte| byte == b'\n').filter(|line| {
            let is_search = begins(line, "search") || begins(line, "domain");
            !(has_servers && begins(line, "nameserver") || domain.is_some() && is_search)
        });
        let mut lines: Vec<Vec<u8>> = kept.map(<[u8]>::to_vec).collect();
        let servers = lookup.servers.iter();
        lines.extend(servers.map(|it| format!("nameserver {}", it.address).into_bytes()));
        lines.extend(domain.map(|it| [b"search ", it.as_slice()].concat()));
        lines.join(&b'\n')
    }
}

/// Where a server's queries go, with the port of the command line.
fn destination(server: &address::Server, ports: &BTreeMap<IpAddr, u16>) -> Option<SocketAddr> {
    let port = ports.get(&server.address.ip).copied();
    let own = if server.port == DNS_PORT { port } else { None };
    socket_address(&server.address, own.unwrap_or(server.port))
}

/// `glibc then has 10.0.0.1`
fn ending(resolver: &Resolver, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Found(found) if found.is_empty() => format!("{} then has an answer", resolver.id),
        Outcome::Found(found) => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            format!("{} then has {}", resolver.id, found.join(", "))
        }
        failed => {
            let why = failed.code().unwrap_or_default();
            format!("{} then fails: {why}", resolver.id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_lines_servers_and_domain_are_in_the_place_of_the_files() {
        let place = Place {
            scenario: Scenario::new("dig", ""),
            is_target: false,
            program: None,
        };
        let globals = Globals {
            domain: Some(b"b.test".to_vec()),
            ..Globals::default()
        };
        let walk = Walk {
            walker: Walker::Target,
            place: &place,
            globals: &globals,
        };
        let server = address::Address::from(IpAddr::from([10, 0, 0, 1]));
        let lookup = Lookup {
            servers: vec![crate::dig::lookup::Server::plain(server)],
            ..Lookup::default()
        };
        let file = b" nameserver 10.0.0.9\n\t domain a.test\noptions ndots:2\n#search";
        let text = walk.rewritten(file, &lookup);
        let expected = b"options ndots:2\n#search\nnameserver 10.0.0.1\nsearch b.test";
        assert_eq!(text, expected);
    }
}
