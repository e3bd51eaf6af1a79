//! What nobody should send: nothing breaks, and nothing grows without bound.

use std::net::{IpAddr, SocketAddr};

use kdns::packet::{Content, SeenMessage, StreamId, Transport, Unreachable};
use kdns::watch::{End, Setup, Watch};

use kdns::world::Effect;

use crate::lab::{Lab, SECOND, denied, rule};
use crate::wire::{Kind, Packet, Wire};
use crate::{POD, codes, of, scenario};

fn setup(is_known: bool) -> Setup {
    Setup {
        scenario: is_known.then(|| scenario(POD)),
        resolver: is_known.then(|| of("glibc")),
        all: true,
        show: None,
        is_live: false,
    }
}

/// Lookups with bytes, addresses and times that are not theirs.
#[test]
fn damaged_packets() {
    let mut dice = Wire::new([10, 244, 1, 5].into(), 77);
    for round in 0..40 {
        let mut lab = Lab::new("musl", POD);
        lab.healthy(20).lookup("nobody.example.com", &[denied()]);
        let mut watch = Watch::new(setup(round % 2 == 0));
        let mut packets: Vec<Packet> = lab.packets.clone();
        packets.sort_by_key(|it| it.time);
        for (number, packet) in (1..).zip(&mut packets) {
            damage(packet, &mut dice);
            watch.push(&packet.seen(number));
        }
        watch.finish(None);
        for judged in watch.take_judged() {
            assert!(!judged.lookup.readings.is_empty() && !judged.lookup.exchanges.is_empty());
        }
        watch.end(&End::default());
    }
}

fn damage(packet: &mut Packet, dice: &mut Wire) {
    match dice.draw(12) {
        0 => packet.time = i64::MAX - i64::try_from(dice.draw(1000)).unwrap(),
        1 => packet.time = i64::MIN,
        2 => std::mem::swap(&mut packet.from, &mut packet.to),
        3 => packet.transport = Transport::Tcp(StreamId(dice.draw(3))),
        4 => packet.what = Kind::Reset,
        5 => packet.from.set_port(53),
        6 => packet.what = Kind::Unreachable(Unreachable::Other(3, 200), vec![7; 3]),
        7..=10 => {
            if let Kind::Message(bytes) = &mut packet.what {
                let at = usize::try_from(dice.draw(bytes.len() as u64)).unwrap();
                bytes[at] = u8::try_from(dice.draw(256)).unwrap();
                if dice.draw(4) == 0 {
                    bytes.truncate(at);
                }
            }
        }
        _ => {}
    }
}

/// A flood of queries from ever new ports for ever new names, without an answer.
#[test]
fn a_flood_is_forgotten() {
    let server = SocketAddr::from(([10, 96, 0, 10], 53));
    let mut watch = Watch::new(Setup {
        all: false,
        ..setup(true)
    });
    let mut bytes = b"\0\x01\x01\0\0\x01\0\0\0\0\0\0\x08AAAAAAAA\x04test\0\0\x01\0\x01".to_vec();
    for number in 0..150_000_u32 {
        let hex = format!("{number:08x}");
        bytes[13..21].copy_from_slice(hex.as_bytes());
        let client: IpAddr = std::net::Ipv4Addr::from(0x0a00_0000 + number / 7).into();
        watch.push(&SeenMessage {
            number: u64::from(number) + 1,
            time: 1_700_000_000_000_000_000 + i64::from(number) * 1000,
            is_time_known: true,
            interface: 1,
            from: SocketAddr::new(client, 1024 + u16::try_from(number % 60_000).unwrap()),
            to: server,
            transport: Transport::Udp,
            ip_id: Some(1),
            content: Content::Message,
            bytes: &bytes,
        });
    }
    let report = watch.end(&End::default());
    assert_eq!(report.queries, 150_000);
    assert!(
        report.strays.forgotten > 100_000,
        "{}",
        report.strays.forgotten
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings.first());
}

/// After a clock was set back nothing is lost that is answered.
#[test]
fn a_clock_that_is_set_back() {
    for back in [3, 60, 7200, 1_600_000_000] {
        for id in ["glibc", "go"] {
            let mut lab = Lab::new(id, POD);
            lab.healthy(4);
            let set = lab.start;
            lab.healthy(4);
            let mut watch = Watch::new(setup(true));
            lab.packets.sort_by_key(|it| it.time);
            for (number, packet) in (1..).zip(&mut lab.packets) {
                if packet.time >= set {
                    packet.time -= back * SECOND;
                }
                watch.push(&packet.seen(number));
            }
            let report = watch.end(&End::default());
            assert_eq!((report.lookups, report.unanswered), (8, 0), "{id} {back}");
            assert_eq!(codes(&report), [""; 0], "{id} {back}");
        }
    }
}

/// Nor after it was set on, between a query and its answer.
#[test]
fn a_clock_that_is_set_on() {
    for on in [90, 3600, 1_600_000_000] {
        for id in ["glibc", "go"] {
            let mut lab = Lab::new(id, POD);
            lab.healthy(8).packets.sort_by_key(|it| it.time);
            let answers = (0..lab.packets.len()).filter(|it| lab.packets[*it].from.port() == 53);
            for set in answers {
                let mut watch = Watch::new(setup(true));
                for (number, packet) in lab.packets.iter().enumerate() {
                    let mut packet = packet.clone();
                    packet.time += on * SECOND * i64::from(number >= set);
                    watch.push(&packet.seen(number as u64 + 1));
                }
                let report = watch.end(&End::default());
                let about = format!("{id} {on} {set}");
                assert_eq!((report.lookups, report.unanswered), (8, 0), "{about}");
                assert_eq!(codes(&report), [""; 0], "{about}");
            }
        }
    }
}

/// What nobody answers is lost, however long it is quiet then.
#[test]
fn silence_is_no_clock_that_is_set() {
    for quiet in [90, 3600] {
        let mut lab = Lab::new("glibc", POD);
        lab.lookup("db0", &[rule(None, Effect::Timeout)]);
        lab.start += quiet * SECOND;
        let report = lab.healthy(3).end().1;
        assert_eq!(codes(&report), ["unanswered"], "{quiet}: {report:?}");
        assert!(report.unanswered > 0);
        assert_eq!(report.strays.forgotten, 0);
    }
}
