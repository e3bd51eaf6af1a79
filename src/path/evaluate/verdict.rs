//! The answer in one word.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::{Walk, other_proxy};
use crate::address::is_link_local;
use crate::loopback::owners::{self, Reach};
use crate::path::findings::is_cached;
use crate::path::tree::Proxy;
use crate::path::{Condition, Host, Kind, Outcome, Reply, Start, Verdict};
use crate::rules::{LARGEST, Named, is_amid};

/// More conditions are not gone through one way and the other.
const MOST_CONDITIONS: usize = 10;

/// The answer, and the proxy that carries the Service instead.
#[expect(clippy::type_complexity, reason = "used once")]
pub(super) fn judge(walk: &Walk<'_>, outcomes: &[Outcome]) -> (Verdict, Option<Proxy>) {
    let conditions: BTreeSet<&Condition> = crate::text::ordered(
        outcomes
            .iter()
            .flat_map(|it| it.depends_on.iter().map(|it| &it.condition)),
    );
    let judge = Judge::new(walk, outcomes);
    if conditions.len() > MOST_CONDITIONS || outcomes.is_empty() {
        return (Verdict::Unknown, judge.proxy);
    }
    let conditions: Vec<&Condition> = conditions.into_iter().collect();
    let is_of_client = conditions
        .iter()
        .all(|it| matches!(it, Condition::Recent(_)));
    let mut seen: Option<(Verdict, BTreeSet<(Kind, IpAddr, u16)>)> = None;
    for bits in 0..1_u32 << conditions.len() {
        let world: BTreeMap<&Condition, bool> = crate::text::ordered(
            conditions
                .iter()
                .enumerate()
                .map(|(index, it)| (*it, bits >> index & 1 == 1)),
        );
        let is_in = |it: &&Outcome| {
            let mut all = it.depends_on.iter();
            all.all(|it| world.get(&it.condition) == Some(&it.holds))
        };
        let these: Vec<&Outcome> = outcomes.iter().filter(is_in).collect();
        if these.is_empty() {
            continue;
        }
        let ends = crate::text::ordered(these.iter().map(|it| (it.kind, it.address, it.port)));
        let answer = (judge.verdict(&these), ends);
        match &seen {
            None => seen = Some(answer),
            Some(before) if *before == answer => {}
            // Session affinity keeps a client at one of those that all others reach.
            Some((verdict, ends))
                if is_of_client && *verdict == answer.0 && answer.1.is_subset(ends) => {}
            Some(_) => return (Verdict::Unknown, judge.proxy),
        }
    }
    (seen.map_or(Verdict::Unknown, |it| it.0), judge.proxy)
}

struct Judge<'w> {
    asker: Option<IpAddr>,
    /// Whether the destination is a Service's, as far as rules and routes say.
    is_service: bool,
    proxy: Option<Proxy>,
    walk: &'w Walk<'w>,
}

impl<'w> Judge<'w> {
    fn new(walk: &'w Walk<'w>, outcomes: &[Outcome]) -> Self {
        let is_plain = |it: &Outcome| !it.is_translated && it.kind != Kind::Local;
        let is_asked = outcomes.iter().any(is_plain);
        let is_service = is_asked && is_service(walk);
        let packet = walk.packet;
        Self {
            asker: (packet.start != Start::Host).then_some(packet.source),
            is_service,
            proxy: is_service.then(|| other_proxy(walk.host)).flatten(),
            walk,
        }
    }

    fn verdict(&self, outcomes: &[&Outcome]) -> Verdict {
        let all = |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().all(|it| is(it));
        let any = |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().any(|it| is(it));
        if any(&|it| it.kind == Kind::Unknown || matches!(it.reply, Some(Reply::Unknown(_)))) {
            return Verdict::Unknown;
        }
        if all(&|it| it.has_no_endpoints && is_end(it)) {
            return Verdict::NoEndpoints;
        }
        if all(&|it| self.is_no_rule(it)) {
            return match self.proxy {
                Some(_) => Verdict::OtherProxy,
                None => Verdict::NoRule,
            };
        }
        if any(&|it| it.kind == Kind::Endpoint && Some(it.address) == self.asker) {
            return Verdict::Hairpin;
        }
        let is_good = |it: &Outcome| {
            let arrives = matches!(it.kind, Kind::Endpoint | Kind::Local);
            arrives && it.reply == Some(Reply::Returns) && !self.is_no_rule(it)
        };
        let is_part = |it: &Outcome| is_good(it) || matches!(it.reply, Some(Reply::Partly(..)));
        match (all(&is_good), any(&is_part)) {
            (true, _) => Verdict::Reaches,
            (_, true) => Verdict::Partly,
            _ => Verdict::Nothing,
        }
    }

    /// Whether the packet keeps a Service's address.
    fn is_no_rule(&self, outcome: &Outcome) -> bool {
        if outcome.is_translated || outcome.address != self.walk.packet.destination {
            return false;
        }
        // kube-proxy's own refusal of addresses that no Service has.
        let is_check = |it: &crate::path::Step| &*it.chain == "cluster-ips-check";
        match outcome.kind {
            Kind::Endpoint | Kind::NoRoute => self.is_service,
            Kind::Drop | Kind::Reject => {
                !outcome.has_no_endpoints && outcome.steps.iter().any(is_check)
            }
            _ => false,
        }
    }
}

fn is_end(outcome: &Outcome) -> bool {
    matches!(outcome.kind, Kind::Drop | Kind::Reject)
}

/// Whether an address that nothing translates is one that a Service would
/// have: no endpoint, not near, and of a private network.
fn is_service(walk: &Walk<'_>) -> bool {
    let ip = walk.packet.destination;
    let is_private = match ip {
        IpAddr::V4(ip) => {
            let is_shared = ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 64;
            ip.is_private() || is_shared || ip.is_link_local()
        }
        IpAddr::V6(ip) => ip.is_unique_local(),
    };
    let is_near = walk.is_near(ip) == Some(true);
    let is_cache = is_link_local(ip) && is_cached(walk.host, ip);
    is_private
        && !is_near
        && !is_cache
        && !walk.host.rules.has_endpoint(ip)
        && !is_outside(walk.host, ip)
}

/// Whether an address is that of a server outside: of the cloud's network, or of none
/// in which the rules name Services. What pods are to ask for the cluster's DNS is one
/// of these, and so is the address of a node's cache. Where that is not known, it can be
/// any but a cloud's.
fn is_outside(host: &Host, ip: IpAddr) -> bool {
    let is_of_cloud = owners::possible(ip).any(|it| it.reach == Reach::Cloud);
    let Some(cluster_dns) = &host.cluster_dns else {
        return is_of_cloud;
    };
    if cluster_dns.contains(&ip) {
        return false;
    }
    let services = || host.rules.services_named();
    // Rules of the other family say nothing of this one.
    let is_alike = |it: &Named| it.address.is_ipv4() == ip.is_ipv4();
    let is_apart = |it: &[Named]| {
        it.iter().any(is_alike) && !is_amid(it.iter().map(|it| it.address), ip, LARGEST)
    };
    is_of_cloud || (!is_link_local(ip) && is_apart(&services()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Packet, Protocol, RulesKnown, evaluate};
    use crate::rules::Rules;
    use crate::text::Source;

    const SERVICES: &str = "*filter\n:FORWARD ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n\
        -A KUBE-SERVICES -d 10.96.0.9/32 -p udp -m comment --comment \"a/b:dns has no endpoints\" \
        -m udp --dport 53 -j REJECT --reject-with icmp-port-unreachable\nCOMMIT\n";

    /// No rule has to be about a server outside; of an address of Services one has to,
    /// and of what pods are to ask.
    #[test]
    fn servers_outside() {
        use Verdict::{NoRule, Reaches};
        for (rules, cluster_dns, to, verdict) in [
            (SERVICES, Some(&[][..]), "10.1.2.3", Reaches),
            (SERVICES, Some(&["10.1.2.3"]), "10.1.2.3", NoRule),
            (SERVICES, None, "10.1.2.3", NoRule),
            (SERVICES, Some(&[]), "10.96.0.10", NoRule),
            (
                "*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n",
                Some(&[]),
                "10.1.2.3",
                NoRule,
            ),
            (SERVICES, Some(&[]), "169.254.20.10", NoRule),
            (SERVICES, None, "169.254.169.253", Reaches),
        ] {
            let text = Source::new("rules", rules);
            let ip: IpAddr = to.parse().unwrap();
            let host = Host {
                known: RulesKnown::All,
                rules: Rules::parse(vec![Box::new(text)]).unwrap(),
                cluster_dns: cluster_dns
                    .map(|it| it.iter().map(|it| it.parse().unwrap()).collect()),
                ..Host::default()
            };
            let packet = Packet {
                protocol: Protocol::Udp,
                source: [10, 244, 0, 7].into(),
                source_port: None,
                destination: ip,
                port: 53,
                start: Start::Link { name: None },
                length: None,
            };
            let tree = evaluate(&host, &packet);
            assert_eq!(tree.verdict, verdict, "{to} {cluster_dns:?} {rules}");
        }
    }
}
