//! When lookups are told, while packets come.

use hickory_proto::rr::RecordType;
use kdns::engine::message::Rcode;
use kdns::watch::{Setup, Watch};
use kdns::world::Effect;

use crate::lab::{FULL, Lab, SECOND, denied, found, of_type, once, rule};
use crate::{POD, of, scenario, watched};

/// A lookup that broke is told when it is over, also while it is not known whose it is: by the
/// model that fits best so far.
#[test]
fn a_lookup_is_told_before_it_is_known_whose_it_is() {
    for is_live in [true, false] {
        let mut lab = Lab::new("musl", POD);
        lab.healthy(2);
        let fails = rule(None, Effect::Status(Rcode::ServFail));
        lab.lookup("broken", &[fails]).healthy(500);
        lab.packets.sort_by_key(|it| it.time);
        let mut watch = Watch::new(Setup {
            scenario: Some(scenario(POD)),
            is_live,
            ..Setup::default()
        });
        let mut told = Vec::new();
        for (number, packet) in (1..).zip(&lab.packets) {
            watch.push(&packet.seen(number));
            told.extend(watch.take_judged().into_iter().map(|it| (number, it)));
        }
        assert_eq!(told.len(), 1);
        let (number, judged) = &told[0];
        let is_told_soon = *number < lab.packets.len() as u64 / 2;
        assert_eq!(is_told_soon, is_live, "{number}");
        assert!(judged.plan.is_some());
    }
}

/// Live, a lookup in which all went wrong is told when its resolver has given up, and not as
/// late as any could have waited.
#[test]
fn a_lookup_is_told_when_its_resolver_gives_up() {
    for id in ["glibc", "musl", "go", "c-ares", "dig"] {
        for (effect, is_known) in [
            (Effect::Timeout, true),
            (Effect::Timeout, false),
            (Effect::Status(Rcode::ServFail), true),
            (Effect::Status(Rcode::ServFail), false),
        ] {
            let mut lab = Lab::new(id, POD);
            let begun = lab.start;
            lab.lookup("db", &[rule(None, effect.clone())]);
            let given_up = lab.start - SECOND / 10;
            let mut watch = Watch::new(Setup {
                scenario: Some(scenario(POD)),
                resolver: is_known.then(|| of(id)),
                is_live: true,
                ..Setup::default()
            });
            lab.packets.sort_by_key(|it| it.time);
            let mut packets = (1..).zip(&lab.packets).peekable();
            let mut now = begun;
            let told = loop {
                while let Some((number, packet)) = packets.next_if(|it| it.1.time <= now) {
                    watch.push(&packet.seen(number));
                }
                watch.tick(now);
                if let Some(told) = watch.take_judged().pop() {
                    break told;
                }
                now += SECOND / 4;
            };
            let about = format!(
                "{id} {effect:?} {is_known}: {}",
                (now - given_up) / 1_000_000
            );
            assert_eq!(
                told.lookup.queries(),
                lab.packets.len() / if effect == Effect::Timeout { 1 } else { 2 },
                "{about}"
            );
            assert!((0..3 * SECOND).contains(&(now - given_up)), "{about}");
        }
    }
}

/// A lookup of which a half was lost and asked for again is told when it is over, and not as late
/// as its resolver could have waited.
#[test]
fn a_lookup_is_told_when_it_is_over() {
    let mut lab = Lab::new("glibc", POD);
    let lost = once(of_type(RecordType::AAAA, rule(Some(FULL), Effect::Timeout)));
    lab.lookup("db", &[lost, rule(Some(FULL), found(1)), denied()]);
    lab.packets.sort_by_key(|it| it.time);
    let mut watch = Watch::new(Setup {
        scenario: Some(scenario(POD)),
        resolver: Some(of("glibc")),
        ..Setup::default()
    });
    for (number, packet) in (1..).zip(&lab.packets) {
        watch.push(&packet.seen(number));
    }
    let last = lab.packets.last().unwrap().time;
    assert!(watch.take_judged().is_empty());
    watch.tick(last + SECOND + SECOND / 5);
    let told = watch.take_judged();
    assert_eq!(told.len(), 1);
    assert!(!told[0].faults.is_empty());
}

/// Live, a program whose resolver is known by what it sent, and that looks up again right after
/// its resolver gave up, has as many lookups.
#[test]
fn lookups_that_nobody_answers_are_told_apart() {
    let mut lab = Lab::new("glibc", POD);
    lab.healthy(60);
    for _ in 0..4 {
        lab.start += 2 * SECOND;
        lab.lookup("www.example.com.", &[rule(None, Effect::Timeout)]);
    }
    lab.start += 30 * SECOND;
    lab.healthy(1);
    let setup = Setup {
        scenario: Some(scenario(POD)),
        is_live: true,
        ..Setup::default()
    };
    let (judged, report) = watched(lab.packets, setup, None);
    assert_eq!(report.lookups, 65);
    let sizes: Vec<usize> = judged.iter().map(|it| it.lookup.queries()).collect();
    assert_eq!(sizes, [4; 4]);
}

/// A model that would have asked once more, and did not, no longer keeps a lookup open.
#[test]
fn a_model_that_would_have_asked_again_is_not_waited_for() {
    let mut lab = Lab::new("glibc", POD);
    lab.lookup("www.example.com.", &[rule(None, Effect::Timeout)]);
    let given_up = lab.start - SECOND / 10;
    let mut watch = Watch::new(Setup {
        scenario: Some(scenario(POD)),
        is_live: true,
        ..Setup::default()
    });
    lab.packets.sort_by_key(|it| it.time);
    let mut now = lab.packets[0].time;
    for (number, packet) in (1..).zip(&lab.packets) {
        watch.push(&packet.seen(number));
    }
    while watch.take_judged().is_empty() {
        watch.tick(now);
        now += SECOND / 4;
    }
    assert!(now - given_up < 8 * SECOND, "{}", (now - given_up) / SECOND);
}
