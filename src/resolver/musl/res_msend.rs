//! musl's exchange: every unanswered query to every server at once.

use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::rr::RecordType;
use smallvec::SmallVec;

use crate::address::Server;
use crate::engine::io::{Arrival, Came, Io};
use crate::engine::message::{
    Because, Query, QueryId, Question, Rcode, Reply, SocketId, Transport,
};
use crate::name::Name;
use crate::resolver::musl::Version;
use crate::resolver::reading::{Reading, Setting};

/// A question as `res_mkquery` builds it.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) question: Question,
    /// Whether the AD bit is set.
    pub(super) authentic_data: bool,
    pub(super) because: Because,
}

/// The reply to each packet, in their order; `None`: no usable reply.
pub(super) type Replies = SmallVec<[Option<Reply>; 2]>;

/// musl died: a division by zero.
pub(super) struct Crash;

/// A query for each of `record_types`.
///
/// Source: musl `src/network/res_mkquery.c: __res_mkquery`. `None`: none can be made of `name`.
pub(super) fn res_mkquery(
    name: &[u8],
    record_types: &[RecordType],
    because: &Because,
    version: &Version,
) -> Option<SmallVec<[Packet; 2]>> {
    let stripped = name.strip_suffix(b".").unwrap_or(name);
    let double_dot = stripped.ends_with(b".");
    // The loop over the labels ends at the dot that is left over, which then
    // stands where the root's zero byte belongs. After it there is no label.
    let labels = stripped.strip_suffix(b".").unwrap_or(stripped);
    let refused = version.refuses_double_dot || labels.ends_with(b".");
    if double_dot && refused || stripped.len() > 253 {
        return None;
    }
    let name = Name::from_plain(labels).ok()?;
    let packets = record_types.iter().map(|&record_type| Packet {
        question: if double_dot {
            Question::Malformed(broken_question(&name, record_type))
        } else {
            Question::Asked(name.clone(), record_type)
        },
        // `lookup_name.c` takes it away again.
        authentic_data: false,
        because: because.clone(),
    });
    Some(packets.collect())
}

/// A message, without its id, whose name has a `.` in place of its end.
fn broken_question(name: &Name, record_type: RecordType) -> Vec<u8> {
    let header = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let [_, type_low] = u16::from(record_type).to_be_bytes();
    // The template is one byte longer than the text, so that the last byte of
    // the class falls off.
    [&header, name.as_wire(), b".", &[0, type_low, 0, 1, 0]].concat()
}

/// Sends `packets` and collects the replies.
///
/// Source: musl `src/network/res_msend.c: __res_msend_rc`.
pub(super) async fn res_msend(
    io: &Io,
    packets: &[Packet],
    conf: &Reading<'_>,
    version: &Version,
) -> Result<Replies, Crash> {
    let timeout = conf.timeout.value.as_millis();
    let attempts = u128::from(conf.attempts.value);
    let retry_interval = timeout.checked_div(attempts).ok_or(Crash)?;
    let start = mtime(io);
    let mut exchange = Exchange {
        io,
        packets,
        servers: &conf.servers,
        udp: io.socket(),
        sent: SmallVec::new(),
        slots: SmallVec::from_elem(Slot::Empty, packets.len()),
        servfail_retries: 0,
        tcp_fallback: version.tcp_fallback,
    };
    let mut sockets = SmallVec::new();
    let mut next_round = start;
    let mut rounds = 0;
    while !exchange.is_complete() {
        let is_due = mtime(io) >= next_round;
        let mut has_time = mtime(io) - start < timeout;
        if is_due && rounds == attempts && !timeout.is_multiple_of(attempts) {
            has_time ^= io.choose(2, ONE_MORE_ROUND) == 1;
        }
        if !has_time {
            break;
        }
        if is_due {
            exchange.send_all();
            rounds += 1;
            next_round = mtime(io) + retry_interval;
        }
        let wait = u64::try_from(next_round - mtime(io)).unwrap_or(u64::MAX);
        let until = io.now() + Duration::from_millis(wait) + POLL_LATENESS;
        exchange.list_sockets(&mut sockets);
        let Some(arrival) = io.receive(&sockets, Some(until)).await else {
            continue;
        };
        if exchange.arrived(arrival).await.is_err() {
            break;
        }
    }
    io.close(exchange.udp);
    Ok(exchange.slots.into_iter().map(Slot::into_reply).collect())
}

/// `poll(2)` never returns early, and on a real machine a little late: with
/// `timeout:1 attempts:3` (333 ms a round) that mostly ends the loop after three
/// rounds instead of four.
///
/// Source: Linux `fs/select.c: select_estimate_accuracy`: up to a thousandth of what is
/// waited for, five times that of a program with a nice value.
const POLL_LATENESS: Duration = Duration::from_micros(400);

/// Where the time-out is no multiple of the attempts, so few milliseconds are left after
/// the last one that lateness decides.
const ONE_MORE_ROUND: &str = "musl sends one round more than `attempts` unless the kernel wakes it some milliseconds late: the rounds are `timeout` / `attempts` long, rounded down to a millisecond";

/// Milliseconds of the clock. Source: musl `src/network/res_msend.c: mtime`.
fn mtime(io: &Io) -> u128 {
    io.now().as_millis()
}

struct Exchange<'a> {
    io: &'a Io,
    packets: &'a [Packet],
    servers: &'a [Setting<Server>],
    udp: SocketId,
    /// Which packet each query carries.
    sent: SmallVec<[(QueryId, usize); 4]>,
    slots: SmallVec<[Slot; 2]>,
    servfail_retries: usize,
    tcp_fallback: bool,
}

/// How far a packet is: `alens[i]` of the source.
#[derive(Clone, Debug)]
enum Slot {
    Empty,
    Tcp(SocketId),
    Full(Reply),
}

/// The `goto out` of the source: every result that is not complete is lost.
struct Out;

impl Slot {
    fn into_reply(self) -> Option<Reply> {
        match self {
            Self::Full(reply) => Some(reply),
            Self::Empty | Self::Tcp(_) => None,
        }
    }
}

impl Exchange<'_> {
    fn is_complete(&self) -> bool {
        self.slots.iter().all(|slot| matches!(slot, Slot::Full(_)))
    }

    /// Makes `sockets` those on which something is waited for.
    fn list_sockets(&self, sockets: &mut SmallVec<[SocketId; 3]>) {
        let tcp = self.slots.iter().filter_map(|slot| match slot {
            Slot::Tcp(socket) => Some(*socket),
            _ => None,
        });
        sockets.clear();
        sockets.extend(std::iter::once(self.udp).chain(tcp));
    }

    /// Queries all servers for everything that has no answer yet.
    fn send_all(&mut self) {
        for index in 0..self.packets.len() {
            if matches!(self.slots.get(index), Some(Slot::Empty)) {
                for server in self.servers {
                    self.send(index, &server.value, self.udp, Transport::Udp);
                }
            }
        }
        self.servfail_retries = 2 * self.packets.len();
    }

    fn send(&mut self, index: usize, server: &Server, socket: SocketId, transport: Transport) {
        let Some(packet) = self.packets.get(index) else {
            return;
        };
        let id = self.io.send(Query {
            server: server.clone(),
            question: packet.question.clone(),
            transport,
            socket,
            edns: None,
            authentic_data: packet.authentic_data,
            because: packet.because.clone(),
        });
        self.sent.push((id, index));
    }

    async fn arrived(&mut self, arrival: Arrival) -> Result<(), Out> {
        let packet = self.sent.iter().find(|(id, _)| *id == arrival.query);
        let Some(&(_, index)) = packet else {
            return Ok(());
        };
        if arrival.socket == self.udp {
            return self.datagram(index, arrival).await;
        }
        match arrival.what {
            Came::Reply(reply) if is_usable(&reply) => {
                self.fill(index, Slot::Full(reply));
                Ok(())
            }
            _ => Err(Out),
        }
    }

    async fn datagram(&mut self, index: usize, arrival: Arrival) -> Result<(), Out> {
        // A socket that is not connected hears nothing of ICMP.
        let Came::Reply(reply) = arrival.what else {
            return Ok(());
        };
        let is_open = matches!(self.slots.get(index), Some(Slot::Empty));
        if !is_open || !self.asked(&arrival.server) {
            return Ok(());
        }
        if reply.rcode == Rcode::ServFail && self.servfail_retries > 0 {
            self.servfail_retries -= 1;
            self.send(index, &arrival.server, self.udp, Transport::Udp);
        } else if is_usable(&reply) && reply.truncated && self.tcp_fallback {
            let connected = self.io.connect(&arrival.server, Transport::Tcp).await;
            let socket = connected.map_err(|_| Out)?;
            self.fill(index, Slot::Tcp(socket));
            self.send(index, &arrival.server, socket, Transport::Tcp);
        } else if is_usable(&reply) {
            self.fill(index, Slot::Full(reply));
        }
        Ok(())
    }

    /// Whether a reply of `server` comes from an address that was sent to. One
    /// sent to `0.0.0.0` comes from `127.0.0.1`, and one from a link-local
    /// address carries its scope: where the file has none, it is ignored.
    fn asked(&self, server: &Server) -> bool {
        let source = server.address.reached();
        let is_link_local = matches!(source, IpAddr::V6(ip) if ip.is_unicast_link_local());
        self.servers.iter().any(|server| {
            let address = &server.value.address;
            address.ip.to_canonical() == source && (!is_link_local || address.scope.is_some())
        })
    }

    fn fill(&mut self, index: usize, value: Slot) {
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = value;
        }
    }
}

/// Refusals and all other codes are as good as silence.
fn is_usable(reply: &Reply) -> bool {
    matches!(reply.rcode, Rcode::NoError | Rcode::NxDomain)
}
