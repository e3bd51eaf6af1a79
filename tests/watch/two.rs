//! Two programs that ask for the same name after each other: two lookups, where the
//! packets tell them apart.

use hickory_proto::rr::RecordType;
use kdns::engine::message::Rcode;
use kdns::watch::Judged;
use kdns::world::{Effect, Rule};

use crate::lab::{FULL, Lab, denied, found, of_type, once, rule};
use crate::wire::Kind;
use crate::{POD, codes};

const MILLISECOND: i64 = 1_000_000;

/// Number of queries of each lookup, in order.
fn sizes(judged: &[Judged]) -> Vec<usize> {
    judged.iter().map(|it| it.lookup.queries()).collect()
}

/// dig asks, then `id` does so long after dig began.
fn after_dig(id: &'static str, name: &str, gap: i64, rules: [&[Rule]; 2]) -> (Lab, usize, usize) {
    let mut lab = Lab::new("dig", POD);
    let start = lab.start;
    lab.lookup(name, rules[0]);
    let first = queries(&lab);
    lab.id = id;
    lab.start = start + gap;
    lab.lookup(name, rules[1]);
    let all = queries(&lab);
    (lab, first, all - first)
}

fn queries(lab: &Lab) -> usize {
    let is_query =
        |it: &&crate::wire::Packet| it.to.port() == 53 && matches!(it.what, Kind::Message(_));
    lab.packets.iter().filter(is_query).count()
}

#[test]
fn dig_and_then_a_program() {
    let fails = [rule(None, Effect::Status(Rcode::ServFail))];
    let all = [
        rule(Some(FULL), found(1)),
        rule(Some("www.example.com"), found(2)),
        denied(),
    ];
    let aaaa = of_type(
        RecordType::AAAA,
        rule(None, Effect::Status(Rcode::ServFail)),
    );
    let some = [vec![aaaa], all.to_vec()].concat();
    for id in [
        "glibc",
        "musl",
        "go",
        "c-ares",
        "c-ares-1.18",
        "hickory",
        "busybox",
    ] {
        for gap in [5, 12, 40, 60, 200] {
            for (name, of_dig, of_program) in [
                ("db", &[denied()][..], &all[..]),
                ("db", &fails[..], &all),
                ("db", &[denied()], &some),
                ("www.example.com.", &fails[..], &all),
                ("www.example.com.", &[denied()], &all),
                ("www.example.com", &[denied()], &all),
            ] {
                let (mut lab, first, second) =
                    after_dig(id, name, gap * MILLISECOND, [of_dig, of_program]);
                let about = format!("{id} {name} {gap} {of_dig:?}");
                let (judged, report) = lab.end();
                assert_eq!(sizes(&judged), [first, second], "{about}");
                assert_eq!(report.lookups, 2);
            }
        }
    }
}

/// A lookup of the same name right behind one whose lost query was asked again.
#[test]
fn after_a_lookup_with_a_loss() {
    for id in ["go", "c-ares", "musl", "glibc"] {
        let mut lab = Lab::new(id, POD);
        let lost = once(of_type(RecordType::A, rule(Some(FULL), Effect::Timeout)));
        lab.lookup("db", &[lost, rule(Some(FULL), found(1))]);
        let first = queries(&lab);
        let end = lab.packets.iter().map(|it| it.time).max().unwrap();
        lab.start = end + 30 * MILLISECOND;
        lab.lookup("db", &[rule(Some(FULL), found(1))]);
        let all = queries(&lab);
        let (judged, _) = lab.end();
        assert_eq!(sizes(&judged), [first, all - first], "{id}");
    }
}

/// A program that tries again after a failure looks up once more: what goes back to the first
/// name says so, or a pause does.
#[test]
fn a_program_that_tries_again() {
    let fails = rule(None, Effect::Status(Rcode::ServFail));
    let searching = ["glibc", "go", "hickory"].map(|it| (it, "db", 50));
    let pausing = ["glibc", "musl", "go", "c-ares", "busybox", "dig"].map(|it| (it, "db.", 2500));
    for (id, name, gap) in searching.into_iter().chain(pausing) {
        let mut lab = Lab::new(id, POD);
        let mut expected = Vec::new();
        for _ in 0..5 {
            let before = queries(&lab);
            lab.start += (gap - 100) * MILLISECOND;
            lab.lookup(name, std::slice::from_ref(&fails));
            expected.push(queries(&lab) - before);
        }
        let (judged, _) = lab.end();
        assert_eq!(sizes(&judged), expected, "{id} {name} {gap}");
    }
}

/// Between a name of the list and the next one a program can wait for a processor: it goes
/// on with its lookup. One that was seen through is over.
#[test]
fn a_program_that_does_not_run_for_seconds() {
    for id in ["glibc", "musl", "go", "c-ares", "hickory", "busybox"] {
        for gap in [900, 1500, 4500] {
            let mut lab = Lab::new(id, POD);
            lab.lookup("db", &[denied()]);
            lab.packets.sort_by_key(|it| it.time);
            let is_last = |it: &crate::wire::Packet| match &it.what {
                Kind::Message(bytes) => bytes[12..16] == *b"\x02db\0",
                _ => false,
            };
            // BusyBox asks for all at once.
            let late = lab
                .packets
                .iter()
                .position(is_last)
                .filter(|_| id != "busybox");
            let late = late.unwrap_or(lab.packets.len());
            for packet in &mut lab.packets[late..] {
                packet.time += gap * MILLISECOND;
            }
            let first = queries(&lab);
            lab.start += (gap + 2000) * MILLISECOND;
            lab.lookup("db", &[denied()]);
            let second = queries(&lab) - first;
            let (judged, report) = lab.end();
            assert_eq!(sizes(&judged), [first, second], "{id} {gap}");
            assert_eq!(codes(&report), [""; 0], "{id} {gap}");
        }
    }
}

/// The second half of a pair can leave after the answer to the first.
#[test]
fn a_program_that_does_not_run_within_a_pair() {
    for gap in [30, 70, 400] {
        let mut lab = Lab::new("glibc", POD);
        lab.lookup("db", &[rule(Some(FULL), found(1)), denied()]);
        for packet in lab.packets.iter_mut().skip(2) {
            packet.time += gap * MILLISECOND;
        }
        let (judged, report) = lab.end();
        assert_eq!(sizes(&judged), [2], "{gap}");
        assert_eq!(codes(&report), [""; 0], "{gap}");
    }
}

/// What nothing tells apart can be either, and that is said.
#[test]
fn two_readings_of_one_name() {
    let fails = rule(None, Effect::Status(Rcode::ServFail));
    let (name, full) = ("www.example.com.", Some("www.example.com"));
    let mut lab = Lab::new("go", POD);
    let start = lab.start;
    lab.lookup(name, std::slice::from_ref(&fails));
    let (judged, _) = lab.end();
    assert!(
        judged[0].second().is_none(),
        "its own second try is planned"
    );
    lab.start = start;
    lab.lookup(name, std::slice::from_ref(&fails));
    lab.start = start + 20 * MILLISECOND;
    lab.lookup(name, &[rule(full, found(2))]);
    let (judged, _) = lab.end();
    let two: Vec<_> = judged.iter().filter_map(Judged::second).collect();
    let times: Vec<i64> = two.iter().map(|it| it.first.time - start).collect();
    assert_eq!((judged.len(), times), (1, vec![20 * MILLISECOND]));
}

/// Who asks for A alone and long after its answer, from another socket, for AAAA alone looks
/// up twice: nothing took so long.
#[test]
fn two_lookups_of_one_type_each() {
    let (name, full) = ("www.example.com.", Some("www.example.com"));
    for (gap, expected) in [(30, vec![2]), (100, vec![1, 1]), (300, vec![1, 1])] {
        let mut lab = Lab::new("glibc", POD);
        let start = lab.start;
        let mut kept = Vec::new();
        for (qtype, after) in [(1, 0), (28, gap)] {
            lab.start = start + after * MILLISECOND;
            lab.lookup(name, &[rule(full, found(1))]);
            let is_kept = |it: &crate::wire::Packet| match &it.what {
                Kind::Message(bytes) => bytes[30] == qtype,
                _ => false,
            };
            kept.extend(lab.packets.drain(..).filter(is_kept));
        }
        lab.packets = kept;
        let (judged, _) = lab.end();
        assert_eq!(sizes(&judged), expected, "{gap}");
        let is_short = |it: &Judged| it.lookup.took() < Some(50 * MILLISECOND);
        assert!(judged.iter().all(is_short), "{gap}");
    }
}

/// What a program that does not run for seconds asks for next, from another socket, another one
/// can have asked for as well: that is said.
#[test]
fn two_readings_of_a_name_that_comes_late() {
    for (gap, expected) in [(30, None), (900, None), (3000, Some(3000))] {
        let mut lab = Lab::new("glibc", POD);
        let start = lab.start;
        for (number, name) in (0..).zip(["db.default.svc.cluster.local.", "db.svc.cluster.local."])
        {
            lab.start = start + number * gap * MILLISECOND;
            lab.lookup(name, &[denied()]);
        }
        let (judged, _) = lab.end();
        assert_eq!(sizes(&judged), [4], "{gap}");
        let second = judged[0].second();
        let second = second.map(|it| (it.first.time - start) / MILLISECOND);
        assert_eq!(second, expected, "{gap}");
    }
}

/// A name that is asked for as it is first is searched for then, by a busy program late, too.
#[test]
fn a_program_that_does_not_run_before_it_searches() {
    for id in ["glibc", "go", "c-ares", "hickory"] {
        for gap in [900, 1500, 4500] {
            let mut lab = Lab::new(id, POD);
            lab.lookup("a.b.c.d.e.f", &[denied()]);
            lab.packets.sort_by_key(|it| it.time);
            let is_searched = |it: &crate::wire::Packet| match &it.what {
                Kind::Message(bytes) => bytes[24] != 0,
                _ => false,
            };
            let late = lab.packets.iter().position(is_searched).unwrap();
            for packet in &mut lab.packets[late..] {
                packet.time += gap * MILLISECOND;
            }
            let all = queries(&lab);
            let (judged, _) = lab.end();
            assert_eq!(sizes(&judged), [all], "{id} {gap}");
        }
    }
}
