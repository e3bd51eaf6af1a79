//! The engine that dig, host and nslookup share: one query at a time, over
//! the search list, the tries and the servers.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::engine::io::{Came, Io};
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Query, Question, Rcode, Reply, SocketId, Transport};
use crate::name::Name;
use crate::resolver::bind::arguments::Command;
use crate::resolver::bind::print::{Transcript, Trouble, chase_cnamechain};
use crate::resolver::bind::read::Configuration;
use crate::resolver::bind::{Program, Servfail};

/// A run of one of the programs.
pub(super) struct Dighost<'a> {
    pub(super) io: &'a Rc<Io>,
    pub(super) program: &'static Program,
    pub(super) configuration: Configuration<'a>,
    pub(super) follow_ups: &'static [RecordType],
    pub(super) lookup_list: VecDeque<Lookup>,
    pub(super) lookup_counter: u32,
    pub(super) transcript: Transcript,
}

/// Source: bin/dig/dighost.h: `struct dig_lookup` (9.18)
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the source's")]
pub(super) struct Lookup {
    pub(super) textname: Vec<u8>,
    pub(super) rdtype: RecordType,
    /// The entry of the search list that is tried; `None`: the root.
    pub(super) origin: Option<usize>,
    pub(super) new_search: bool,
    pub(super) need_search: bool,
    pub(super) done_as_is: bool,
    pub(super) tcp_mode: bool,
    pub(super) retries: u32,
    /// Why the name is asked when no origin is behind it.
    pub(super) because: Because,
}

/// The program ends at once (`fatal`, `digexit`).
pub(super) struct Exit;

/// What is to be done after a server had its chance.
enum Then {
    /// The lookup is over; the next one of the list begins.
    Over,
    /// The same server is asked again.
    Again,
    /// The next server is asked.
    NextServer,
}

impl<'a> Dighost<'a> {
    pub(super) fn new(
        io: &'a Rc<Io>,
        program: &'static Program,
        configuration: Configuration<'a>,
        command: Command,
    ) -> Self {
        let lookup = Lookup {
            textname: command.textname,
            rdtype: command.rdtype,
            origin: None,
            new_search: true,
            need_search: false,
            done_as_is: false,
            tcp_mode: command.tcp_mode,
            retries: configuration.reading.attempts.value,
            because: command.because,
        };
        Self {
            io,
            program,
            configuration,
            follow_ups: command.follow_ups,
            lookup_list: VecDeque::from([lookup]),
            lookup_counter: 0,
            transcript: Transcript::default(),
        }
    }

    /// Works on the list of lookups until it is empty.
    ///
    /// Source: bin/dig/dighost.c: `start_lookup` (9.18)
    pub(super) async fn run(mut self) -> Outcome {
        while let Some(lookup) = self.lookup_list.pop_front() {
            if self.start_lookup(lookup).await.is_err() {
                break;
            }
        }
        self.transcript.outcome()
    }

    async fn start_lookup(&mut self, mut lookup: Lookup) -> Result<(), Exit> {
        match self.setup_lookup(&mut lookup)? {
            Some(name) => self.do_lookup(lookup, &name).await,
            None if self.next_origin(&lookup)? => Ok(()),
            None => {
                // Nobody is left to end the program.
                self.wait_for_ever().await;
                Ok(())
            }
        }
    }

    /// Asks the servers, one after the other.
    ///
    /// Source: bin/dig/dighost.c: `do_lookup`, `start_udp`, `start_tcp`,
    /// `udp_ready`, `tcp_connected` (9.18)
    async fn do_lookup(&mut self, mut lookup: Lookup, name: &Name) -> Result<(), Exit> {
        let mut next = 0;
        let mut after_failed_setup = false;
        loop {
            let Some((at, server)) = self.skip_mapped(next) else {
                self.transcript.print_trouble(Trouble::NoAcceptable);
                if after_failed_setup {
                    // "still have a worker", but it is finished.
                    self.wait_for_ever().await;
                }
                return Ok(());
            };
            let socket = self.connect(&server, lookup.transport()).await;
            after_failed_setup = socket.is_none();
            let then = match socket {
                None => self.setup_failed(&mut lookup, at)?,
                Some(socket) => {
                    let reply = self.exchange(&lookup, name, &server, socket).await;
                    self.recv_done(&mut lookup, name, at, reply)?
                }
            };
            next = match then {
                Then::Over => return Ok(()),
                Then::Again => at,
                Then::NextServer => at + 1,
            };
        }
    }

    async fn connect(&self, server: &Server, transport: Transport) -> Option<SocketId> {
        // Linux connects nothing to a link-local address without an interface
        // (net/ipv6/datagram.c: __ip6_datagram_connect).
        let address = &server.address;
        if matches!(address.ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
            && address.scope.is_none()
        {
            return None;
        }
        self.io.connect(server, transport).await.ok()
    }

    /// The first server from `next` on that is not an IPv4 address in IPv6 form.
    fn skip_mapped(&self, next: usize) -> Option<(usize, Server)> {
        let servers = self.configuration.reading.servers.iter();
        servers
            .map(|server| &server.value)
            .enumerate()
            .skip(next)
            .find(|(_, server)| match server.address.ip {
                IpAddr::V6(ip) => ip.to_ipv4_mapped().is_none(),
                IpAddr::V4(_) => true,
            })
            .map(|(at, server)| (at, server.clone()))
    }

    /// The socket could not be connected: tries begin at the first server
    /// again, and only the last one goes on to the next server.
    ///
    /// Source: bin/dig/dighost.c: `udp_ready`, `tcp_connected` (9.18)
    fn setup_failed(&mut self, lookup: &mut Lookup, at: usize) -> Result<Then, Exit> {
        if lookup.retries > 1 {
            lookup.retries -= 1;
            self.transcript.print_trouble(Trouble::NoServers);
            self.requeue_lookup(lookup.clone())?;
            return Ok(Then::Over);
        }
        Ok(self.next_server_or_none(at))
    }

    fn next_server_or_none(&mut self, at: usize) -> Then {
        if self.has_server_after(at) {
            return Then::NextServer;
        }
        self.transcript.print_trouble(Trouble::NoServers);
        Then::Over
    }

    fn has_server_after(&self, at: usize) -> bool {
        at + 1 < self.configuration.reading.servers.len()
    }

    /// Sends the query and waits for what comes back.
    ///
    /// Source: bin/dig/dighost.c: `send_udp`, `launch_next_query` (9.18)
    async fn exchange(
        &self,
        lookup: &Lookup,
        name: &Name,
        server: &Server,
        socket: SocketId,
    ) -> Option<Reply> {
        let timeout = match lookup.transport() {
            Transport::Udp => self.configuration.reading.timeout.value,
            Transport::Tcp => self.configuration.tcp_timeout,
        };
        let until = self.io.now() + timeout;
        self.io.send(Query {
            server: server.clone(),
            question: Question::Asked(name.clone(), lookup.rdtype),
            transport: lookup.transport(),
            socket,
            edns: self.program.edns.clone(),
            authentic_data: self.program.authentic_data,
            because: match lookup.origin {
                Some(at) if !lookup.textname.ends_with(b".") => Because::Search(at),
                _ => lookup.because.clone(),
            },
        });
        let arrival = self.io.receive(&[socket], Some(until)).await;
        self.io.close(socket);
        match arrival?.what {
            Came::Reply(reply) => Some(reply),
            Came::Refused | Came::Closed | Came::Reset => None,
        }
    }

    /// A server has answered, or not.
    ///
    /// Source: bin/dig/dighost.c: `recv_done` (9.18)
    fn recv_done(
        &mut self,
        lookup: &mut Lookup,
        name: &Name,
        at: usize,
        reply: Option<Reply>,
    ) -> Result<Then, Exit> {
        let Some(reply) = reply else {
            return self.communications_error(lookup, at);
        };
        if reply.truncated && !lookup.tcp_mode {
            self.requeue_lookup(Lookup {
                tcp_mode: true,
                ..lookup.clone()
            })?;
            return Ok(Then::Over);
        }
        let means = self.program.servfail;
        let servfail = reply.rcode == Rcode::ServFail && means != Servfail::Stops;
        if servfail && means == Servfail::IsTold {
            self.transcript.print_rcode(reply.rcode);
        }
        let no_recursion = self.program.check_ra && !reply.recursion_available;
        if (servfail || no_recursion) && self.has_server_after(at) {
            return Ok(Then::NextServer);
        }
        let searching = lookup.origin.is_some() || lookup.need_search;
        if reply.rcode != Rcode::NxDomain || !searching || !self.next_origin(lookup)? {
            self.printmessage(lookup, name, &reply);
        }
        Ok(Then::Over)
    }

    /// Source: bin/dig/dighost.c: `recv_done` (9.18), `eresult`
    fn communications_error(&mut self, lookup: &mut Lookup, at: usize) -> Result<Then, Exit> {
        if lookup.retries <= 1 {
            return Ok(self.next_server_or_none(at));
        }
        lookup.retries -= 1;
        if !lookup.tcp_mode {
            return Ok(Then::Again);
        }
        self.requeue_lookup(lookup.clone())?;
        Ok(Then::Over)
    }

    /// Shows an answer, and asks for further types of the name.
    ///
    /// Source: bin/dig/host.c, nslookup.c: `printmessage` (9.18)
    fn printmessage(&mut self, lookup: &Lookup, name: &Name, reply: &Reply) {
        self.transcript.printmessage(reply, self.program.status);
        if reply.rcode != Rcode::NoError || lookup.rdtype != RecordType::A {
            return;
        }
        let target = chase_cnamechain(reply, name);
        for &rdtype in self.follow_ups {
            self.lookup_list.push_back(Lookup {
                textname: target.to_string().into_bytes(),
                rdtype,
                origin: None,
                new_search: false,
                retries: self.configuration.reading.attempts.value,
                because: if target.eq_ignore_case(name) {
                    Because::FollowUp
                } else {
                    Because::Cname
                },
                ..lookup.clone()
            });
        }
    }

    async fn wait_for_ever(&self) {
        self.io
            .note("the program does not end: nothing is left that could end it");
        self.io.receive(&[], None).await;
    }
}

impl Lookup {
    fn transport(&self) -> Transport {
        if self.tcp_mode {
            Transport::Tcp
        } else {
            Transport::Udp
        }
    }
}
