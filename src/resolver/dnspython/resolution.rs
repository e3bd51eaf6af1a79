//! The names of a lookup, asked one after the other until one has an answer.
//!
//! Source: dnspython `dns/resolver.py: _Resolution, Resolver.resolve`,
//! `dns/query.py: udp, tcp` (2.3)

use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::{Address, Server};
use crate::engine::io::{Came, Io, Wrong};
use crate::engine::message::{Because, Data, Edns, Query, Question, Rcode, Reply, Transport};
use crate::name::Name;
use crate::resolver::dnspython::Exception;
use crate::resolver::dnspython::read::Configuration;

/// `lifetime` of `BaseResolver.reset`: of the whole lookup.
const LIFETIME: Duration = Duration::from_secs(5);
/// How long it sleeps before all servers are asked again, at first and at most.
const BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(2);
/// Aliases that are followed in an answer. Source: `dns/message.py: MAX_CHAIN`
const MAX_CHAIN: usize = 16;
/// Source: `dns/message.py: DEFAULT_EDNS_PAYLOAD`
const EDNS: Edns = Edns::plain(1232);
/// What is left to chance, in a sentence.
const ROTATED: &str = "`rotate`: dnspython shuffles the servers for each name";

/// A lookup.
pub(super) struct Resolution<'r> {
    io: &'r Io,
    configuration: &'r Configuration<'r>,
    record_type: RecordType,
}

/// What a server is good for after it was asked.
enum Asked {
    Reply(Reply),
    /// It is not asked again: `OSError`, `EOFError`.
    Useless,
    /// It is to be asked over TCP.
    Truncated,
    Timeout,
}

/// What a name leads to.
enum Ended {
    Found(Vec<Address>),
    NextName,
}

impl<'r> Resolution<'r> {
    pub(super) fn new(
        io: &'r Io,
        configuration: &'r Configuration<'r>,
        record_type: RecordType,
    ) -> Self {
        Self {
            io,
            configuration,
            record_type,
        }
    }

    pub(super) async fn resolve(
        &mut self,
        names: Vec<(Name, Because)>,
    ) -> Result<Vec<Address>, Exception> {
        for (name, because) in names {
            if let Ended::Found(addresses) = self.name(&name, &because).await? {
                return Ok(addresses);
            }
        }
        Err("NXDOMAIN")
    }

    /// Asks for one name, server after server, until one has an answer.
    async fn name(&self, name: &Name, because: &Because) -> Result<Ended, Exception> {
        let mut servers = self.servers();
        let mut waiting = servers.clone();
        let mut backoff = BACKOFF;
        loop {
            if waiting.is_empty() {
                if servers.is_empty() {
                    return Err("NoNameservers");
                }
                waiting.clone_from(&servers);
                self.io.sleep(self.io.now() + backoff).await;
                backoff = (backoff * 2).min(MAX_BACKOFF);
            }
            let place = waiting.remove(0);
            // It is taken for a URL, and nothing is there to ask it with.
            let Some(server) = &place else {
                self.time_left()?;
                continue;
            };
            let question = (name, because);
            let mut asked = self.ask(server, question, Transport::Udp).await?;
            if matches!(asked, Asked::Truncated) {
                asked = self.ask(server, question, Transport::Tcp).await?;
            }
            let reply = match asked {
                Asked::Reply(reply) => reply,
                Asked::Timeout => continue,
                Asked::Useless | Asked::Truncated => {
                    remove(&mut servers, place.as_ref());
                    continue;
                }
            };
            match reply.rcode {
                Rcode::NoError => {
                    return match self.answer(name, &reply) {
                        Some(addresses) => Ok(Ended::Found(addresses)),
                        None => Err("NoAnswer"),
                    };
                }
                Rcode::NxDomain => return Ok(Ended::NextName),
                _ => remove(&mut servers, place.as_ref()),
            }
        }
    }

    /// The servers, with `rotate` in any order.
    fn servers(&self) -> Vec<Option<Server>> {
        let reading = &self.configuration.reading;
        let mut left = self.configuration.servers.clone();
        if !reading.flags.iter().any(|it| it.value == "rotate") {
            return left;
        }
        let mut shuffled = Vec::with_capacity(left.len());
        while left.len() > 1 {
            shuffled.push(left.remove(self.io.choose(left.len(), ROTATED)));
        }
        shuffled.extend(left);
        shuffled
    }

    /// Asks one server from a socket of its own. Over UDP that is not connected,
    /// so that a closed port looks like silence.
    async fn ask(
        &self,
        server: &Server,
        (name, because): (&Name, &Because),
        transport: Transport,
    ) -> Result<Asked, Exception> {
        let left = self.time_left()?;
        let reading = &self.configuration.reading;
        let until = self.io.now() + left.min(reading.timeout.value);
        let Ok(socket) = self.io.connect(server, transport).await else {
            return Ok(Asked::Useless);
        };
        let has_edns = reading.flags.iter().any(|it| it.value == "edns0");
        self.io.send(Query {
            server: server.clone(),
            question: Question::Asked(name.clone(), self.record_type),
            transport,
            socket,
            edns: has_edns.then_some(EDNS),
            authentic_data: false,
            because: because.clone(),
        });
        let (came, wrong) = loop {
            let arrival = self.io.receive(&[socket], Some(until)).await;
            let wrong = arrival.as_ref().and_then(|it| it.wrong);
            match arrival.map(|it| it.what) {
                Some(Came::Refused) if transport == Transport::Udp => {}
                came => break (came, wrong),
            }
        };
        self.io.close(socket);
        Ok(match came {
            Some(Came::Reply(reply))
                if reply.truncated && transport == Transport::Udp && is_from(server, wrong) =>
            {
                Asked::Truncated
            }
            // `UnexpectedSource`
            Some(Came::Reply(_)) if transport == Transport::Udp && !is_from(server, wrong) => {
                Asked::Timeout
            }
            // `BadResponse`
            Some(Came::Reply(_)) if wrong.is_some() => Asked::Useless,
            Some(Came::Reply(reply)) => Asked::Reply(reply),
            Some(_) => Asked::Useless,
            None => Asked::Timeout,
        })
    }

    /// Source: `BaseResolver._compute_timeout`
    fn time_left(&self) -> Result<Duration, Exception> {
        let left = LIFETIME.checked_sub(self.io.now());
        left.filter(|left| !left.is_zero()).ok_or("LifetimeTimeout")
    }

    /// The addresses at the end of the answer's aliases; `None`: it has no
    /// records of the type there.
    ///
    /// Source: `dns/message.py: QueryMessage.resolve_chaining` (2.3)
    fn answer(&self, name: &Name, reply: &Reply) -> Option<Vec<Address>> {
        let mut owner = name;
        for _ in 0..MAX_CHAIN {
            let own = || {
                reply
                    .answers
                    .iter()
                    .filter(|it| it.name.eq_ignore_case(owner))
            };
            let wanted = own().filter(|it| it.data.record_type() == self.record_type);
            let found: Vec<&Data> = wanted.map(|it| &it.data).collect();
            if !found.is_empty() {
                return Some(
                    found
                        .into_iter()
                        .filter_map(Data::ip)
                        .map(Into::into)
                        .collect(),
                );
            }
            owner = own().find_map(|it| match &it.data {
                Data::Cname(target) => Some(target),
                _ => None,
            })?;
        }
        None
    }
}

/// Whether a reply comes from the address that was asked, written as it is.
///
/// Source: `dns/query.py: _matches_destination`
fn is_from(server: &Server, wrong: Option<Wrong>) -> bool {
    let address = &server.address;
    wrong != Some(Wrong::Source) && !address.ip.is_unspecified() && !address.lacks_scope()
}

/// Takes a server out, once if it is there twice.
fn remove(servers: &mut Vec<Option<Server>>, server: Option<&Server>) {
    if let Some(at) = servers.iter().position(|it| it.as_ref() == server) {
        servers.remove(at);
    }
}
