//! Random lookups through random faults: those that are found are those that
//! were made.

use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::rr::RecordType;
use kdns::engine::io::Came;
use kdns::engine::message::{Question, Rcode, Transport};
use kdns::resolver::{ALL, usual};
use kdns::scenario::Scenario;
use kdns::watch::{Judged, Setup};
use kdns::world::{Effect, Rule};

use crate::wire::{DELAY, Packet, Wire};
use crate::{POD, codes, of, scenario, watched};

const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 244, 1, 5));
const SECOND: i64 = 1_000_000_000;

fn found(last: u8) -> Effect {
    Effect::Answer {
        a: vec![[10, 100, 0, last].into()],
        aaaa: vec![[0xfd00, 0, 0, 0, 0, 0, 0, u16::from(last)].into()],
        cname: None,
    }
}

fn rule(name: Option<String>, effect: Effect) -> Rule {
    Rule {
        name,
        effect,
        delay: Duration::from_nanos(DELAY.unsigned_abs()),
        ..Rule::default()
    }
}

/// A query as it was made: name, type, server, when.
type Made = (String, u16, IpAddr, i64);

fn made(run: &kdns::simulation::Run, start: i64) -> Vec<Made> {
    let mut made: Vec<Made> = run
        .sent
        .iter()
        .filter_map(|sent| {
            let Question::Asked(name, kind) = &sent.query.question else {
                return None;
            };
            let at = start + i64::try_from(sent.at.as_nanos()).unwrap();
            Some((
                name.to_string(),
                u16::from(*kind),
                sent.query.server.address.reached(),
                at,
            ))
        })
        .collect();
    made.sort();
    made
}

fn seen(judged: &Judged) -> Vec<Made> {
    let exchanges = judged.lookup.exchanges.iter();
    let mut seen: Vec<Made> = exchanges
        .flat_map(|it| {
            it.sent()
                .map(|sent| (it.name.to_string(), it.qtype, it.server.ip(), sent.time))
        })
        .collect();
    seen.sort();
    seen
}

fn seed() -> u64 {
    let given = std::env::var("KDNS_SEED")
        .ok()
        .and_then(|it| it.parse().ok());
    given.unwrap_or(0x5eed_0014)
}

/// Resolvers whose lookups have no more than the search list, and draw no names. Ruby
/// begins again with AAAA when A has ended: what is late there counts as another lookup.
fn is_plain(id: &str) -> bool {
    !id.starts_with("systemd-resolved") && !id.starts_with("ruby")
}

/// One world with faults, many lookups after each other: each is found, query by
/// query.
#[test]
#[expect(
    clippy::too_many_lines,
    clippy::cast_precision_loss,
    reason = "one round after the other; times for people"
)]
fn lookups_are_those_that_were_made() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for round in 0..300_u64 {
        let seed = seed() + round * 0x9e37;
        let mut wire = Wire::new(CLIENT, seed);
        let plain: Vec<&str> = ALL
            .iter()
            .map(|it| it.id)
            // As whatever it is judged, its own order of names is not that of the others.
            .filter(|it| is_plain(it) && (round % 4 < 2 || !it.starts_with("erlang")))
            // Whose lookups are told as they end, by the plans of usual ones if nobody is known.
            .filter(|it| round % 4 != 2 || usual().any(|usual| usual.id == *it))
            .collect();
        let id = plain[usize::try_from(wire.draw(plain.len() as u64)).unwrap()];
        let file = ["", "nameserver 10.96.0.11\n"][usize::try_from(wire.draw(2)).unwrap()];
        let file = format!("{POD}{file}");
        let base = scenario(&file);
        let mut packets: Vec<Packet> = Vec::new();
        let mut truth: Vec<(i64, Vec<Made>)> = Vec::new();
        let mut start = 1_700_000_000 * SECOND;
        for number in 0..12 {
            let name = ["db", "db.prod", "api.example.com", "web-7", "a.b.c.d.e.f"]
                [usize::try_from(wire.draw(5)).unwrap()];
            let name = format!("n{number}{name}");
            let scenario = Scenario {
                name: name.clone(),
                answers: faults(&mut wire, &name),
                ..base.clone()
            };
            let run = of(id).predict(&scenario);
            if run.sent.iter().any(|it| it.query.name().is_none()) {
                continue;
            }
            wire.has_one_id = id.starts_with("glibc");
            packets.extend(wire.lookup(&run, start));
            if !run.sent.is_empty() {
                truth.push((start, made(&run, start)));
            }
            // Others may begin before it has ended.
            start += 200_000_000 + i64::try_from(wire.draw(2_000)).unwrap() * 1_000_000;
        }
        let setup = Setup {
            scenario: Some(base),
            resolver: (round % 4 < 2).then(|| of(id)),
            all: true,
            show: None,
            is_live: round % 2 == 0,
        };
        let (judged, _) = watched(packets, setup, None);
        let mut found: Vec<Vec<Made>> = judged.iter().map(seen).collect();
        found.sort_by_key(|it| it.iter().map(|it| it.3).min());
        truth.sort_by_key(|it| it.0);
        let expected: Vec<Vec<Made>> = truth.into_iter().map(|it| it.1).collect();
        checked += expected.len();
        if found != expected {
            let differs = expected.iter().find(|it| !found.contains(it));
            let instead = found.iter().find(|it| !expected.contains(it));
            let short = |it: Option<&Vec<Made>>| {
                let all = it.into_iter().flatten();
                let each = all.map(|it| {
                    format!(
                        "  {:9.3} {} {} {}",
                        (it.3 - 1_700_000_000 * SECOND) as f64 / 1e9,
                        it.1,
                        it.0,
                        it.2
                    )
                });
                each.collect::<Vec<_>>().join("\n")
            };
            wrong.push(format!(
                "seed {seed} {id} ({round}): made\n{}\nfound\n{}",
                short(differs),
                short(instead)
            ));
        }
    }
    assert!(checked > 2500, "{checked}");
    assert!(
        wrong.is_empty(),
        "{} of 300: {}",
        wrong.len(),
        wrong
            .iter()
            .take(12)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
}

/// What the servers do with the candidates of a name.
fn faults(wire: &mut Wire, name: &str) -> Vec<Rule> {
    let mut rules = Vec::new();
    let suffixes = [
        ".default.svc.cluster.local",
        ".svc.cluster.local",
        ".cluster.local",
        "",
    ];
    let hit = usize::try_from(wire.draw(5)).unwrap();
    for (number, suffix) in suffixes.iter().enumerate() {
        let full = Some(format!("{name}{suffix}"));
        match wire.draw(12) {
            0 => rules.push(Rule {
                up_to: Some(1),
                ..rule(full.clone(), Effect::Timeout)
            }),
            1 => rules.push(rule(full.clone(), Effect::Status(Rcode::ServFail))),
            2 => rules.push(Rule {
                record_type: Some(RecordType::AAAA),
                up_to: Some(1),
                ..rule(full.clone(), Effect::Timeout)
            }),
            3 => rules.push(Rule {
                transport: Some(Transport::Udp),
                ..rule(full.clone(), Effect::Truncated)
            }),
            4 => rules.push(rule(full.clone(), Effect::Status(Rcode::Refused))),
            5 => rules.push(Rule {
                up_to: Some(1),
                ..rule(full.clone(), Effect::Icmp)
            }),
            // Each sending is lost, or not.
            6 => {
                let each = (1..=4).flat_map(|nth| [(nth, RecordType::A), (nth, RecordType::AAAA)]);
                rules.extend(each.filter(|_| wire.draw(3) == 0).map(|(nth, kind)| Rule {
                    record_type: Some(kind),
                    nth: Some(nth),
                    ..rule(full.clone(), Effect::Timeout)
                }));
            }
            _ => {}
        }
        if number == hit {
            rules.push(rule(full, found(u8::try_from(number).unwrap())));
        }
    }
    rules.push(rule(None, Effect::Status(Rcode::NxDomain)));
    rules
}

/// Healthy lookups of every resolver: nothing is found, whether the resolver and
/// its file are given or not.
#[test]
fn healthy_lookups_have_no_finding() {
    for resolver in ALL {
        for is_given in [true, false] {
            let mut wire = Wire::new(CLIENT, seed());
            let base = scenario(POD);
            let mut packets = Vec::new();
            let mut start = 1_700_000_000 * SECOND;
            for number in 0..200 {
                let (name, hit) = match number % 4 {
                    0 => (format!("db{number}"), ".default.svc.cluster.local"),
                    1 => (format!("db{number}.prod"), ".svc.cluster.local"),
                    2 => (format!("api{number}.example.com"), ""),
                    _ => (format!("nobody{number}"), ".nowhere"),
                };
                let scenario = Scenario {
                    name: name.clone(),
                    answers: vec![
                        rule(
                            Some(format!("{name}{hit}")),
                            found(u8::try_from(number % 250).unwrap()),
                        ),
                        rule(None, Effect::Status(Rcode::NxDomain)),
                    ],
                    ..base.clone()
                };
                let run = resolver.predict(&scenario);
                let silent = run
                    .sent
                    .iter()
                    .any(|it| !matches!(it.came, Some(Came::Reply(_))));
                assert!(!silent, "{}: {name}", resolver.id);
                packets.extend(wire.lookup(&run, start));
                start += 30_000_000 + i64::try_from(wire.draw(100)).unwrap() * 1_000_000;
            }
            let setup = Setup {
                scenario: is_given.then(|| base.clone()),
                resolver: is_given.then(|| of(resolver.id)),
                all: false,
                show: None,
                is_live: false,
            };
            let (judged, report) = watched(packets, setup, None);
            assert_eq!(codes(&report), [""; 0], "{} {is_given}", resolver.id);
            assert_eq!(
                report.broken,
                0,
                "{} {is_given}: {:?}",
                resolver.id,
                judged.first()
            );
            assert_eq!(report.unanswered, 0, "{}", resolver.id);
        }
    }
}
