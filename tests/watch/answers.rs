//! Each fault has its finding, and nothing else has one: answers, names and what
//! is no fault.

use std::net::IpAddr;

use hickory_proto::rr::RecordType;
use kdns::engine::message::Rcode;
use kdns::watch::{End, Finding, Setup, Watch, What};
use kdns::world::{Effect, Rule};

use crate::lab::{FULL, Lab, SERVER, denied, found, of_type, once, rule};
use crate::wire::{Kind, Packet};
use crate::{POD, codes, is_followed, of, scenario};

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
    // Without a dot after the search list it is no leak, and without trying it it is.
    lab.healthy(5).lookup("printer", &[denied()]);
    assert_eq!(codes(&lab.end().1), [""; 0]);
    lab.healthy(5).lookup("printer.", &[denied()]);
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
fn an_error_is_of_the_server_that_says_it() {
    let nothing = Effect::Answer {
        a: Vec::new(),
        aaaa: Vec::new(),
        cname: None,
    };
    let [denied, failed, refused] =
        [Rcode::NxDomain, Rcode::ServFail, Rcode::Refused].map(Effect::Status);
    let fails = |it: &Finding| match it.what {
        What::AaaaFails { rcode, .. } => Some((it.server?.ip().to_string(), rcode?)),
        _ => None,
    };
    for (one, other, expected) in [
        (nothing, denied, &[("10.96.0.11", 3)][..]),
        (failed, refused, &[("10.96.0.10", 2), ("10.96.0.11", 5)]),
    ] {
        let mut labs = ["nameserver 10.96.0.10\n", "nameserver 10.96.0.11\n"]
            .map(|file| Lab::new("glibc", file));
        for (lab, effect) in labs.iter_mut().zip([one, other]) {
            let aaaa = of_type(RecordType::AAAA, rule(None, effect));
            lab.lookup("db.example.org", &[aaaa, rule(None, found(1))]);
        }
        let [mut lab, other] = labs;
        let later = other.packets.into_iter().map(|it| Packet {
            time: it.time + 60_000_000_000,
            ..it
        });
        lab.packets.extend(later);
        let report = lab.end().1;
        let mut found: Vec<(String, u8)> = report.findings.iter().filter_map(fails).collect();
        found.sort();
        let expected = expected.iter().map(|it| (it.0.to_owned(), it.1));
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
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

/// Names that belong below the search domain may share an address: Services, pods of
/// the node's network, hosts behind one proxy.
#[test]
fn names_that_belong_there_are_no_wildcard() {
    const CORP: &str = "nameserver 10.96.0.10\nsearch corp.test\noptions ndots:5\n";
    let services = [
        "web.shop",
        "api.shop",
        "db.prod",
        "web.qa",
        "api.qa",
        "web-0.web.test1",
        "web-1.web.test1",
    ];
    let pods = ["web-0.web", "web-1.web", "web-2.web"];
    let hosts = [
        "www.emea",
        "shop.emea",
        "www.us",
        "ftp.us",
        "a.b.emea",
        "c.d.emea",
    ];
    for (file, names, entry) in [
        (POD, &services[..], "*.svc.cluster.local"),
        (POD, &pods[..], FULL),
        (CORP, &hosts[..], "*.corp.test"),
    ] {
        let mut lab = Lab::new("glibc", file);
        for name in names {
            let full = entry.replacen('*', name, 1);
            let is_there = rule(Some(&full), found(9));
            lab.lookup(name, &[is_there, denied()]);
        }
        assert_eq!(codes(&lab.end().1), [""; 0], "{names:?}");
    }
}

/// A name that ends as the list itself does is a whole one.
#[test]
fn whole_names_below_a_wildcard() {
    const CORP: &str = "nameserver 10.96.0.10\nsearch lab.test corp.test\noptions ndots:5\n";
    let mut lab = Lab::new("glibc", CORP);
    for name in ["www.other.test", "db.corp.test"] {
        lab.lookup(name, &[rule(Some("*.lab.test"), found(9)), denied()]);
    }
    assert_eq!(codes(&lab.end().1), ["wildcard"]);
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

/// These packets as they are behind NAT, on another interface.
fn behind_nat(packets: &[Packet]) -> Vec<Packet> {
    let backend: IpAddr = [10, 244, 0, 7].into();
    let behind = |packet: &Packet| {
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
    };
    packets.iter().map(behind).collect()
}

/// One query on several interfaces of a node, before and behind NAT.
#[test]
fn translated_packets_are_the_same() {
    let mut lab = Lab::new("glibc", POD);
    lab.healthy(10);
    lab.packets.extend(behind_nat(&lab.packets));
    let (_, report) = lab.end();
    assert_eq!(codes(&report), [""; 0]);
    assert_eq!((report.lookups, report.queries), (10, 20));
    assert_eq!(report.strays.translated, 20);
}

/// The first sending was lost on the node, before NAT: its repeat is seen behind that.
#[test]
fn a_repeat_is_translated_too() {
    let mut lab = Lab::new("glibc", POD);
    let lost = once(of_type(RecordType::A, rule(Some(FULL), Effect::Timeout)));
    lab.lookup("db", &[lost, rule(Some(FULL), found(1)), denied()]);
    lab.packets.sort_by_key(|it| it.time);
    let behind = behind_nat(&lab.packets[1..]);
    lab.packets.extend(behind);
    let (_, report) = lab.end();
    assert_eq!((report.lookups, report.servers.len()), (1, 1));
    assert_eq!(codes(&report), ["unanswered"]);
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
            .filter(|it| it.plan.as_ref().is_some_and(|it| is_followed(&it.1)));
        assert_eq!(followed.count(), 10);
    }
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
            let mut watch = Watch::new(setup);
            for (number, packet) in (1..).zip(&part) {
                watch.push(&packet.seen(number));
            }
            let report = watch.end(&End::default());
            assert_eq!(codes(&report), [""; 0], "{from} {to}");
        }
    }
}
