//! Whether a packet matches.

use super::Walk;
use super::branch::{Branch, Link, Tracking};
use crate::path::{Condition, Direction};
use crate::rules::rule::{Addresses, LinkName, Match, Rule, Side, Test, kind, state, status};
use crate::rules::{Share, ipset};

/// The answer of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Yes,
    No,
    /// If this holds.
    If(Condition),
    /// If this does not hold.
    Unless(Condition),
    /// So many packets.
    Share(Share),
    /// The packet has no such thing: the rule ends here, with a `!` or without.
    Absent,
}

impl Answer {
    pub(super) fn yes_if(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

/// A client draws its port from here on.
pub(super) const FIRST_DRAWN: u16 = 1024;
/// It is hardly ever one of so few.
const FEW_PORTS: u32 = 64;

impl Walk<'_> {
    /// Whether the packet matches; a `!` is not looked at.
    pub(super) fn answer(
        &mut self,
        table: usize,
        rule: &Rule,
        test: &Test,
        branch: &Branch,
    ) -> Answer {
        let seen = &branch.seen;
        match &test.what {
            Match::Address(side, all) => {
                let is_one = |ip| Answer::yes_if(all.iter().any(|it| it.have(ip)));
                let ip = seen.address(*side);
                ip.map_or_else(|| self.hidden(*side, all, rule, branch), is_one)
            }
            Match::Protocol(number) => Answer::yes_if(*number == self.packet.protocol.number()),
            Match::Ports(sides, ranges) => self.ports(sides, ranges, rule, branch),
            Match::InLink(name) => link(&seen.in_link, name, Condition::InLink),
            Match::OutLink(name) => link(&seen.out_link, name, Condition::OutLink),
            Match::Mark(it) => Answer::yes_if(seen.mark & it.mask == it.value),
            // Without a connection the kernel does not look at these.
            Match::ConnectionMark(_)
            | Match::Status(_)
            | Match::Original(..)
            | Match::OriginalPort(..)
            | Match::ReplyAddress(..)
            | Match::IsOriginalDirection
                if !is_tracked(branch) =>
            {
                Answer::Absent
            }
            Match::ConnectionMark(it) => Answer::yes_if(seen.connection_mark & it.mask == it.value),
            Match::State(bits) => Answer::yes_if(self.states(branch) & bits != 0),
            Match::Status(bits) => Answer::yes_if(self.statuses(branch) & bits != 0),
            Match::Original(side, addresses) => self.originally(*side, *addresses, rule, branch),
            Match::OriginalPort(side, range) => {
                let port = self.original(*side == Side::Source, branch).1;
                self.port(port, &[*range], rule)
            }
            Match::ReplyAddress(side, addresses) => {
                let is_one = |ip| Answer::yes_if(addresses.have(ip));
                let ip = self.reply_address(*side, branch);
                ip.map_or_else(|| self.veiled(*side, rule), is_one)
            }
            Match::IsOriginalDirection => Answer::yes_if(self.is_first_way(branch)),
            Match::AddressType(side, types) => self.address_type(*side, *types, branch),
            Match::Chance(share) => Answer::Share(*share),
            Match::Length(first, last) => self.length(*first, *last, rule),
            Match::TimeToLive(first, last) => Answer::yes_if((*first..=*last).contains(&seen.ttl)),
            Match::TcpFlags { mask, set } => match self.tcp_flags(seen.direction) {
                Some(flags) => Answer::yes_if(flags & mask == *set),
                None => Answer::No,
            },
            Match::Set(name, sides) => self.ipset(name, sides, branch),
            Match::Recent(name) if seen.veiled == Some(Side::Source) => {
                Answer::If(Condition::Recent(name.clone()))
            }
            Match::Recent(name) => self.recent(name, branch),
            Match::Never => Answer::No,
            Match::Always => Answer::Yes,
            Match::Compare(comparison) => self.compare(table, rule, comparison, branch),
            Match::Unknown(words) => Answer::If(Condition::Match {
                words: crate::text::escaped(words.as_bytes()).into(),
                place: self.place(rule),
            }),
        }
    }

    /// The same of the asker's, which is taken for none that stands alone in a
    /// rule.
    fn hidden(&self, side: Side, all: &[Addresses], rule: &Rule, branch: &Branch) -> Answer {
        let is_single = |it: &Addresses| matches!(it, Addresses::Range(one, other) if one == other);
        if !self.is_asker_hidden(branch) {
            return self.veiled(side, rule);
        }
        if all.iter().all(is_single) {
            return Answer::No;
        }
        Answer::If(Condition::Asker {
            place: self.place(rule),
        })
    }

    /// Whether an address of the connection's first packet is one of these.
    fn originally(&self, side: Side, all: Addresses, rule: &Rule, branch: &Branch) -> Answer {
        if side == Side::Source && self.packet.is_of_some_pod() {
            return self.hidden(side, &[all], rule, branch);
        }
        Answer::yes_if(all.have(self.original(side == Side::Source, branch).0))
    }

    /// Whether it is the asker of whom no address is known, and not the node
    /// that has put its own in its place.
    pub(super) fn is_asker_hidden(&self, branch: &Branch) -> bool {
        self.packet.is_of_some_pod() && !branch.seen.is_snat
    }

    /// Whether an address of the node that is not known is one that a rule
    /// asks for.
    fn veiled(&self, side: Side, rule: &Rule) -> Answer {
        Answer::If(Condition::OwnAddress {
            side,
            place: self.place(rule),
        })
    }

    /// An address that answers of the packet's connection have: they go from
    /// where it is sent on to, to whom it is sent on by.
    fn reply_address(&self, side: Side, branch: &Branch) -> Option<std::net::IpAddr> {
        let asked = self.asked.as_ref().filter(|_| !self.is_untracked());
        let first = asked.unwrap_or(&branch.seen);
        match side {
            Side::Source => Some(first.destination),
            Side::Destination => first.address(Side::Source),
        }
    }

    /// Whether the packet goes the way of its connection's first one: so does
    /// an answer to a question that was not tracked.
    pub(super) fn is_first_way(&self, branch: &Branch) -> bool {
        branch.seen.direction == Direction::Request || self.is_untracked()
    }

    /// An address of the connection's first packet as it was sent, and its port.
    pub(super) fn original(
        &self,
        is_source: bool,
        branch: &Branch,
    ) -> (std::net::IpAddr, Option<u16>) {
        let (packet, seen) = (self.packet, &branch.seen);
        let is_answer = seen.direction == Direction::Reply && self.is_untracked();
        match (is_answer, is_source) {
            (true, true) => (seen.source, seen.source_port),
            (true, false) => (packet.source, packet.source_port),
            (false, true) => (packet.source, packet.source_port),
            (false, false) => (packet.destination, Some(packet.port)),
        }
    }

    fn ports(&self, sides: &[Side], ranges: &[(u16, u16)], rule: &Rule, branch: &Branch) -> Answer {
        let mut answer = Answer::No;
        for side in sides {
            let port = match side {
                Side::Source => branch.seen.source_port,
                Side::Destination => branch.seen.port,
            };
            match self.port(port, ranges, rule) {
                Answer::Yes => return Answer::Yes,
                Answer::No => {}
                other => answer = other,
            }
        }
        answer
    }

    /// Whether a port is in a range; of one that was drawn it is known where
    /// it cannot be.
    fn port(&self, port: Option<u16>, ranges: &[(u16, u16)], rule: &Rule) -> Answer {
        if let Some(port) = port {
            return Answer::yes_if(ranges.iter().any(|it| (it.0..=it.1).contains(&port)));
        }
        // One of a few among so many is as good as none.
        let of_drawn = ranges
            .iter()
            .map(|it| it.1.saturating_sub(it.0.max(FIRST_DRAWN) - 1));
        if of_drawn.map(u32::from).sum::<u32>() <= FEW_PORTS {
            return Answer::No;
        }
        if ranges
            .iter()
            .any(|it| it.0 <= FIRST_DRAWN && it.1 == u16::MAX)
        {
            return Answer::Yes;
        }
        Answer::If(Condition::ClientPort {
            ranges: ranges.into(),
            place: self.place(rule),
        })
    }

    /// Whoever is not on the list is not kept at an endpoint; for how long one
    /// that is on it stays there, the kernel's clock decides.
    fn recent(&self, name: &str, branch: &Branch) -> Answer {
        let list = self.host.recent.get(name);
        if list.is_some_and(|it| !it.contains(&branch.seen.source)) {
            return Answer::No;
        }
        Answer::If(Condition::Recent(name.into()))
    }

    fn length(&self, first: u16, last: u16, rule: &Rule) -> Answer {
        // An IP header, a UDP header and a DNS header.
        let shortest = 40;
        match self.packet.length {
            Some(length) => Answer::yes_if((first..=last).contains(&length)),
            None if last < shortest => Answer::No,
            None if first <= shortest && last == u16::MAX => Answer::Yes,
            None => Answer::If(Condition::Match {
                words: format!("-m length --length {first}:{last}").into(),
                place: self.place(rule),
            }),
        }
    }

    /// The states that the packet's connection has.
    #[expect(clippy::unused_self, reason = "called like those beside it")]
    pub(super) fn states(&self, branch: &Branch) -> u16 {
        let seen = &branch.seen;
        let of = match seen.tracking {
            Tracking::Ahead | Tracking::Invalid => state::INVALID,
            Tracking::Not => state::UNTRACKED,
            Tracking::New => state::NEW,
            Tracking::Established => state::ESTABLISHED,
        };
        let dnat = if seen.is_dnat { state::DNAT } else { 0 };
        let snat = if seen.is_snat { state::SNAT } else { 0 };
        of | if is_tracked(branch) { dnat | snat } else { 0 }
    }

    /// The properties that the packet's connection has.
    #[expect(clippy::unused_self, reason = "called like those beside it")]
    pub(super) fn statuses(&self, branch: &Branch) -> u16 {
        let seen = &branch.seen;
        if !is_tracked(branch) {
            return 0;
        }
        let mut bits = 0;
        if seen.is_dnat {
            bits |= status::DNAT;
        }
        if seen.is_snat {
            bits |= status::SNAT;
        }
        if seen.tracking == Tracking::Established {
            bits |= status::SEEN_REPLY | status::CONFIRMED;
        }
        if bits == 0 { status::NONE } else { bits }
    }

    /// The flags of TCP's first packet, or of the one that answers it.
    pub(super) fn tcp_flags(&self, direction: Direction) -> Option<u8> {
        let is_tcp = self.packet.protocol == crate::path::Protocol::Tcp;
        is_tcp.then_some(match direction {
            Direction::Request => 0x02,
            Direction::Reply => 0x12,
        })
    }

    pub(super) fn address_type(&self, side: Side, types: u16, branch: &Branch) -> Answer {
        let Some(ip) = branch.seen.address(side) else {
            return Answer::yes_if(types & kind::LOCAL != 0);
        };
        if ip.is_multicast() {
            return Answer::yes_if(types & kind::MULTICAST != 0);
        }
        if matches!(ip, std::net::IpAddr::V4(ip) if ip.is_broadcast()) {
            return Answer::yes_if(types & kind::BROADCAST != 0);
        }
        let is_wanted = |bit: u16| types & bit != 0;
        match self.is_local(ip, branch) {
            Some(true) => Answer::yes_if(is_wanted(kind::LOCAL)),
            Some(false) => Answer::yes_if(is_wanted(kind::UNICAST)),
            None if is_wanted(kind::LOCAL) == is_wanted(kind::UNICAST) => {
                Answer::yes_if(is_wanted(kind::LOCAL))
            }
            None if is_wanted(kind::LOCAL) => Answer::If(Condition::Local(ip)),
            None => Answer::Unless(Condition::Local(ip)),
        }
    }

    fn ipset(&self, name: &str, sides: &[Side], branch: &Branch) -> Answer {
        let unknown = || Answer::If(Condition::Set(name.into()));
        let Some(set) = self.host.rules.ipsets.iter().rfind(|it| &*it.name == name) else {
            return unknown();
        };
        let seen = &branch.seen;
        if seen.veiled.is_some_and(|it| sides.contains(&it)) {
            return unknown();
        }
        let key = ipset::Key {
            addresses: (seen.source, seen.destination),
            ports: (seen.source_port, seen.port),
            protocol: self.packet.protocol.number(),
            links: (seen.in_link.name(), seen.out_link.name()),
            mark: seen.mark,
        };
        if set.members.is_empty() {
            return set.has(sides, &key).map_or_else(unknown, Answer::yes_if);
        }
        let mut answer = Answer::No;
        for member in &set.members {
            let set = self.host.rules.ipsets.iter().rfind(|it| it.name == *member);
            match set.and_then(|it| it.has(sides, &key)) {
                Some(true) => return Answer::Yes,
                Some(false) => {}
                None => answer = unknown(),
            }
        }
        answer
    }
}

pub(super) fn is_tracked(branch: &Branch) -> bool {
    matches!(branch.seen.tracking, Tracking::New | Tracking::Established)
}

impl Link {
    /// Its name; `None`: not known.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::None => Some(""),
            Self::Named(name) => Some(name),
            Self::Unknown => None,
        }
    }
}

pub(super) fn link(seen: &Link, asked: &LinkName, condition: fn(Box<str>) -> Condition) -> Answer {
    if let Some(name) = seen.name() {
        return Answer::yes_if(if asked.is_prefix {
            name.starts_with(&*asked.name)
        } else {
            *name == *asked.name
        });
    }
    if &*asked.name == "lo" {
        return Answer::No;
    }
    if asked.is_prefix && asked.name.is_empty() {
        return Answer::Yes;
    }
    let plus = if asked.is_prefix { "+" } else { "" };
    Answer::If(condition(format!("{}{plus}", asked.name).into()))
}
