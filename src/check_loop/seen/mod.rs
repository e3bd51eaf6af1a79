//! What a probe shows: whether queries come back to the server that was asked.
//!
//! Each question has a random name of its own and is sent once, to one server,
//! from the server's own network namespace. So nobody but the prober has a
//! reason to send that name to that server. If it arrives there from another
//! socket, some server forwarded it, and a loop is closed. What a server sends
//! to its upstream servers proves nothing, however often: it may be trying
//! again. Nor does silence: a dead upstream is silent too.

mod targets;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;

use crate::topology::{Network, ServerName};

pub use targets::{MAX_TARGETS, targets_of};

/// So many packets of a question are kept. CoreDNS sends a thousand in a loop;
/// the one that closes the loop is among the first.
const MAX_PACKETS: usize = 64;

/// The record types that are asked, in this order: CoreDNS's `loop` asks
/// HINFO, pods ask A. Source: coredns plugin/loop/setup.go `exchange`.
pub const RECORD_TYPES: [RecordType; 2] = [RecordType::HINFO, RecordType::A];

/// A server to be asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Target {
    /// Which server it is.
    pub who: ServerName,
    /// Its network namespace.
    pub network: Network,
    /// How to get there; `None`: it is the one that kdns is in.
    pub namespace: Option<NamespaceFile>,
    /// Where it is asked.
    pub server: SocketAddr,
    /// Whether its socket takes every address of the namespace at that port,
    /// but for those that another server has.
    pub takes_any: bool,
    /// Addresses there that another server has at the same port.
    pub others: Vec<IpAddr>,
    /// The zones that it forwards, lower case, with a final dot. One that has
    /// several servers, of which any may be asked, stands here several times.
    pub zones: Vec<String>,
}

/// A file that stands for a network namespace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamespaceFile {
    /// `/proc/812/ns/net`, `/run/netns/cni-…`.
    pub path: String,
    /// The number that the namespace must have; `None`: any.
    pub number: Option<u64>,
}

/// The questions that a probe sent, and the packets that it saw.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Record {
    /// What was asked, in the order of sending.
    pub questions: Vec<Question>,
    /// The addresses of each namespace that was watched.
    pub addresses: Vec<(Network, Vec<IpAddr>)>,
    /// Targets, by number, that could not be asked or watched, and why. Whole
    /// sentences without a full stop.
    pub troubles: Vec<(usize, String)>,
}

/// One question and what became of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Question {
    /// The number of its target.
    pub target: usize,
    /// The random name, lower case, with its final dot.
    pub name: String,
    /// Its record type.
    pub record_type: RecordType,
    /// The id of the message.
    pub id: u16,
    /// The socket that it was sent from.
    pub from: SocketAddr,
    /// When it was sent, since the probe began.
    pub sent: Duration,
    /// What came; `None`: nothing.
    pub reply: Option<Reply>,
    /// The queries for the name on the wire, each once, at most 64.
    pub packets: Vec<Packet>,
}

/// What came for a question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reply {
    /// A response.
    Response(ResponseCode),
    /// The kernel's word that nobody listens there.
    NobodyListens,
    /// The kernel's word that a packet does not get there.
    NotReached(Barrier),
}

/// What keeps packets from a server: an ICMP message, or a rule of the node.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Barrier {
    /// A firewall of this namespace.
    Filter,
    /// No route, or somebody on the way rejects them.
    Unreachable,
    /// Another error.
    Other,
}

/// A query for the name of a question, on the wire.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Packet {
    /// When, since the probe began.
    pub at: Duration,
    /// In which namespace it was seen.
    pub network: Network,
    /// Whether it left the namespace there. Otherwise it came in, also through
    /// the loopback interface.
    pub is_outgoing: bool,
    /// Its source.
    pub from: SocketAddr,
    /// Its destination.
    pub to: SocketAddr,
    /// The id of the message.
    pub id: u16,
}

/// What a probe has shown of the DNS servers of a node.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProbeResult {
    /// Of all servers: one that loops is enough for [`Sight::Loops`], and for
    /// [`Sight::NotSeen`] none may be unknown.
    pub sight: Sight,
    /// Each server that was to be asked, in the order of the targets.
    pub servers: Vec<ServerSeen>,
}

/// Whether queries come back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sight {
    /// One came back.
    Loops,
    /// All were answered, and none came back.
    NotSeen,
    /// Not known.
    Unknown,
}

/// What the probe says of one server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerSeen {
    /// Which server it is.
    pub who: ServerName,
    /// Its namespace.
    pub network: Network,
    /// Where it was asked.
    pub server: SocketAddr,
    /// Whether queries come back to it.
    pub sight: Sight,
    /// Why it is not known.
    pub reason: Option<Unseen>,
    /// The question that came back.
    pub question: Option<Question>,
}

/// Why it is not known whether queries come back to a server. `render` has the words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unseen {
    /// It could not be asked or watched: one of [`Record::troubles`].
    Trouble(String),
    /// There was no time to ask it about every zone.
    NoTime,
    /// It did not answer this question.
    Silent(Asked),
    /// Nobody listens there.
    NobodyListens,
    /// A packet does not get there.
    NotReached(Barrier),
    /// It answered with this code.
    Failed(Asked, ResponseCode),
    /// It answered no question.
    NoAnswer,
    /// Not all of what was asked was seen on the wire.
    NotOnWire,
}

/// What was asked: the record type and the name.
pub type Asked = (RecordType, String);

impl Question {
    /// Adds a query that was seen on the wire. A packet passes several
    /// interfaces of a namespace (a pod's veth, the bridge), and is counted once.
    pub fn saw(&mut self, packet: Packet) {
        let is_known = self.packets.iter().any(|known| known.is_same(&packet));
        if !is_known && self.packets.len() < MAX_PACKETS {
            self.packets.push(packet);
        }
    }

    /// The query that came back to the server that was asked.
    pub fn return_of(&self, target: &Target, local: &[IpAddr]) -> Option<&Packet> {
        self.packets.iter().find(|packet| {
            !packet.is_outgoing
                && packet.network == target.network
                && !self.is_own(packet)
                && target.takes(packet.to, local)
        })
    }

    /// Whether this is the packet that the prober sent.
    fn is_own(&self, packet: &Packet) -> bool {
        packet.from == self.from && packet.id == self.id
    }
}

impl Packet {
    fn is_same(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.is_outgoing, it.from, it.to, it.id);
        self.network == other.network && key(self) == key(other)
    }
}

impl Target {
    /// Whether a packet to this address is for the server that was asked.
    fn takes(&self, to: SocketAddr, local: &[IpAddr]) -> bool {
        let is_local = || to.ip().is_loopback() || local.contains(&to.ip());
        let takes_address = || self.takes_any && !self.others.contains(&to.ip()) && is_local();
        to.port() == self.server.port() && (to.ip() == self.server.ip() || takes_address())
    }
}

impl Record {
    /// The addresses of a namespace, empty if it was not watched.
    pub fn addresses_of(&self, network: &Network) -> &[IpAddr] {
        let of = self.addresses.iter().find(|(it, _)| it == network);
        of.map_or(&[], |(_, addresses)| addresses.as_slice())
    }

    /// Whether a question to this target has come back, so that it need not
    /// be asked more: each question makes CoreDNS send a thousand packets.
    pub fn is_loop(&self, number: usize, target: &Target) -> bool {
        let local = self.addresses_of(&target.network);
        self.asked(number)
            .any(|question| question.return_of(target, local).is_some())
    }

    fn asked(&self, target: usize) -> impl Iterator<Item = &Question> {
        let of = move |question: &&Question| question.target == target;
        self.questions.iter().filter(of)
    }
}

/// Judges what was seen.
pub fn judge(targets: &[Target], record: &Record) -> ProbeResult {
    let servers: Vec<ServerSeen> = targets
        .iter()
        .enumerate()
        .map(|(number, target)| judge_server(number, target, record))
        .collect();
    let any = |sight| servers.iter().any(|server| server.sight == sight);
    let sight = if any(Sight::Loops) {
        Sight::Loops
    } else if any(Sight::Unknown) || servers.is_empty() {
        Sight::Unknown
    } else {
        Sight::NotSeen
    };
    ProbeResult { sight, servers }
}

fn judge_server(number: usize, target: &Target, record: &Record) -> ServerSeen {
    let local = record.addresses_of(&target.network);
    let returned = record
        .asked(number)
        .find(|question| question.return_of(target, local).is_some());
    let trouble = record.troubles.iter().find(|(of, _)| *of == number);
    let reason = match (returned, trouble) {
        (Some(_), _) => None,
        (None, Some((_, trouble))) => Some(Unseen::Trouble(trouble.clone())),
        (None, None) => why_unknown(number, target, record),
    };
    let sight = match (returned, &reason) {
        (Some(_), _) => Sight::Loops,
        (None, Some(_)) => Sight::Unknown,
        (None, None) => Sight::NotSeen,
    };
    ServerSeen {
        who: target.who.clone(),
        network: target.network.clone(),
        server: target.server,
        sight,
        reason,
        question: returned.cloned(),
    }
}

/// Why it cannot be said that nothing came back; `None`: it can.
fn why_unknown(number: usize, target: &Target, record: &Record) -> Option<Unseen> {
    let zone_count = target.zones.len() * RECORD_TYPES.len();
    if record.asked(number).count() < zone_count {
        return Some(Unseen::NoTime);
    }
    let mut is_answered = false;
    for question in record.asked(number) {
        let asked = || (question.record_type, question.name.clone());
        return Some(match question.reply {
            None => Unseen::Silent(asked()),
            Some(Reply::NobodyListens) => Unseen::NobodyListens,
            Some(Reply::NotReached(barrier)) => Unseen::NotReached(barrier),
            Some(Reply::Response(ResponseCode::NoError | ResponseCode::NXDomain)) => {
                is_answered = true;
                continue;
            }
            // Of one record type only: the other one tells.
            Some(Reply::Response(ResponseCode::NotImp | ResponseCode::FormErr)) => continue,
            // A server that has too many queries in flight, as in a loop,
            // refuses without asking anybody.
            Some(Reply::Response(code)) => Unseen::Failed(asked(), code),
        });
    }
    if !is_answered {
        return Some(Unseen::NoAnswer);
    }
    // Else the watch saw less than all.
    let is_seen = |question: &Question| question.packets.iter().any(|it| question.is_own(it));
    (!record.asked(number).all(is_seen)).then_some(Unseen::NotOnWire)
}

#[cfg(test)]
mod tests;
