//! What the network of a node does with packets of DNS.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use memchr::memmem;

use super::State;
use crate::node::kernel::{ConntrackCounters, Room, Statistics};
use crate::order::Order as _;
use crate::path::findings::{CacheFinding, ConnectionFinding, Fact, Finding};
use crate::path::{Gap, Kind, Outcome, Protocol, Proxy, Tree, Verdict};
use crate::rules::Note;
use crate::text::Source;

/// Where packets to the cluster's DNS go.
#[derive(Clone, Debug)]
pub struct Route {
    /// What becomes of each packet.
    pub trees: Vec<Tree>,
    /// What is wrong on its way.
    pub findings: Vec<Finding>,
    /// What was noticed of the rules while they were read.
    pub notes: Vec<Note>,
    /// Another proxy than kube-proxy of which traces are here: it can send packets on
    /// before any rule.
    pub other_proxy: Option<Proxy>,
    /// Why more is not known: sentences without a full stop.
    pub skipped: Vec<String>,
    /// What `kdns path` was asked: its arguments.
    pub question: Vec<String>,
}

impl Route {
    /// Whether rules translate the address, or lose packets to it: it is no
    /// server that is reached as it is.
    pub fn is_of_service(&self) -> bool {
        let is_translated = |it: &Tree| it.outcomes.iter().any(|it| it.is_translated);
        let is_it = |it: &Tree| it.service.is_some() || it.fails() || is_translated(it);
        self.trees.iter().any(is_it)
    }

    /// The address that was asked for, if all packets to it, UDP ones among them, are
    /// known to be sent on to others, who get them.
    pub fn sent_on(&self) -> Option<IpAddr> {
        self.whose_ends(|it, to| {
            let arrives = matches!(it.kind, Kind::Endpoint | Kind::Local);
            arrives && it.is_translated && it.address != to
        })
    }

    /// The same, if they are known to come to the node's own sockets as they are.
    pub fn stays(&self) -> Option<IpAddr> {
        self.whose_ends(|it, to| it.kind == Kind::Local && !it.is_translated && it.address == to)
    }

    fn whose_ends(&self, fits: impl Fn(&Outcome, IpAddr) -> bool) -> Option<IpAddr> {
        let to = self.trees.first()?.packet.destination;
        let all_fit = |it: &Tree| {
            let ends = it.outcomes.as_slice();
            let is_known = matches!(it.verdict, Verdict::Reaches | Verdict::NoRule);
            let is_its = it.packet.destination == to && !ends.is_empty();
            is_known && is_its && ends.iter().all(|it| fits(it, to))
        };
        let is_udp = |it: &Tree| it.packet.protocol == Protocol::Udp;
        let is_known = self.is_whole() && self.other_proxy.is_none();
        let is_it = self.trees.iter().any(is_udp) && self.trees.iter().all(all_fit);
        (is_known && is_it).then_some(to)
    }

    /// Whether all packets are known to go to others than this server.
    pub fn leaves_out(&self, server: SocketAddr) -> bool {
        let ends = || self.trees.iter().flat_map(|it| &it.outcomes);
        let is_reached = |it: &Outcome| matches!(it.kind, Kind::Endpoint);
        self.is_whole()
            && self.is_of_service()
            && ends().any(is_reached)
            && ends().all(|it| it.address != server.ip())
    }

    /// What was not seen of this node, but who asks. Whether anybody listens on
    /// another node is not this one's to tell.
    pub fn gaps(&self) -> impl Iterator<Item = &Gap> {
        let gaps = self.trees.iter().flat_map(|it| &it.gaps);
        gaps.filter(|it| !matches!(it, Gap::Liveness | Gap::Asker))
    }

    /// What was noticed of the rules and hides some of them: of a table that is there
    /// twice the last one counts, which was read.
    pub fn hiding(&self) -> impl Iterator<Item = &Note> {
        let hides = |it: &&Note| !matches!(it, Note::Twice { .. });
        self.notes.iter().filter(hides)
    }

    /// Whether all was seen that can keep packets back.
    pub fn is_whole(&self) -> bool {
        let is_open = |it: &Tree| matches!(it.verdict, Verdict::OtherProxy | Verdict::Unknown);
        self.skipped.is_empty()
            && self.gaps().next().is_none()
            && self.hiding().next().is_none()
            && !self.trees.iter().any(is_open)
    }

    /// Takes what another question showed; the one that shows something wrong counts.
    pub fn join(&mut self, other: Self) {
        let is_wrong = |it: &Self| it.wrong().next().is_some() || it.trees.iter().any(Tree::fails);
        if !is_wrong(self) && is_wrong(&other) {
            self.question = other.question;
        }
        self.trees.extend(other.trees);
        let more = other.findings.into_iter();
        let is_there = |it: &Finding| self.findings.iter().any(|known| is_same(known, it));
        let more: Vec<Finding> = more.filter(|it| !is_there(it)).collect();
        self.findings.extend(more);
        self.findings
            .order_by_key(|it| std::cmp::Reverse(it.severity));
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.skipped.extend(other.skipped);
        self.skipped.order();
        self.skipped.dedup();
    }

    /// What is wrong on the way, without what the counters of connections say:
    /// they are a check of their own.
    pub fn wrong(&self) -> impl Iterator<Item = &Finding> {
        let is_counter = |it: &Finding| {
            matches!(
                it.fact,
                Fact::Connection(
                    ConnectionFinding::Full { .. }
                        | ConnectionFinding::Losing(_)
                        | ConnectionFinding::Lost { .. }
                )
            )
        };
        let wrong = self.findings.iter().filter(move |it| !is_counter(it));
        wrong.filter(|it| it.severity > crate::finding::Severity::Info)
    }
}

/// Whether both say the same: an address that is asked on one way can be another's beside it.
fn is_same(one: &Finding, other: &Finding) -> bool {
    use CacheFinding::Silent;
    match (&one.fact, &other.fact) {
        (Fact::Cache(Silent { address: one, .. }), Fact::Cache(Silent { address: other, .. })) => {
            one == other
        }
        _ => one == other,
    }
}

/// What the kernel keeps about connections.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// How full the table is; `None`: not known.
    pub room: Option<Room>,
    /// Its counters at two times; `None`: they were not read twice.
    pub twice: Option<Twice>,
    /// How full the kubelet's file system is, if it has little room left.
    pub disk: Option<Room>,
}

/// In percent: with less room than this the disk counts as full.
const FULL: u64 = 1;

fn has_less(disk: Room, percents: u64) -> bool {
    disk.max.saturating_sub(disk.count) < disk.max / 100 * percents
}

/// Counters at two times.
#[derive(Clone, Debug)]
pub struct Twice {
    /// The counters at the first time.
    pub before: Statistics,
    /// Later.
    pub after: Statistics,
    /// How much later.
    pub between: Duration,
}

impl Twice {
    /// How many packets were dropped in between: lost races, and those for which
    /// there was no room.
    ///
    /// The counter `drop` holds both kinds since Linux 5.10, `insert_failed` those
    /// of lost races alone: the larger of the two is how many were lost.
    ///
    /// Source: Linux `net/netfilter/nf_conntrack_core.c: __nf_conntrack_confirm`.
    pub fn dropped(&self) -> u64 {
        let risen = self.risen();
        risen.insert_failed.max(risen.drop)
    }

    /// How many connections were thrown out to make room.
    pub fn thrown_out(&self) -> u64 {
        self.risen().early_drop
    }

    fn risen(&self) -> ConntrackCounters {
        self.after.counters.since(self.before.counters)
    }
}

impl Counted {
    /// How full the kubelet's file system is, where by default pods are ended for want of room;
    /// where its files set a limit of their own, only if there is none.
    ///
    /// Source: kubernetes `pkg/kubelet/apis/config/v1beta1/defaults_linux.go`
    /// `DefaultEvictionHard`: `nodefs.available` 10 %.
    pub fn short(disk: Option<Room>, files: &[Source]) -> Option<Room> {
        let has = |it: &Source, word: &[u8]| memmem::find(&it.bytes, word).is_some();
        let sets_it = |it: &Source| has(it, b"evictionHard") || has(it, b"eviction-hard");
        let percents = if files.iter().any(sets_it) { FULL } else { 10 };
        disk.filter(|it| has_less(*it, percents))
    }

    /// How full it is, and how bad that is.
    pub fn short_of_disk(&self) -> Option<(State, Room)> {
        let disk = self.disk?;
        let is_full = has_less(disk, FULL);
        let state = if is_full {
            State::Error
        } else {
            State::Warning
        };
        Some((state, disk))
    }

    /// Whether packets were lost while it was looked at.
    pub fn is_losing(&self) -> bool {
        let twice = self.twice.as_ref();
        twice.is_some_and(|it| it.dropped() > 0 || it.thrown_out() > 0)
    }
}

#[cfg(test)]
mod tests;
