//! The way of the answer.

use std::collections::BTreeMap;

use super::branch::{Branch, Link, Steps, Tracking};
use super::{End, FIRST_TTL, Walk};
use crate::path::{Condition, Direction, Kind, Start};
use crate::rules::Share;
use crate::rules::rule::Side;
use crate::rules::table::Hook;

/// What becomes of an answer.
#[derive(Clone, Debug)]
pub(super) enum Returned {
    Yes,
    Untranslated,
    Dropped(Steps),
    Partly(Share, Steps),
    Unknown(BTreeMap<Condition, bool>),
}

impl Walk<'_> {
    /// Sends the answer of a way that has arrived back to the asker.
    pub(super) fn reply(&mut self, end: &End) -> Returned {
        let is_host = self.packet.start == Start::Host;
        let seen = &end.branch.seen;
        let is_self = seen.destination == self.packet.source && !is_host;
        // Its own address comes back from outside: the asker drops it.
        if is_self && !seen.is_snat {
            return Returned::Untranslated;
        }
        let is_translated = seen.is_dnat || seen.is_snat;
        if is_translated && !seen.is_snat && self.bypasses(&end.branch) {
            return Returned::Untranslated;
        }
        let branch = Self::answer_of(end);
        self.asked = Some(end.branch.seen.clone());
        let ends = std::mem::take(&mut self.ends);
        let back = self.send_back(end.kind == Kind::Local, is_host, branch);
        let lost = std::mem::replace(&mut self.ends, ends).all();
        self.sent.clear();
        self.asked = None;
        let is_strange = |it: &Branch| self.is_strange(it, is_translated);
        let (strange, back): (Vec<_>, Vec<_>) = back.into_iter().partition(is_strange);
        if !strange.is_empty() && lost.is_empty() && back.is_empty() {
            return Returned::Untranslated;
        }
        let is_odd = |it: &Branch| it.assumed.len() > end.branch.assumed.len();
        let odd = lost
            .iter()
            .filter(|it| it.kind == Kind::Unknown || is_odd(&it.branch))
            .map(|it| &it.branch);
        let odd = odd.chain(strange.iter().filter(|it| is_odd(it))).next();
        if let Some(odd) = odd {
            return Returned::Unknown(turned(&odd.assumed));
        }
        let heard = back.iter().fold(Share::NONE, |sum, it| sum.and(it.share));
        let lost = lost.into_iter().map(|it| it.branch).next();
        match (lost, strange.into_iter().next()) {
            (None, None) => Returned::Yes,
            (Some(first), _) if heard.is_none() => Returned::Dropped(first.steps),
            (Some(first), _) | (None, Some(first)) => Returned::Partly(heard, first.steps),
        }
    }

    /// Whether an answer comes back as one that nobody has asked for: it is not
    /// translated back, or as a flow of its own to somewhere else.
    fn is_strange(&self, back: &Branch, is_translated: bool) -> bool {
        let seen = &back.seen;
        match seen.tracking {
            Tracking::Not | Tracking::Invalid => is_translated,
            Tracking::New => seen.destination != self.packet.source || seen.is_snat,
            _ => false,
        }
    }

    fn answer_of(end: &End) -> Branch {
        let seen = &end.branch.seen;
        let mut branch = end.branch.clone();
        branch.share = Share::ALL;
        branch.steps = Steps::default();
        branch.assumed = turned(&end.branch.assumed);
        branch.seen.source = seen.destination;
        branch.seen.source_port = seen.port;
        branch.seen.destination = seen.source;
        branch.seen.port = seen.source_port;
        branch.seen.veiled = seen.veiled.map(|_| Side::Destination);
        branch.seen.mark = 0;
        branch.seen.in_link = match end.kind {
            Kind::Local => Link::None,
            _ => seen.out_link.clone(),
        };
        branch.seen.out_link = Link::None;
        branch.seen.tracking = Tracking::Ahead;
        if seen.tracking == Tracking::Not {
            (branch.seen.is_dnat, branch.seen.is_snat) = (false, false);
        }
        branch.seen.direction = Direction::Reply;
        branch.seen.is_taken = false;
        branch.seen.ttl = FIRST_TTL;
        branch
    }

    fn send_back(&mut self, is_local: bool, is_host: bool, branch: Branch) -> Vec<Branch> {
        let out_link = match &self.packet.start {
            Start::Host => Link::Named("lo".into()),
            Start::Link { name: Some(name) } => Link::Named(name.clone()),
            Start::Link { name: None } | Start::Elsewhere => self.link_towards(self.packet.source),
        };
        let mut branches = vec![branch];
        if is_local {
            for branch in &mut branches {
                branch.seen.out_link = out_link.clone();
            }
            branches = self.hook(Hook::Output, branches);
            branches = self.hook(Hook::Postrouting, branches);
            if !is_host {
                return branches;
            }
            for branch in &mut branches {
                branch.seen.in_link = Link::Named("lo".into());
                branch.seen.out_link = Link::None;
            }
        }
        let branches = self.hook(Hook::Prerouting, branches);
        let branches = self.with_way_back(branches);
        if is_host {
            return self.hook(Hook::Input, branches);
        }
        // One that connection tracking was kept from goes to the node itself.
        let is_astray = |it: &Branch| it.seen.tracking == Tracking::Not && it.seen.is_snat;
        let (astray, mut branches): (Vec<_>, Vec<_>) = branches.into_iter().partition(is_astray);
        for branch in &mut branches {
            branch.seen.out_link = out_link.clone();
            branch.seen.ttl = branch.seen.ttl.saturating_sub(1);
        }
        let branches = self.hook(Hook::Forward, branches);
        let mut back = self.hook(Hook::Postrouting, branches);
        back.extend(astray);
        back
    }

    /// Whether an answer is on its way to a packet that was not tracked.
    pub(super) fn is_untracked(&self) -> bool {
        let asked = self.asked.as_ref();
        asked.is_some_and(|it| it.tracking == Tracking::Not)
    }

    /// Whether the answer goes from port to port of one bridge, where the
    /// kernel is told not to show it to connection tracking.
    fn bypasses(&self, branch: &Branch) -> bool {
        let (Link::Named(one), Link::Named(other)) = (&branch.seen.in_link, &branch.seen.out_link)
        else {
            return false;
        };
        let mut links = self.host.links.iter().flatten();
        let is_bridge = links.any(|it| it.name == *one && it.is_a("bridge"));
        let name = if branch.seen.destination.is_ipv6() {
            "net.bridge.bridge-nf-call-ip6tables"
        } else {
            "net.bridge.bridge-nf-call-iptables"
        };
        let is_off = self
            .host
            .sysctls
            .get(name)
            .is_some_and(|it| it.trim() == "0");
        one == other && is_bridge && is_off
    }
}

/// What is assumed of the other direction: it comes in where this one leaves.
fn turned(assumed: &BTreeMap<Condition, bool>) -> BTreeMap<Condition, bool> {
    let turn = |(condition, holds): (&Condition, &bool)| {
        let condition = match condition {
            Condition::InLink(name) => Condition::OutLink(name.clone()),
            Condition::OutLink(name) => Condition::InLink(name.clone()),
            other => other.clone(),
        };
        (condition, *holds)
    };
    crate::text::ordered(assumed.iter().map(turn))
}

#[cfg(test)]
mod tests {
    use crate::path::{Host, Packet, Protocol, Reply, RulesKnown, Start, evaluate};
    use crate::rules::Rules;
    use crate::text::Source;

    /// What becomes of the answers of an endpoint whose questions are not tracked.
    fn reply(rule: &str) -> Option<Reply> {
        let raw = "-d 10.244.1.5/32 -j NOTRACK";
        reply_of(raw, &format!("-s 10.244.1.5/32 {rule}"), [10, 244, 1, 5])
    }

    /// What becomes of the answers of `destination` with a rule in each of two tables.
    fn reply_of(raw: &str, nat: &str, destination: [u8; 4]) -> Option<Reply> {
        let text = format!(
            "*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING {raw}\nCOMMIT\n\
             *nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING {nat}\nCOMMIT\n"
        );
        let host = Host {
            known: RulesKnown::All,
            rules: Rules::parse(vec![Box::new(Source::new("f", text))]).unwrap(),
            addresses: Some(Vec::new()),
            ..Host::default()
        };
        let packet = Packet {
            protocol: Protocol::Udp,
            source: [10, 244, 0, 7].into(),
            source_port: None,
            destination: destination.into(),
            port: 53,
            start: Start::Link { name: None },
            length: None,
        };
        evaluate(&host, &packet).outcomes.remove(0).reply
    }

    #[test]
    fn of_answers_that_are_led_astray_by_chance_the_others_are_heard() {
        let away = "-j DNAT --to-destination 10.244.9.9";
        let by_chance = format!("-p udp -m statistic --mode random --probability 0.25 {away}");
        let Some(Reply::Partly(share, steps)) = reply(&by_chance) else {
            panic!("{:?}", reply(&by_chance));
        };
        assert_eq!(share.to_string(), "3/4");
        let last = steps.last().unwrap();
        assert!(last.rule().contains("DNAT"), "{steps:?}");
        assert_eq!(reply(&format!("-p udp {away}")), Some(Reply::Untranslated));
        assert_eq!(reply(&format!("-p tcp {away}")), Some(Reply::Returns));
    }

    /// It is not said to be lost, and not in part, where an interface decides that is not known.
    #[test]
    fn whether_answers_are_tracked_can_be_unknown() {
        let nat = "-d 10.96.0.10/32 -j DNAT --to-destination 10.244.1.5";
        let service = [10, 96, 0, 10];
        let by_link = reply_of("-i eth1 -s 10.244.1.5/32 -j NOTRACK", nat, service);
        assert!(matches!(by_link, Some(Reply::Unknown(_))), "{by_link:?}");
        let always = reply_of("-s 10.244.1.5/32 -j NOTRACK", nat, service);
        assert_eq!(always, Some(Reply::Untranslated));
    }
}
