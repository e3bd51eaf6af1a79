//! The tables at a hook, in their order.

use super::branch::{Branch, StepAt, StepKind, Tracking};
use super::chain::{Chain, Flow};
use super::route::step;
use super::ways::merge;
use super::{End, Walk};
use crate::order::Order as _;
use crate::path::{Condition, Direction, Kind, Protocol, Stage, What};
use crate::rules::Backend;
use crate::rules::table::{Base, Hook, Table};

/// Connection tracking looks at a packet between the tables raw and mangle
/// (`NF_IP_PRI_CONNTRACK`).
const CONNTRACK: i32 = -200;
/// Whatever priority a chain that translates has among its own: all of them run
/// where these hooks are (`nf_nat_proto.c`).
const NAT_DESTINATION: i32 = -100;
const NAT_SOURCE: i32 = 100;
/// IPVS, behind the filter of INPUT (`ip_vs_core.c`, `ip_vs_ops4`).
const IPVS: i32 = 98;

/// What meets a packet at a hook.
#[derive(Clone, Debug)]
enum Stop {
    Conntrack,
    Ipvs,
    /// Answers get the addresses that their askers know.
    Restore,
    Table(usize, Base),
}

impl Walk<'_> {
    /// Sends ways through all that is at a hook; those that end are taken out.
    pub(super) fn hook(&mut self, hook: Hook, branches: Vec<Branch>) -> Vec<Branch> {
        let mut current = branches;
        let stops = self.stops(hook);
        let mut index = 0;
        while let Some((_, stop)) = stops.get(index) {
            if current.is_empty() {
                break;
            }
            index += 1;
            current = match stop {
                Stop::Conntrack => current
                    .into_iter()
                    .filter_map(|it| self.tracked(it))
                    .collect(),
                Stop::Ipvs => self.ipvs(hook, current),
                Stop::Restore => current
                    .into_iter()
                    .map(|it| self.restored(hook, it))
                    .collect(),
                Stop::Table(table, base) if base.is_nat => {
                    let next = stops.get(index).map(|it| &it.1);
                    match next {
                        Some(Stop::Table(other, second))
                            if second.is_nat
                                && second.priority == base.priority
                                && self.is_other_kind(*table, *other) =>
                        {
                            index += 1;
                            self.both_orders(hook, (*table, base), (*other, second), current)
                        }
                        _ => self.nat(hook, *table, base, current),
                    }
                }
                Stop::Table(table, base) => self.base(*table, base, current),
            };
            current = merge(current);
        }
        current
    }

    /// kube-proxy's chains in a paste that leaves out what leads to them.
    fn entry(&self, hook: Hook, index: usize) -> Option<Base> {
        let table = self.host.rules.tables.get(index)?;
        let chain = match hook {
            Hook::Prerouting | Hook::Output => "KUBE-SERVICES",
            Hook::Postrouting => "KUBE-POSTROUTING",
            _ => return None,
        };
        let is_left_out = &*table.name == "nat"
            && !table.is_of_nft()
            && !table.bases.iter().any(|it| it.hook == hook)
            && table.chain(chain).is_some();
        is_left_out.then(|| Base {
            chain: chain.into(),
            hook,
            priority: nat_place(hook),
            is_nat: true,
            accepts: None,
            view: table.view,
            packets: None,
        })
    }

    fn stops(&mut self, hook: Hook) -> Vec<((i32, i32), Stop)> {
        let family = self.family();
        let mut stops = Vec::new();
        for (index, table) in self.host.rules.tables.iter().enumerate() {
            if table.family.is_some_and(|it| it != family) || table.is_gone {
                continue;
            }
            let entry = self.entry(hook, index);
            if entry.is_some() {
                self.gaps.insert(crate::path::Gap::Entry);
            }
            let bases = table.bases.iter().filter(|it| it.hook == hook);
            for base in bases.chain(&entry) {
                let place = if base.is_nat {
                    nat_place(hook)
                } else {
                    base.priority
                };
                let order = (place, if base.is_nat { base.priority } else { 0 });
                stops.push((order, Stop::Table(index, base.clone())));
            }
        }
        if matches!(hook, Hook::Prerouting | Hook::Output) {
            stops.push(((CONNTRACK, 0), Stop::Conntrack));
        }
        let has_ipvs = !self.host.rules.services.is_empty();
        if self.asked.is_some() && (hook != Hook::Forward || has_ipvs) {
            stops.push(((nat_place(hook), i32::MAX), Stop::Restore));
        }
        if has_ipvs {
            match hook {
                Hook::Input => stops.push(((IPVS, 0), Stop::Ipvs)),
                Hook::Output => stops.push(((NAT_DESTINATION, i32::MAX), Stop::Ipvs)),
                _ => {}
            }
        }
        // Of one priority, the chain that was registered last runs first: the one that
        // is listed last. Source: Linux `net/netfilter/core.c: nf_hook_entries_grow`.
        stops.reverse();
        // Legacy tables stand first among those of one priority.
        stops.order_by_key(|it| (it.0, self.rank(&it.1)));
        stops
    }

    fn rank(&self, stop: &Stop) -> u8 {
        match stop {
            Stop::Table(table, _) if self.backend(*table) != Some(Backend::Legacy) => 1,
            _ => 0,
        }
    }

    fn backend(&self, table: usize) -> Option<Backend> {
        self.host.rules.tables.get(table).map(|it| it.backend)
    }

    fn is_other_kind(&self, one: usize, other: usize) -> bool {
        let tables = &self.host.rules.tables;
        let is_of_nft = |it: usize| tables.get(it).map(Table::is_of_nft);
        self.backend(one) != self.backend(other)
            && (is_of_nft(one), is_of_nft(other)) != (Some(true), Some(true))
    }

    /// Two tables that translate at one priority run in the order in which
    /// they were registered, which no text shows.
    #[expect(clippy::needless_pass_by_value, reason = "it ends here")]
    fn both_orders(
        &mut self,
        hook: Hook,
        one: (usize, &Base),
        other: (usize, &Base),
        branches: Vec<Branch>,
    ) -> Vec<Branch> {
        let condition = Condition::Before {
            first: self.shown(one.0),
            second: self.shown(other.0),
        };
        let mut done = Vec::new();
        for (holds, first, second) in [(true, one, other), (false, other, one)] {
            let is_it = |it: &Branch| it.assumes(&condition).is_none_or(|it| it == holds);
            let these: Vec<Branch> = branches
                .iter()
                .filter(|it| is_it(it))
                .map(|it| it.assuming(&condition, holds))
                .collect();
            let these = self.nat(hook, first.0, first.1, these);
            done.extend(self.nat(hook, second.0, second.1, these));
        }
        done
    }

    fn shown(&self, table: usize) -> Box<str> {
        let kind = match self.backend(table) {
            Some(Backend::Legacy) => "legacy's ",
            Some(Backend::Iptables) => "iptables-nft's ",
            _ => "",
        };
        format!("{kind}{}", self.table_name(table)).into()
    }

    /// A chain that translates sees the first packet of a flow that is
    /// tracked, and only until it has been translated.
    fn nat(&mut self, hook: Hook, table: usize, base: &Base, branches: Vec<Branch>) -> Vec<Branch> {
        let is_source = matches!(hook, Hook::Postrouting | Hook::Input);
        let is_for = |it: &Branch| {
            let is_done = if is_source {
                it.seen.is_snat
            } else {
                it.seen.is_dnat
            };
            let is_back = hook == Hook::Prerouting && it.seen.in_link.name() == Some("lo");
            it.seen.tracking == Tracking::New && !is_done && !is_back
        };
        let (these, mut others): (Vec<_>, Vec<_>) = branches.into_iter().partition(is_for);
        others.extend(self.base(table, base, these));
        others
    }

    /// Through a base chain.
    fn base(&mut self, table: usize, base: &Base, branches: Vec<Branch>) -> Vec<Branch> {
        let at = Chain {
            table,
            name: &base.chain,
            depth: 0,
        };
        let mut passed = Vec::new();
        for (mut branch, flow) in self.chain(&at, branches) {
            let flow = match flow {
                Flow::Return | Flow::Next => {
                    let accepts = base.accepts.unwrap_or(true);
                    if !accepts {
                        branch.steps.push(StepAt {
                            direction: branch.seen.direction,
                            chain: base.chain.as_ref().into(),
                            packets: base.packets,
                            what: StepKind::Policy(table, base.view, false),
                        });
                    }
                    if accepts { Flow::Accept } else { Flow::Drop }
                }
                flow => flow,
            };
            let (kind, error) = match flow {
                Flow::Drop => (Kind::Drop, None),
                Flow::Reject(error) => (Kind::Reject, Some(self.error(&error))),
                Flow::Lost => (Kind::Unknown, None),
                _ => {
                    passed.push(branch);
                    continue;
                }
            };
            self.end(branch, kind, error);
        }
        passed
    }

    pub(super) fn end(&mut self, branch: Branch, kind: Kind, error: Option<Box<str>>) {
        self.ends.add(End {
            branch,
            kind,
            error,
        });
    }

    /// The error of a REJECT that names none, or one of both families.
    fn error(&self, error: &str) -> Box<str> {
        let is_six = self.packet.destination.is_ipv6();
        match (error, is_six) {
            ("", false) => "icmp-port-unreachable",
            ("" | "icmp-port-unreachable", true) => "icmp6-port-unreachable",
            ("icmp-admin-prohibited", true) => "icmp6-adm-prohibited",
            ("icmp-net-unreachable", true) => "icmp6-no-route",
            ("icmp-host-unreachable", true) => "icmp6-addr-unreachable",
            _ => return crate::text::escaped(error.as_bytes()).into(),
        }
        .into()
    }

    /// Connection tracking takes the packet, unless a rule said not to.
    fn tracked(&mut self, mut branch: Branch) -> Option<Branch> {
        if branch.seen.tracking != Tracking::Ahead {
            return Some(branch);
        }
        branch.seen.tracking = match branch.seen.direction {
            Direction::Request => Tracking::New,
            // A flow does not begin with SYN and ACK (`nf_conntrack_proto_tcp.c`).
            Direction::Reply if self.is_untracked() && self.packet.protocol == Protocol::Tcp => {
                Tracking::Invalid
            }
            Direction::Reply if self.is_untracked() => Tracking::New,
            Direction::Reply => Tracking::Established,
        };
        let is_full = branch.seen.direction == Direction::Request && self.is_full();
        if is_full {
            let full = step(&branch, Stage::Conntrack, What::TableFull);
            branch.steps.push(full);
            self.end(branch, Kind::Drop, None);
            return None;
        }
        Some(branch)
    }

    /// Whether there is no room for a new flow: entries that nobody has
    /// answered make room, those that are kept do not.
    fn is_full(&self) -> bool {
        let Some(conntrack) = &self.host.conntrack else {
            return false;
        };
        let (Some(count), Some(max)) = (conntrack.count, conntrack.max) else {
            return false;
        };
        let entries = &conntrack.entries;
        let is_seen_whole = entries.len() as u64 >= count;
        let is_kept = |it: &crate::rules::conntrack::Entry| it.is_assured;
        max > 0 && count >= max && is_seen_whole && entries.iter().all(is_kept)
    }
}

fn nat_place(hook: Hook) -> i32 {
    match hook {
        Hook::Prerouting | Hook::Output => NAT_DESTINATION,
        _ => NAT_SOURCE,
    }
}
