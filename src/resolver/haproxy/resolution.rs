//! One name, asked of all servers until one of them has an address.
//!
//! Source: HAProxy `src/resolvers.c` (2.6): functions have the names that they
//! have there.

use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::{Address, Server};
use crate::engine::io::{Came, Io};
use crate::engine::machine::Outcome;
use crate::engine::message::{
    Because, Data, Edns, Query, Question, Rcode, Reply, SocketId, Transport,
};
use crate::name::Name;
use crate::resolver::haproxy::NO_ADDRESS;
use crate::resolver::haproxy::read::{RESOLVE_RETRIES, RETRY};
use crate::scenario::own::Own;

/// `accepted_payload_size`. Source: `resolvers_new`
const EDNS: Edns = Edns {
    size: 512,
    dnssec_ok: false,
    options: &[],
};
/// What is left to chance, in a sentence.
const HASHED: &str = "HAProxy takes the address whose hash is the smallest";

/// A lookup.
pub(super) struct Resolution<'r> {
    io: &'r Io,
    /// The servers and the sockets to them, which are kept.
    servers: Vec<(Server, Option<SocketId>)>,
    labels: Vec<Vec<u8>>,
    /// The type that is asked first.
    preferred: RecordType,
    /// The type that is asked now.
    asked: RecordType,
    /// How often it is asked still.
    tries: u32,
    queries: usize,
    responses: usize,
    last_query: Duration,
    retry: Duration,
    edns: Edns,
}

/// A response that is as good as an error.
struct Bad;

impl<'r> Resolution<'r> {
    pub(super) fn new(
        io: &'r Io,
        servers: Vec<Server>,
        labels: Vec<Vec<u8>>,
        preferred: RecordType,
    ) -> Self {
        Self {
            io,
            servers: servers.into_iter().map(|it| (it, None)).collect(),
            labels,
            preferred,
            asked: preferred,
            tries: RESOLVE_RETRIES,
            queries: 0,
            responses: 0,
            last_query: Duration::ZERO,
            retry: RETRY,
            edns: EDNS,
        }
    }

    /// Takes the settings of the daemon's own section.
    pub(super) fn adjust(&mut self, own: Option<&Own>) {
        let Some(own) = own else { return };
        self.retry = own.retry.unwrap_or(self.retry);
        self.tries = own.retries.unwrap_or(self.tries).max(1);
        self.edns.size = own.edns_size.unwrap_or(self.edns.size);
    }

    /// Source: `resolv_run_resolution`, `process_resolvers`, `resolv_process_responses`
    pub(super) async fn run(&mut self) -> Outcome {
        self.tries -= 1;
        self.send_query().await;
        loop {
            let sockets: Vec<SocketId> = self.servers.iter().filter_map(|it| it.1).collect();
            let until = self.last_query + self.retry;
            let Some(arrival) = self.io.receive(&sockets, Some(until)).await else {
                if self.tries == 0 {
                    return NO_ADDRESS;
                }
                self.retry().await;
                continue;
            };
            match arrival.what {
                Came::Reply(reply) => {
                    if let Some(ended) = self.process_response(&reply).await {
                        return ended;
                    }
                }
                Came::Refused | Came::Closed | Came::Reset => self.lost(arrival.socket),
            }
        }
    }

    /// Asks again, for the other type if there were only errors of the first.
    async fn retry(&mut self) {
        if self.responses == 0 || self.asked != self.preferred {
            self.asked = self.preferred;
            self.tries -= 1;
        } else {
            self.asked = self.other();
        }
        self.send_query().await;
    }

    fn other(&self) -> RecordType {
        match self.preferred {
            RecordType::A => RecordType::AAAA,
            _ => RecordType::A,
        }
    }

    /// Source: `resolv_send_query`, `src/dns.c: dns_send_nameserver`
    async fn send_query(&mut self) {
        self.queries = 0;
        self.responses = 0;
        self.last_query = self.io.now();
        let usable = |it: &&mut (Server, Option<SocketId>)| !it.0.address.lacks_scope();
        for (server, kept) in self.servers.iter_mut().filter(usable) {
            let opened = match *kept {
                Some(socket) => Ok(socket),
                None => self.io.connect(server, Transport::Udp).await,
            };
            let Ok(socket) = opened else {
                continue;
            };
            *kept = Some(socket);
            self.queries += 1;
            let question = question(&self.labels, self.asked, self.edns.size);
            self.io.send(Query {
                server: server.clone(),
                transport: Transport::Udp,
                socket,
                // In a message that is not whole it is among the bytes.
                edns: matches!(question, Question::Asked(..)).then(|| self.edns.clone()),
                question,
                authentic_data: false,
                because: Because::AsIs,
            });
        }
    }

    /// Source: `src/dns.c: dns_recv_nameserver`
    fn lost(&mut self, socket: SocketId) {
        self.io.close(socket);
        for (_, kept) in &mut self.servers {
            kept.take_if(|it| *it == socket);
        }
    }

    /// An error counts when all servers have said something. A query has the id
    /// of the one before, so that any response is one to the last.
    async fn process_response(&mut self, reply: &Reply) -> Option<Outcome> {
        self.responses += 1;
        if let Ok(addresses) = self.validate(reply) {
            return Some(self.get_ip(addresses));
        }
        if self.responses < self.queries {
            return None;
        }
        if self.asked == self.preferred {
            self.asked = self.other();
            self.send_query().await;
        } else if self.tries == 0 {
            return Some(NO_ADDRESS);
        }
        None
    }

    /// The addresses of a response without a fault: its records are in order, an
    /// alias before what it leads to.
    ///
    /// Source: `resolv_validate_dns_response`
    fn validate(&self, reply: &Reply) -> Result<Vec<Address>, Bad> {
        if reply.rcode != Rcode::NoError || reply.truncated || reply.answers.is_empty() {
            return Err(Bad);
        }
        let labels = self.labels.iter().map(Vec::as_slice);
        let mut owner = Name::from_labels(labels).map_err(|_| Bad)?;
        let mut addresses = Vec::new();
        let last = reply.answers.len() - 1;
        for (index, record) in reply.answers.iter().enumerate() {
            if record.name != owner {
                return Err(Bad);
            }
            match &record.data {
                Data::A(ip) => addresses.push(IpAddr::V4(*ip).into()),
                Data::Aaaa(ip) => addresses.push(IpAddr::V6(*ip).into()),
                Data::Cname(_) if index == last => return Err(Bad),
                Data::Cname(target) => owner = target.clone(),
                Data::Other(_) => {}
            }
        }
        Ok(addresses)
    }

    /// One address, of the family that is preferred if there is one.
    ///
    /// Source: `resolv_get_ip_from_response`
    fn get_ip(&self, addresses: Vec<Address>) -> Outcome {
        let is_v4 = self.preferred == RecordType::A;
        let is_preferred = |it: &Address| it.ip.is_ipv4() == is_v4;
        let (preferred, others): (Vec<_>, Vec<_>) = addresses.into_iter().partition(is_preferred);
        let mut among = if preferred.is_empty() {
            others
        } else {
            preferred
        };
        if among.is_empty() {
            return NO_ADDRESS;
        }
        let chosen = self.io.choose(among.len(), HASHED);
        Outcome::Found(vec![among.swap_remove(chosen)])
    }
}

/// The question; long labels are sent as they are, an empty name with a byte
/// too much.
///
/// Source: `resolv_build_query`
fn question(labels: &[Vec<u8>], record_type: RecordType, size: u16) -> Question {
    let name = Name::from_labels_unlimited(labels.iter().map(Vec::as_slice));
    if let Some(name) = name.ok().filter(|_| !labels.is_empty()) {
        return Question::Asked(name, record_type);
    }
    let mut message = vec![1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    if labels.is_empty() {
        message.push(0);
    }
    for label in labels {
        message.extend(u8::try_from(label.len() % 256));
        message.extend_from_slice(label);
    }
    message.push(0);
    message.extend(u16::from(record_type).to_be_bytes());
    message.extend([0, 1]);
    // OPT
    message.extend([0, 0, 41]);
    message.extend(size.to_be_bytes());
    message.extend([0; 6]);
    Question::Malformed(message)
}
