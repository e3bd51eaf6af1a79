//! The values that nftables reads off a packet.

use super::Walk;
use super::branch::{Branch, Link};
use crate::address::number;
use crate::rules::Share;
use crate::rules::nft::{Atom, Expression, Field, Operator, Values};
use crate::rules::rule::{Side, kind};

/// What an expression is.
pub(super) enum Reading {
    /// These, each for its share.
    Values(Vec<(Share, Vec<Atom>)>),
    /// The packet has no such thing: the rule ends here.
    Absent,
    /// It is not known.
    Unknown,
    /// The type of an address, of which it is not known whether it is the node's.
    Local(std::net::IpAddr),
    /// The name of the link that it came in through, or leaves through, is not known.
    Link(bool),
}

/// So many numbers of a generator are told apart.
const MOST_NUMBERS: u32 = 4096;

impl Walk<'_> {
    /// The value of an expression.
    pub(super) fn value(
        &mut self,
        table: usize,
        expression: &Expression,
        branch: &Branch,
    ) -> Reading {
        match expression {
            Expression::Field(field) => self.field(field, branch),
            Expression::Values(Values::One(atoms)) => one(atoms.clone()),
            Expression::Values(Values::Range(first, _)) => one(vec![Atom::Number(*first)]),
            Expression::Concat(parts) => self.concat(table, parts, branch),
            Expression::Binary(operator, left, right) => {
                self.binary(table, *operator, left, right, branch)
            }
            Expression::Numgen { modulus, offset } => {
                if *modulus > MOST_NUMBERS {
                    return Reading::Unknown;
                }
                let share = Share::new(1, u64::from(*modulus));
                let numbers = *offset..offset.saturating_add(*modulus);
                let atom = |it| (share, vec![Atom::Number(u128::from(it))]);
                Reading::Values(numbers.map(atom).collect())
            }
            Expression::Map(key, data) => self.map(table, key, data, branch),
            Expression::Values(_) | Expression::Named(_) | Expression::Unknown(_) => {
                Reading::Unknown
            }
        }
    }

    fn concat(&mut self, table: usize, parts: &[Expression], branch: &Branch) -> Reading {
        let mut all: Vec<(Share, Vec<Atom>)> = vec![(Share::ALL, Vec::new())];
        for part in parts {
            let values = match self.value(table, part, branch) {
                Reading::Values(values) => values,
                Reading::Link(_) | Reading::Local(_) => return Reading::Unknown,
                other => return other,
            };
            let longer = |(share, atoms): &(Share, Vec<Atom>)| {
                let add = |(part, more): &(Share, Vec<Atom>)| {
                    (share.times(*part), [atoms.clone(), more.clone()].concat())
                };
                values.iter().map(add).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        Reading::Values(all)
    }

    fn binary(
        &mut self,
        table: usize,
        operator: Operator,
        left: &Expression,
        right: &Expression,
        branch: &Branch,
    ) -> Reading {
        let left = match self.value(table, left, branch) {
            Reading::Values(values) => values,
            other => return other,
        };
        let right = match self.value(table, right, branch) {
            Reading::Values(values) => values,
            other => return other,
        };
        let [(_, right)] = right.as_slice() else {
            return Reading::Unknown;
        };
        let [Atom::Number(right)] = right.as_slice() else {
            return Reading::Unknown;
        };
        let shift = u32::try_from(*right).unwrap_or(u32::MAX);
        let put = |(share, left): (Share, Vec<Atom>)| {
            let [Atom::Number(left)] = left.as_slice() else {
                return None;
            };
            let value = match operator {
                Operator::And => left & right,
                Operator::Or => left | right,
                Operator::Xor => left ^ right,
                Operator::Left => left.checked_shl(shift).unwrap_or(0),
                Operator::Right => left.checked_shr(shift).unwrap_or(0),
            };
            Some((share, vec![Atom::Number(value)]))
        };
        match left.into_iter().map(put).collect::<Option<_>>() {
            Some(values) => Reading::Values(values),
            None => Reading::Unknown,
        }
    }

    /// What a map has for a value; for one that it lacks the rule ends.
    fn map(
        &mut self,
        table: usize,
        key: &Expression,
        data: &Expression,
        branch: &Branch,
    ) -> Reading {
        let keys = match self.value(table, key, branch) {
            Reading::Values(values) => values,
            other => return other,
        };
        // Only the shares that are in the map go on; callers ask for all.
        let mut found = Vec::new();
        for (share, key) in keys {
            match self.looked_up(table, data, &key) {
                Ok(Some(value)) => match atoms(&value) {
                    Some(atoms) => found.push((share, atoms)),
                    None => return Reading::Unknown,
                },
                Ok(None) => {}
                Err(()) => return Reading::Unknown,
            }
        }
        if found.is_empty() {
            return Reading::Absent;
        }
        Reading::Values(found)
    }

    /// What a map has for a key; `Err`: it is not known.
    pub(super) fn looked_up(
        &mut self,
        table: usize,
        data: &Expression,
        key: &[Atom],
    ) -> Result<Option<serde_json::Value>, ()> {
        match data {
            Expression::Named(name) => {
                let set = self.nft_set(table, name).ok_or(())?;
                let found = set.find(key).map_err(drop)?;
                Ok(found.and_then(|it| it.data.clone()))
            }
            Expression::Values(Values::Set(all)) => {
                for (values, data) in all {
                    if values.have(key).ok_or(())? {
                        return Ok(data.clone());
                    }
                }
                Ok(None)
            }
            _ => Err(()),
        }
    }

    fn field(&self, field: &Field, branch: &Branch) -> Reading {
        let seen = &branch.seen;
        let protocol = self.packet.protocol.number();
        let of_protocol = |it: &Option<u8>| it.is_none_or(|it| it == protocol);
        let port = |it: Option<u16>| match it {
            Some(port) => number_of(u128::from(port)),
            None => one(vec![Atom::Drawn]),
        };
        let address = |side: Side, wants_six: bool| match seen.address(side) {
            _ if seen.destination.is_ipv6() != wants_six => Reading::Absent,
            Some(ip) => number_of(number(ip)),
            None => Reading::Unknown,
        };
        let is_six = seen.destination.is_ipv6();
        let is_of_connection = matches!(
            field,
            Field::ConnectionMark
                | Field::Status
                | Field::Direction
                | Field::Original(_)
                | Field::OriginalPort(_)
        );
        if is_of_connection && !super::answer::is_tracked(branch) {
            return Reading::Absent;
        }
        match field {
            Field::Source(is_six) => address(Side::Source, *is_six),
            Field::Destination(is_six) => address(Side::Destination, *is_six),
            Field::Protocol => number_of(u128::from(protocol)),
            Field::Family => number_of(if is_six { 10 } else { 2 }),
            Field::FrameType => number_of(if is_six { 0x86dd } else { 0x0800 }),
            Field::SourcePort(of) if of_protocol(of) => port(seen.source_port),
            Field::DestinationPort(of) if of_protocol(of) => port(seen.port),
            Field::SourcePort(_) | Field::DestinationPort(_) => Reading::Absent,
            Field::Mark => number_of(u128::from(seen.mark)),
            Field::ConnectionMark => number_of(u128::from(seen.connection_mark)),
            Field::State => number_of(u128::from(self.states(branch) & 0x1f)),
            Field::Status => number_of(u128::from(self.statuses(branch))),
            Field::Direction => number_of(u128::from(!self.is_first_way(branch))),
            Field::Original(true) if self.packet.is_of_some_pod() => Reading::Unknown,
            Field::Original(is_source) => number_of(number(self.original(*is_source, branch).0)),
            Field::OriginalPort(is_source) => port(self.original(*is_source, branch).1),
            Field::InLink => link(&seen.in_link, true),
            Field::OutLink => link(&seen.out_link, false),
            Field::Length => match self.packet.length {
                Some(length) => number_of(u128::from(length)),
                None => Reading::Unknown,
            },
            Field::TimeToLive => number_of(u128::from(seen.ttl)),
            Field::TcpFlags => match self.tcp_flags(seen.direction) {
                Some(flags) => number_of(u128::from(flags)),
                None => Reading::Absent,
            },
            Field::AddressType(is_source) => self.type_of(*is_source, branch),
        }
    }

    fn type_of(&self, is_source: bool, branch: &Branch) -> Reading {
        let side = if is_source {
            Side::Source
        } else {
            Side::Destination
        };
        for bit in [kind::MULTICAST, kind::BROADCAST, kind::LOCAL, kind::UNICAST] {
            match self.address_type(side, bit, branch) {
                super::answer::Answer::Yes => return number_of(u128::from(bit)),
                super::answer::Answer::No => {}
                _ if is_source => return Reading::Local(branch.seen.source),
                _ => return Reading::Local(branch.seen.destination),
            }
        }
        number_of(u128::from(kind::OTHER))
    }
}

fn one(atoms: Vec<Atom>) -> Reading {
    Reading::Values(vec![(Share::ALL, atoms)])
}

fn number_of(value: u128) -> Reading {
    one(vec![Atom::Number(value)])
}

fn link(link: &Link, is_in: bool) -> Reading {
    match link.name() {
        Some(name) => one(vec![Atom::Name(name.into())]),
        None => Reading::Link(is_in),
    }
}

/// The address, port or number that a map has.
fn atoms(value: &serde_json::Value) -> Option<Vec<Atom>> {
    if let Some(parts) = value.get("concat").and_then(serde_json::Value::as_array) {
        let parts: Option<Vec<Vec<Atom>>> = parts.iter().map(atoms).collect();
        return Some(parts?.concat());
    }
    if let Some(it) = value.as_u64() {
        return Some(vec![Atom::Number(u128::from(it))]);
    }
    let text = value.as_str()?;
    let atom = match text.parse::<std::net::IpAddr>() {
        Ok(ip) => Atom::Number(number(ip)),
        Err(_) => Atom::Name(text.into()),
    };
    Some(vec![atom])
}
