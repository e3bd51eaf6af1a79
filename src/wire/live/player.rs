//! One machine under way, and how its requests are carried out.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::replies::Asked;
use super::{Event, Live, Means, Owner, Told};
use crate::engine::failure::Failure;
use crate::engine::io::{Io, Request};
use crate::engine::machine::{Machine, Outcome, Step};
use crate::engine::message::{Query, QueryId, SocketId, Transport};
use crate::host::io_reason;
use crate::wire::errors::is_lack;
use crate::wire::kind::Got;
use crate::wire::{Roots, failure, query_id};

/// A machine under way.
#[derive(Debug)]
pub struct Player<'m> {
    /// Its number among all.
    pub number: u32,
    pub(super) machine: Machine<'m>,
    pub(super) start: Instant,
    pub(super) deadline: Option<Instant>,
    pub(super) outcome: Option<Outcome>,
    /// The numbers of its sockets.
    sockets: Vec<(SocketId, u32)>,
    pub(super) asked: Vec<Asked>,
    /// Sockets that the machine has closed, and that are still open.
    left: BTreeSet<SocketId>,
}

impl<'m> Player<'m> {
    pub(super) fn new(number: u32, machine: Machine<'m>) -> Self {
        Self {
            number,
            machine,
            start: Instant::now(),
            deadline: None,
            outcome: None,
            sockets: Vec::new(),
            asked: Vec::new(),
            left: BTreeSet::new(),
        }
    }

    /// Whether its machine has ended.
    pub fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// Does something else next, with the same sockets.
    pub fn then<F>(&mut self, lookup: impl FnOnce(Rc<Io>) -> F)
    where
        F: Future<Output = Outcome> + 'm,
    {
        self.machine.then(lookup);
        self.outcome = None;
    }

    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn number_of(&self, socket: SocketId) -> Option<u32> {
        let mut sockets = self.sockets.iter();
        sockets
            .find(|(id, _)| *id == socket)
            .map(|(_, number)| *number)
    }
}

impl Live {
    /// Lets a machine go on until it waits, or is over.
    pub fn advance(&mut self, player: &mut Player<'_>, means: &Means<'_>) {
        if let Some(deadline) = player.deadline.take() {
            self.deadlines.remove(&(deadline, player.number));
        }
        while player.outcome.is_none() {
            let step = player.machine.step(player.now());
            let requests = player.machine.requests();
            let was_idle = requests.is_empty();
            for request in requests {
                self.carry_out(player, request, means);
            }
            match step {
                Step::Done(outcome) => player.outcome = Some(outcome),
                // Something may be answered already.
                Step::Waiting(_) if !was_idle => {}
                Step::Waiting(until) => {
                    player.deadline = until.and_then(|it| player.start.checked_add(it));
                    let deadline = player.deadline.map(|it| (it, player.number));
                    self.deadlines.extend(deadline);
                    return;
                }
            }
        }
    }

    /// Closes all that a machine has left open.
    pub fn end(&mut self, player: &mut Player<'_>) {
        for (_, number) in std::mem::take(&mut player.sockets) {
            self.owners.remove(&number);
            self.sockets.close(number);
        }
    }

    fn carry_out(&mut self, player: &mut Player<'_>, request: Request, means: &Means<'_>) {
        match request {
            Request::Connect(socket, server, transport, secure) => {
                let number = self.number(player, socket);
                let peer = (means.destination)(&server);
                let carrier = if secure.is_some() {
                    Transport::Tcp
                } else {
                    transport
                };
                if let Some(owner) = self.owners.get_mut(&number) {
                    owner.connecting = Some((server, transport, secure));
                }
                if let Some(got) = self.sockets.connect(number, peer, means.source, carrier) {
                    self.take(player, Told(number, got), means);
                }
            }
            Request::Send(id, query) => self.send(player, id, query, means),
            Request::Write(socket, wire) => {
                let Some(number) = player.number_of(socket) else {
                    return;
                };
                if let Some(owner) = self.owners.get_mut(&number) {
                    owner.is_raw = true;
                }
                let sent = self.sockets.send(number, None, Transport::Tcp, &wire);
                // As in dig, what does not leave is silence.
                if let Some(Got::Failed(error)) = sent {
                    player.machine.heard(socket, Err(failure(&error)));
                }
            }
            Request::Close(socket) => {
                player.left.insert(socket);
                self.close_if_over(player, socket);
            }
        }
    }

    fn send(&mut self, player: &mut Player<'_>, id: QueryId, query: Query, means: &Means<'_>) {
        let message_id = query_id();
        let wire = (means.message)(&query, message_id);
        let peer = (means.destination)(&query.server);
        let at = player.now();
        let number = self.number(player, query.socket);
        let failed = self.sockets.send(number, peer, query.transport, &wire);
        (means.watch)(Event::Sent {
            at,
            id,
            query: query.clone(),
            wire,
        });
        match failed {
            Some(Got::NotSent(error)) => (means.watch)(Event::NotSent {
                id,
                why: io_reason(&error),
                no_socket: is_lack(&error),
            }),
            Some(got) => self.take(player, Told(number, got), means),
            None => {}
        }
        player.asked.push(Asked::new(id, query, message_id, at));
    }

    /// The number of a machine's socket, a new one where it has none.
    fn number(&mut self, player: &mut Player<'_>, socket: SocketId) -> u32 {
        if let Some(number) = player.number_of(socket) {
            return number;
        }
        let number = self.next_socket;
        self.next_socket = number.wrapping_add(1);
        player.sockets.push((socket, number));
        let owner = Owner {
            player: player.number,
            socket,
            connecting: None,
            is_raw: false,
        };
        self.owners.insert(number, owner);
        number
    }

    /// Closes a socket that the machine has left, unless an answer can still
    /// come: people are told of late ones.
    fn close_if_over(&mut self, player: &mut Player<'_>, socket: SocketId) {
        let waits = |it: &Asked| it.query.socket == socket && !it.is_answered;
        if player.left.contains(&socket) && !player.asked.iter().any(waits) {
            player.left.remove(&socket);
            self.close(player, socket);
        }
    }

    fn close(&mut self, player: &mut Player<'_>, socket: SocketId) {
        let Some(at) = player.sockets.iter().position(|(id, _)| *id == socket) else {
            return;
        };
        let (_, number) = player.sockets.swap_remove(at);
        self.owners.remove(&number);
        self.sockets.close(number);
    }

    /// Tells a machine what one of its sockets has told.
    pub fn take(&mut self, player: &mut Player<'_>, Told(number, got): Told, means: &Means<'_>) {
        let Some(owner) = self.owners.get_mut(&number) else {
            return;
        };
        let socket = owner.socket;
        match got {
            Got::Connected => {
                if let Some((_, _, secure)) = &mut owner.connecting
                    && let Some(secure) = secure.take()
                {
                    let usual = Roots::default();
                    let roots = means.roots.unwrap_or(&usual);
                    return self.sockets.secure(number, *secure, roots);
                }
                owner.connecting = None;
                let local = means.tells_local.then(|| self.sockets.local(number));
                if let Some(local) = local.flatten() {
                    player.machine.bound(socket, local);
                }
                player.machine.connected(socket, Ok(()));
            }
            Got::Broken(failure) if owner.connecting.is_none() => {
                player.machine.heard(socket, Err(failure));
            }
            Got::Broken(failure) => {
                self.close(player, socket);
                player.machine.connected(socket, Err(failure));
            }
            Got::Failed(error) => match owner.connecting.take() {
                Some((server, transport, _)) => {
                    let failure = failure(&error);
                    self.close(player, socket);
                    player.machine.connected(socket, Err(failure));
                    (means.watch)(Event::NotConnected {
                        at: player.now(),
                        server,
                        transport,
                        why: io_reason(&error),
                        no_socket: is_lack(&error),
                        is_refused: matches!(failure, Failure::Refused | Failure::Reset),
                    });
                }
                None if owner.is_raw => player.machine.heard(socket, Err(failure(&error))),
                None => player.ended(socket, &error, means),
            },
            Got::Message(_, wire) if owner.is_raw => player.machine.heard(socket, Ok(wire)),
            Got::Message(from, wire) => player.message(socket, from, &wire, means),
            Got::Unheard(peer, error) => {
                player.unheard(socket, peer, &io_reason(&error), means);
            }
            // A query was being sent, and is told of there.
            Got::NotSent(_) => {}
        }
        self.close_if_over(player, socket);
    }
}
