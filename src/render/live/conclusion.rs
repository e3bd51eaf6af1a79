//! What a lookup shows, in a few sentences: how it ended, why, what to do.

use std::io;

use super::{Lived, time, verdict};
use crate::address::Server;
use crate::engine::machine::Outcome;
use crate::engine::message::Rcode;
use crate::explain::elsewhere::Elsewhere;
use crate::explain::live::{Cause, Cut, Met, Played};
use crate::render::command::Command;
use crate::render::explanation::{Text, elsewhere};
use crate::render::sentence::full_stop;
use crate::render::words;
use crate::scenario::Scenario;
use crate::scenario::record_type::Shown;
use crate::text::counted;

/// Writes how it ended, why and what fixes it.
pub(super) fn write(text: &mut Text<'_>, scenario: &Scenario, lived: &Lived) -> io::Result<()> {
    let concluded = concluded(scenario, lived);
    let sentence = format!("{}.", concluded.what);
    let shown = if concluded.is_fine {
        text.green(&sentence)
    } else {
        text.yellow(&sentence)
    };
    text.headed(0, &shown, "")?;
    for (title, sentence) in [("Why", concluded.why), ("Fix", concluded.fix)] {
        if let Some(sentence) = sentence {
            let end = full_stop(&sentence);
            text.titled(title, &format!("{sentence}{end}"))?;
        }
    }
    Ok(())
}

/// What a lookup shows, in sentences without a full stop.
#[derive(Clone, Debug)]
pub(in crate::render) struct Concluded {
    /// How it ended: `db.shop is found: 10.100.0.5 in 0.9 ms with 2 queries`.
    pub(in crate::render) what: String,
    /// Whether it was found, and nothing is to be said about it.
    pub(in crate::render) is_fine: bool,
    /// Why, if there is more to say.
    pub(in crate::render) why: Option<String>,
    /// What helps.
    pub(in crate::render) fix: Option<String>,
}

/// Puts it in words.
pub(in crate::render) fn concluded(scenario: &Scenario, lived: &Lived) -> Concluded {
    let played = &lived.played;
    let told = Told {
        scenario,
        played,
        met: played.met(),
        cause: played.cause(),
    };
    let because = told.because();
    let elsewhere = Elsewhere::from_run(scenario, &played.run());
    let is_found = matches!(played.outcome, Outcome::Found(_)) && played.cut.is_none();
    if let Some(elsewhere) = &elsewhere {
        let reading = played.resolver.reading(scenario);
        let as_what = elsewhere::answered_as(&scenario.name, elsewhere, &played.run());
        return Concluded {
            what: format!("{} {as_what}{because}", scenario.name),
            is_fine: false,
            why: elsewhere::why(scenario, &reading, elsewhere),
            fix: Some(format!(
                "write {}. with its final dot, or take the entry out",
                scenario.name
            )),
        };
    }
    Concluded {
        what: format!("{} {}{because}", scenario.name, ended(lived)),
        is_fine: is_found && because.is_empty(),
        why: told.why(),
        fix: told.fix(),
    }
}

/// `is found: 10.100.0.5 in 0.9 ms with 2 queries`
pub(super) fn ended(lived: &Lived) -> String {
    let played = &lived.played;
    let after = time(played.elapsed);
    let queries = counted(played.exchanges.len(), "query", "queries");
    let with = if played.exchanges.is_empty() {
        "without a query".to_owned()
    } else {
        format!("with {queries}")
    };
    let what = verdict(lived);
    match (&played.outcome, played.cut) {
        (_, Some(Cut::Hangs)) => format!("has no answer after {after}: {what}"),
        (_, Some(_)) => format!("has no answer yet after {after} {with}: {what}"),
        (Outcome::Found(found), None) if found.is_empty() => {
            format!("is found in {after} {with}")
        }
        (Outcome::Found(_), None) => format!("is found in {after} {with}: {what}"),
        (_, None) => format!("is not found: {what} after {after} {with}"),
    }
}

/// What is told about a lookup.
struct Told<'l> {
    scenario: &'l Scenario,
    played: &'l Played,
    met: Vec<Met>,
    cause: Cause,
}

impl Told<'_> {
    /// The cause, as the end of the first sentence.
    fn because(&self) -> String {
        let cause = match &self.cause {
            Cause::Nothing | Cause::NotAsked | Cause::Damaged(_) | Cause::NoSuchName => {
                return String::new();
            }
            Cause::NoAnswer => match self.met.as_slice() {
                [one] => format!("the only name server, {}, {}", one.server, how(one)),
                all => format!("none of the {} name servers answers", all.len()),
            },
            Cause::Silent(server) => format!("{} never answers", self.named(server)),
            Cause::Closed(server) => format!("{} has a closed port", self.named(server)),
            Cause::TypeSilent(server, record_type) => format!(
                "{} does not answer {} queries",
                self.named(server),
                Shown(*record_type)
            ),
            Cause::Lossy(server) => format!("{} does not answer every query", self.named(server)),
            Cause::Failing(server, rcode) => {
                format!("{} answers {}", self.named(server), rcode.as_str())
            }
        };
        format!("; {cause}")
    }

    /// `the first name server, 10.96.0.10,`; only its address where there is no other.
    fn named(&self, server: &Server) -> String {
        const ORDINALS: [&str; 3] = ["first", "second", "third"];
        let reading = self.played.resolver.reading(self.scenario);
        let at = reading.servers.iter().position(|it| it.value == *server);
        let ordinal = at.and_then(|at| ORDINALS.get(at));
        match ordinal {
            Some(ordinal) if reading.servers.len() > 1 => {
                format!("the {ordinal} name server, {server},")
            }
            _ => format!("the name server {server}"),
        }
    }

    /// Where the file says so.
    fn place(&self, server: &Server) -> Option<String> {
        let reading = self.played.resolver.reading(self.scenario);
        let setting = reading.servers.iter().find(|it| it.value == *server)?;
        Some(words::origin(self.scenario, setting.origin))
    }

    fn why(&self) -> Option<String> {
        let id = self.played.resolver.id;
        let seen = |server: &Server| self.met.iter().find(|it| it.server == *server);
        match &self.cause {
            Cause::Nothing | Cause::NotAsked => None,
            Cause::Damaged(server) => Some(format!(
                "not all of what {server}{} answers can be read: whether the name exists is not known",
                self.at(server)
            )),
            Cause::NoSuchName => Some(match self.played.exchanges.len() {
                0 => return None,
                _ => "every name that was tried does not exist: NXDOMAIN or NODATA".to_owned(),
            }),
            Cause::NoAnswer => {
                let each = self.met.iter().map(|it| {
                    let server = &it.server;
                    format!("{server}{} {}", self.at(server), how(it))
                });
                Some(each.collect::<Vec<_>>().join("; "))
            }
            Cause::Silent(server) => {
                let waited = seen(server).map(|it| time(it.waited))?;
                let other = self.met.iter().find(|it| it.answered > 0)?;
                let fastest = time(other.fastest?);
                Some(format!(
                    "{id} waits {waited} for {server}{}, then {} answers in {fastest}",
                    self.at(server),
                    other.server,
                ))
            }
            Cause::Closed(server) => Some(format!(
                "port {} of {server} is closed{}: {CLOSED}",
                server.port,
                self.at(server)
            )),
            Cause::TypeSilent(server, record_type) => {
                let (waited, fastest) = seen(server).map(|it| (it.waited, it.fastest))?;
                Some(format!(
                    "{id} waits {} for the {} answer of {server}{}; its other answers come in {}",
                    time(waited),
                    Shown(*record_type),
                    self.at(server),
                    time(fastest?),
                ))
            }
            Cause::Lossy(server) => {
                let met = seen(server)?;
                Some(format!(
                    "{} of {} queries to {server}{} got no answer, for up to {}",
                    met.silent,
                    met.asked,
                    self.at(server),
                    time(met.waited)
                ))
            }
            Cause::Failing(server, _) => Some(format!("{} names {server}", self.place(server)?)),
        }
    }

    /// ` (FILE:3:12)`
    fn at(&self, server: &Server) -> String {
        let place = self.place(server);
        place.map_or_else(String::new, |it| format!(" ({it})"))
    }

    fn fix(&self) -> Option<String> {
        let out_of = |server: &Server| {
            let place = self.place(server);
            place.map_or_else(String::new, |it| format!(", or take it out of {it}"))
        };
        match &self.cause {
            Cause::Nothing | Cause::NotAsked | Cause::Damaged(_) | Cause::NoSuchName => None,
            Cause::NoAnswer => {
                let server = &self.met.first()?.server;
                let what = if self.met.iter().all(|it| it.refused > 0) {
                    format!("see whether {CLOSED}")
                } else {
                    "look whether the server runs and its address is reached from here".to_owned()
                };
                Some(format!("{what}: {}", way(server)))
            }
            Cause::Silent(server) => Some(format!("make {server} answer{}", out_of(server))),
            Cause::Closed(server) => Some(format!(
                "see which it is: {}{}",
                way(server),
                out_of(server)
            )),
            Cause::TypeSilent(server, record_type) => Some(format!(
                "see whether {server} or a firewall before it drops {} queries; if only the \
                 second of two packets is lost, options single-request-reopen (glibc) or \
                 NodeLocal DNSCache",
                Shown(*record_type)
            )),
            Cause::Lossy(_) => Some(
                "look for lost packets on the path (conntrack -S, the server's load); where only \
                 the second of two packets is lost, options single-request-reopen (glibc) or \
                 NodeLocal DNSCache"
                    .to_owned(),
            ),
            Cause::Failing(server, Rcode::Refused) if self.met.len() == 1 => Some(format!(
                "{server}, or a server that it forwards to, refuses this name, or this client: see \
                 in its configuration which names it serves, and to whom, and where it forwards to: \
                 {}",
                Command::new("kdns upstream").arg(server)
            )),
            Cause::Failing(server, Rcode::Refused) => Some(format!(
                "{server} does not serve this name to this client: name another server{}",
                out_of(server)
            )),
            Cause::Failing(server, _) => Some(format!(
                "look at the log of {server} and where it forwards to: {}",
                Command::new("kdns upstream").arg(server)
            )),
        }
    }
}

/// What a closed port can come from.
const CLOSED: &str = "nobody listens there, or a rule rejects packets to it, as that of a Service \
                      without endpoints does";

/// Shows who a server is, or the way to it on the node of whoever asks.
fn way(server: &Server) -> Command {
    let ip = server.address.ip;
    let command = if ip.is_loopback() {
        "kdns upstream"
    } else {
        "kdns path"
    };
    Command::new(command).arg(ip)
}

/// What a server that gave no answer did.
fn how(met: &Met) -> &'static str {
    match met {
        _ if met.refused > 0 && met.silent == 0 => "has a closed port",
        _ if met.unsent > 0 && met.silent == 0 => "cannot be reached from here",
        _ => "does not answer",
    }
}
