//! Other addresses for a packet, and those of before for its answer.

use std::net::IpAddr;

use super::Walk;
use super::branch::{Branch, Steps, Tracking};
use super::chain::{Chain, Flow, Flows};
use super::value::Reading;
use crate::address::number;
use crate::path::{Condition, Direction};
use crate::rules::Share;
use crate::rules::nft::{Atom, Expression};
use crate::rules::rule::{Rule, Side, Translation};
use crate::rules::table::Hook;

/// So many addresses of a range are told apart.
const MOST_ADDRESSES: u128 = 64;

impl Walk<'_> {
    /// The sender becomes an address of the link that the packet leaves through.
    pub(super) fn masquerade(&self, mut branch: Branch, flows: &mut Flows) {
        let is_six = branch.seen.source.is_ipv6();
        let link = branch.seen.out_link.name().unwrap_or_default();
        let is_near = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => ip.is_loopback(),
            IpAddr::V6(ip) => ip.is_loopback() || ip.is_unicast_link_local(),
        };
        let own = self.host.addresses.iter().flatten();
        let mut own =
            own.filter(|it| *it.link == *link && it.ip.is_ipv6() == is_six && !is_near(it.ip));
        // Of several, scopes, ages and the next router decide.
        match (own.next(), own.next()) {
            (Some(one), None) => (branch.seen.source, branch.seen.veiled) = (one.ip, None),
            _ => branch.seen.veiled = Some(Side::Source),
        }
        branch.seen.is_snat = true;
        flows.push((branch, Flow::Accept));
    }

    pub(super) fn nft_nat(
        &mut self,
        at: &Chain<'_>,
        rule: &Rule,
        (side, to, port): (Side, &Option<Expression>, &Option<Expression>),
        (branch, last_step): (Branch, Steps),
        flows: &mut Flows,
    ) {
        let untouched = |part: Branch| Branch {
            steps: last_step.clone(),
            ..part
        };
        let to = to.as_ref().map(|it| self.value(at.table, it, &branch));
        let port = port.as_ref().map(|it| self.value(at.table, it, &branch));
        let port = match port {
            None => None,
            Some(Reading::Values(values)) => values.first().and_then(|it| port_of(it.1.first())),
            Some(_) => return self.lose(rule, "nat", &branch, flows),
        };
        let values = match to {
            None => vec![(Share::ALL, Vec::new())],
            Some(Reading::Values(values)) => values,
            Some(Reading::Absent) => return flows.push((untouched(branch), Flow::Next)),
            Some(_) => return self.lose(rule, "nat", &branch, flows),
        };
        let mut missing = Share::ALL;
        for (share, atoms) in values {
            missing = missing.without(share);
            let is_six = branch.seen.destination.is_ipv6();
            let ip = match atoms.first() {
                Some(Atom::Number(number)) => Some(address(*number, is_six)),
                _ => None,
            };
            let port = port.or_else(|| port_of(atoms.get(1)));
            let part = branch.part(share);
            flows.push((translated(side, part, ip, port), Flow::Accept));
        }
        // A number that the map lacks falls through untranslated.
        if !missing.is_none() {
            flows.push((untouched(branch.part(missing)), Flow::Next));
        }
    }

    /// To the node itself: on the way out to its loopback address, on the way
    /// in to the address of the link.
    pub(super) fn redirect(&self, port: Option<u16>, branch: &mut Branch) {
        let seen = &mut branch.seen;
        let is_six = seen.destination.is_ipv6();
        let loopback = if is_six {
            IpAddr::V6(std::net::Ipv6Addr::LOCALHOST)
        } else {
            IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)
        };
        let link = seen.in_link.name().unwrap_or_default();
        let own = self.host.addresses.iter().flatten();
        let own = own.filter(|it| *it.link == *link && it.ip.is_ipv6() == is_six);
        match own.map(|it| it.ip).next() {
            Some(ip) => seen.destination = ip,
            None if link.is_empty() => seen.destination = loopback,
            None => {}
        }
        seen.port = port.or(seen.port);
        (seen.is_dnat, seen.is_taken) = (true, true);
    }

    /// Gives an answer the addresses that its asker knows, where the kernel
    /// does: the asker's own where it would translate destinations, the one
    /// that was asked where it would translate sources. Tables before that
    /// see what was sent.
    ///
    /// Source: Linux 6.1 `net/netfilter/nf_nat_core.c: nf_nat_packet`; of what IPVS
    /// has sent on, `net/netfilter/ipvs/ip_vs_core.c: ip_vs_ops4`, whose
    /// `ip_vs_out_hook` (once `ip_vs_reply4`) is in FORWARD at priority 100.
    pub(super) fn restored(&self, hook: Hook, mut branch: Branch) -> Branch {
        let (packet, seen) = (self.packet, &mut branch.seen);
        if seen.direction != Direction::Reply || seen.tracking != Tracking::Established {
            return branch;
        }
        match hook {
            Hook::Prerouting | Hook::Output if seen.is_snat => {
                (seen.destination, seen.port) = (packet.source, packet.source_port);
                seen.veiled = packet.is_of_some_pod().then_some(Side::Destination);
            }
            Hook::Forward if !branch.is_of_ipvs => {}
            Hook::Input | Hook::Postrouting | Hook::Forward if seen.is_dnat => {
                (seen.source, seen.source_port) = (packet.destination, Some(packet.port));
            }
            _ => {}
        }
        branch
    }
}

/// Adds a flow to each address of a translation, in equal shares; without one, the
/// address stays.
pub(super) fn nat(side: Side, to: &Translation, branch: Branch, flows: &mut Flows) {
    let port = to.ports.map(|it| it.0);
    let Some((first, last)) = to.addresses else {
        flows.push((translated(side, branch, None, port), Flow::Accept));
        return;
    };
    let from = number(first);
    let count = number(last).saturating_sub(from).saturating_add(1);
    if count > MOST_ADDRESSES {
        flows.push((branch.assuming(&Condition::TooMany, true), Flow::Lost));
        return;
    }
    let share = Share::new(1, u64::try_from(count).unwrap_or(1));
    for number in from..from.saturating_add(count) {
        let ip = Some(address(number, first.is_ipv6()));
        let part = translated(side, branch.part(share), ip, port);
        flows.push((part, Flow::Accept));
    }
}

fn port_of(atom: Option<&Atom>) -> Option<u16> {
    match atom? {
        Atom::Number(port) => u16::try_from(*port).ok(),
        _ => None,
    }
}

fn address(number: u128, is_six: bool) -> IpAddr {
    match u32::try_from(number) {
        Ok(four) if !is_six => IpAddr::V4(four.into()),
        _ => IpAddr::V6(number.into()),
    }
}

/// With another address on one side, if there is one. The port of a sender stays, or
/// the kernel draws another one.
fn translated(side: Side, mut branch: Branch, ip: Option<IpAddr>, port: Option<u16>) -> Branch {
    let seen = &mut branch.seen;
    match side {
        Side::Source => {
            (seen.source, seen.veiled) = (ip.unwrap_or(seen.source), None);
            seen.is_snat = true;
        }
        Side::Destination => {
            seen.destination = ip.unwrap_or(seen.destination);
            seen.port = port.or(seen.port);
            seen.is_dnat = true;
        }
    }
    branch
}
