//! Which server is asked, how, and for how long.

use std::net::{IpAddr, Ipv4Addr};

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::engine::io::{Arrival, Came, ConnectError};
use crate::engine::message::{
    Because, Edns, Query, QueryId, Question, Rcode, Reply, SocketId, Transport,
};
use crate::name::Name;
use crate::resolver::glibc::name::{inet6_scopeid_pton, is_link_local};
use crate::resolver::glibc::res_query::{Answers, Message};
use crate::resolver::glibc::send_dg::{Datagram, send_dg};
use crate::resolver::glibc::thread::{Errno, Thread};

/// `RESOLV_EDNS_BUFFER_SIZE` of `resolv/resolv-internal.h`
const EDNS_SIZE: u16 = 1200;
/// What is left to chance, in a sentence.
const ROTATED: &str = "`rotate`: glibc draws the server that is asked first at random, and takes the next one for each name";

/// One or two queries for a name, ready to be sent (`buf` and `buf2`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Packets<'q> {
    pub(super) name: &'q Name,
    pub(super) first: RecordType,
    pub(super) second: Option<RecordType>,
    pub(super) edns: bool,
    /// `trust-ad`
    pub(super) authentic_data: bool,
    pub(super) because: &'q Because,
}

/// What [`context_send`] knows while it goes from server to server.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Whether a server was heard, or silent: not only ICMP errors.
    pub(super) got_somewhere: bool,
    /// The error to report if TCP was used.
    pub(super) terrno: Errno,
    /// The queries so far, and which of both each one is. A query that is
    /// sent again keeps its id, so a late reply to the first one counts.
    pub(super) sent: Vec<(QueryId, Which)>,
}

/// One of the two queries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Which {
    /// `buf`
    First,
    /// `buf2`
    Second,
}

/// Sends the queries to one server after the other until a reply can be used.
///
/// Source: glibc `resolv/res_send.c: __res_context_send` (2.36).
pub(super) async fn context_send(thread: &mut Thread<'_>, packets: Packets<'_>) -> Option<Answers> {
    let mut virtual_circuit = thread.option("use-vc");
    let mut exchange = Exchange {
        got_somewhere: false,
        terrno: Errno::TimedOut,
        sent: Vec::with_capacity(2),
    };
    let servers = thread.conf.servers.len();
    let offset = nameserver_offset(thread);
    let mut tries = thread.conf.attempts.value;
    while tries > 0 {
        tries -= 1;
        for shift in 0..servers {
            let server = (shift + offset) % servers;
            if !virtual_circuit {
                match send_dg(thread, packets, server, &mut exchange).await {
                    Datagram::Next => continue,
                    Datagram::Truncated => virtual_circuit = true,
                    Datagram::Answers(answers) => {
                        iclose(thread);
                        return Some(answers);
                    }
                }
            }
            // With TCP every server that is left gets one attempt.
            tries = 0;
            if let Some(answers) = send_vc(thread, packets, server, &mut exchange).await {
                return Some(answers);
            }
        }
    }
    iclose(thread);
    thread.errno = match (virtual_circuit, exchange.got_somewhere) {
        (true, _) => exchange.terrno,
        (false, false) => Errno::Refused,
        (false, true) => Errno::TimedOut,
    };
    None
}

/// The server to begin with: with `rotate` another one for each exchange.
///
/// Source: glibc `resolv/res_send.c: nameserver_offset` (2.36).
fn nameserver_offset(thread: &mut Thread<'_>) -> usize {
    let servers = thread.conf.servers.len();
    if servers <= 1 || !thread.option("rotate") {
        return 0;
    }
    let io = &thread.io;
    let second = Some(1).filter(|_| thread.version.rotates_from_second);
    let first = || second.unwrap_or_else(|| io.choose(servers, ROTATED));
    let offset = *(thread.rotation).get_or_insert_with(first);
    thread.rotation = Some(offset + 1);
    offset % servers
}

/// Asks over TCP, both queries at once. `None`: the next server's turn.
///
/// Source: glibc `resolv/res_send.c: send_vc` (2.36).
async fn send_vc(
    thread: &mut Thread<'_>,
    packets: Packets<'_>,
    server: usize,
    exchange: &mut Exchange,
) -> Option<Answers> {
    let address = server_address(thread, server)?;
    let mut reset_once = false;
    loop {
        iclose(thread);
        thread.errno = Errno::Clear;
        let socket = match connect(thread, &address, Transport::Tcp).await {
            Ok(socket) => socket,
            Err(error) => {
                thread.errno = error;
                exchange.terrno = error;
                return None;
            }
        };
        exchange.sent.clear();
        for which in [Which::First, Which::Second] {
            if let Some(query) = packets.query(which, &address, Transport::Tcp, socket) {
                exchange.sent.push((thread.io.send(query), which));
            }
        }
        let answers = receive_vc(thread, packets, socket, exchange).await;
        thread.io.close(socket);
        match answers {
            Ok(answers) => return Some(answers),
            // Perhaps the server was restarted: it is asked once more.
            Err(Errno::Reset) if !reset_once => reset_once = true,
            Err(error) => {
                thread.errno = error;
                exchange.terrno = error;
                return None;
            }
        }
    }
}

/// The part of `send_vc` from `read_len` on. It waits without a limit, and
/// takes every rcode.
async fn receive_vc(
    thread: &mut Thread<'_>,
    packets: Packets<'_>,
    socket: SocketId,
    exchange: &Exchange,
) -> Result<Answers, Errno> {
    let mut first = None;
    loop {
        let arrival = thread.io.receive(&[socket], None).await;
        let Some(arrival) = arrival else { continue };
        let Some(which) = exchange.which(&arrival) else {
            continue;
        };
        let reply = match arrival.what {
            Came::Reply(reply) => reply,
            Came::Reset | Came::Refused => return Err(Errno::Reset),
            // The end of the connection, which sets no `errno`.
            Came::Closed => return Err(Errno::Clear),
        };
        let message = packets.message(which, reply);
        if first.is_some() {
            return Ok(Answers {
                first,
                second: Some(message),
            });
        }
        thread.fill_buffer(message.reply.rcode);
        first = Some(message);
        if packets.second.is_none() {
            return Ok(Answers {
                first,
                second: None,
            });
        }
    }
}

/// Connects a new socket, also for UDP. The kernel refuses the broadcast
/// address, a link-local one without a scope, and one without a route.
pub(super) async fn connect(
    thread: &Thread<'_>,
    server: &Server,
    transport: Transport,
) -> Result<SocketId, Errno> {
    match server.address.ip {
        IpAddr::V4(Ipv4Addr::BROADCAST) => return Err(Errno::Access),
        IpAddr::V6(ip) if is_link_local(ip) => {
            let scope = server.address.scope.as_deref();
            if !scope.is_some_and(|scope| inet6_scopeid_pton(thread, ip, scope)) {
                return Err(Errno::Invalid);
            }
        }
        _ => {}
    }
    let connected = thread.io.connect(server, transport).await;
    connected.map_err(|error| match error {
        ConnectError::Refused => Errno::Refused,
        ConnectError::Unreachable => Errno::Unreachable,
    })
}

/// Closes all sockets: what has not been read from them is lost.
///
/// Source: glibc `resolv/res-close.c: __res_iclose` (2.36).
pub(super) fn iclose(thread: &mut Thread<'_>) {
    for socket in &mut thread.sockets {
        if let Some(socket) = socket.take() {
            thread.io.close(socket);
        }
    }
}

pub(super) fn server_address(thread: &Thread<'_>, server: usize) -> Option<Server> {
    let server = thread.conf.servers.get(server)?;
    Some(server.value.clone())
}

impl Thread<'_> {
    /// A reply lands in the caller's answer buffer.
    pub(super) fn fill_buffer(&mut self, rcode: Rcode) {
        self.buffer_rcode = rcode;
        self.buffer_filled = true;
    }
}

impl Packets<'_> {
    /// The query as it is sent; `None` if there is no second one.
    pub(super) fn query(
        &self,
        which: Which,
        server: &Server,
        transport: Transport,
        socket: SocketId,
    ) -> Option<Query> {
        let record_type = match which {
            Which::First => self.first,
            Which::Second => self.second?,
        };
        Some(Query {
            server: server.clone(),
            question: Question::Asked(self.name.clone(), record_type),
            transport,
            socket,
            edns: self.edns.then_some(Edns::plain(EDNS_SIZE)),
            authentic_data: self.authentic_data,
            because: self.because.clone(),
        })
    }

    /// A reply with the question of its query.
    pub(super) fn message(&self, which: Which, reply: Reply) -> Message {
        Message {
            name: self.name.clone(),
            record_type: match which {
                Which::First => self.first,
                Which::Second => self.second.unwrap_or(self.first),
            },
            reply,
        }
    }
}

impl Exchange {
    /// Which of both queries this came for.
    pub(super) fn which(&self, arrival: &Arrival) -> Option<Which> {
        self.sent
            .iter()
            .find(|(id, _)| *id == arrival.query)
            .map(|(_, which)| *which)
    }
}
