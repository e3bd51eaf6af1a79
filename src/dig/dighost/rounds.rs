//! How the tools asked until 9.16, in a prediction.

use std::time::Duration;

use super::query::{Answer, model_query};
use super::{Current, Dighost, Exit, TCP_TIMEOUT, Then, UDP_TIMEOUT};
use crate::dig::printed::Printed;
use crate::engine::io::Came;
use crate::engine::message::{SocketId, Transport};

/// How long a server is waited for where another one is left.
/// Source: BIND bin/dig/dighost.h: `SERVER_TIMEOUT` (9.16)
const SERVER_TIMEOUT: u32 = 1;

impl Dighost {
    /// Asks the servers in turn, and all again with each further try. Late
    /// replies count; a server whose reply does not is out.
    ///
    /// Observed of 9.16; `bin/dig/dighost.c: send_udp`, `send_tcp_connect`,
    /// `bringup_timer`, `connect_timeout`, `recv_done`.
    pub(super) async fn ask_in_rounds(&mut self, mut current: Current) -> Result<(), Exit> {
        let mut sockets = vec![None; current.servers.len()];
        let end = self.rounds(&mut current, &mut sockets).await;
        for socket in sockets.into_iter().flatten() {
            self.io.close(socket);
        }
        end
    }

    async fn rounds(
        &mut self,
        current: &mut Current,
        sockets: &mut Vec<Option<SocketId>>,
    ) -> Result<(), Exit> {
        while !current.servers.is_empty() {
            let until = self.send_in_turn(current, sockets).await;
            let Some(until) = until else {
                self.out(current, sockets);
                continue;
            };
            if until.is_none() {
                self.io
                    .note("the program waits for an earlier server, without an end");
            }
            match self.first_reply(current, sockets, until).await? {
                Some(Then::NextServer) => self.out(current, sockets),
                Some(_) => return Ok(()),
                None if current.has_server_after() => current.at += 1,
                None if current.pending.lookup.tries > 1 && current.pending.lookup.tcp => {
                    return self.try_again(current);
                }
                None if current.pending.lookup.tries > 1 => {
                    std::rc::Rc::make_mut(&mut current.pending.lookup).tries -= 1;
                    current.at = 0;
                }
                None => return self.print(Printed::NoServers),
            }
        }
        self.print(Printed::NoServers)
    }

    /// Sends to the current server, over its socket. Until when it is waited
    /// for: without an end if no server is left to send to. `None`: it takes no
    /// connection.
    async fn send_in_turn(
        &self,
        current: &Current,
        sockets: &mut [Option<SocketId>],
    ) -> Option<Option<Duration>> {
        let (Some(server), Some(kept)) = (current.server(), sockets.get_mut(current.at)) else {
            return Some(None);
        };
        let tcp = current.pending.lookup.tcp;
        let seconds = match (tcp, self.settings.timeout) {
            _ if current.has_server_after() => SERVER_TIMEOUT,
            (_, Some(seconds)) => seconds,
            (true, None) => TCP_TIMEOUT,
            (false, None) => UDP_TIMEOUT,
        };
        let until = self.io.now() + Duration::from_secs(seconds.into());
        if kept.is_none() {
            let transport = if tcp { Transport::Tcp } else { Transport::Udp };
            let opened = self
                .io
                .open(&server.to(), transport, None, Some(until))
                .await;
            match opened {
                Ok(socket) => *kept = Some(socket),
                Err(_) if tcp && self.io.now() < until => return None,
                // Nothing is sent, and nobody minds.
                Err(_) => {}
            }
        }
        if let Some(socket) = *kept {
            self.io.send(model_query(current, server, socket));
        }
        Some(Some(until))
    }

    /// The first reply of any server that counts; `None`: the time is over.
    async fn first_reply(
        &mut self,
        current: &mut Current,
        sockets: &[Option<SocketId>],
        until: Option<Duration>,
    ) -> Result<Option<Then>, Exit> {
        let open: Vec<SocketId> = sockets.iter().flatten().copied().collect();
        let turn = current.at;
        loop {
            let Some(arrival) = self.io.receive(&open, until).await else {
                return Ok(None);
            };
            let is_it = |it: &Option<SocketId>| *it == Some(arrival.socket);
            match arrival.what {
                Came::Reply(reply) => {
                    current.at = sockets.iter().position(is_it).unwrap_or(turn);
                    match self.answered(current, Answer::Model(reply))? {
                        Then::Wait { .. } => current.at = turn,
                        then => return Ok(Some(then)),
                    }
                }
                Came::Refused if !current.pending.lookup.tcp => {}
                Came::Closed if !current.pending.seen_end => {
                    let mut again = current.pending.clone();
                    again.seen_end = true;
                    self.requeue(again)?;
                    return Ok(Some(Then::Over));
                }
                _ => {
                    self.print(Printed::NoServers)?;
                    return Ok(Some(Then::Over));
                }
            }
        }
    }

    /// The current server is asked no more.
    fn out(&self, current: &mut Current, sockets: &mut Vec<Option<SocketId>>) {
        let mut left = current.servers.to_vec();
        if current.at < left.len() {
            left.remove(current.at);
            if let Some(socket) = sockets.remove(current.at) {
                self.io.close(socket);
            }
        }
        current.servers = left.into();
    }
}
