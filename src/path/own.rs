//! Through the rules of the client's own network namespace, and then the node's.

use super::{
    Direction, Host, Kind, Outcome, Packet, RulesKnown, Stage, Start, Step, Tree, Verdict, What,
    evaluate,
};
use crate::order::Order as _;
use crate::rules::Share;
use crate::text::Place;

/// Sends a packet from a process in `own` through its rules, which a service
/// mesh writes, for one; what leaves comes to the node through `start`.
///
/// Where the own rules change nothing the answer is that of the node alone.
pub fn evaluate_from(own: &Host, node: &Host, packet: &Packet, start: &Start) -> Tree {
    let through = |packet: Packet| evaluate(node, &from(start, &packet));
    let mut tables = own.rules.tables.iter();
    let has_rules =
        own.known == RulesKnown::Part || !tables.all(|it| it.is_empty() && it.bases.is_empty());
    if !has_rules && !stays(own, packet) {
        return through(packet.clone());
    }
    let mut first = evaluate(own, &from(&Start::Host, packet));
    for outcome in &mut first.outcomes {
        outcome.is_own = !leaves(outcome);
    }
    let is_same = |it: &Outcome| {
        leaves(it)
            && (it.address, it.port) == (packet.destination, packet.port)
            && it.depends_on.is_empty()
    };
    if let [only] = first.outcomes.as_slice()
        && own.known != RulesKnown::Part
        && is_same(only)
    {
        return through(packet.clone());
    }
    let mut both = Tree {
        packet: packet.clone(),
        outcomes: Vec::new(),
        ..first.clone()
    };
    let mut verdicts = Vec::new();
    for outcome in &first.outcomes {
        if !leaves(outcome) {
            verdicts.push(verdict(outcome.kind));
            both.outcomes.push(outcome.clone());
            continue;
        }
        let next = Packet {
            destination: outcome.address,
            port: outcome.port,
            ..packet.clone()
        };
        let tree = through(next);
        verdicts.push(tree.verdict);
        both.service = both.service.or(tree.service);
        both.proxy = both.proxy.or(tree.proxy);
        both.gaps.extend(tree.gaps);
        let joined = tree.outcomes.into_iter().map(|it| join(outcome, it));
        both.outcomes.extend(joined);
    }
    both.verdict = if own.known == RulesKnown::Part {
        Verdict::Unknown
    } else {
        Verdict::of_all(verdicts.into_iter())
    };
    both.gaps.order();
    both.gaps.dedup();
    both
}

/// The packet where it comes in there.
fn from(start: &Start, packet: &Packet) -> Packet {
    Packet {
        start: start.clone(),
        ..packet.clone()
    }
}

/// Whether a packet is for its sender's own network namespace, and never leaves it.
fn stays(own: &Host, packet: &Packet) -> bool {
    let to = packet.destination;
    let mut addresses = own.addresses.iter().flatten();
    to.is_loopback() || addresses.any(|it| it.ip == to)
}

/// Whether a packet leaves its sender's network namespace at this end.
fn leaves(outcome: &Outcome) -> bool {
    matches!(outcome.kind, Kind::Endpoint | Kind::NoRoute)
}

/// A packet that its sender's own routes do not let leave, in the system's word.
pub fn unroutable(packet: Packet, reason: &str) -> Tree {
    let what = What::NotSent(reason.into());
    ended(packet, Kind::NoRoute, Verdict::Nothing, what)
}

/// A packet that leaves its sender's network namespace, nobody knows where to.
pub(super) fn elsewhere(packet: Packet) -> Tree {
    ended(packet, Kind::Unknown, Verdict::Unknown, What::Elsewhere)
}

/// A packet that never leaves its sender's network namespace, of which nothing is known.
pub(super) fn loopback(packet: Packet) -> Tree {
    ended(packet, Kind::Unknown, Verdict::Unknown, What::Loopback)
}

/// One end, where the sender is.
fn ended(packet: Packet, kind: Kind, verdict: Verdict, what: What) -> Tree {
    let step = Step {
        direction: Direction::Request,
        stage: Stage::Route,
        chain: "".into(),
        place: Place::nowhere("the client"),
        what,
        packets: None,
    };
    let outcome = Outcome {
        kind,
        address: packet.destination,
        port: packet.port,
        share: Share::ALL,
        masqueraded: false,
        error: None,
        pod: None,
        service: None,
        depends_on: Vec::new(),
        steps: vec![step],
        reply: None,
        is_translated: false,
        has_no_endpoints: false,
        is_untracked: false,
        is_own: true,
        links: (None, None),
    };
    Tree {
        packet,
        verdict,
        outcomes: vec![outcome],
        service: None,
        proxy: None,
        gaps: Vec::new(),
    }
}

/// One end behind another one.
fn join(first: &Outcome, then: Outcome) -> Outcome {
    let mut depends_on = first.depends_on.clone();
    depends_on.extend(
        then.depends_on
            .iter()
            .filter(|it| !first.depends_on.contains(it))
            .cloned(),
    );
    Outcome {
        share: first.share.times(then.share),
        masqueraded: first.masqueraded || then.masqueraded,
        depends_on,
        steps: [first.steps.clone(), then.steps.clone()].concat(),
        is_translated: first.is_translated || then.is_translated,
        ..then
    }
}

/// What an end within the client's own network namespace is.
fn verdict(kind: Kind) -> Verdict {
    match kind {
        Kind::Endpoint | Kind::Local => Verdict::Reaches,
        Kind::Drop | Kind::Reject | Kind::NoRoute => Verdict::Nothing,
        Kind::Unknown => Verdict::Unknown,
    }
}
