//! One line of a batch file on its way.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::output::refusal;
use crate::dig::lookup::{Globals, Server};
use crate::dig::machine::{Event, Machine, Printed};
use crate::engine::message::Transport;
use crate::render::dig::printed::{is_error, write as print};
use crate::render::dig::reply::Times;
use crate::wire::sockets::{Got, Sockets};
use crate::wire::{Conversation, Roots, failure, now, socket_address};

/// A line: what it has printed, and what it is about.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) machine: Machine,
    pub(super) globals: Rc<Globals>,
    pub(super) printed: Vec<(bool, String)>,
    /// The socket that is open, and the server behind a connection.
    pub(super) socket: Option<(u32, Option<Server>)>,
    /// When what it waits for is too late; `None`: it does not wait.
    pub(super) deadline: Option<Instant>,
    /// Until when it may wait, again and again.
    until: Instant,
    pub(super) sent: Instant,
    pub(super) times: Times,
    /// A connection behind TLS: others wait while it does.
    pub(super) secure: Option<Conversation>,
    /// An error that is told when a reply is waited for.
    pub(super) broken: Option<Event>,
    pub(super) status: Option<u8>,
}

impl Flight {
    pub(super) fn new(
        machine: Machine,
        globals: &Rc<Globals>,
        printed: Vec<(bool, String)>,
    ) -> Self {
        Self {
            machine,
            globals: Rc::clone(globals),
            printed,
            socket: None,
            deadline: None,
            until: Instant::now(),
            sent: Instant::now(),
            times: Times::default(),
            secure: None,
            broken: None,
            status: None,
        }
    }

    pub(super) fn print(&mut self, printed: &Printed) {
        let is_error = is_error(printed, &self.globals);
        let written = match self.printed.last_mut() {
            Some((before, text)) if *before == is_error => {
                print(printed, &self.globals, self.times, text)
            }
            _ => {
                let mut text = String::with_capacity(1 << 10);
                let written = print(printed, &self.globals, self.times, &mut text);
                self.printed.push((is_error, text));
                written
            }
        };
        if let Err(refused) = written {
            self.printed.push((true, refusal(&refused)));
            self.machine.give_up();
        }
    }

    pub(super) fn leads_to(&self, server: &Server) -> bool {
        let open = self.socket.as_ref().and_then(|(_, server)| server.as_ref());
        open.is_some_and(|open| open.address == server.address && open.port == server.port)
    }

    pub(super) fn open(
        &mut self,
        socket: u32,
        transport: Transport,
        server: Server,
        timeout: u32,
        (sockets, roots): (&mut Sockets, &Roots),
    ) -> Option<Event> {
        if server.secure.is_some() {
            let limit = Duration::from_secs(timeout.into());
            let source = self.globals.source;
            let opened = Conversation::open(transport, &server, source, limit, roots);
            return Some(match opened {
                Ok(open) => {
                    self.times = Times {
                        local: open.local(),
                        ..Times::default()
                    };
                    self.secure = Some(open);
                    Event::Opened
                }
                Err(failure) => Event::Failed(failure),
            });
        }
        let peer = socket_address(&server.address, server.port());
        let server = Some(server).filter(|_| transport == Transport::Tcp);
        self.socket = Some((socket, server));
        self.times = Times::default();
        match sockets.connect(socket, peer, self.globals.source, transport)? {
            Got::Failed(_, error) => return Some(Event::Failed(failure(&error))),
            _ => self.look(sockets),
        }
        Some(Event::Opened)
    }

    /// Notes the address of this side, which only YAML shows.
    pub(super) fn look(&mut self, sockets: &Sockets) {
        if let Some((socket, _)) = self.socket.as_ref().filter(|_| self.globals.yaml) {
            self.times.local = sockets.local(*socket);
        }
    }

    /// What comes at once, or what is wrong; `None`: it waits.
    pub(super) fn receive(
        &mut self,
        number: usize,
        deadlines: &mut BTreeSet<(Instant, usize)>,
    ) -> Option<Event> {
        let event = self.receive_secure().or_else(|| self.broken.take());
        if event.is_none() {
            self.wait(number, deadlines);
        }
        event
    }

    /// Receives behind TLS, where others wait meanwhile.
    fn receive_secure(&mut self) -> Option<Event> {
        let open = self.secure.as_mut()?;
        let left = self.until.saturating_duration_since(Instant::now());
        let received = open.receive(left);
        let (sent, received_at, elapsed) = open.times();
        self.times.sent = sent;
        self.times.received = received_at;
        self.times.elapsed = elapsed;
        Some(match received {
            Ok(message) => Event::Arrived(message),
            Err(failure) => {
                self.secure = None;
                Event::Failed(failure)
            }
        })
    }

    pub(super) fn send(&mut self, message: &[u8], sockets: &mut Sockets) {
        if let Some(open) = &mut self.secure {
            self.broken = open.send(message).err().map(Event::Failed);
            return;
        }
        let Some((socket, stream)) = &self.socket else {
            return;
        };
        let transport = match stream {
            Some(_) => Transport::Tcp,
            None => Transport::Udp,
        };
        self.sent = Instant::now();
        self.times.sent = now();
        let got = sockets.send(*socket, None, transport, message);
        if let Some(Got::Failed(_, error) | Got::NotSent(_, error)) = got {
            self.broken = Some(Event::Failed(failure(&error)));
        }
    }

    /// Gives it so much time from now on.
    pub(super) fn give(&mut self, seconds: u32) {
        self.until = Instant::now() + Duration::from_secs(seconds.into());
    }

    pub(super) fn wait(&mut self, number: usize, deadlines: &mut BTreeSet<(Instant, usize)>) {
        self.deadline = Some(self.until);
        deadlines.insert((self.until, number));
    }
}
