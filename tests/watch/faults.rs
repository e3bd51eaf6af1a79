//! Each fault has its finding, and nothing else has one: queries without an
//! answer.

use hickory_proto::rr::RecordType;
use kdns::engine::message::{Rcode, Transport as Over};
use kdns::node::kernel::ConntrackCounters;
use kdns::packet::{Transport, Unreachable};
use kdns::watch::What;
use kdns::world::{Effect, Rule};

use crate::lab::{FULL, Lab, denied, found, of_type, once, rule};
use crate::wire::{Kind, Packet};
use crate::{POD, codes, is_followed};

fn races(lab: &mut Lab) {
    lab.healthy(20);
    for number in 0..3 {
        let lost = once(of_type(RecordType::AAAA, rule(Some(FULL), Effect::Timeout)));
        lab.lookup(
            &format!("race{number}"),
            &[lost, rule(Some(FULL), found(2))],
        );
    }
}

#[test]
fn a_race_is_the_second_of_a_pair() {
    for id in ["glibc", "musl"] {
        let mut lab = Lab::new(id, POD);
        races(&mut lab);
        let (_, report) = lab.end();
        assert_eq!(codes(&report), ["conntrack-race"], "{id}");
        assert_eq!((report.broken, report.findings[0].count), (3, 3), "{id}");
        assert_eq!(report.unanswered, 3, "{id}");
        races(&mut lab);
        let (_, report) = lab.end_with(Some(ConntrackCounters::default()));
        assert_eq!(codes(&report), ["unanswered"], "{id}");
        races(&mut lab);
        let clash = ConntrackCounters {
            clash_resolve: 7,
            ..ConntrackCounters::default()
        };
        let (_, report) = lab.end_with(Some(clash));
        assert_eq!(codes(&report), ["unanswered"], "{id}");
        races(&mut lab);
        let failed = ConntrackCounters {
            insert_failed: 3,
            ..ConntrackCounters::default()
        };
        let (_, report) = lab.end_with(Some(failed));
        assert_eq!(codes(&report), ["conntrack-race"], "{id}");
    }
    // A risen counter without a loss is healthy.
    let mut lab = Lab::new("glibc", POD);
    lab.healthy(20);
    let risen = ConntrackCounters {
        insert_failed: 1,
        drop: 1,
        clash_resolve: 9,
        early_drop: 0,
    };
    assert_eq!(codes(&lab.end_with(Some(risen)).1), [""; 0]);
}

#[test]
fn losses_everywhere_are_no_race() {
    for id in [
        "glibc",
        "musl",
        "go",
        "c-ares",
        "c-ares-1.18",
        "hickory",
        "dig-search",
    ] {
        let mut lab = Lab::new(id, POD);
        lab.healthy(10);
        for number in 0..12 {
            let kind = if number % 2 == 0 {
                RecordType::A
            } else {
                RecordType::AAAA
            };
            let kind = if id.starts_with("dig") {
                RecordType::A
            } else {
                kind
            };
            let lost = once(of_type(kind, rule(Some(FULL), Effect::Timeout)));
            lab.lookup(
                &format!("lost{number}"),
                &[lost, rule(Some(FULL), found(2))],
            );
        }
        let (judged, report) = lab.end();
        assert_eq!(codes(&report), ["unanswered"], "{id}");
        assert_eq!(report.broken, 12, "{id}");
        assert!(report.unanswered >= 12, "{id} {}", report.unanswered);
        let followed = judged
            .iter()
            .filter(|it| it.plan.as_ref().is_some_and(|it| is_followed(&it.1)))
            .count();
        assert!(
            followed + 2 >= judged.len(),
            "{id}: {followed} of {}",
            judged.len()
        );
    }
}

#[test]
fn servers_that_do_not_answer() {
    for id in [
        "glibc", "musl", "go", "c-ares", "hickory", "busybox", "host",
    ] {
        let mut lab = Lab::new(id, POD);
        lab.lookup("db", &[rule(None, Effect::Timeout)]);
        assert_eq!(codes(&lab.end().1), ["server-silent"], "{id}");
    }
    let mut lab = Lab::new("glibc", POD);
    lab.healthy(3).lookup("db", &[rule(None, Effect::Icmp)]);
    assert_eq!(codes(&lab.end().1), ["server-closed"]);
    lab.healthy(3)
        .lookup("db", &[rule(None, Effect::Status(Rcode::ServFail))]);
    assert_eq!(codes(&lab.end().1), ["server-fails"]);
    lab.healthy(3)
        .lookup("db", &[rule(None, Effect::Status(Rcode::Refused))]);
    assert_eq!(codes(&lab.end().1), ["server-fails"]);
}

/// One finding for all names; and what explains the errors of one server does not
/// explain those of another.
#[test]
fn aaaa_of_many_names() {
    let failed = Effect::Status(Rcode::ServFail);
    let aaaa = of_type(RecordType::AAAA, rule(Some(FULL), failed.clone()));
    let mut lab = Lab::new("glibc", POD);
    for number in 0..200 {
        let name = format!("db{number}");
        lab.lookup(&name, &[aaaa.clone(), rule(Some(FULL), found(1))]);
    }
    let mut other = Lab::new("glibc", "nameserver 10.96.0.11\n");
    other.start = lab.start;
    other.lookup("www.example.com", &[rule(None, failed)]);
    lab.packets.extend(other.packets);
    let (_, report) = lab.end();
    assert_eq!(codes(&report), ["server-fails", "aaaa-fails"]);
    let server = report.findings[0].server.unwrap();
    assert_eq!(server.to_string(), "10.96.0.11:53");
    assert!(report.findings[1].count >= 200, "{:?}", report.findings[1]);
    let name = report.findings[1].name.as_ref().unwrap().to_string();
    assert_eq!(name, "db0.default.svc.cluster.local");
    let What::AaaaFails { rcode, zones } = &report.findings[1].what else {
        panic!("{:?}", report.findings[1]);
    };
    let zones: Vec<(String, u64)> = zones.iter().map(|it| (it.0.to_string(), it.1)).collect();
    assert_eq!(*rcode, Some(2));
    assert_eq!(zones, [("cluster.local".to_owned(), 200)]);
}

#[test]
fn udp_alone_is_silent() {
    let mut lab = Lab::new("glibc", POD);
    let udp = Rule {
        transport: Some(Over::Udp),
        ..rule(None, Effect::Timeout)
    };
    lab.lookup("db", std::slice::from_ref(&udp));
    let mut by_tcp = Lab::new("glibc", "nameserver 10.96.0.10\noptions use-vc\n");
    by_tcp.start = lab.start;
    by_tcp.lookup("db", &[udp, rule(None, found(1))]);
    lab.packets.extend(by_tcp.packets);
    assert_eq!(codes(&lab.end().1), ["udp-silent"]);
}

#[test]
fn truncated_answers() {
    let truncated = Rule {
        transport: Some(Over::Udp),
        ..rule(Some(FULL), Effect::Truncated)
    };
    for (id, expected) in [
        ("glibc", None),
        ("musl", None),
        ("go", None),
        ("c-ares", None),
        ("busybox", Some("truncated-no-tcp")),
        ("musl-1.2.3", Some("truncated-no-tcp")),
    ] {
        let mut lab = Lab::new(id, POD);
        lab.lookup(
            "db",
            &[truncated.clone(), rule(Some(FULL), found(1)), denied()],
        );
        let (_, report) = lab.end();
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(codes(&report), expected, "{id}");
    }
    // The server takes no connection.
    let mut lab = Lab::new("glibc", POD);
    lab.lookup("db", &[truncated, rule(Some(FULL), found(1)), denied()]);
    let is_tcp = |it: &Packet| matches!(it.transport, Transport::Tcp(_));
    for packet in &mut lab.packets {
        if matches!(packet.what, Kind::Connected) {
            packet.what = Kind::Reset;
        }
    }
    lab.packets
        .retain(|it| !is_tcp(it) || !matches!(it.what, Kind::Message(_)));
    let packets = lab.packets.clone();
    assert_eq!(codes(&lab.end().1), ["tcp-refused"]);
    // The second answer of the pair comes when the connection was refused already.
    let mut lab = Lab::new("glibc", POD);
    lab.packets = packets;
    let is_reply = |it: &Packet| it.from.port() == 53 && matches!(it.what, Kind::Message(_));
    let second = lab.packets.iter().rposition(is_reply).unwrap();
    let mut late = lab.packets.remove(second);
    late.time += 1_000_000;
    lab.packets.push(late);
    assert_eq!(codes(&lab.end().1), ["tcp-refused"]);
}

/// The server ends the connection without an answer, or the client does.
#[test]
fn who_ends_a_connection() {
    let truncated = Rule {
        transport: Some(Over::Udp),
        ..rule(Some(FULL), Effect::Truncated)
    };
    for end in [Effect::Fin, Effect::Reset] {
        let mut lab = Lab::new("musl", POD);
        let ended = rule(Some(FULL), end);
        lab.lookup("db", &[truncated.clone(), ended, denied()]);
        let ended = lab.packets.clone();
        let of_server = codes(&lab.end().1);
        assert!(of_server.contains(&"tcp-closed"), "{of_server:?}");
        // The client goes first.
        let ends = ended.iter().filter(|it| matches!(it.what, Kind::Reset));
        let left = ends.map(|it| Packet {
            time: it.time - 1,
            from: it.to,
            to: it.from,
            what: Kind::Closed,
            ..it.clone()
        });
        lab.packets = left.chain(ended.clone()).collect();
        let of_client = codes(&lab.end().1);
        assert!(!of_client.contains(&"tcp-closed"), "{of_client:?}");
        assert!(of_client.contains(&"unanswered"), "{of_client:?}");
    }
}

/// What ends a connection, or an ICMP error, is about older lookups of a port, too.
#[test]
fn several_lookups_of_one_port() {
    for (is_tcp, file) in [
        (true, "nameserver 10.96.0.10\noptions attempts:1 use-vc\n"),
        (false, "nameserver 10.96.0.10\noptions attempts:1\n"),
    ] {
        let mut lab = Lab::new("glibc", file);
        for name in ["a.example", "b.example", "c.example"] {
            lab.lookup(name, &[rule(None, Effect::Timeout)]);
        }
        let of_client = |it: &Packet| it.to.port() == 53 && matches!(it.what, Kind::Message(_));
        lab.packets.retain(of_client);
        let first = lab.packets[0].clone();
        for (number, packet) in (0..).zip(&mut lab.packets) {
            packet.time = first.time + number * 1_000_000;
            (packet.from, packet.transport) = (first.from, first.transport);
        }
        assert_eq!(lab.packets.len(), 6);
        let errors = lab.packets.iter().map(|it| Packet {
            time: it.time + 600_000_000,
            from: first.to,
            to: first.from,
            what: match &it.what {
                Kind::Message(bytes) if !is_tcp => {
                    Kind::Unreachable(Unreachable::Port, bytes.clone())
                }
                _ => Kind::Closed,
            },
            ..first.clone()
        });
        let errors: Vec<Packet> = errors.take(if is_tcp { 1 } else { 6 }).collect();
        lab.packets.extend(errors);
        let (judged, report) = lab.end();
        assert_eq!(judged.len(), 3);
        assert_eq!(report.unanswered, 0);
        let expected = if is_tcp {
            "tcp-closed"
        } else {
            "server-closed"
        };
        assert_eq!(codes(&report), [expected]);
        let packets = &report.findings[0].packets;
        assert!(packets.windows(2).all(|it| it[0] < it[1]), "{packets:?}");
    }
}

#[test]
fn a_query_that_comes_back() {
    let mut lab = Lab::new("dig", "nameserver 127.0.1.1\n");
    lab.wire.client = [127, 0, 0, 1].into();
    lab.lookup("one-query.example.org", &[rule(None, Effect::Timeout)]);
    lab.packets.truncate(1);
    for number in 1..3 {
        let mut again = lab.packets[0].clone();
        again.time += number * 150_000;
        again.from.set_port(50_000 + u16::try_from(number).unwrap());
        if let Kind::Message(bytes) = &mut again.what {
            bytes[0] ^= u8::try_from(number).unwrap();
        }
        lab.packets.push(again);
    }
    // The same again before the resolver would have given up: what asked again is in
    // the lookups that began before.
    let begun = lab.packets.clone();
    for (number, packet) in (0..).zip(begun) {
        let mut again = packet;
        again.time += 3_000_000_000;
        again.from.set_port(51_000 + number);
        lab.packets.push(again);
    }
    assert_eq!(codes(&lab.end().1), ["loop"]);
}
