//! Which link a packet leaves through, and what is the node's own.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::rc::Rc;

use super::Walk;
use super::branch::{Branch, Link, StepAt, StepKind};
use crate::address::{is_link_local, is_within};
use crate::path::findings::is_cached;
use crate::path::host::{Policy, Route, RouteKind};
use crate::path::tree::Gap;
use crate::path::{Condition, Kind, Stage, Start, What};
use crate::text::ordered;

/// What the tables say about an address.
enum Routed<'r> {
    /// It goes out here.
    Out(&'r Route),
    /// It is refused, by a route or a policy.
    Refused(RouteKind, fn(IpAddr, &'static str) -> What),
    /// Nothing is said.
    Nothing,
    /// The tables were not seen, or a condition of theirs is not known.
    Unknown,
}

/// The table `local`, which follows from the addresses.
const LOCAL_TABLE: u32 = 255;

impl Walk<'_> {
    /// Whether an address is the node's own; `None`: not known.
    pub(super) fn is_local(&self, ip: IpAddr, branch: &Branch) -> Option<bool> {
        if ip.is_unspecified() && self.packet.is_of_some_pod() {
            return Some(false);
        }
        if ip.is_loopback() || ip.is_unspecified() {
            return Some(true);
        }
        if let Some(addresses) = &self.host.addresses {
            return Some(addresses.iter().any(|it| it.ip == ip));
        }
        if self.is_virtual(ip) || (self.packet.start == Start::Host && ip == self.packet.source) {
            return Some(true);
        }
        if self.packet.start != Start::Host && ip == self.packet.source {
            return Some(false);
        }
        branch.assumes(&Condition::Local(ip))
    }

    /// Whether a packet that has come so far is delivered on the node. What is
    /// not known to be the node's is taken for another's.
    pub(super) fn stays(&mut self, branch: &Branch) -> bool {
        if branch.seen.is_taken {
            return true;
        }
        let is_local = self.is_local(branch.seen.destination, branch);
        if is_local.is_none() {
            self.gaps.insert(Gap::Addresses);
        }
        is_local == Some(true)
    }

    /// A packet that no rule translates because it is not tracked, or that is for the
    /// link-local address of such a rule, is meant for a cache on the node, or for one that is
    /// gone: both, if it is not known.
    pub(super) fn unsure(&self, branches: Vec<Branch>) -> Vec<Branch> {
        let both = |it: Branch| self.here_or_gone(it);
        branches.into_iter().flat_map(both).collect()
    }

    fn here_or_gone(&self, branch: Branch) -> Vec<Branch> {
        let ip = branch.seen.destination;
        let is_sure = branch.seen.is_taken
            || self.is_local(ip, &branch).is_some()
            || branch.seen.tracking != super::branch::Tracking::Not
                && !(is_link_local(ip) && is_cached(self.host, ip));
        if is_sure {
            return vec![branch];
        }
        let condition = Condition::Local(ip);
        [true, false]
            .map(|it| branch.assuming(&condition, it))
            .into()
    }

    /// The link that packets of an address come in through.
    pub(super) fn link_towards(&self, ip: IpAddr) -> Link {
        let named = |it: &Route| it.link.clone().map_or(Link::Unknown, Link::Named);
        if ip.is_unspecified() {
            return Link::Unknown;
        }
        match self.lookup(ip, None, 0) {
            Routed::Out(route) => named(route),
            _ => Link::Unknown,
        }
    }

    /// A route for ways that the node itself sends; those without one end.
    pub(super) fn routed_out(&mut self, branches: Vec<Branch>) -> Vec<Branch> {
        let mut routed = Vec::new();
        for branch in branches {
            if self.stays(&branch) {
                let mut branch = branch;
                branch.seen.out_link = Link::Named("lo".into());
                routed.push(branch);
            } else {
                routed.extend(self.routed(branch));
            }
        }
        routed
    }

    /// A route for a way through the node.
    pub(super) fn forwarded(&mut self, mut branch: Branch) -> Option<Branch> {
        let name = if branch.seen.destination.is_ipv6() {
            "net.ipv6.conf.all.forwarding"
        } else {
            "net.ipv4.ip_forward"
        };
        if self
            .host
            .sysctls
            .get(name)
            .is_some_and(|it| it.trim() == "0")
        {
            let what = What::NoForwarding(name);
            branch.steps.push(step(&branch, Stage::IpForward, what));
            self.end(branch, Kind::Drop, None);
            return None;
        }
        branch.seen.ttl = branch.seen.ttl.saturating_sub(1);
        self.routed(branch)
    }

    fn routed(&mut self, mut branch: Branch) -> Option<Branch> {
        let ip = branch.seen.destination;
        let in_link = branch.seen.in_link.name().map(str::to_owned);
        let in_link = in_link.as_deref().filter(|it| !it.is_empty());
        let (kind, error, what) = match self.lookup(ip, in_link, branch.seen.mark) {
            Routed::Out(route) => {
                let mut links = self.host.links.iter().flatten();
                let link = links.find(|it| Some(&it.name) == route.link.as_ref());
                if let Some(why) = link.and_then(crate::path::Link::why_dead) {
                    branch.steps.push(step(&branch, Stage::Link, why));
                    self.end(branch, Kind::Drop, None);
                    return None;
                }
                branch.seen.out_link = match &route.link {
                    Some(link) => Link::Named(link.clone()),
                    None => Link::Unknown,
                };
                return Some(branch);
            }
            Routed::Unknown => {
                self.gaps.insert(Gap::Routes);
                branch.seen.out_link = Link::Unknown;
                return Some(branch);
            }
            Routed::Nothing => (Kind::NoRoute, "icmp-net-unreachable", What::NoRoute(ip)),
            Routed::Refused(kind, by) => {
                let (kind, error, word) = match kind {
                    RouteKind::Unreachable => {
                        (Kind::NoRoute, "icmp-host-unreachable", "unreachable")
                    }
                    RouteKind::Prohibit => (Kind::NoRoute, "icmp-admin-prohibited", "prohibit"),
                    _ => (Kind::Drop, "", "blackhole"),
                };
                let what = by(ip, word);
                (kind, error, what)
            }
        };
        branch.steps.push(step(&branch, Stage::Route, what));
        let error = Some(error.into()).filter(|_| !error.is_empty());
        self.end(branch, kind, error);
        None
    }

    #[expect(clippy::single_match, reason = "one case of several")]
    fn lookup(&self, ip: IpAddr, in_link: Option<&str>, mark: u32) -> Routed<'_> {
        let Some(routes) = &self.host.routes else {
            return Routed::Unknown;
        };
        // A policy's own refusal stands where its table would.
        let tables: Vec<Result<u32, RouteKind>> = match &self.host.policies {
            None => vec![Ok(254)],
            Some(policies) => {
                let mut tables = Vec::new();
                let of_family = |it: &&Policy| {
                    let six = |it: &Option<(IpAddr, u8)>| it.map(|it| it.0.is_ipv6());
                    let is_six = six(&it.to).or(six(&it.from));
                    is_six.is_none_or(|it| it == ip.is_ipv6())
                };
                for policy in policies.iter().filter(of_family) {
                    match self.applies(policy, ip, in_link, mark) {
                        Some(true) => tables.push(policy.refuses.map_or(Ok(policy.table), Err)),
                        Some(false) => {}
                        None => return Routed::Unknown,
                    }
                }
                tables
            }
        };
        for table in tables.into_iter().filter(|it| *it != Ok(LOCAL_TABLE)) {
            let table = match table {
                Ok(table) => table,
                Err(kind) => return Routed::Refused(kind, What::PolicyRefuses),
            };
            let of_table = |it: &&Route| it.table == table && it.covers(ip);
            let best = routes
                .iter()
                .filter(of_table)
                .min_by_key(|it| (u8::MAX - it.prefix, it.metric));
            match best {
                Some(route) => match route.kind {
                    RouteKind::Unicast | RouteKind::Local => return Routed::Out(route),
                    RouteKind::Throw | RouteKind::Other => {}
                    kind => return Routed::Refused(kind, What::RouteRefuses),
                },
                None => {}
            }
        }
        Routed::Nothing
    }

    /// Whether a policy is about the packet; `None`: not known.
    fn applies(
        &self,
        policy: &Policy,
        ip: IpAddr,
        in_link: Option<&str>,
        mark: u32,
    ) -> Option<bool> {
        let is_in = |network: &Option<(IpAddr, u8)>, ip: IpAddr| {
            network.is_none_or(|(of, bits)| is_within(ip, of, bits.into()))
        };
        let is_link = policy
            .in_link
            .as_deref()
            .is_none_or(|it| Some(it) == in_link);
        let is_mark = policy.mark.is_none_or(|(value, mask)| mark & mask == value);
        if policy.from.is_some() && self.packet.is_of_some_pod() {
            return None;
        }
        let is_it = is_in(&policy.from, self.packet.source) && is_in(&policy.to, ip);
        if !(is_it && is_link && is_mark) {
            return Some(false);
        }
        (!policy.is_odd).then_some(true)
    }

    /// Why nobody has an address: it would be on a bridge whose every port leads to a pod,
    /// and these have others. `None`: that is not known, as where a pod is known that is
    /// behind no port, so that a port can be another's.
    pub(super) fn nobody_behind(&self, ip: IpAddr) -> Option<What> {
        let Routed::Out(route) = self.lookup(ip, None, 0) else {
            return None;
        };
        let links = || self.host.links.iter().flatten();
        let mut bridges = links().filter(|it| it.is_a("bridge"));
        let bridge = bridges.find(|it| Some(&it.name) == route.link.as_ref())?;
        let ports: Vec<_> = links()
            .filter(|it| it.master == Some(bridge.index))
            .collect();
        let own = self.host.addresses.as_ref()?;
        let is_of_pod = |it: &IpAddr| route.covers(*it) && own.iter().all(|own| own.ip != *it);
        let pods = self.host.pods.iter().filter(|it| is_of_pod(it.0));
        let pods: BTreeSet<&String> = ordered(pods.map(|it| it.1));
        let is_full = ports.iter().all(|it| it.is_a("veth")) && ports.len() == pods.len();
        let is_nobody = is_full && route.gateway.is_none() && !self.host.pods.contains_key(&ip);
        is_nobody.then(|| What::NoPod(ip, (*bridge.name).into()))
    }

    /// Whether the routes say of an address that it is near: on a link, or
    /// in a network that has a route of its own; `None`: not seen.
    pub(super) fn is_near(&self, ip: IpAddr) -> Option<bool> {
        match self.lookup(ip, None, 0) {
            Routed::Out(route) => Some(route.prefix > 0),
            Routed::Unknown => None,
            _ => Some(false),
        }
    }
}

pub(super) fn step(branch: &Branch, stage: Stage, what: What) -> StepAt {
    StepAt {
        direction: branch.seen.direction,
        chain: Rc::from(""),
        packets: None,
        what: StepKind::Other(stage, what, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Host, Packet, Protocol, RulesKnown, Verdict, evaluate, findings};
    use crate::rules::Rules;
    use crate::text::Source;

    /// The kernel answers it where the node has the address, as nothing is tracked then.
    #[test]
    fn whether_the_node_has_a_cache_is_not_known_of_its_own_queries() {
        let text = include_str!("../../../testdata/path/half-tracked/rules.txt");
        let host = Host {
            known: RulesKnown::Chosen,
            rules: Rules::parse(vec![Box::new(Source::new("rules", text))]).unwrap(),
            ..Host::default()
        };
        let packet = Packet {
            protocol: Protocol::Tcp,
            source: [172, 31, 0, 10].into(),
            source_port: None,
            destination: [169, 254, 25, 10].into(),
            port: 53,
            start: Start::Host,
            length: None,
        };
        let tree = evaluate(&host, &packet);
        assert_eq!(tree.verdict, Verdict::Unknown, "{tree:?}");
        let mut ends = tree.outcomes.iter();
        assert!(
            ends.any(|it| it.kind == Kind::Local && it.arrives()),
            "{tree:?}"
        );
        let found = findings::find(&host, &[tree], findings::Around::default());
        assert!(found.is_empty(), "{found:?}");
    }
}
