//! The queries for one name.
//!
//! Source: Netty `DnsResolveContext.java`, `DnsNameResolver.java:
//! DnsResponseHandler`, `DnsQueryContext.java` (4.1.48)

use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::{Address, Server};
use crate::engine::io::{Arrival, Came, Io};
use crate::engine::message::{Because, Edns, Query, QueryId, Rcode, Reply, SocketId, Transport};
use crate::name::MAX_WIRE_BYTES;
use crate::resolver::netty::Version;
use crate::resolver::netty::aliases::{Shared, Targets, leads_to};
use crate::resolver::netty::hosts::in_java_text;
use crate::resolver::netty::question;
use crate::resolver::netty::read::Configuration;

/// Source: `DnsNameResolverBuilder.java: maxPayloadSize` (4.1.48)
const EDNS: Edns = Edns {
    size: 4096,
    dnssec_ok: false,
    options: &[],
};

/// How a name ends.
pub(super) enum End {
    Found(Vec<Address>),
    /// There is no address; or nobody said so.
    Failed {
        lost: bool,
    },
    /// It cannot be asked for.
    Illegal,
    /// It goes round and round among the aliases that were seen.
    Hung,
}

/// A name that is asked.
pub(super) struct Context<'r> {
    io: &'r Io,
    servers: &'r [Server],
    types: &'r [RecordType],
    shared: &'r mut Shared,
    /// The name, and where it comes from.
    hostname: (String, Because),
    found: Vec<Address>,
    timeout: Option<Duration>,
    allowed_queries: u32,
    version: Version,
    asks_cname: bool,
    /// Those that are about to be sent.
    outbox: VecDeque<Attempt>,
    in_progress: Vec<Sent>,
    end: Option<End>,
}

/// A question to the server of this place.
#[derive(Clone)]
struct Attempt {
    index: usize,
    name: String,
    record_type: RecordType,
    because: Because,
}

/// An attempt that waits for its reply.
struct Sent {
    attempt: Attempt,
    query: QueryId,
    /// `None`: for ever.
    until: Option<Duration>,
    /// What came truncated, and the connections on which it is asked again.
    truncated: Option<Reply>,
    tcp: Vec<(SocketId, QueryId)>,
}

impl<'r> Context<'r> {
    pub(super) fn new(
        io: &'r Io,
        servers: &'r [Server],
        types: &'r [RecordType],
        configuration: &Configuration<'_>,
        shared: &'r mut Shared,
    ) -> Self {
        Self {
            io,
            servers,
            types,
            shared,
            hostname: (String::new(), Because::AsIs),
            found: Vec::new(),
            timeout: configuration.limits.timeout,
            allowed_queries: configuration.limits.queries,
            version: configuration.version,
            asks_cname: configuration.version.asks_cname,
            outbox: VecDeque::new(),
            in_progress: Vec::new(),
            end: None,
        }
    }

    /// Source: `internalResolve`
    pub(super) async fn resolve(mut self, name: &str, because: Because) -> End {
        self.hostname = (name.to_owned(), because);
        let first = match self.shared.end_of(name) {
            Ok(first) => first,
            Err(_) if self.version.sees_circles => return End::Failed { lost: false },
            Err(_) => return End::Hung,
        };
        for record_type in self.types {
            if !self.ask(&first, *record_type) {
                return End::Illegal;
            }
        }
        loop {
            self.flush().await;
            if let Some(end) = self.end {
                return end;
            }
            self.wait().await;
        }
    }

    /// Asks the first server; whether that can be asked.
    fn ask(&mut self, name: &str, record_type: RecordType) -> bool {
        let Some(name) = question::name(name) else {
            return false;
        };
        let because = self.hostname.1.clone();
        let attempt = Attempt {
            index: 0,
            name,
            record_type,
            because,
        };
        self.query(attempt, false);
        true
    }

    /// `lost`: the server before did not answer.
    ///
    /// Source: `query`
    fn query(&mut self, attempt: Attempt, lost: bool) {
        if attempt.index >= self.servers.len() || self.allowed_queries == 0 {
            self.try_to_finish(&attempt, lost);
            return;
        }
        self.allowed_queries -= 1;
        self.outbox.push_back(attempt);
    }

    /// Source: `tryToFinishResolve`
    fn try_to_finish(&mut self, attempt: &Attempt, lost: bool) {
        if !self.in_progress.is_empty() || !self.outbox.is_empty() || self.end.is_some() {
            return;
        }
        if !self.found.is_empty() {
            self.end = Some(End::Found(std::mem::take(&mut self.found)));
        } else if attempt.index < self.servers.len() {
            self.query(attempt.next(), lost);
        } else if !lost && self.asks_cname {
            self.asks_cname = false;
            let name = self.hostname.0.clone();
            self.ask(&name, RecordType::CNAME);
        } else {
            self.end = Some(End::Failed { lost });
        }
    }

    /// Sends what is about to be sent; to a server without a route that fails.
    async fn flush(&mut self) {
        while let Some(attempt) = self.outbox.pop_front() {
            let server = self.servers.get(attempt.index).cloned();
            let server = match server {
                Some(server) if self.is_sent(&attempt.name) && self.has_route(&server).await => {
                    server
                }
                _ => {
                    self.completed(&attempt, None);
                    continue;
                }
            };
            let query = self.send(&attempt, server, (self.shared.channel, Transport::Udp));
            self.in_progress.push(Sent {
                attempt,
                query,
                until: self.timeout.map(|it| self.io.now() + it),
                truncated: None,
                tcp: Vec::new(),
            });
        }
    }

    /// Whether a name, with its final dot, is one that Netty sends: it does not count the root.
    fn is_sent(&self, name: &str) -> bool {
        !self.version.checks_names || name.len() <= MAX_WIRE_BYTES && !name.contains('\0')
    }

    async fn has_route(&mut self, server: &Server) -> bool {
        if let Some(known) = self.shared.routes.get(server) {
            return *known;
        }
        // Java knows a scope for a link-local address without one.
        let connected = self.io.connect(server, Transport::Udp).await.ok();
        if let Some(socket) = connected {
            self.io.close(socket);
        }
        self.shared
            .routes
            .insert(server.clone(), connected.is_some());
        connected.is_some()
    }

    fn send(
        &self,
        attempt: &Attempt,
        server: Server,
        (socket, transport): (SocketId, Transport),
    ) -> QueryId {
        let has_edns = transport == Transport::Udp || self.version.has_edns_over_tcp;
        self.io.send(Query {
            server,
            question: question::question(&attempt.name, attempt.record_type),
            transport,
            socket,
            edns: has_edns.then_some(EDNS),
            authentic_data: false,
            because: attempt.because.clone(),
        })
    }

    /// Waits for the next thing that happens, and makes something of it.
    async fn wait(&mut self) {
        let until = self.in_progress.iter().filter_map(|it| it.until).min();
        let tcp = self.in_progress.iter().flat_map(|it| &it.tcp);
        let mut sockets: Vec<SocketId> = tcp.map(|it| it.0).collect();
        sockets.push(self.shared.channel);
        if let Some(arrival) = self.io.receive(&sockets, until).await {
            self.arrived(arrival).await;
            return;
        }
        let now = self.io.now();
        let is_over = |it: &Sent| it.until.is_some_and(|until| until <= now);
        if let Some(at) = self.in_progress.iter().position(is_over) {
            let sent = self.in_progress.remove(at);
            self.completed(&sent.attempt, None);
        }
    }

    /// Source: `DnsNameResolver.java: DnsResponseHandler.channelRead`
    async fn arrived(&mut self, arrival: Arrival) {
        let is_own = |it: &Sent| {
            it.query == arrival.query || it.tcp.iter().any(|tcp| tcp.1 == arrival.query)
        };
        // What comes late is of nobody.
        let Some(at) = self.in_progress.iter().position(is_own) else {
            return;
        };
        let sent = self.in_progress.remove(at);
        let is_tcp = sent.query != arrival.query;
        let reply = match (arrival.what, is_tcp) {
            (Came::Reply(reply), false) if reply.truncated => {
                self.over_tcp(sent, (at, arrival.server), reply).await;
                return;
            }
            (Came::Reply(reply), _) => Some(reply),
            (Came::Reset | Came::Refused, true) => sent.truncated.clone(),
            // The socket is not connected: a closed port looks like silence. Nor does a
            // connection that ends without a reply mean anything.
            (Came::Refused | Came::Closed | Came::Reset, _) => None,
        };
        match reply {
            Some(reply) => {
                sent.tcp.iter().for_each(|it| self.io.close(it.0));
                self.completed(&sent.attempt, Some(&reply));
            }
            None => self.in_progress.insert(at, sent),
        }
    }

    /// Asks again over TCP; where nobody listens, what came has to do.
    async fn over_tcp(&mut self, mut sent: Sent, (at, server): (usize, Server), reply: Reply) {
        let Ok(socket) = self.io.connect(&server, Transport::Tcp).await else {
            self.completed(&sent.attempt, Some(&reply));
            return;
        };
        let query = self.send(&sent.attempt, server, (socket, Transport::Tcp));
        sent.tcp.push((socket, query));
        sent.truncated = Some(reply);
        self.in_progress.insert(at, sent);
    }

    /// An attempt ends with a reply, or without one.
    fn completed(&mut self, attempt: &Attempt, reply: Option<&Reply>) {
        if self.end.is_some() {
            return;
        }
        match reply {
            Some(reply) => self.on_response(attempt, reply),
            None => self.query(attempt.next(), true),
        }
        self.try_to_finish(attempt, reply.is_none());
    }

    /// Source: `onResponse`
    fn on_response(&mut self, attempt: &Attempt, reply: &Reply) {
        match reply.rcode {
            Rcode::NoError if attempt.record_type == RecordType::CNAME => {
                let aliases = self.shared.learn(reply);
                self.on_response_cname(attempt, aliases);
            }
            Rcode::NoError => self.on_expected_response(attempt, reply),
            // Who is authoritative is believed.
            Rcode::NxDomain if reply.authoritative => {}
            _ => self.query(attempt.next(), false),
        }
    }

    /// Takes addresses of either type, whichever was asked for, and asks for an
    /// alias: before 4.1.88 even if its addresses are there.
    ///
    /// Source: `onExpectedResponse`
    fn on_expected_response(&mut self, attempt: &Attempt, reply: &Reply) {
        let aliases = self.shared.learn(reply);
        let asked = attempt.name.to_ascii_lowercase();
        let mut follows = !aliases.is_empty();
        for record in &reply.answers {
            let Some(ip) = record.data.ip() else {
                continue;
            };
            let owner = question::of_reply(&record.name);
            let is_wanted = self.types.contains(&record.data.record_type());
            if is_wanted && leads_to(&aliases, &asked, &owner) {
                follows &= owner == asked || self.version.follows_answered;
                if !self.has(ip) {
                    self.found.push(in_java_text(ip));
                }
            }
        }
        if follows {
            self.on_response_cname(attempt, aliases);
        }
    }

    fn has(&self, ip: IpAddr) -> bool {
        self.found.iter().any(|it| it.ip == ip)
    }

    /// Source: `onResponseCNAME`
    fn on_response_cname(&mut self, attempt: &Attempt, mut aliases: Targets) {
        let mut name = attempt.name.to_ascii_lowercase();
        let mut is_found = false;
        while let Some(target) = aliases.remove(&name) {
            name = target;
            is_found = true;
        }
        if !is_found {
            return;
        }
        let name = match self.shared.end_of(&name) {
            Err(_) if self.version.sees_circles => return,
            Ok(name) | Err(name) => name,
        };
        let attempt = Attempt {
            index: 0,
            name,
            record_type: attempt.record_type,
            because: Because::Cname,
        };
        self.query(attempt, false);
    }
}

impl Attempt {
    /// The same with the next server.
    fn next(&self) -> Self {
        Self {
            index: self.index + 1,
            ..self.clone()
        }
    }
}
