//! The exchange: all queries at once to one server.

use std::collections::VecDeque;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::{Address, DNS_PORT, Server};
use crate::engine::io::{Arrival, Came, Io};
use crate::engine::machine::Outcome;
use crate::engine::message::{
    Because, Data, Query, QueryId, Question, Rcode, Reply, SocketId, Transport,
};
use crate::name::Name;
use crate::resolver::busybox::res_mkquery::ns_name_pton;

/// How long a server has, in seconds. Source: busybox networking/nslookup.c:
/// `INIT_G` (1.35)
pub(super) const TIMEOUT: u64 = 5;
/// How often unanswered queries are sent. Source: the same.
pub(super) const RETRY: u32 = 2;
/// An error of this machine's own for one datagram is there before the next
/// one is written.
const LOCAL_ICMP: Duration = Duration::from_micros(1);

/// A run of the program, once it has read its file.
pub(super) struct Nslookup<'i> {
    io: &'i Io,
    /// Whether `options trust-ad` makes `res_mkquery` set the AD bit.
    trust_ad: bool,
    queries: Vec<Asked>,
    /// Which query a datagram carried.
    datagrams: Vec<(QueryId, usize)>,
    addresses: Vec<Address>,
    other_record: bool,
    /// The last reply code that was printed.
    rcode: Option<Rcode>,
}

/// Source: busybox networking/nslookup.c: `struct query` (1.35)
struct Asked {
    /// `None` if `res_mkquery` has failed.
    name: Option<Name>,
    record_type: RecordType,
    replied: bool,
    because: Because,
}

/// How asking one server ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sent {
    /// At least one query was answered: no other server is asked.
    Replies,
    /// Nothing came, or a query could not be sent.
    TryNextServer,
    /// The program ends.
    Exit,
}

/// A connected socket and what the kernel holds for it.
struct Socket<'s> {
    id: SocketId,
    server: &'s Server,
    arrived: VecDeque<Arrival>,
}

impl<'i> Nslookup<'i> {
    pub(super) fn new(io: &'i Io, trust_ad: bool) -> Self {
        Self {
            io,
            trust_ad,
            queries: Vec::new(),
            datagrams: Vec::new(),
            addresses: Vec::new(),
            other_record: false,
            rcode: None,
        }
    }

    /// Source: busybox networking/nslookup.c: `add_query` (1.35)
    pub(super) fn add_query(&mut self, record_type: RecordType, name: &[u8], because: Because) {
        self.queries.push(Asked {
            name: ns_name_pton(name),
            record_type,
            replied: false,
            because,
        });
    }

    /// How a reader of the output sees the lookup: addresses if any were
    /// shown, else the last reply code.
    pub(super) fn outcome(self) -> Outcome {
        if !self.addresses.is_empty() || self.other_record && self.rcode.is_none() {
            return Outcome::Found(self.addresses);
        }
        Outcome::Failed(self.rcode.map_or("NODATA", Rcode::as_str))
    }

    /// Sends every query, unanswered ones again, and waits for the answers.
    ///
    /// Source: busybox networking/nslookup.c: `send_queries` (1.35)
    pub(super) async fn send_queries(&mut self, server: &Server) -> Sent {
        let Some(mut socket) = self.xconnect(server).await else {
            return Sent::Exit;
        };
        let timeout = Duration::from_secs(TIMEOUT);
        let retry_interval = timeout / RETRY;
        let start = self.monotonic_ms();
        let mut now = start;
        let mut last_sent = start;
        let mut servfail_retry = 0;
        let mut replies = 0;
        let mut send = true;
        while now.saturating_sub(start) < timeout {
            if send || now.saturating_sub(last_sent) >= retry_interval {
                if !self.write_all(&mut socket).await {
                    self.io.close(socket.id);
                    return Sent::TryNextServer;
                }
                send = false;
                last_sent = now;
                servfail_retry = 2 * self.queries.len();
            }
            let wait = retry_interval.saturating_sub(now.saturating_sub(last_sent));
            if let Some(arrival) = self.poll(&mut socket, wait).await
                && self.read(&mut socket, arrival, &mut servfail_retry).await
            {
                replies += 1;
                if replies >= self.queries.len() {
                    break;
                }
            }
            now = self.monotonic_ms();
        }
        self.io.close(socket.id);
        if replies > 0 {
            Sent::Replies
        } else {
            Sent::TryNextServer
        }
    }

    /// Source: busybox libbb/xconnect.c: `xconnect` (1.35)
    async fn xconnect<'s>(&self, server: &'s Server) -> Option<Socket<'s>> {
        // Linux connects nothing to a link-local address without an interface
        // (net/ipv6/datagram.c: __ip6_datagram_connect).
        if server.address.lacks_scope() {
            return None;
        }
        let id = self.io.connect(server, Transport::Udp).await.ok()?;
        Some(Socket {
            id,
            server,
            arrived: VecDeque::new(),
        })
    }

    /// Writes what is not answered yet; `false` at the first error.
    async fn write_all(&mut self, socket: &mut Socket<'_>) -> bool {
        for index in 0..self.queries.len() {
            let replied = self.queries.get(index).is_none_or(|query| query.replied);
            if !replied && !self.write(socket, index).await {
                return false;
            }
        }
        true
    }

    /// `write(2)`: fails with the error of an earlier datagram, or because
    /// the length is that of a failed `res_mkquery`, -1.
    async fn write(&mut self, socket: &mut Socket<'_>, index: usize) -> bool {
        let refused = |arrival: &Arrival| arrival.what == Came::Refused;
        if let Some(error) = socket.arrived.iter().position(refused) {
            socket.arrived.remove(error);
            return false;
        }
        let Some(query) = self.queries.get(index) else {
            return false;
        };
        let Some(name) = query.name.clone() else {
            return false;
        };
        let id = self.io.send(Query {
            server: socket.server.clone(),
            question: Question::Asked(name, query.record_type),
            transport: Transport::Udp,
            socket: socket.id,
            edns: None,
            authentic_data: self.trust_ad,
            because: query.because.clone(),
        });
        self.datagrams.push((id, index));
        if socket.is_local() {
            let until = self.io.now() + LOCAL_ICMP;
            while let Some(arrival) = self.io.receive(&[socket.id], Some(until)).await {
                socket.arrived.push_back(arrival);
            }
        }
        true
    }

    /// `poll(2)` and `read(2)`; `None` after `wait`.
    async fn poll(&self, socket: &mut Socket<'_>, wait: Duration) -> Option<Arrival> {
        // An error is read before any datagram.
        let refused = |arrival: &Arrival| arrival.what == Came::Refused;
        if let Some(error) = socket.arrived.iter().position(refused) {
            return socket.arrived.remove(error);
        }
        if let Some(arrival) = socket.arrived.pop_front() {
            return Some(arrival);
        }
        let until = self.monotonic_ms() + wait;
        self.io.receive(&[socket.id], Some(until)).await
    }

    /// Takes what was read; whether it is the answer to a query.
    async fn read(
        &mut self,
        socket: &mut Socket<'_>,
        arrival: Arrival,
        servfail_retry: &mut usize,
    ) -> bool {
        let Came::Reply(reply) = arrival.what else {
            if self.queries.len() > 1 {
                let note = "how many queries go out before the ICMP error is seen is a race";
                self.io.note(note);
            }
            return false;
        };
        // Ids only grow.
        let datagrams = &self.datagrams;
        let found = datagrams.binary_search_by_key(&arrival.query, |(id, _)| *id);
        let Some(&(_, index)) = found.ok().and_then(|at| datagrams.get(at)) else {
            return false;
        };
        if self.queries.get(index).is_none_or(|query| query.replied) {
            return false;
        }
        if reply.rcode == Rcode::ServFail && *servfail_retry > 0 {
            *servfail_retry -= 1;
            // Whether this succeeds is not looked at.
            self.write(socket, index).await;
            return false;
        }
        if let Some(query) = self.queries.get_mut(index) {
            query.replied = true;
        }
        self.parse_reply(&reply);
        true
    }

    /// Source: busybox networking/nslookup.c: `parse_reply` (1.35)
    fn parse_reply(&mut self, reply: &Reply) {
        if reply.rcode != Rcode::NoError {
            self.rcode = Some(reply.rcode);
            return;
        }
        for record in &reply.answers {
            match record.data {
                Data::A(ip) => self.addresses.push(std::net::IpAddr::from(ip).into()),
                Data::Aaaa(ip) => self
                    .addresses
                    .push(Address::from(std::net::IpAddr::from(ip)).in_c_text()),
                Data::Cname(_) => {}
                Data::Other(_) => self.other_record = true,
            }
        }
    }

    fn monotonic_ms(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.io.now().as_millis()).unwrap_or(u64::MAX))
    }
}

impl Socket<'_> {
    /// Whether ICMP errors come from this machine: no port but that of DNS
    /// is ever open on another (see [`crate::world`]).
    fn is_local(&self) -> bool {
        self.server.port != DNS_PORT || self.server.address.reached().is_loopback()
    }
}
