//! Go's DNS client: candidates, servers, exchanges.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::join;
use hickory_proto::rr::RecordType;

use crate::address::{Address, Server};
use crate::engine::io::{Came, ConnectError, Io};
use crate::engine::message::{
    Because, Data, Edns, Query, Question, Rcode, Record, Reply, SocketId, Transport,
};
use crate::name::Name;
use crate::resolver::go::Version;
use crate::resolver::go::name::{MAX_NAME_BYTES, avoid_dns, is_domain_name, pack};
use crate::resolver::go::read::{Config, ROTATE, SINGLE_REQUEST, TRUST_AD, USE_TCP};
use crate::scenario::Family;

/// The last part of the text of an error.
pub(super) type Failure = &'static str;

/// Source: Go `src/net/net.go: errNoSuchHost`.
pub(super) const NO_SUCH_HOST: Failure = "no such host";
/// Source: Go `src/net/dnsclient_unix.go`, as the next five.
const LAME_REFERRAL: Failure = "lame referral";
const CANNOT_UNMARSHAL: Failure = "cannot unmarshal DNS message";
const CANNOT_MARSHAL: Failure = "cannot marshal DNS message";
const SERVER_MISBEHAVING: Failure = "server misbehaving";
const NO_ANSWER: Failure = "no answer from DNS server";
/// Source: Go `src/net/net.go: timeoutError`.
const TIMEOUT: Failure = "i/o timeout";
/// Source: Go `src/io/io.go: EOF`.
const EOF: Failure = "EOF";
/// Source: Go `src/syscall/zerrors_linux_amd64.go: errors`, as the next two.
const REFUSED: Failure = "connection refused";
const NO_ROUTE: Failure = "no route to host";
const INVALID_ARGUMENT: Failure = "invalid argument";

/// Source: Go `src/net/dnsclient_unix.go: newRequest, maxDNSPacketSize`.
const EDNS: Edns = Edns {
    size: 1232,
    dnssec_ok: false,
    options: &[],
};

/// How long a goroutine takes from an event to its next packet. Ours: short
/// beside any delay, but long enough to tell which of two goes first.
const STEP: Duration = Duration::from_micros(1);
/// By how much the second of two goroutines comes behind the first. Ours.
const ORDER: Duration = Duration::from_nanos(1);

/// A name to ask for: the rooted text, and where it comes from.
type Candidate = (Vec<u8>, Because);

/// Addresses, and the error that counts if there are none.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) addresses: Vec<Address>,
    pub(super) error: Option<Failure>,
}

/// Source: Go `src/net/lookup.go: Resolver`, with its configuration.
#[derive(Debug)]
pub(super) struct Client<'a> {
    io: Rc<Io>,
    config: Config<'a>,
    version: &'static Version,
    /// Source: Go `src/net/dnsconfig.go: dnsConfig.soffset`.
    server_offset: Cell<usize>,
    /// When a goroutine was last woken, in [`STEP`]s.
    woken: Cell<u64>,
}

impl<'a> Client<'a> {
    pub(super) fn new(io: Rc<Io>, config: Config<'a>, version: &'static Version) -> Self {
        Self {
            io,
            config,
            version,
            server_offset: Cell::new(0),
            woken: Cell::new(u64::MAX),
        }
    }

    /// A lookup of another type than addresses, one question a candidate. Its
    /// error is the one of the last candidate.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.lookup`.
    pub(super) async fn lookup(
        &self,
        name: &[u8],
        record_type: RecordType,
    ) -> Result<Vec<Address>, Failure> {
        if !is_domain_name(name) {
            return Err(NO_SUCH_HOST);
        }
        // Without a candidate the caller is left with an empty message.
        let mut error = CANNOT_UNMARSHAL;
        for candidate in self.name_list(name) {
            match self.try_one_name(&candidate, record_type).await {
                Ok(reply) => return Ok(addresses(&reply).collect()),
                Err(failure) => error = failure,
            }
        }
        Err(error)
    }

    /// The loop over candidates, each asked for the types of `family`. It ends
    /// at the first candidate with an address; nothing else ends it.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.goLookupIPCNAMEOrder`.
    pub(super) async fn lookup_addresses(
        &self,
        name: &[u8],
        family: Family,
    ) -> Result<Found, Failure> {
        if !is_domain_name(name) {
            return Err(NO_SUCH_HOST);
        }
        let mut found = Found::default();
        for candidate in self.name_list(name) {
            // `fqdn == name+"."` is never so for a name that ends in a dot.
            let is_name = candidate.1 == Because::AsIs && !name.ends_with(b".");
            for result in self.ask_types(&candidate, family).await {
                match result {
                    Ok(reply) => found.addresses.extend(addresses(&reply)),
                    // The error of the name as it was given is preferred.
                    Err(error) if found.error.is_none() || is_name => {
                        found.error = Some(error);
                    }
                    Err(_) => {}
                }
            }
            if !found.addresses.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// The results for each type, in the order in which they came.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.goLookupIPCNAMEOrder`,
    /// `queryFn` and `responseFn`.
    async fn ask_types(
        &self,
        candidate: &Candidate,
        family: Family,
    ) -> Vec<Result<Reply, Failure>> {
        let results = RefCell::new(Vec::with_capacity(2));
        let ask = async |record_type| {
            let result = self.try_one_name(candidate, record_type).await;
            results.borrow_mut().push(result);
        };
        match family.record_types() {
            // The goroutine that was started last runs first.
            [first, last] if !self.config.has(SINGLE_REQUEST) => {
                join(ask(*last), ask(*first)).await;
            }
            types => {
                for record_type in types {
                    ask(*record_type).await;
                }
            }
        }
        results.into_inner()
    }

    /// The names to ask for, in order.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: dnsConfig.nameList`.
    fn name_list(&self, name: &[u8]) -> Vec<Candidate> {
        let old = self.version.onion_by_given_name;
        if old && avoid_dns(name) || self.version.refuses_254_bytes && name.len() == MAX_NAME_BYTES
        {
            return Vec::new();
        }
        let avoid = |name: &[u8]| !old && avoid_dns(name);
        if name.ends_with(b".") {
            let asked = (name.to_vec(), Because::AsIs);
            return Some(asked).filter(|_| !avoid(name)).into_iter().collect();
        }
        let dots = name.iter().filter(|&&byte| byte == b'.').count();
        let ndots = self.config.reading.ndots.map_or(0, |ndots| ndots.value);
        let has_ndots = dots >= ndots as usize;
        let as_is = || (ensure_rooted(name.to_vec()), Because::AsIs);
        let mut names = Vec::with_capacity(1 + self.config.reading.search.len());
        if has_ndots && !avoid(name) {
            names.push(as_is());
        }
        for (index, suffix) in self.config.reading.search.iter().enumerate() {
            let candidate = ensure_rooted([name, &suffix.value].join(&b'.'));
            if candidate.len() <= MAX_NAME_BYTES && !avoid(&candidate) {
                names.push((candidate, Because::Search(index)));
            }
        }
        if !has_ndots && !avoid(name) {
            names.push(as_is());
        }
        names
    }

    /// Asks the servers in turn, in rounds, until one knows about the name.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.tryOneName`.
    async fn try_one_name(
        &self,
        (text, because): &Candidate,
        record_type: RecordType,
    ) -> Result<Reply, Failure> {
        let offset = self.server_offset();
        let servers = &self.config.reading.servers;
        // Go finds out anew with every server, before it opens a socket.
        let name = pack(text).ok_or(CANNOT_MARSHAL)?;
        let mut last_error = CANNOT_MARSHAL;
        for _ in 0..self.config.reading.attempts.value {
            for server in servers.iter().cycle().skip(offset).take(servers.len()) {
                let question = (&name, record_type, because);
                let result = match self.exchange(&server.value, question).await {
                    Ok(reply) => self.check(reply, record_type),
                    Err(error) => Err(error),
                };
                match result {
                    Ok(reply) => return Ok(reply),
                    Err(NO_SUCH_HOST) => return Err(NO_SUCH_HOST),
                    Err(error) => last_error = error,
                }
            }
        }
        Err(last_error)
    }

    /// Source: Go `src/net/dnsconfig.go: dnsConfig.serverOffset`.
    fn server_offset(&self) -> usize {
        if !self.config.has(ROTATE) {
            return 0;
        }
        let offset = self.server_offset.get();
        if offset == 0 && self.config.reading.servers.len() > 1 {
            let note = "rotate: A and AAAA draw their first server in the order in which they \
                        start, which is a race; AAAA is taken to be first";
            self.io.note(note);
        }
        self.server_offset.set(offset + 1);
        offset % self.config.reading.servers.len().max(1)
    }

    /// Asks one server, over UDP and, if the answer is truncated, over TCP.
    /// Each of the two has the whole time-out, and a socket of its own.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.exchange`.
    async fn exchange(
        &self,
        server: &Server,
        (name, record_type, because): (&Name, RecordType, &Because),
    ) -> Result<Reply, Failure> {
        let transports: &[Transport] = if self.config.has(USE_TCP) {
            &[Transport::Tcp]
        } else {
            &[Transport::Udp, Transport::Tcp]
        };
        for &transport in transports {
            let deadline = self.io.now() + self.config.reading.timeout.value;
            let socket = self.dial(server, transport).await?;
            self.io.send(Query {
                server: server.clone(),
                question: Question::Asked(name.clone(), record_type),
                transport,
                socket,
                edns: Some(EDNS),
                authentic_data: self.config.has(TRUST_AD),
                because: because.clone(),
            });
            let reply = self.round_trip(socket, transport, deadline).await;
            self.io.close(socket);
            let reply = reply?;
            let again = transport == Transport::Udp || !self.version.takes_truncated_tcp;
            if !(reply.truncated && again) {
                return Ok(reply);
            }
        }
        Err(NO_ANSWER)
    }

    /// Source: Go `src/net/lookup.go: Resolver.dial`.
    async fn dial(&self, server: &Server, transport: Transport) -> Result<SocketId, Failure> {
        let Address { ip, scope, .. } = &server.address;
        // The kernel wants to know the interface of such an address.
        if let IpAddr::V6(ip) = ip
            && ip.is_unicast_link_local()
            && scope.as_deref().unwrap_or_default().is_empty()
        {
            return Err(INVALID_ARGUMENT);
        }
        let connected = self.io.connect(server, transport).await;
        if transport == Transport::Tcp {
            self.io.sleep(self.io.now() + STEP).await;
        }
        connected.map_err(|error| match error {
            ConnectError::Unreachable => NO_ROUTE,
            ConnectError::Refused => REFUSED,
        })
    }

    /// Source: Go `src/net/dnsclient_unix.go: dnsPacketRoundTrip, dnsStreamRoundTrip`.
    async fn round_trip(
        &self,
        socket: SocketId,
        transport: Transport,
        deadline: Duration,
    ) -> Result<Reply, Failure> {
        let arrival = self.io.receive(&[socket], Some(deadline)).await;
        // The clock ran before the query left: what takes just as long is late.
        let arrival = arrival.filter(|_| self.io.now() < deadline);
        let what = arrival.ok_or(TIMEOUT)?.what;
        self.run_queue(transport, &what).await;
        match what {
            Came::Reply(reply) => Ok(reply),
            Came::Refused => Err(REFUSED),
            Came::Closed => Err(EOF),
        }
    }

    /// Waits until this goroutine runs, after its socket has woken it. Of two
    /// that are woken at once, in the same step, the second runs first: they
    /// come from a stack. A connection, on which they are woken once more,
    /// leaves them in their order.
    ///
    /// Source: Go `src/runtime/netpoll.go: netpollready`, which pushes to a `gList`.
    async fn run_queue(&self, transport: Transport, what: &Came) {
        let truncated = matches!(what, Came::Reply(reply) if reply.truncated);
        if transport == Transport::Tcp || truncated {
            return self.io.sleep(self.io.now() + STEP).await;
        }
        // Steps begin at whole microseconds, of which there are few enough.
        let step = u64::try_from(self.io.now().as_micros()).unwrap_or(u64::MAX);
        let is_first = self.woken.replace(step) != step;
        let next = Duration::from_micros(step) + STEP;
        self.io.sleep(next + u32::from(is_first) * ORDER).await;
    }

    /// Whether the reply answers: it has a record of the type.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: checkHeader, skipToAnswer`.
    fn check(&self, reply: Reply, record_type: RecordType) -> Result<Reply, Failure> {
        if reply.rcode == Rcode::NxDomain {
            return Err(NO_SUCH_HOST);
        }
        let first = self.answer_header(reply.answers.first())?;
        if reply.rcode != Rcode::NoError {
            return Err(SERVER_MISBEHAVING);
        }
        let additional = reply.opt && self.version.additional_is_not_lame;
        if first.is_none() && !reply.authoritative && !reply.recursion_available && !additional {
            return Err(LAME_REFERRAL);
        }
        for record in &reply.answers {
            self.answer_header(Some(record))?;
            if record.data.record_type() == record_type {
                return Ok(reply);
            }
        }
        Err(NO_SUCH_HOST)
    }

    /// Source: Go `golang.org/x/net/dns/dnsmessage/message.go: Parser.AnswerHeader`.
    fn answer_header<'r>(&self, record: Option<&'r Record>) -> Result<Option<&'r Record>, Failure> {
        let unreadable = |record: &Record| record.name.labels().any(|label| label.contains(&b'.'));
        if self.version.refuses_dots_in_labels && record.is_some_and(unreadable) {
            return Err(CANNOT_UNMARSHAL);
        }
        Ok(record)
    }
}

/// The addresses of the answer, whatever name they belong to.
///
/// Source: Go `src/net/dnsclient_unix.go: Resolver.goLookupIPCNAMEOrder`.
fn addresses(reply: &Reply) -> impl Iterator<Item = Address> {
    reply.answers.iter().filter_map(|record| match record.data {
        Data::A(ip) => Some(IpAddr::from(ip).into()),
        Data::Aaaa(ip) => Some(IpAddr::from(ip).to_canonical().into()),
        _ => None,
    })
}

/// Source: Go `src/net/dnsconfig_unix.go: ensureRooted`.
fn ensure_rooted(mut name: Vec<u8>) -> Vec<u8> {
    if !name.ends_with(b".") {
        name.push(b'.');
    }
    name
}
