//! From the ways of a packet to its outcomes.

use std::collections::{BTreeMap, BTreeSet};

use super::branch::{Branch, StepAt, StepKind, Steps, Tracking};
use super::reply::Returned;
use super::route::step;
use super::{End, Walk, evaluate, verdict};
use crate::address::DNS_PORT;
use crate::path::tree::Gap;
use crate::path::{
    Assumption, Condition, Host, Kind, Link, Outcome, Packet, Protocol, Reply, Stage, Start, Step,
    Tree, Verdict, What,
};
use crate::text::Place;

/// More ends are not compared with each other.
const MOST_COMPARED: usize = 2_000;

impl Walk<'_> {
    /// A way that has passed all rules.
    pub(super) fn arrive(&mut self, mut branch: Branch) {
        if self.stays(&branch) {
            return self.delivered(branch);
        }
        let ip = branch.seen.destination;
        let mut neighbours = self.host.neighbours.iter().flatten();
        let answers = neighbours.find(|it| it.ip == ip).and_then(|it| it.answers);
        let nobody = match answers {
            Some(true) => None,
            Some(false) => Some(What::Silent(ip)),
            None => self.nobody_behind(ip),
        };
        if answers.is_none() && nobody.is_none() && !self.host.pods.contains_key(&ip) {
            self.gaps.insert(Gap::Liveness);
        }
        if let Some(what) = nobody {
            return self.made(
                branch,
                Stage::Neighbour,
                what,
                Kind::NoRoute,
                "icmp-host-unreachable",
            );
        }
        let is_dns = (self.packet.protocol, branch.seen.port) == (Protocol::Udp, Some(DNS_PORT));
        if is_dns && self.host.deaf.contains(&ip) {
            return self.unheard(branch);
        }
        match self.refused_inside(&branch) {
            None => {}
            Some((Stage::Socket, _)) => return self.unheard(branch),
            Some((stage, what)) => {
                branch.steps.push(step(&branch, stage, what));
                return self.end(branch, Kind::Drop, None);
            }
        }
        self.end(branch, Kind::Endpoint, None);
    }

    /// What of a pod lets no packet in, or no answer out: its link, a rule, or that nobody
    /// listens.
    fn refused_inside(&self, branch: &Branch) -> Option<(Stage, What)> {
        let to = branch.seen.destination;
        let at = |it: &'_ Host| {
            it.addresses
                .iter()
                .flatten()
                .find(|it| it.ip == to)
                .cloned()
        };
        let (inside, at) = self.host.inside.iter().find_map(|it| Some((it, at(it)?)))?;
        let mut links = inside.links.iter().flatten();
        if let Some(why) = links.find(|it| it.name == at.link).and_then(Link::why_dead) {
            return Some((Stage::Link, What::InPod(Box::new(why))));
        }
        let packet = Packet {
            source: branch.seen.source,
            destination: to,
            port: branch.seen.port?,
            start: Start::Link { name: None },
            ..self.packet.clone()
        };
        let tree = evaluate(inside, &packet);
        let last = tree
            .lost()
            .filter(|_| tree.verdict == Verdict::Nothing)?
            .last()?;
        match last.stage {
            Stage::Socket => Some((Stage::Socket, last.what.clone())),
            _ => (last.place.line > 0).then(|| (Stage::Pod, What::PodRule(last.rule().into()))),
        }
    }

    /// A way to an address where nobody listens.
    fn unheard(&mut self, branch: Branch) {
        let (ip, port) = (branch.seen.destination, branch.seen.port);
        let what = What::NobodyListens(ip, port.unwrap_or_default(), self.packet.protocol);
        let error = match (self.packet.protocol, ip.is_ipv6()) {
            (Protocol::Tcp, _) => "tcp-reset",
            (Protocol::Udp, true) => "icmp6-port-unreachable",
            (Protocol::Udp, false) => "icmp-port-unreachable",
        };
        self.made(branch, Stage::Socket, what, Kind::Reject, error);
    }

    /// A way that ends on the node: somebody must listen there.
    fn delivered(&mut self, branch: Branch) {
        let seen = &branch.seen;
        let (ip, port) = (seen.destination, seen.port.unwrap_or_default());
        let is_for = |it: &(std::net::IpAddr, u16, Protocol)| {
            let is_address = it.0 == ip || it.0.is_unspecified();
            is_address && it.1 == port && it.2 == self.packet.protocol
        };
        let own = self.host.addresses.iter().flatten();
        // Every Service has its address there, and no Service a socket.
        let is_virtual = own
            .into_iter()
            .any(|it| it.ip == ip && &*it.link == "kube-ipvs0");
        let is_heard = match &self.host.listeners {
            Some(listeners) => Some(listeners.iter().any(is_for)),
            None => is_virtual.then_some(false),
        };
        match is_heard {
            Some(false) => self.unheard(branch),
            Some(true) => self.end(branch, Kind::Local, None),
            None => {
                self.gaps.insert(Gap::Liveness);
                self.end(branch, Kind::Local, None);
            }
        }
    }

    fn made(&mut self, mut branch: Branch, stage: Stage, what: What, kind: Kind, error: &str) {
        branch.steps.push(step(&branch, stage, what));
        self.end(branch, kind, Some(error.into()));
    }

    fn steps(&self, steps: &Steps) -> Vec<Step> {
        steps.all().into_iter().map(|it| self.step_of(it)).collect()
    }

    fn step_of(&self, step: &StepAt) -> Step {
        let rules = &self.host.rules;
        let is_of_nft = |it: usize| {
            rules
                .tables
                .get(it)
                .is_some_and(crate::rules::table::Table::is_of_nft)
        };
        let (stage, place, what) = match &step.what {
            StepKind::Rule(table, view) => (
                Stage::Table(self.table_name(*table)),
                rules.place(*view),
                What::Rule(rules.words(*view, is_of_nft(*table)).into()),
            ),
            StepKind::Policy(table, view, accepts) => {
                let policy = if *accepts { "ACCEPT" } else { "DROP" };
                let rule = What::Rule(format!("policy {policy}").into());
                let table = Stage::Table(self.table_name(*table));
                (table, rules.place(*view), rule)
            }
            StepKind::Other(stage, what, view) => {
                let place = view.map(|it| rules.place(it));
                let nowhere = || Place::nowhere("");
                (stage.clone(), place.unwrap_or_else(nowhere), what.clone())
            }
        };
        Step {
            direction: step.direction,
            stage,
            chain: crate::text::escaped(step.chain.as_bytes()).into(),
            place,
            what,
            packets: step.packets,
        }
    }
}

/// The outcomes of all ways, with the answer.
pub(super) fn tree(mut walk: Walk<'_>) -> Tree {
    let ends = std::mem::take(&mut walk.ends).all();
    let mut outcomes: Vec<Outcome> = Vec::new();
    for end in ends {
        let outcome = outcome(&mut walk, &end);
        add(&mut outcomes, outcome);
    }
    let outcomes = reduced(outcomes);
    let service = outcomes.iter().find_map(|it| it.service.clone());
    let (verdict, proxy) = verdict::judge(&walk, &outcomes);
    let verdict = walk.settled(verdict);
    Tree {
        packet: walk.packet.clone(),
        verdict,
        outcomes,
        service,
        proxy,
        gaps: walk.gaps.into_iter().collect(),
    }
}

fn outcome(walk: &mut Walk<'_>, end: &End) -> Outcome {
    let arrives = matches!(end.kind, Kind::Endpoint | Kind::Local);
    let reply = arrives.then(|| walk.reply(end));
    let reply = reply.map(|it| match it {
        Returned::Yes => Reply::Returns,
        Returned::Untranslated => Reply::Untranslated,
        Returned::Dropped(steps) => Reply::Dropped(walk.steps(&steps)),
        Returned::Partly(share, steps) => Reply::Partly(share, walk.steps(&steps)),
        Returned::Unknown(assumed) => Reply::Unknown(assumptions(&assumed)),
    });
    let seen = &end.branch.seen;
    let link = |it: &super::branch::Link| match it {
        super::branch::Link::Named(name) => Some(name.clone()),
        _ => None,
    };
    Outcome {
        kind: end.kind,
        address: seen.destination,
        port: seen.port.unwrap_or_default(),
        share: end.branch.share,
        masqueraded: seen.is_snat,
        error: end.error.clone(),
        pod: walk.host.pods.get(&seen.destination).cloned(),
        service: end
            .branch
            .service
            .as_ref()
            .map(|it| crate::text::escaped(it.as_bytes())),
        depends_on: assumptions(&end.branch.assumed),
        steps: walk.steps(&end.branch.steps),
        reply,
        is_translated: seen.is_dnat,
        has_no_endpoints: end.branch.is_empty,
        is_untracked: seen.tracking == Tracking::Not,
        is_own: false,
        links: (link(&seen.in_link), link(&seen.out_link)),
    }
}

fn assumptions(assumed: &BTreeMap<Condition, bool>) -> Vec<Assumption> {
    let assumption = |(condition, holds): (&Condition, &bool)| Assumption {
        condition: condition.clone(),
        holds: *holds,
    };
    assumed.iter().map(assumption).collect()
}

/// Whether two outcomes are one but for their shares and assumptions.
fn is_same(one: &Outcome, other: &Outcome) -> bool {
    one.kind == other.kind
        && (one.address, one.port) == (other.address, other.port)
        && one.masqueraded == other.masqueraded
        && one.error == other.error
        && one.has_no_endpoints == other.has_no_endpoints
        && reply_class(one) == reply_class(other)
}

fn reply_class(outcome: &Outcome) -> u8 {
    match &outcome.reply {
        None => 0,
        Some(Reply::Returns) => 1,
        Some(Reply::Untranslated) => 2,
        Some(Reply::Dropped(_)) => 3,
        Some(Reply::Unknown(_)) => 4,
        Some(Reply::Partly(..)) => 5,
    }
}

fn add(outcomes: &mut Vec<Outcome>, outcome: Outcome) {
    let same = outcomes
        .iter_mut()
        .find(|it| is_same(it, &outcome) && it.depends_on == outcome.depends_on);
    match same {
        Some(same) => same.share = same.share.and(outcome.share),
        None => outcomes.push(outcome),
    }
}

/// Without assumptions that make no difference: one way or the other, all that
/// can become of the packet is the same.
fn reduced(mut outcomes: Vec<Outcome>) -> Vec<Outcome> {
    if outcomes.len() > MOST_COMPARED {
        return outcomes;
    }
    loop {
        let conditions: BTreeSet<Condition> = crate::text::ordered(
            outcomes
                .iter()
                .flat_map(|it| it.depends_on.iter().map(|it| it.condition.clone())),
        );
        let simpler = conditions.iter().find_map(|it| without(&outcomes, it));
        match simpler {
            Some(simpler) => outcomes = simpler,
            None => return outcomes,
        }
    }
}

/// The outcomes without a condition that makes no difference.
fn without(outcomes: &[Outcome], condition: &Condition) -> Option<Vec<Outcome>> {
    let if_it = |holds: bool| {
        let mut these = Vec::new();
        for outcome in outcomes {
            let is_against = |it: &Assumption| it.condition == *condition && it.holds != holds;
            if outcome.depends_on.iter().any(is_against) {
                continue;
            }
            let mut outcome = outcome.clone();
            outcome.depends_on.retain(|it| it.condition != *condition);
            add(&mut these, outcome);
        }
        these
    };
    // Where it does not hold fewer rules have done something.
    let (with, without) = (if_it(true), if_it(false));
    let has = |all: &[Outcome], one: &Outcome| {
        all.iter()
            .any(|it| is_same(it, one) && it.share == one.share && it.depends_on == one.depends_on)
    };
    let is_equal = with.len() == without.len() && with.iter().all(|it| has(&without, it));
    is_equal.then_some(without)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Address, RulesKnown, Site};
    use crate::rules::Rules;
    use crate::text::Source;

    #[test]
    fn who_the_endpoint_sees_depends_on_a_match_that_is_not_known() {
        let text = "*nat\n:PREROUTING ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n\
            -A PREROUTING -d 10.96.0.10 -p udp --dport 53 -j DNAT --to-destination 10.244.1.5\n\
            -A POSTROUTING -m u32 --u32 0x0 -j MASQUERADE\nCOMMIT\n";
        let node = Host {
            known: RulesKnown::All,
            rules: Rules::parse(vec![Box::new(Source::new("f", text))]).unwrap(),
            ..Host::default()
        };
        let site = Site { node, own: None };
        let (service, pod) = ([10, 96, 0, 10].into(), [10, 244, 0, 7].into());
        let trees = site.to_servers(&[service], pod, &Start::Link { name: None });
        let outcomes = trees.first().unwrap().outcomes.iter();
        let seen: Vec<bool> = outcomes.map(|it| it.masqueraded).collect();
        assert!(seen.contains(&true) && seen.contains(&false), "{seen:?}");
    }

    fn host(ip: &str, rules: &str) -> Host {
        let text = Source::new("rules", rules);
        let link = "eth0".into();
        let (ip, prefix) = (ip.parse().unwrap(), 24);
        Host {
            known: RulesKnown::All,
            rules: Rules::parse(vec![Box::new(text)]).unwrap(),
            addresses: Some(vec![Address { ip, prefix, link }]),
            ..Host::default()
        }
    }

    /// A pod's own rules decide, too: those for what comes in, and for its answers.
    #[test]
    fn a_pod_refuses_in_its_own_network_namespace() {
        for (rule, kind) in [
            ("-A INPUT -p udp -m udp --dport 53 -j DROP", Kind::Drop),
            ("-A OUTPUT -p udp -m udp --sport 53 -j DROP", Kind::Drop),
            ("-A INPUT -p tcp -m tcp --dport 53 -j DROP", Kind::Endpoint),
            ("", Kind::Endpoint),
        ] {
            let filter = "*filter\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n";
            let mut node = host("172.31.0.10", "*filter\nCOMMIT\n");
            node.inside = vec![host("10.244.1.5", &format!("{filter}{rule}\nCOMMIT\n"))];
            let packet = Packet {
                protocol: Protocol::Udp,
                source: "10.244.0.7".parse().unwrap(),
                source_port: None,
                destination: "10.244.1.5".parse().unwrap(),
                port: 53,
                start: Start::Link { name: None },
                length: None,
            };
            let tree = evaluate(&node, &packet);
            let [only] = tree.outcomes.as_slice() else {
                panic!("{tree:?}");
            };
            assert_eq!(only.kind, kind, "{rule}");
            let says = only.last().is_some_and(|it| match &it.what {
                What::PodRule(own) => own.contains(rule),
                _ => false,
            });
            assert!(says || kind == Kind::Endpoint, "{tree:?}");
        }
    }
}
