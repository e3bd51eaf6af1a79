//! What servers said, as rules: a scenario that replays a lookup.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::engine::io::Came;
use crate::engine::machine::Outcome;
use crate::engine::message::{Data, Query, Rcode, Reply, Transport};
use crate::explain::live::{Exchange, Played, Silence, timing};
use crate::order::{Order as _, once};
use crate::resolver::Resolver;
use crate::scenario::Scenario;
use crate::simulation::Run;
use crate::text::ordered;
use crate::world::{Effect, Rule};

/// Scenarios that replay lookups.
#[derive(Debug)]
pub struct Replay {
    /// One for all resolvers; one for each, with its id, where servers did
    /// not say the same to all.
    pub scenarios: Vec<Scenario>,
    /// Resolvers whose replay is not what happened, in order.
    pub unlike: Vec<&'static Resolver>,
}

/// The question of `scenario` with what the servers said in `played`.
///
/// Whether a scenario replays is not supposed but tried.
pub fn replay(scenario: &Scenario, played: &[Played]) -> Replay {
    let with = |id: String, rules: Vec<Rule>| Scenario {
        id,
        answers: rules,
        ..scenario.clone()
    };
    let all: Vec<&Played> = played.iter().collect();
    if let Some(rules) = rules(scenario, &all) {
        let common = with(scenario.id.clone(), rules);
        if played.iter().all(|it| is_like(it, &common)) || played.len() < 2 {
            return Replay {
                unlike: unlike(played.iter().map(|it| (it, &common))),
                scenarios: vec![common],
            };
        }
    }
    let alone = played.iter().map(|it| {
        let id = format!("{} {}", scenario.id, it.resolver.id);
        with(id, rules(scenario, &[it]).unwrap_or_default())
    });
    let scenarios: Vec<Scenario> = alone.collect();
    Replay {
        unlike: unlike(played.iter().zip(&scenarios)),
        scenarios,
    }
}

fn unlike<'p>(pairs: impl Iterator<Item = (&'p Played, &'p Scenario)>) -> Vec<&'static Resolver> {
    pairs
        .filter(|(played, scenario)| !is_like(played, scenario))
        .map(|(played, _)| played.resolver)
        .collect()
}

/// So many falls of lots are tried before a lookup counts as unlike.
const MAX_FALLS: usize = 64;

/// Whether the scenario's lookup can have the same queries and the same end,
/// however its lots fall.
fn is_like(played: &Played, scenario: &Scenario) -> bool {
    let mut falls = VecDeque::from([Vec::new()]);
    for _ in 0..MAX_FALLS {
        let Some(lots) = falls.pop_front() else {
            return false;
        };
        let first = lots.len();
        let run = played.resolver.predict_with_lots(scenario, lots);
        if went_so(played, &run) {
            return true;
        }
        let drawn = run.chance.map(|it| it.lots).unwrap_or_default();
        let picks: Vec<usize> = drawn.iter().map(|lot| lot.picked).collect();
        for (index, lot) in drawn.iter().enumerate().skip(first) {
            let before = picks.get(..index).unwrap_or_default();
            let others = (0..lot.among).filter(|it| *it != lot.picked);
            falls.extend(others.map(|it| [before, &[it]].concat()));
        }
    }
    false
}

/// Whether it has the same queries and the same end.
fn went_so(played: &Played, now: &Run) -> bool {
    let asked = |run: &Run| -> Vec<_> {
        let queries = run.sent.iter().map(|it| &it.query);
        queries
            .map(|it| {
                let server = (it.server.address.reached(), it.server.port);
                let question = it.question.clone();
                (server, question, it.transport, it.edns.clone(), it.socket)
            })
            .collect()
    };
    // Which of A and AAAA is first is chance for some.
    let sorted = |outcome: Outcome| match outcome {
        Outcome::Found(mut found) => {
            found.order();
            Outcome::Found(found)
        }
        failed => failed,
    };
    let then = played.run();
    let is_same_end = sorted(then.outcome.clone()) == sorted(now.outcome.clone());
    played.cut.is_none() && is_same_end && asked(&then) == asked(now)
}

/// What a rule can know of a query.
type Key = (Vec<u8>, u16, IpAddr, Transport, Option<bool>);

/// What the queries of one key got, in order, and whether that is known: the
/// end of a lookup leaves answers behind that may still have come.
type Said = Vec<(Rule, bool)>;

/// The rules of several lookups; `None`: servers did not say the same to all.
fn rules(scenario: &Scenario, played: &[&Played]) -> Option<Vec<Rule>> {
    let mixed: BTreeSet<Key> = ordered(played.iter().flat_map(|it| mixed(it)));
    let mut order: Vec<Key> = Vec::new();
    let mut merged: BTreeMap<Key, Said> = BTreeMap::new();
    for one in played {
        for (key, said) in said(scenario, one, &mixed) {
            match merged.get_mut(&key) {
                None => {
                    order.push(key.clone());
                    merged.insert(key, said);
                }
                Some(known) => merge(known, said)?,
            }
        }
    }
    let mut rules: Vec<Rule> = once(played.iter().flat_map(|it| server_rules(it)));
    for key in order {
        rules.extend(merged.remove(&key).map(counted).unwrap_or_default());
    }
    Some(rules)
}

/// Merges the answers that two lookups got to the same query; `None`: they differ.
fn merge(known: &mut Said, said: Said) -> Option<()> {
    for (index, other) in said.into_iter().enumerate() {
        match known.get_mut(index) {
            None => known.push(other),
            Some(one) if !one.1 => *one = other,
            Some(one) if !other.1 || is_same(&one.0, &other.0) => {}
            Some(_) => return None,
        }
    }
    Some(())
}

/// Whether both say the same, sooner or later.
fn is_same(one: &Rule, other: &Rule) -> bool {
    let timeless = Rule {
        delay: other.delay,
        ..one.clone()
    };
    timeless == *other
}

/// Each rule for one query, in order; the last for all that follow.
fn counted(said: Said) -> Vec<Rule> {
    let mut said: Vec<Rule> = said.into_iter().map(|(rule, _)| rule).collect();
    while matches!(said.as_slice(), [.., before, last] if before == last) {
        said.pop();
    }
    let last = said.len().saturating_sub(1);
    for rule in said.iter_mut().take(last) {
        rule.up_to = Some(1);
    }
    said
}

/// Servers that cannot be reached, or not over TCP.
fn server_rules(played: &Played) -> Vec<Rule> {
    let mut rules = Vec::new();
    for it in &played.unconnected {
        let effect = if it.is_refused {
            Effect::Icmp
        } else {
            Effect::Unreachable
        };
        rules.push(Rule {
            server: Some(it.server.address.reached()),
            transport: Some(it.transport),
            effect,
            ..Rule::default()
        });
    }
    for it in played.exchanges.iter().filter(|it| it.unsent.is_some()) {
        rules.push(Rule {
            server: Some(it.query.server.address.reached()),
            transport: Some(it.query.transport),
            effect: Effect::Unreachable,
            ..Rule::default()
        });
    }
    rules
}

/// Keys without their word about EDNS, of which this lookup asked with and
/// without.
fn mixed(played: &Played) -> BTreeSet<Key> {
    let mut seen: BTreeMap<Key, bool> = BTreeMap::new();
    let mut mixed = BTreeSet::new();
    for query in played.exchanges.iter().map(|it| &it.query) {
        let Some(key) = key(query) else { continue };
        let with = query.edns.is_some();
        if *seen.entry(key.clone()).or_insert(with) != with {
            mixed.insert(key);
        }
    }
    mixed
}

fn key(query: &Query) -> Option<Key> {
    let (name, record_type) = query.name().zip(query.record_type())?;
    let mut text = Vec::new();
    name.append_to(&mut text);
    text.make_ascii_lowercase();
    let server = query.server.address.reached();
    Some((text, record_type.into(), server, query.transport, None))
}

/// What each query of this lookup got, by key, in order of the first query.
fn said(scenario: &Scenario, played: &Played, mixed: &BTreeSet<Key>) -> Vec<(Key, Said)> {
    let delays = timing::delays(scenario, played, &server_rules(played));
    let mut order: Vec<(Key, Said)> = Vec::new();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    for (exchange, delay) in played.exchanges.iter().zip(delays) {
        let Some(mut key) = key(&exchange.query).filter(|_| exchange.unsent.is_none()) else {
            continue;
        };
        if mixed.contains(&key) {
            key.4 = Some(exchange.query.edns.is_some());
        }
        let is_known = played.silence(exchange) != Some(Silence::NotWaitedFor);
        let rule = (rule(exchange, &key, delay), is_known);
        let place = *places.entry(key.clone()).or_insert(order.len());
        match order.get_mut(place) {
            Some((_, said)) => said.push(rule),
            None => order.push((key, vec![rule])),
        }
    }
    order
}

fn rule(exchange: &Exchange, key: &Key, delay: Duration) -> Rule {
    let (name, record_type, server, transport, edns) = key;
    let rule = Rule {
        name: Some(String::from_utf8_lossy(name).into_owned()),
        record_type: Some(RecordType::from(*record_type)),
        server: Some(*server),
        transport: Some(*transport),
        edns: *edns,
        delay,
        ..Rule::default()
    };
    match exchange.answer.as_ref().map(|it| &it.what) {
        None => Rule {
            effect: Effect::Timeout,
            ..rule
        },
        Some(Came::Refused) => Rule {
            effect: Effect::Icmp,
            ..rule
        },
        Some(Came::Reset) => Rule {
            effect: Effect::Reset,
            ..rule
        },
        Some(Came::Closed) => Rule {
            effect: Effect::Fin,
            ..rule
        },
        Some(Came::Reply(reply)) => Rule {
            effect: effect(reply),
            soa: reply.soa || !is_negative(reply),
            recursion_available: reply.recursion_available,
            opt: reply.opt || exchange.query.edns.is_none(),
            authentic_data: reply.authentic_data,
            ..rule
        },
    }
}

fn is_negative(reply: &Reply) -> bool {
    let is_error = !matches!(reply.rcode, Rcode::NoError | Rcode::NxDomain);
    !reply.truncated && !is_error && reply.answers.is_empty()
}

fn effect(reply: &Reply) -> Effect {
    if reply.truncated {
        return Effect::Truncated;
    }
    if reply.rcode != Rcode::NoError || reply.answers.is_empty() {
        return Effect::Status(reply.rcode);
    }
    let (mut a, mut aaaa, mut cname) = (Vec::new(), Vec::new(), None);
    for record in &reply.answers {
        match &record.data {
            Data::A(ip) => a.push(*ip),
            Data::Aaaa(ip) => aaaa.push(*ip),
            // The last of a chain has the addresses.
            Data::Cname(target) => cname = Some(target.clone()),
            Data::Other(_) => {}
        }
    }
    Effect::Answer { a, aaaa, cname }
}
