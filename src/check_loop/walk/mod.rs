//! Which paths the queries of a zone take from a server, and where they end.

mod choices;

use std::collections::BTreeSet;
use std::net::SocketAddr;

use super::deliver::{Delivery, deliver};
use choices::{Choice, Leads};

use super::facts::Unknown;
use super::graph::Graph;
use super::report::{End, Proof, SendsTo, When};
use super::servers::Server;
use crate::config::corefile::is_within;
use crate::text::Place;
use crate::topology::{Doubt, Forward, Policy, Program, Weight};

/// More query paths than this from one server are not followed: servers that all
/// know each other have more than anyone could read.
const MAX_PATHS: usize = 64;
/// Longest query path, in servers.
const MAX_HOPS: usize = 24;
/// As [`paths`], but each server is followed once only.
const MAX_SERVERS: usize = 300;

/// A query path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct QueryPath {
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
    /// Of how many equal choices it is one.
    pub(super) share: (u32, u32),
    /// Whether the next server is asked in place of this one, because it is
    /// refused here.
    pub(super) is_passed: bool,
}

/// A hop.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Step {
    pub(super) who: Who,
    /// To whom it sends.
    pub(super) to: SendsTo,
    /// Where its configuration names whom, or the file that does.
    pub(super) target: Option<Place>,
    /// Whether a file in the syntax of resolv.conf names the server.
    pub(super) is_from_file: bool,
    /// The words of the files that name the address.
    pub(super) proof: Vec<Proof>,
}

/// Who is at a hop.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Who {
    /// A server of the graph.
    Server(usize),
    /// The service of the cluster's DNS; `None`: at an address that no file
    /// names.
    Service(Option<SocketAddr>),
}

/// The query paths of the zone's queries from the server `start`.
pub(super) fn paths(graph: &Graph<'_>, when: When, start: usize, zone: &str) -> Vec<QueryPath> {
    let walk = |visited| {
        let mut walk = Walk {
            graph,
            when,
            zone,
            steps: Vec::new(),
            found: Vec::new(),
            visited,
        };
        walk.visit(start, (1, 1));
        walk.found
    };
    let mut found = walk(None);
    let is_cut = |path: &QueryPath| path.end == End::Unknown(Unknown::TooLong);
    if found.len() > MAX_PATHS || found.iter().any(is_cut) {
        // Where the others end is told by one query path to each server.
        found.truncate(MAX_PATHS);
        found.retain(|path| !is_cut(path));
        let others = walk(Some(BTreeSet::new()));
        let mut others: Vec<QueryPath> = others
            .into_iter()
            .filter(|path| !found.contains(path))
            .collect();
        found.append(&mut others);
    }
    found
}

/// What a server does with the names of a zone; `None`: it answers or refuses
/// them itself.
pub(super) fn forward<'s>(server: &'s Server<'_>, zone: &str) -> Option<&'s Forward> {
    let mut forwards = server.dns.forwards.iter();
    let forward = forwards.find(|it| is_within(zone, &it.zone))?;
    (!forward.to.is_empty()).then_some(forward)
}

struct Walk<'w, 'n> {
    graph: &'w Graph<'n>,
    when: When,
    zone: &'w str,
    /// The query path to here.
    steps: Vec<Step>,
    found: Vec<QueryPath>,
    /// The servers that queries have come to, where each is followed only
    /// once; `None`: on every query path.
    visited: Option<BTreeSet<usize>>,
}

impl Walk<'_, '_> {
    fn end(&mut self, end: End, share: (u32, u32)) {
        let is_known = self.visited.is_some() && matches!(end, End::Cycle(_));
        if self.found.len() > MAX_PATHS || is_known {
            return;
        }
        // One more says that there are others.
        let end = if self.found.len() == MAX_PATHS {
            End::Unknown(Unknown::TooManyPaths(MAX_PATHS))
        } else {
            end
        };
        self.found.push(QueryPath {
            steps: self.steps.clone(),
            end,
            share,
            is_passed: false,
        });
    }

    /// A packet has come to this server.
    fn visit(&mut self, index: usize, share: (u32, u32)) {
        let seen = |step: &Step| step.who == Who::Server(index);
        if let Some(first) = self.steps.iter().position(seen) {
            return self.end(End::Cycle(first), share);
        }
        if let Some(visited) = &mut self.visited
            && !visited.insert(index)
        {
            return;
        }
        let most = if self.visited.is_some() {
            MAX_SERVERS
        } else {
            MAX_HOPS
        };
        if self.steps.len() >= most || self.found.len() > MAX_PATHS {
            return self.end(End::Unknown(Unknown::TooLong), share);
        }
        let Some(server) = self.graph.servers.get(index) else {
            return;
        };
        if self.when == When::Now && server.waits() {
            return self.end(End::Unknown(Unknown::Waits(server.dns.name())), share);
        }
        if let Some(unread) = server.unread_at(self.when) {
            return self.end(End::Unknown(unread), share);
        }
        let doubt = |it: &Doubt| End::Unknown(Unknown::Server(it.clone()));
        if let Some(stops) = server.dns.first(Weight::Stops) {
            return self.end(doubt(stops), share);
        }
        let Some(forward) = forward(server, self.zone) else {
            let first = match server.dns.first(Weight::Hides) {
                None if server.dns.forwards.is_empty() => server.dns.doubts.first(),
                hides => hides,
            };
            return self.end(first.map_or(End::Outside, doubt), share);
        };
        let choices = self.choices(server, forward);
        if choices.is_empty() {
            return self.end(End::Stopped, share);
        }
        match forward.policy {
            Policy::Sequential => self.in_order(index, choices, share),
            Policy::Random | Policy::RoundRobin | Policy::Unknown => {
                self.by_lot(index, choices, share);
            }
        }
    }

    /// The first one that does not refuse is asked.
    fn in_order(&mut self, index: usize, choices: Vec<Choice>, share: (u32, u32)) {
        let last = choices.len();
        for (number, choice) in choices.into_iter().enumerate() {
            let from = self.found.len();
            self.follow(index, choice, share);
            if number + 1 == last || !self.is_passed(index, from) {
                return;
            }
            let new = self.found.get_mut(from..).unwrap_or_default();
            for path in new {
                path.is_passed = true;
            }
        }
    }

    /// Each of them is asked as often as the others, but for those that
    /// dnsmasq has found to loop, and those whose port is closed: CoreDNS then
    /// asks the next one of its list.
    fn by_lot(&mut self, index: usize, choices: Vec<Choice>, share: (u32, u32)) {
        let count = u32::try_from(choices.len()).unwrap_or(u32::MAX);
        let share = (share.0, share.1.saturating_mul(count.max(1)));
        let begin = self.found.len();
        let mut passed: Vec<bool> = Vec::new();
        for choice in choices {
            let from = self.found.len();
            self.follow(index, choice, share);
            let is_passed = self.is_passed(index, from);
            passed.resize(self.found.len() - begin, is_passed);
        }
        if passed.iter().all(|it| *it) {
            return;
        }
        let new = self.found.get_mut(begin..).unwrap_or_default();
        for (path, is_passed) in new.iter_mut().zip(passed) {
            path.is_passed |= is_passed;
        }
    }

    /// Whether the server goes on to its next one after the query paths that were
    /// found from number `from` on. Only a port that is closed is noticed: a
    /// server that answers with an error has answered.
    ///
    /// Source: `CoreDNS`, plugin/forward/forward.go `ServeDNS`, whatever the
    /// policy; plugin/pkg/up.
    fn is_passed(&self, index: usize, from: usize) -> bool {
        let notices = self.notices(&Who::Server(index));
        let direct = self.steps.len() + 1;
        let server = self.graph.servers.get(index);
        let goes_on = server.is_some_and(|it| {
            let is_coredns = matches!(it.dns.program, Program::CoreDns | Program::NodeCache);
            let forward = forward(it, self.zone);
            is_coredns || forward.is_some_and(|it| it.policy == Policy::Sequential)
        });
        let new = self.found.get(from..).unwrap_or_default();
        new.iter().all(|path| match path.end {
            End::Refused => goes_on && path.steps.len() == direct,
            End::Stopped => notices,
            _ => false,
        })
    }

    /// Whether it is a dnsmasq that looks for loops.
    fn notices(&self, who: &Who) -> bool {
        let Who::Server(index) = who else {
            return false;
        };
        let server = self.graph.servers.get(*index);
        server.is_some_and(|it| it.dns.program == Program::Dnsmasq && it.dns.notices_loops)
    }

    fn follow(&mut self, index: usize, choice: Choice, share: (u32, u32)) {
        self.steps.push(Step {
            who: Who::Server(index),
            to: choice.sends_to,
            target: Some(choice.target),
            is_from_file: choice.is_from_file,
            proof: choice.proof,
        });
        match choice.to {
            Leads::To(to) => self.send(index, to, share),
            Leads::ClusterDns => self.through_service(None, share),
            Leads::Nowhere(end) => self.end(end, share),
        }
        self.steps.pop();
    }

    fn send(&mut self, from: usize, to: SocketAddr, share: (u32, u32)) {
        match deliver(self.graph, from, to, self.when) {
            Delivery::Server(next) => self.arrive(next, share),
            Delivery::Service => self.through_service(Some(to), share),
            Delivery::Nobody => self.end(End::Refused, share),
            Delivery::Outside => self.end(End::Outside, share),
            Delivery::Unknown(reason) => self.end(End::Unknown(reason), share),
        }
    }

    /// A packet has come to the next server. dnsmasq with `dns-loop-detect`
    /// has asked itself before, and asks servers no more that lead back.
    fn arrive(&mut self, next: usize, share: (u32, u32)) {
        let seen = |step: &Step| step.who == Who::Server(next);
        let first = self.steps.iter().position(seen);
        let circle = first.and_then(|first| self.steps.get(first..));
        let mut circle = circle.unwrap_or_default().iter();
        if circle.any(|step| self.notices(&step.who)) {
            return self.end(End::Stopped, share);
        }
        self.visit(next, share);
    }

    /// Through the cluster's service to any of the servers behind it, by lot.
    fn through_service(&mut self, to: Option<SocketAddr>, share: (u32, u32)) {
        let proof = to.and_then(|to| self.graph.service(to.ip()).cloned().flatten());
        self.steps.push(Step {
            who: Who::Service(to),
            to: SendsTo::DnsPods,
            target: None,
            is_from_file: false,
            proof: proof.into_iter().collect(),
        });
        let groups = self.groups();
        let all: u32 = groups.iter().map(|(_, count)| count).sum();
        for (next, count) in &groups {
            self.arrive(*next, part_of(share, *count, all));
        }
        // Others can be behind it, on other nodes.
        let behind = self.graph.behind_service().iter();
        let mut behind = behind.filter_map(|it| self.graph.servers.get(*it));
        if groups.is_empty()
            && let Some(waits) = behind.find(|it| it.waits())
        {
            self.end(End::Unknown(Unknown::Waits(waits.dns.name())), share);
        } else if groups.is_empty() && self.zone == "." {
            let reason = Unknown::DnsPods {
                service: to,
                has_corefile: !self.graph.behind_service().is_empty(),
            };
            self.end(End::Unknown(reason), share);
        } else if groups.is_empty() {
            // Zones of the cluster are answered there.
            self.end(End::Outside, share);
        }
        self.steps.pop();
    }

    /// The servers behind the service, one for all that treat queries alike,
    /// with how many those are. The one that asks stands for its like.
    fn groups(&self) -> Vec<(usize, u32)> {
        let seen = |group: &Vec<usize>| {
            let mut steps = self.steps.iter().rev();
            steps.find_map(|it| match it.who {
                Who::Server(index) => group.binary_search(&index).is_ok().then_some(index),
                Who::Service(_) => None,
            })
        };
        let of_group = |group: &Vec<usize>| {
            let one = seen(group).or_else(|| group.first().copied())?;
            Some((one, u32::try_from(group.len()).unwrap_or(u32::MAX)))
        };
        let groups = self.graph.groups(self.when).iter();
        groups.filter_map(of_group).collect()
    }
}

/// `count` of `all` parts of a share, in small numbers.
fn part_of(share: (u32, u32), count: u32, all: u32) -> (u32, u32) {
    let (some, of) = (share.0.saturating_mul(count), share.1.saturating_mul(all));
    let (mut a, mut b) = (of, some);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let divisor = a.max(1);
    (some / divisor, of / divisor)
}
