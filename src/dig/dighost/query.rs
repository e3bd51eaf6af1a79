//! One query: its socket, its message, and what is waited for.

use std::net::IpAddr;
use std::time::Duration;

use super::{Current, Dighost, Exit, Pending, Then};
use crate::dig::lookup::{Lookup, Server};
use crate::dig::message::{self, Read};
use crate::dig::printed::{Printed, Times};
use crate::dig::translation;
use crate::engine::failure::Failure;
use crate::engine::io::Came;
use crate::engine::message::{Because, Query, Question, Reply, SocketId, Transport};

/// What came of a query.
pub(super) enum Answer {
    Wire(Vec<u8>),
    Model(Reply),
}

impl Dighost {
    /// The socket to the current server: an open one, where that may be used.
    pub(super) async fn connect(&self, current: &Current) -> Result<SocketId, Failure> {
        let (lookup, server) = (&current.pending.lookup, current.server());
        let server = server.ok_or(Failure::AddressNotAvailable)?;
        if server.has_half_identity() {
            return Err(Failure::HalfIdentity);
        }
        let to = server.to();
        let is_plain = lookup.tcp && server.secure.is_none();
        let kept = (self.settings.keep_open && is_plain).then(|| to.clone());
        if let Some((socket, open)) = self.standing.open.take() {
            if kept.is_some() && open == kept {
                self.standing.open.replace(Some((socket, kept)));
                return Ok(socket);
            }
            self.io.close(socket);
        }
        // Linux connects nothing to a link-local address without an interface
        // (net/ipv6/datagram.c: __ip6_datagram_connect).
        let address = &server.address;
        if matches!(address.ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
            && address.scope.is_none()
        {
            return Err(Failure::Failed);
        }
        let secure = server.secure.clone();
        let until = self.io.now() + self.timeout(lookup);
        let transport = transport(lookup);
        let socket = self.io.open(&to, transport, secure, Some(until)).await?;
        self.standing.open.replace(Some((socket, kept)));
        Ok(socket)
    }

    /// Sends the query, and takes what comes back.
    ///
    /// Source: BIND bin/dig/dighost.c: `udp_ready`, `tcp_connected`,
    /// `send_udp`, `launch_next_query` (9.18)
    pub(super) async fn ask(
        &mut self,
        current: &mut Current,
        socket: SocketId,
    ) -> Result<Then, Exit> {
        self.standing.status.set(0);
        current.sent = self.io.now();
        if let Some(wire) = &self.settings.wire {
            current.times = Times {
                sent: wire.began + current.sent,
                local: self.io.local(socket),
                ..Times::default()
            };
            self.io.write(socket, current.query.clone());
            self.show_query(current)?;
        } else if let Some(server) = current.server() {
            self.io.send(model_query(current, server, socket));
        }
        let mut until = self.io.now() + self.timeout(&current.pending.lookup);
        loop {
            let then = match self.answer(socket, until).await {
                Ok(answer) => self.answered(current, answer)?,
                Err(failure) => self.lost(current, failure)?,
            };
            match then {
                Then::Wait { anew: false } => {}
                Then::Wait { anew: true } => {
                    until = self.io.now() + self.timeout(&current.pending.lookup);
                }
                then => return Ok(then),
            }
        }
    }

    async fn answer(&self, socket: SocketId, until: Duration) -> Result<Answer, Failure> {
        if self.settings.wire.is_some() {
            let heard = self.io.hear(socket, until).await;
            return heard.unwrap_or(Err(Failure::TimedOut)).map(Answer::Wire);
        }
        let arrival = self.io.receive(&[socket], Some(until)).await;
        match arrival.ok_or(Failure::TimedOut)?.what {
            Came::Reply(reply) => Ok(Answer::Model(reply)),
            Came::Refused => Err(Failure::Refused),
            Came::Closed => Err(Failure::EndOfFile),
            Came::Reset => Err(Failure::Reset),
        }
    }

    /// Takes what came back, as it is on the wire or in a scenario.
    pub(super) fn answered(&mut self, current: &mut Current, answer: Answer) -> Result<Then, Exit> {
        match answer {
            Answer::Model(reply) => {
                let message = translation::message_of(&reply);
                self.recv_done(current, message)
            }
            Answer::Wire(wire) => {
                let now = self.io.now();
                current.times.elapsed = now.saturating_sub(current.sent);
                let began = self.settings.wire.map(|it| it.began);
                current.times.received = began.unwrap_or_default() + now;
                self.arrived(current, &wire)
            }
        }
    }

    fn show_query(&self, current: &mut Current) -> Result<(), Exit> {
        if !current.pending.lookup.show_query {
            return Ok(());
        }
        let padding = current.pending.lookup.edns.padding;
        let (Read::Whole(message) | Read::Part(message)) =
            message::read_own(&current.query, padding != 0)
        else {
            return Ok(());
        };
        if let Some(exchange) = current.exchange(None) {
            self.print(Printed::Query(exchange, Box::new(message)))?;
            current.greeted();
        }
        Ok(())
    }
}

/// The query of a prediction.
pub(super) fn model_query(current: &Current, server: &Server, socket: SocketId) -> Query {
    let Pending {
        lookup,
        origin,
        because,
        ..
    } = &current.pending;
    Query {
        server: server.to(),
        question: Question::Asked(current.name.clone(), lookup.rdtype.into()),
        transport: transport(lookup),
        socket,
        edns: translation::edns(&lookup.edns),
        authentic_data: lookup.flags.authentic,
        because: match *origin {
            Some(at) if !lookup.text.ends_with(b".") => Because::Search(at),
            _ => because.clone(),
        },
    }
}

fn transport(lookup: &Lookup) -> Transport {
    if lookup.tcp {
        Transport::Tcp
    } else {
        Transport::Udp
    }
}
