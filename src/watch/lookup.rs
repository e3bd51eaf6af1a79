//! Queries with what came of them, and the lookups that they belong to.

use std::net::{IpAddr, SocketAddr};

use crate::name::Name;
use crate::node::Process;
use crate::packet::{SeenMessage, Transport, Unreachable};
use crate::watch::join::AFTER_DENIAL;
use crate::watch::keys::{Key, Question};
use crate::watch::reply::Reply;

/// More responses to one query are not kept.
const MAX_MORE: usize = 256;

/// What a program looked up, as far as the wire shows it.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// Its number, in the order in which lookups began, from 1.
    pub number: u64,
    /// Who asked.
    pub client: IpAddr,
    /// What the program can have asked for, the most likely name first; never
    /// empty.
    pub readings: Vec<Reading>,
    /// The queries in the order of their first sending; never empty.
    pub exchanges: Vec<Exchange>,
    /// Why nothing more is added to it.
    pub ended: Ended,
    /// Whose socket asked, as long as it was open when it was looked for; without
    /// arguments. `None`: not known.
    pub process: Option<Box<Process>>,
}

/// A name as the program can have given it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reading {
    /// The name.
    pub name: Name,
    /// Its hash, whatever its case.
    pub(super) hash: u64,
    /// Whether it had a final dot, or the search list does not matter to whoever
    /// asked.
    pub is_absolute: bool,
}

/// Why nothing more is added to a lookup.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// It was quiet for long enough.
    Settled,
    /// The capture ended: more may have followed.
    Capture,
    /// It was not waited for: there was no room, or the clock was set.
    Forgotten,
}

/// A query, its repeats and its replies: one client's socket, server, id and
/// question.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The name, as it was sent.
    pub name: Name,
    /// Its hash, whatever its case.
    pub(super) hash: u64,
    /// What it is found by.
    pub(super) key: Key,
    /// The type; 0: the query is cut before it.
    pub qtype: u16,
    /// The id.
    pub id: u16,
    /// The second word of the query's header.
    pub flags: u16,
    /// The UDP payload size of its OPT record, if it has one.
    pub edns: Option<u16>,
    /// Who asked.
    pub client: SocketAddr,
    /// Who was asked.
    pub server: SocketAddr,
    /// How.
    pub transport: Transport,
    /// The identification of its last packet, which NAT leaves as it is.
    pub ip_id: Option<u16>,
    /// The interface that it was seen on.
    pub interface: u32,
    /// The first sending.
    pub first: Sent,
    /// The same message again, in order.
    pub again: Vec<Sent>,
    /// The response that counts: the first one, or the first that is no failure.
    pub reply: Option<Reply>,
    /// All other responses, duplicates among them.
    pub more: Vec<Reply>,
    /// The packet that answers this very question and went before: the program
    /// asks again as if it had not come.
    pub ignored: Option<u64>,
    /// What is not as it should be.
    pub odd: Option<Box<Oddities>>,
}

/// One time that a query was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sent {
    /// When, in nanoseconds since the epoch.
    pub time: i64,
    /// Whether that is so; else it was later, before the next packet.
    pub is_time_known: bool,
    /// The number of its packet.
    pub packet: u64,
}

/// What is not as it should be with an exchange.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Oddities {
    /// The same query once more at the same time.
    pub duplicate_queries: u32,
    /// A response from another address or port than was asked: from whom, and
    /// its packet.
    pub wrong_source: Option<(SocketAddr, Sent)>,
    /// Responses with another question.
    pub other_question: u32,
    /// Responses to another port of the client.
    pub other_port: u32,
    /// The packet of an ICMP error about the query.
    pub unreachable: Option<(Unreachable, Sent)>,
    /// When its connection was broken off or closed by the server, without a
    /// response.
    pub broken: Option<Sent>,
    /// The client ended its connection first, without a response.
    pub is_left: bool,
    /// The same query under other addresses, as NAT made them: the server, and
    /// when it answered.
    pub translated: Vec<(SocketAddr, Option<Sent>)>,
    /// The size of a response of which only the first fragment was seen, in
    /// bytes, and that fragment.
    pub incomplete: Option<(u32, Sent)>,
    /// The client's host refused the response: the program reads no more.
    pub unread: u32,
}

impl From<&SeenMessage<'_>> for Sent {
    fn from(seen: &SeenMessage<'_>) -> Self {
        Self {
            time: seen.time,
            is_time_known: seen.is_time_known,
            packet: seen.number,
        }
    }
}

impl Lookup {
    /// When it began, in nanoseconds since the epoch.
    pub fn start(&self) -> i64 {
        self.exchanges.first().map_or(0, |it| it.first.time)
    }

    /// When the last of its packets was seen.
    pub fn end(&self) -> i64 {
        let last = self.exchanges.iter().map(Exchange::last);
        last.max().unwrap_or_default()
    }

    /// How long it took, in nanoseconds; `None`: the time of a packet is not known.
    pub fn took(&self) -> Option<i64> {
        let is_timed = |it: &Exchange| {
            let mut ends = it
                .unreachable()
                .into_iter()
                .map(|it| it.1)
                .chain(it.broken());
            it.sent().chain(&mut ends).all(|it| it.is_time_known)
                && it.replies().all(|it| it.is_time_known)
        };
        let is_timed = self.exchanges.iter().all(is_timed);
        is_timed.then(|| self.end().saturating_sub(self.start()))
    }

    /// Its queries, repeats included.
    pub fn queries(&self) -> usize {
        self.exchanges.iter().map(Exchange::sendings).sum()
    }

    /// Whether the exchange of this number is the first for its name, and came long after
    /// the one before was denied, from another socket and with another id than all.
    pub(super) fn is_late_name(&self, number: usize) -> bool {
        let (before, new) = self.exchanges.split_at(number);
        let (Some(last), Some(new)) = (before.last(), new.first()) else {
            return false;
        };
        let is_other =
            |it: &Exchange| it.hash != new.hash && it.client != new.client && it.id != new.id;
        let mut of_last = before.iter().filter(|it| it.hash == last.hash);
        let is_denied = of_last.all(|it| it.reply.is_some_and(|it| it.is_negative()));
        let since = before.iter().map(Exchange::last).max().unwrap_or_default();
        let is_late = new.first.time.saturating_sub(since) > AFTER_DENIAL;
        is_late && is_denied && before.iter().all(is_other)
    }
}

impl Exchange {
    /// How often the query was sent.
    pub fn sendings(&self) -> usize {
        1 + self.again.len()
    }

    /// Its sendings, in order.
    pub fn sent(&self) -> impl Iterator<Item = Sent> {
        std::iter::once(self.first).chain(self.again.iter().copied())
    }

    /// The last sending.
    pub fn last_sent(&self) -> Sent {
        self.again.last().copied().unwrap_or(self.first)
    }

    /// The last sending before the response, to which it belongs.
    pub fn answered(&self) -> Option<Sent> {
        self.reply.map(|it| self.sent_before(&it))
    }

    fn sent_before(&self, reply: &Reply) -> Sent {
        let is_before = |it: &&Sent| it.time <= reply.time && it.packet < reply.packet;
        let before = self.again.iter().rfind(is_before);
        before.copied().unwrap_or(self.first)
    }

    /// All responses; the one that counts first.
    pub fn replies(&self) -> impl Iterator<Item = &Reply> {
        self.reply.iter().chain(&self.more)
    }

    /// The first response to the sending at this time.
    pub fn reply_to(&self, sent: Sent) -> Option<&Reply> {
        let its = self.replies().filter(|it| self.sent_before(it) == sent);
        its.min_by_key(|it| it.time)
    }

    /// Takes another response.
    pub(super) fn take(&mut self, reply: Reply) {
        let Some(known) = &mut self.reply else {
            self.reply = Some(reply);
            return;
        };
        let is_better = known.is_failure() && !reply.is_failure();
        let other = if is_better {
            std::mem::replace(known, reply)
        } else {
            reply
        };
        if self.more.len() < MAX_MORE {
            self.more.push(other);
        }
    }

    /// How long the response took, in nanoseconds, if that is known.
    pub fn took(&self) -> Option<i64> {
        self.reply?.after(self.answered()?)
    }

    /// When the last of its packets was seen.
    pub fn last(&self) -> i64 {
        let replied = |sent| {
            self.reply_to(sent)
                .map_or(sent.time, |it| it.time.max(sent.time))
        };
        self.sent().map(replied).max().unwrap_or_default()
    }

    /// What it asks, whatever the case of the name.
    pub(super) fn question(&self) -> Question {
        Question {
            name: self.hash,
            qtype: self.qtype,
        }
    }

    /// Whether it went over TCP.
    pub fn is_tcp(&self) -> bool {
        matches!(self.transport, Transport::Tcp(_))
    }

    /// Whether both ask for the same name and type.
    pub fn asks_as(&self, other: &Self) -> bool {
        self.qtype == other.qtype
            && self.hash == other.hash
            && self.name.eq_ignore_case(&other.name)
    }

    /// What is odd about it, to be added to.
    pub(super) fn oddities(&mut self) -> &mut Oddities {
        self.odd.get_or_insert_default()
    }

    /// The ICMP error about it.
    pub fn unreachable(&self) -> Option<(Unreachable, Sent)> {
        self.odd.as_ref()?.unreachable
    }

    /// The response from another address.
    pub fn wrong_source(&self) -> Option<(SocketAddr, Sent)> {
        self.odd.as_ref()?.wrong_source
    }

    /// When its connection ended without a response.
    pub fn broken(&self) -> Option<Sent> {
        self.odd.as_ref()?.broken
    }

    /// Whether something came that ends the wait: a response after the last sending, or
    /// an error.
    pub fn is_settled(&self) -> bool {
        let last = self.last_sent().time;
        let is_answered = self.replies().any(|it| it.time >= last);
        is_answered || self.unreachable().is_some() || self.broken().is_some()
    }

    /// Responses that are more than the sendings of the query.
    pub fn duplicates(&self) -> u32 {
        let odd = self.odd.as_ref().map_or(0, |it| it.duplicate_queries);
        let sendings = u32::try_from(self.sendings()).unwrap_or(u32::MAX);
        let replies = u32::try_from(self.replies().count()).unwrap_or(u32::MAX);
        odd + replies.saturating_sub(sendings.saturating_add(odd))
    }
}
