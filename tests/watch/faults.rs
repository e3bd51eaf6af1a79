//! Each fault has its finding, and nothing else has one.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use hickory_proto::rr::RecordType;
use kdns::engine::message::{Rcode, Transport as Over};
use kdns::packet::Transport;
use kdns::scenario::Scenario;
use kdns::watch::{Conntrack, Judged, Report, Setup};
use kdns::world::{Effect, Rule};

use crate::wire::{DELAY, Kind, Packet, Wire};
use crate::{POD, codes, of, scenario, watched};

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 244, 1, 5));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 96, 0, 10));
const SECOND: i64 = 1_000_000_000;

/// Lookups of a pod, one after the other.
struct Lab {
    id: &'static str,
    file: &'static str,
    wire: Wire,
    start: i64,
    packets: Vec<Packet>,
}

impl Lab {
    fn new(id: &'static str, file: &'static str) -> Self {
        Self {
            id,
            file,
            wire: Wire::new(CLIENT, 0x1234_5678),
            start: 1_700_000_000 * SECOND,
            packets: Vec::new(),
        }
    }

    /// Looks up a name in a world.
    fn lookup(&mut self, name: &str, rules: &[Rule]) -> &mut Self {
        let scenario = Scenario {
            name: name.to_owned(),
            answers: rules.to_vec(),
            ..scenario(self.file)
        };
        let run = of(self.id).predict(&scenario);
        self.packets.extend(self.wire.lookup(&run, self.start));
        self.start += 100_000_000 + i64::try_from(run.elapsed.as_nanos()).unwrap();
        self
    }

    /// Names that are found at once.
    fn healthy(&mut self, count: usize) -> &mut Self {
        for number in 0..count {
            let name = format!("db{number}");
            let full = format!("{name}.default.svc.cluster.local");
            self.lookup(&name, &[rule(Some(&full), found(1)), denied()]);
        }
        self
    }

    fn end(&mut self) -> (Vec<Judged>, Report) {
        self.end_with(None)
    }

    fn end_with(&mut self, conntrack: Option<Conntrack>) -> (Vec<Judged>, Report) {
        let setup = Setup {
            scenario: Some(scenario(self.file)),
            resolver: Some(of(self.id)),
            all: true,
            show: None,
        };
        watched(std::mem::take(&mut self.packets), setup, conntrack)
    }
}

fn found(last: u8) -> Effect {
    Effect::Answer {
        a: vec![[10, 100, 0, last].into()],
        aaaa: vec![[0xfd00, 0, 0, 0, 0, 0, 0, u16::from(last)].into()],
        cname: None,
    }
}

fn rule(name: Option<&str>, effect: Effect) -> Rule {
    Rule {
        name: name.map(str::to_owned),
        effect,
        delay: Duration::from_nanos(DELAY.unsigned_abs()),
        ..Rule::default()
    }
}

fn denied() -> Rule {
    rule(None, Effect::Status(Rcode::NxDomain))
}

fn of_type(record_type: RecordType, rule: Rule) -> Rule {
    Rule {
        record_type: Some(record_type),
        ..rule
    }
}

fn once(rule: Rule) -> Rule {
    Rule {
        up_to: Some(1),
        ..rule
    }
}

const FULL: &str = "*.default.svc.cluster.local";

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
        let (_, report) = lab.end_with(Some(Conntrack::default()));
        assert_eq!(codes(&report), ["unanswered"], "{id}");
        races(&mut lab);
        let clash = Conntrack {
            clash_resolve: 7,
            ..Conntrack::default()
        };
        let (_, report) = lab.end_with(Some(clash));
        assert_eq!(codes(&report), ["unanswered"], "{id}");
        races(&mut lab);
        let failed = Conntrack {
            insert_failed: 3,
            ..Conntrack::default()
        };
        let (_, report) = lab.end_with(Some(failed));
        assert_eq!(codes(&report), ["conntrack-race"], "{id}");
    }
    // A risen counter without a loss is healthy.
    let mut lab = Lab::new("glibc", POD);
    lab.healthy(20);
    let risen = Conntrack {
        insert_failed: 1,
        drop: 1,
        clash_resolve: 9,
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
            .filter(|it| it.plan.as_ref().is_some_and(|it| it.1.is_followed()))
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
    let aaaa = of_type(
        RecordType::AAAA,
        rule(Some(FULL), Effect::Status(Rcode::ServFail)),
    );
    for number in 0..3 {
        lab.lookup(
            &format!("db{number}"),
            &[aaaa.clone(), rule(Some(FULL), found(1))],
        );
    }
    let (_, report) = lab.end();
    assert!(
        codes(&report).iter().all(|it| *it == "aaaa-fails"),
        "{:?}",
        codes(&report)
    );
    assert_eq!(report.findings.len(), 3);
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
    assert_eq!(codes(&lab.end().1), ["tcp-refused"]);
}

#[test]
fn names_and_search_lists() {
    let mut lab = Lab::new("glibc", POD);
    let names = ["www.example.com", "api.example.org", "cdn.example.net"];
    for name in names {
        lab.lookup(name, &[rule(Some(FULL), found(9)), denied()]);
    }
    assert_eq!(codes(&lab.end().1), ["wildcard"]);
    for number in 0..20 {
        let name = format!("api{number}.example.com");
        lab.lookup(&name, &[rule(Some(&name), found(1)), denied()]);
    }
    let (_, report) = lab.end();
    assert_eq!(codes(&report), ["search-waste"]);
    assert_eq!(report.findings[0].count, 120);
    let changes: Vec<String> = report
        .advice
        .iter()
        .map(|it| format!("{:?}", it.change))
        .collect();
    assert!(changes.iter().any(|it| it == "Ndots(1)"), "{changes:?}");
    assert!(
        changes.iter().any(|it| it.starts_with("FinalDot")),
        "{changes:?}"
    );
    let ndots = report.advice.iter().find(|it| it.queries_saved == 120);
    assert!(ndots.is_some_and(|it| it.breaks.is_empty() && it.unknown.is_empty()));
    for number in 0..200 {
        let _ = number;
        lab.lookup("db", &[rule(Some(FULL), found(1)), denied()]);
    }
    assert_eq!(codes(&lab.end().1), ["no-cache"]);
    lab.healthy(5).lookup("printer.local", &[denied()]);
    assert_eq!(codes(&lab.end().1), ["mdns-leak"]);
}

#[test]
fn advice_names_what_it_breaks() {
    let mut lab = Lab::new("glibc", POD);
    for number in 0..30 {
        let name = format!("api{number}.example.com");
        lab.lookup(&name, &[rule(Some(&name), found(1)), denied()]);
    }
    // Nobody has asked for it as it is: what then comes is not known.
    lab.lookup(
        "db.prod",
        &[rule(Some("db.prod.svc.cluster.local"), found(3)), denied()],
    );
    let (_, report) = lab.end();
    let ndots = report
        .advice
        .iter()
        .find(|it| format!("{:?}", it.change) == "Ndots(1)")
        .unwrap();
    let unknown: Vec<String> = ndots.unknown.iter().map(ToString::to_string).collect();
    assert_eq!(unknown, ["db.prod"]);
}

#[test]
fn servers_that_disagree() {
    let file = "nameserver 10.96.0.10\nnameserver 10.96.0.11\nsearch default.svc.cluster.local\noptions ndots:5\n";
    let mut lab = Lab::new("musl", file);
    let one = Rule {
        server: Some(SERVER),
        ..denied()
    };
    lab.lookup("db", &[one, rule(Some(FULL), found(1)), denied()]);
    assert_eq!(codes(&lab.end().1), ["servers-disagree"]);
}

#[test]
fn slow_servers_and_zones() {
    let slower = |lab: &mut Lab, by: i64, only: &str| {
        for packet in &mut lab.packets {
            let Kind::Message(bytes) = &packet.what else {
                continue;
            };
            let is_its = only.is_empty()
                || bytes
                    .windows(only.len().max(1))
                    .any(|it| it == only.as_bytes());
            if packet.from.ip() == SERVER && is_its {
                packet.time += by;
            }
        }
    };
    let mut lab = Lab::new("glibc", POD);
    lab.healthy(20);
    slower(&mut lab, 400_000_000, "");
    assert_eq!(codes(&lab.end().1), ["slow-server"]);
    lab.healthy(20);
    for number in 0..8 {
        let name = format!("x{number}.slow.example.");
        lab.lookup(&name, &[rule(None, found(1))]);
    }
    slower(&mut lab, 400_000_000, "slow");
    assert_eq!(codes(&lab.end().1), ["slow-zone"]);
}

#[test]
fn answers_from_elsewhere_and_twice() {
    let mut lab = Lab::new("glibc", POD);
    lab.healthy(3);
    for packet in &mut lab.packets {
        if packet.from.ip() == SERVER {
            packet.from.set_ip([10, 244, 0, 7].into());
        }
    }
    assert_eq!(codes(&lab.end().1), ["wrong-source"]);
    lab.healthy(3);
    let mut twice: Vec<Packet> = lab
        .packets
        .iter()
        .filter(|it| it.from.ip() == SERVER)
        .cloned()
        .collect();
    for packet in &mut twice {
        packet.time += 5_000;
    }
    lab.packets.extend(twice);
    assert_eq!(codes(&lab.end().1), ["duplicates"]);
}

/// One query on several interfaces of a node, before and behind NAT.
#[test]
fn translated_packets_are_the_same() {
    let mut lab = Lab::new("glibc", POD);
    lab.healthy(10);
    let backend: IpAddr = [10, 244, 0, 7].into();
    let copies: Vec<Packet> = lab
        .packets
        .iter()
        .map(|packet| {
            let mut copy = packet.clone();
            let (is_query, shift) = (packet.to.ip() == SERVER, 20_000);
            if is_query {
                copy.to.set_ip(backend);
            } else {
                copy.from.set_ip(backend);
            }
            copy.time += if is_query { shift } else { -shift };
            copy.interface = 2;
            copy
        })
        .collect();
    lab.packets.extend(copies);
    let (_, report) = lab.end();
    assert_eq!(codes(&report), [""; 0]);
    assert_eq!((report.lookups, report.queries), (10, 20));
    assert_eq!(report.strays.translated, 20);
}

/// Sockets that are balanced, and a mesh's proxy: another server, and no fault.
#[test]
fn other_servers_than_the_files() {
    for (server, port) in [([10, 244, 0, 7], 53), ([127, 0, 0, 1], 15053)] {
        let mut lab = Lab::new("glibc", POD);
        lab.healthy(10);
        for packet in &mut lab.packets {
            for side in [&mut packet.from, &mut packet.to] {
                if side.ip() == SERVER {
                    *side = (server, port).into();
                }
            }
        }
        let (judged, report) = lab.end();
        assert_eq!(codes(&report), [""; 0]);
        assert!(report.servers[0].role.is_some());
        let followed = judged
            .iter()
            .filter(|it| it.plan.as_ref().is_some_and(|it| it.1.is_followed()));
        assert_eq!(followed.count(), 10);
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
    assert_eq!(codes(&lab.end().1), ["loop"]);
}

/// A capture that is cut anywhere says nothing wrong.
#[test]
fn a_healthy_capture_cut_anywhere() {
    let mut lab = Lab::new("glibc", POD);
    lab.healthy(4);
    for number in 0..4 {
        let name = format!("api{number}.example.com");
        lab.lookup(&name, &[rule(Some(&name), found(1)), denied()]);
    }
    let mut packets = lab.packets.clone();
    packets.sort_by_key(|it| it.time);
    for from in (0..packets.len()).step_by(3) {
        for to in from..packets.len() {
            let setup = Setup {
                scenario: Some(scenario(POD)),
                resolver: Some(of("glibc")),
                ..Setup::default()
            };
            let part = packets[from..to].to_vec();
            let mut watch = kdns::watch::Watch::new(setup);
            for (number, packet) in (1..).zip(&part) {
                watch.push(&packet.seen(number));
            }
            let report = watch.end(&kdns::watch::End::default());
            assert_eq!(codes(&report), [""; 0], "{from} {to}");
        }
    }
}
