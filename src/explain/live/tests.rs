//! Lookups as they could go, beside their plans.

use super::*;
use crate::engine::message::{Data, Record};
use crate::explain::transition::run_when;
use crate::name::Name;
use crate::resolver;
use crate::scenario::{self, Family, Scenario};
use crate::simulation::run;
use crate::world::{Effect, Rule, World};

const FILE: &str = "nameserver 10.0.0.1\nnameserver 10.0.0.2\nsearch one.test two.test\noptions timeout:1 attempts:2\n";

fn scenario() -> Scenario {
    let mut scenario = Scenario::new("live", "db");
    scenario.lookup = scenario::Lookup::Addresses(Family::Inet);
    scenario.resolv_conf = Some(scenario::file("/etc/resolv.conf", FILE));
    scenario
}

fn rule(server: Option<u8>, name: &str, effect: Effect) -> Rule {
    Rule {
        server: server.map(|last| [10, 0, 0, last].into()),
        name: Some(name.to_owned()),
        effect,
        delay: Duration::from_millis(3),
        ..Rule::default()
    }
}

fn answer(effect: &Effect) -> bool {
    matches!(effect, Effect::Answer { .. })
}

/// The lookup that these rules would make on the wire.
fn played(id: &str, rules: &[Rule]) -> Played {
    let resolver = resolver::find(id).unwrap();
    let scenario = scenario();
    // Everything takes as long.
    let rules = [rules, &[rule(None, "*", Effect::Status(Rcode::NxDomain))]].concat();
    let run = run(resolver.machine(&scenario), &mut World::new(&rules));
    let exchanges = run.sent.into_iter().map(|sent| Exchange {
        answer: sent.came.map(|what| Answer {
            after: Duration::from_millis(3),
            rcode: match &what {
                Came::Reply(reply) => reply.rcode as u16,
                _ => 0,
            },
            what,
            why: None,
            extended_errors: Vec::new(),
        }),
        query: sent.query,
        at: sent.at,
        wrong: None,
        unsent: None,
    });
    Played {
        resolver,
        exchanges: exchanges.collect(),
        unconnected: Vec::new(),
        strays: Vec::new(),
        more_strays: 0,
        outcome: run.outcome,
        elapsed: run.elapsed,
        notes: run.notes,
        cut: None,
    }
}

fn compare(id: &str, rules: &[Rule]) -> Comparison {
    let resolver = resolver::find(id).unwrap();
    let plan = run_when(&scenario(), resolver, &[]);
    Comparison::with_plan(&played(id, rules), &plan)
}

fn found() -> Effect {
    Effect::Answer {
        a: vec![[192, 0, 2, 1].into()],
        aaaa: Vec::new(),
        cname: None,
    }
}

#[test]
fn departures_are_what_followed() {
    let again = |server: Option<u8>, over_tcp| Then::Again {
        server: server.map(|last| std::net::IpAddr::from([10, 0, 0, last]).into()),
        over_tcp,
        without_edns: false,
    };
    let fails = || Effect::Status(Rcode::ServFail);
    let check = |id, rules: &[Rule], expected: &[(usize, Then)], stop: Option<(usize, usize)>| {
        let comparison = compare(id, rules);
        let departures = comparison.departures.iter();
        let seen: Vec<(usize, Then)> = departures
            .map(|it| (it.exchange, it.then.clone()))
            .collect();
        assert_eq!(seen, expected, "{id} {rules:?}");
        let seen = comparison.stop.map(|it| (it.exchange, it.unasked));
        assert_eq!(seen, stop, "{id} {rules:?}");
    };
    check("glibc", &[], &[], None);
    check(
        "glibc",
        &[rule(None, "db.two.test", found())],
        &[],
        Some((1, 1)),
    );
    check(
        "glibc",
        &[rule(Some(1), "*", fails())],
        &[
            (0, again(Some(2), false)),
            (2, again(Some(2), false)),
            (4, again(Some(2), false)),
        ],
        None,
    );
    check(
        "glibc",
        &[Rule {
            transport: Some(Transport::Udp),
            ..rule(None, "db.one.test", Effect::Truncated)
        }],
        &[(0, again(None, true))],
        None,
    );
    let silent = &[rule(Some(1), "db.one.test", Effect::Timeout)];
    check("glibc", silent, &[(0, again(Some(2), false))], None);
    let waited = compare("glibc", silent).departures[0].waited;
    assert_eq!(waited, Some(Duration::from_secs(1)));
}

/// A query's time is from its own sending on, whoever asked before.
#[test]
fn each_query_has_a_time_of_its_own() {
    let waits = |id, rules: &[Rule]| {
        let played = played(id, rules);
        let waits = played.exchanges.iter().map(|it| played.silence(it));
        waits.collect::<Vec<Option<Silence>>>()
    };
    let second = Some(Silence::Waited(Duration::from_secs(1)));
    // Two servers, twice; then the next name.
    let silent = &[rule(None, "db.one.test", Effect::Timeout)];
    let found = waits("glibc", silent);
    let unanswered: Vec<_> = found.iter().filter(|it| it.is_some()).collect();
    assert!(unanswered.len() >= 4, "{found:?}");
    assert_eq!(unanswered[0], &second, "{found:?}");
    for id in ["glibc", "musl", "go"] {
        for wait in waits(id, &[rule(None, "*", Effect::Timeout)]) {
            let Some(Silence::Waited(wait)) = wait else {
                panic!("{id}: {wait:?}");
            };
            assert!(wait <= Duration::from_secs(2), "{id}: {wait:?}");
        }
    }
}

/// The answer to one query ends the lookup while another one is under way.
#[test]
fn what_is_not_waited_for_is_no_silence() {
    let mut played = played("glibc", &[rule(None, "db.one.test", found())]);
    let mut other = played.exchanges[0].clone();
    other.answer = None;
    other.query.question = played.exchanges[0].query.question.clone();
    let after = Duration::from_millis(300);
    played.exchanges[0].answer.as_mut().unwrap().after = after;
    played.elapsed = after;
    other.query.question = crate::engine::message::Question::Asked(
        Name::from_plain(b"db.one.test").unwrap(),
        hickory_proto::rr::RecordType::AAAA,
    );
    played.exchanges.push(other);
    let last = played.exchanges.last().unwrap();
    assert_eq!(played.silence(last), Some(Silence::NotWaitedFor));
    played.cut = Some(Cut::Interrupt);
    let last = played.exchanges.last().unwrap();
    assert_eq!(played.silence(last), Some(Silence::Waited(after)));
}

#[test]
fn a_lookup_is_replayed_by_its_rules() {
    let worlds: &[&[Rule]] = &[
        &[],
        &[rule(None, "db.two.test", found())],
        &[rule(Some(1), "*", Effect::Status(Rcode::Refused))],
        &[rule(Some(1), "*", Effect::Icmp), rule(None, "db", found())],
        &[rule(Some(1), "*", Effect::Timeout)],
        &[
            Rule {
                up_to: Some(1),
                ..rule(None, "db.one.test", Effect::Timeout)
            },
            rule(None, "db.one.test", found()),
        ],
    ];
    for rules in worlds {
        for resolver in resolver::ALL {
            let played = played(resolver.id, rules);
            let replay = replay::replay(&scenario(), std::slice::from_ref(&played));
            assert_eq!(replay.scenarios.len(), 1);
            assert!(replay.unlike.is_empty(), "{} {rules:?}", resolver.id);
        }
    }
}

#[test]
fn servers_that_contradict_themselves_make_a_scenario_for_each() {
    let one = played("glibc", &[rule(None, "db.one.test", found())]);
    let same = played("musl", &[rule(Some(1), "db.one.test", found())]);
    let other = played("musl", &[]);
    let replay = |both: &[Played]| {
        let replay = replay::replay(&scenario(), both);
        assert!(replay.unlike.is_empty());
        let answers = replay.scenarios.iter().map(|it| it.answers.iter());
        let found = answers.map(|mut it| it.any(|rule| answer(&rule.effect)));
        found.collect::<Vec<bool>>()
    };
    assert_eq!(replay(&[one.clone(), same]), [true]);
    assert_eq!(replay(&[one, other]), [true, false]);
}

/// What rules cannot say is noticed, not supposed.
#[test]
fn a_replay_that_differs_is_told() {
    let mut strange = played("glibc-res_search", &[]);
    let mx = Reply {
        rcode: Rcode::NoError,
        answers: vec![Record {
            name: Name::from_plain(b"db.one.test").unwrap(),
            data: Data::Other(hickory_proto::rr::RecordType::MX),
        }],
        soa: false,
        opt: false,
        truncated: false,
        authoritative: false,
        recursion_available: true,
        authentic_data: false,
    };
    strange.exchanges.truncate(1);
    strange.exchanges[0].answer.as_mut().unwrap().what = Came::Reply(mx);
    strange.outcome = Outcome::Found(Vec::new());
    let replay = replay::replay(&scenario(), &[strange]);
    assert_eq!(replay.unlike.len(), 1);
}
