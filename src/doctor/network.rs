//! What the network of a node does with packets of DNS.

use std::net::IpAddr;
use std::time::Duration;

use crate::node::kernel::{ConntrackCounters, Room, Statistics};
use crate::order::Order as _;
use crate::path::findings::{CacheFinding, ConnectionFinding, Fact, Finding};
use crate::path::{Outcome, Tree, Verdict};

/// Where packets to the cluster's DNS go.
#[derive(Clone, Debug)]
pub struct Route {
    /// What becomes of each packet.
    pub trees: Vec<Tree>,
    /// What is wrong on its way.
    pub findings: Vec<Finding>,
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

    /// Takes servers for what they are that are outside: no Service has such an address, so
    /// no rule has to be about it.
    pub fn outside(&mut self, is_outside: impl Fn(IpAddr) -> bool) {
        for tree in &mut self.trees {
            let is_it = tree.verdict == Verdict::NoRule && is_outside(tree.packet.destination);
            if is_it && tree.outcomes.iter().all(Outcome::arrives) {
                tree.verdict = Verdict::Reaches;
            }
        }
        self.findings.retain(|it| match &it.fact {
            Fact::Service(it) => !is_outside(it.asked),
            _ => true,
        });
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
    /// Whether packets were lost while it was looked at.
    pub fn is_losing(&self) -> bool {
        let twice = self.twice.as_ref();
        twice.is_some_and(|it| it.dropped() > 0 || it.thrown_out() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Address, Host, Packet, Protocol, Start, evaluate};

    /// No rule has to be about a server outside; of an address of Services one has to.
    #[test]
    fn servers_outside() {
        let ip = IpAddr::from([10, 1, 2, 3]);
        let host = Host {
            known: crate::path::RulesKnown::All,
            addresses: Some(vec![Address {
                ip: [172, 31, 0, 10].into(),
                prefix: 24,
                link: "eth0".into(),
            }]),
            ..Host::default()
        };
        let packet = Packet {
            protocol: Protocol::Udp,
            source: [172, 31, 0, 10].into(),
            source_port: None,
            destination: ip,
            port: 53,
            start: Start::Host,
            length: None,
        };
        for (is_outside, verdict) in [(false, Verdict::NoRule), (true, Verdict::Reaches)] {
            let mut route = Route {
                trees: vec![evaluate(&host, &packet)],
                findings: Vec::new(),
                skipped: Vec::new(),
                question: Vec::new(),
            };
            route.outside(|it| is_outside && it == ip);
            assert_eq!(route.trees[0].verdict, verdict);
        }
    }
}
