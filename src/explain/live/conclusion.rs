//! What a lookup on the wire shows about its servers: why it was slow or failed.

use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::engine::io::Came;
use crate::engine::machine::Outcome;
use crate::engine::message::Rcode;

use super::{Exchange, Played, Silence};

/// Waits that are shorter are not worth a word.
const BRIEF: Duration = Duration::from_millis(100);

/// A server as the lookup met it.
#[derive(Clone, Debug)]
pub struct Met {
    /// Whose address it is.
    pub server: Server,
    /// Queries that were sent to it.
    pub asked: usize,
    /// Those with a response.
    pub answered: usize,
    /// Those that a closed port refused, and connections.
    pub refused: usize,
    /// Those that were waited for in vain.
    pub silent: usize,
    /// Those that did not leave this machine.
    pub unsent: usize,
    /// The longest of these waits.
    pub waited: Duration,
    /// The fastest response.
    pub fastest: Option<Duration>,
    /// The last failure that it answered with: SERVFAIL, REFUSED and the like.
    pub failure: Option<Rcode>,
}

/// Why a lookup was slow or failed, as far as its servers show it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Cause {
    /// Nothing is wrong with the servers.
    Nothing,
    /// Nobody was asked.
    NotAsked,
    /// Servers were asked and none of them responded.
    NoAnswer,
    /// This one never responds, and another does.
    Silent(Server),
    /// Nobody listens on this one's port, and another responds.
    Closed(Server),
    /// This one does not respond to this record type, and does to others.
    TypeSilent(Server, RecordType),
    /// This one did not respond to some queries, and to the same ones later.
    Lossy(Server),
    /// This one answers with a failure.
    Failing(Server, Rcode),
    /// Not all of what this one answered could be read, or came.
    Damaged(Server),
    /// It responds, and the name does not exist.
    NoSuchName,
}

impl Played {
    /// Every server, in the order in which they were first asked.
    pub fn met(&self) -> Vec<Met> {
        let mut all: Vec<Met> = Vec::new();
        let asked = self.exchanges.iter().map(|it| &it.query.server);
        for server in asked.chain(self.unconnected.iter().map(|it| &it.server)) {
            if !all.iter().any(|it| it.server == *server) {
                all.push(Met::new(server));
            }
        }
        for exchange in &self.exchanges {
            let its = |met: &&mut Met| met.server == exchange.query.server;
            let Some(met) = all.iter_mut().find(its) else {
                continue;
            };
            met.asked += 1;
            match (&exchange.answer, self.silence(exchange)) {
                (Some(answer), _) if answer.what == Came::Refused => met.refused += 1,
                (Some(answer), _) => {
                    met.answered += usize::from(exchange.reply().is_some());
                    let first = met.fastest.unwrap_or(answer.after);
                    met.fastest = Some(first.min(answer.after));
                    met.failure = failure(exchange).or(met.failure);
                }
                (None, Some(Silence::Waited(waited))) => {
                    met.silent += 1;
                    met.waited = met.waited.max(waited);
                }
                (None, None) => met.unsent += 1,
                (None, Some(Silence::NotWaitedFor)) => {}
            }
        }
        for it in &self.unconnected {
            let its = |met: &&mut Met| met.server == it.server;
            if let Some(met) = all.iter_mut().find(its) {
                met.refused += usize::from(it.is_refused);
                met.unsent += usize::from(!it.is_refused);
            }
        }
        all
    }

    /// Why it was slow or failed.
    pub fn cause(&self) -> Cause {
        let all = self.met();
        if all.is_empty() {
            return Cause::NotAsked;
        }
        if all.iter().all(|it| it.answered == 0) {
            return Cause::NoAnswer;
        }
        if let Some(slow) = all.iter().find(|it| it.silent > 0 && it.waited >= BRIEF) {
            let server = slow.server.clone();
            return match self.silent_type(&slow.server) {
                _ if slow.answered == 0 => Cause::Silent(server),
                Some(record_type) => Cause::TypeSilent(server, record_type),
                None => Cause::Lossy(server),
            };
        }
        let is_found = matches!(self.outcome, Outcome::Found(_));
        if let Some(closed) = all.iter().find(|it| it.refused > 0 && it.answered == 0) {
            return Cause::Closed(closed.server.clone());
        }
        let failing = all.iter().find_map(|it| Some((it, it.failure?)));
        match failing {
            Some((met, rcode)) => Cause::Failing(met.server.clone(), rcode),
            None if is_found || self.cut.is_some() => Cause::Nothing,
            None => {
                let damaged = self.exchanges.iter().find(|it| it.is_in_part());
                damaged.map_or(Cause::NoSuchName, |it| {
                    Cause::Damaged(it.query.server.clone())
                })
            }
        }
    }

    /// The server to which packets may not get, or from which none come back.
    pub fn unreached(&self) -> Option<Server> {
        match self.cause() {
            Cause::Silent(server)
            | Cause::Closed(server)
            | Cause::TypeSilent(server, _)
            | Cause::Lossy(server) => Some(server),
            Cause::NoAnswer => self.met().into_iter().next().map(|it| it.server),
            Cause::Nothing
            | Cause::NotAsked
            | Cause::Failing(..)
            | Cause::Damaged(_)
            | Cause::NoSuchName => None,
        }
    }

    /// The record type to which this server never responds, where it does to another.
    fn silent_type(&self, server: &Server) -> Option<RecordType> {
        let of_it = || {
            let all = self.exchanges.iter();
            all.filter(|it| it.query.server == *server)
        };
        let silent = of_it().find(|it| self.silence(it).is_some())?;
        let record_type = silent.query.record_type()?;
        let is_of_type = |it: &&Exchange| it.query.record_type() == Some(record_type);
        let never = of_it().filter(is_of_type).all(|it| it.reply().is_none());
        never.then_some(record_type)
    }
}

impl Met {
    fn new(server: &Server) -> Self {
        Self {
            server: server.clone(),
            asked: 0,
            answered: 0,
            refused: 0,
            silent: 0,
            unsent: 0,
            waited: Duration::ZERO,
            fastest: None,
            failure: None,
        }
    }
}

fn failure(exchange: &Exchange) -> Option<Rcode> {
    let rcode = exchange.reply()?.rcode;
    let is_failure = !matches!(rcode, Rcode::NoError | Rcode::NxDomain);
    is_failure.then_some(rcode)
}
