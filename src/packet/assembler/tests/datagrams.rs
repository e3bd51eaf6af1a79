use super::*;

#[track_caller]
fn check(link: LinkType, bytes: &[u8], expected: &[&str]) {
    let mut bench = Bench::new(&Options::default());
    bench.frame(link, 1, bytes);
    assert_eq!(bench.take(), expected, "{link:?}");
}

const QUERY: &[&str] = &["#1 10.0.0.1:4000>10.0.0.53:53 message 0007 19"];

#[test]
fn links() {
    let packet = query(&message(7, 0));
    let with = |header: &[u8]| [header, &packet].concat();
    check(LinkType::Raw, &packet, QUERY);
    check(LinkType::Ethernet, &ethernet(&packet), QUERY);
    let padded = [ethernet(&packet), vec![0; 9]].concat();
    check(LinkType::Ethernet, &padded, QUERY);
    let macs = [2; 12];
    let tag = |kind: [u8; 2]| [kind, [0, 5]].concat();
    let vlan = [&macs, &tag([0x81, 0])[..], &[8, 0]].concat();
    check(LinkType::Ethernet, &with(&vlan), QUERY);
    let qinq = [&macs, &tag([0x88, 0xa8])[..], &tag([0x81, 0]), &[8, 0]].concat();
    check(LinkType::Ethernet, &with(&qinq), QUERY);
    let snap = [&macs[..], &[0, 60], b"\xaa\xaa\x03\0\0\0\x08\0"].concat();
    check(LinkType::Ethernet, &with(&snap), QUERY);
    check(
        LinkType::Ethernet,
        &[&macs[..], &[8, 6], &[0; 28]].concat(),
        &[],
    );
    check(LinkType::Loopback, &with(&[2, 0, 0, 0]), QUERY);
    check(LinkType::Loopback, &with(&[0, 0, 0, 2]), QUERY);
    let v1 = [&[0, 4, 0, 1, 0, 6][..], &[2; 8], &[8, 0]].concat();
    check(LinkType::CookedV1, &with(&v1), QUERY);
    let v2 = [&[8, 0, 0, 0, 0, 0, 0, 9, 0, 1, 4, 6][..], &[2; 8]].concat();
    check(LinkType::CookedV2, &with(&v2), QUERY);
    check(LinkType::Other(147), &packet, &[]);
}

#[test]
fn ports_and_protocols() {
    let none: &[&str] = &[];
    check(
        LinkType::Raw,
        &udp((CLIENT, 9), (SERVER, 99), &message(7, 0)),
        none,
    );
    check(
        LinkType::Raw,
        &udp((CLIENT, 853), (SERVER, 99), &message(7, 0)),
        none,
    );
    check(LinkType::Raw, &query(b"short"), none);
    let reply = udp((SERVER, 15053), (CLIENT, PORT), &message(7, 100));
    check(
        LinkType::Raw,
        &reply,
        &["#1 10.0.0.53:15053>10.0.0.1:4000 message 0007 119"],
    );
    let mut six = Vec::new();
    PacketBuilder::ipv6([1; 16], [2; 16], 64)
        .udp(PORT, 53)
        .write(&mut six, &message(7, 0))
        .unwrap();
    let ends = "#1 [101:101:101:101:101:101:101:101]:4000>[202:202:202:202:202:202:202:202]:53";
    check(LinkType::Raw, &six, &[&format!("{ends} message 0007 19")]);
    let mut bench = Bench::new(&Options::default());
    bench.ip(1, &udp((CLIENT, PORT), (SERVER, 853), b"quic"));
    for server in [SERVER, [1, 1, 1, 1], [10, 0, 0, 7]] {
        let mut opening = Vec::new();
        let port = if server == SERVER { 853 } else { 443 };
        let builder = PacketBuilder::ipv4(CLIENT, server, 64).tcp(PORT, port, 1, 1);
        builder.syn().write(&mut opening, &[]).unwrap();
        bench.ip(1, &opening);
    }
    bench.ip(1, &query(b"short"));
    bench.frame(LinkType::Ethernet, 1, &[2; 5]);
    bench.ip(1, &query(&message(7, 0))[..20]);
    let counters = bench.assembler.counters();
    assert_eq!(
        (counters.encrypted, counters.no_message, counters.damaged),
        (3, 1, 2)
    );
}

#[test]
fn short_snap_lengths() {
    let packet = ethernet(&query(&message(7, 81)));
    let mut bench = Bench::new(&Options::default());
    bench.frame_of(LinkType::Ethernet, 1, 0, &packet[..96], packet.len());
    // 96 less the headers of Ethernet, IP and UDP.
    assert_eq!(
        bench.take(),
        ["#1 10.0.0.1:4000>10.0.0.53:53 cut 0007 54/100"]
    );
    bench.frame_of(LinkType::Ethernet, 1, 0, &packet[..50], packet.len());
    assert!(bench.take().is_empty());
    let counters = bench.assembler.counters();
    assert_eq!((counters.cut, counters.no_message), (1, 1));
}

/// The same packet on several interfaces is one; two on the same one are two.
#[test]
fn copies() {
    let mut packet = query(&message(7, 0));
    let mut bench = Bench::new(&Options::default());
    let mut on = |time, interface, packet: &[u8]| {
        bench.frame_of(LinkType::Raw, time, interface, packet, packet.len());
        bench.take().len()
    };
    assert_eq!(on(0, 1, &packet), 1);
    assert_eq!(on(1, 2, &packet), 0);
    assert_eq!(on(2, 3, &packet), 0);
    assert_eq!(on(3, 1, &packet), 1, "sent twice");
    assert_eq!(on(500, 2, &packet), 1, "asked again");
    // Another identification.
    packet[4..6].copy_from_slice(&[1, 2]);
    assert_eq!(on(501, 3, &packet), 1);
    assert_eq!(bench.assembler.counters().copies, 2);
    // `-i any` without numbers of interfaces: only an identification tells.
    let v1 = |packet: &[u8]| [&[0, 4, 0, 1, 0, 6][..], &[2; 8], &[8, 0], packet].concat();
    let zero = query(&message(8, 0));
    for (packet, expected) in [(&packet, 1), (&zero, 3)] {
        let mut bench = Bench::new(&Options::default());
        for _ in 0..3 {
            bench.frame(LinkType::CookedV1, 7, &v1(packet));
        }
        assert_eq!(bench.take().len(), expected);
    }
}

/// Cuts an IP packet into fragments of so many bytes.
fn fragments(packet: &[u8], size: usize) -> Vec<Vec<u8>> {
    let parts: Vec<&[u8]> = packet[20..].chunks(size).collect();
    let part = |(number, part): (usize, &&[u8])| {
        let mut header = packet[..20].to_vec();
        let length = u16::try_from(20 + part.len()).unwrap();
        let offset = u16::try_from(number * size / 8).unwrap();
        let more = if number + 1 < parts.len() { 0x2000 } else { 0 };
        header[2..4].copy_from_slice(&length.to_be_bytes());
        header[4..6].copy_from_slice(&[9, 9]);
        header[6..8].copy_from_slice(&(offset | more).to_be_bytes());
        [header, part.to_vec()].concat()
    };
    parts.iter().enumerate().map(part).collect()
}

#[test]
fn datagrams_in_fragments() {
    let whole = udp((SERVER, 53), (CLIENT, PORT), &message(7, 3000));
    let parts = fragments(&whole, 1480);
    assert_eq!(parts.len(), 3);
    let mut bench = Bench::new(&Options::default());
    let orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]];
    for (time, order) in (0..).zip(orders) {
        for number in order {
            assert!(bench.take().is_empty());
            // Seen twice, it is one.
            bench.ip(time, &parts[number]);
        }
        assert_eq!(bench.take().len(), 1);
    }
    // One of them is missing.
    bench.ip(20, &parts[0]);
    bench.ip(21, &parts[2]);
    let number = bench.number - 1;
    let late = format!("#{number} 10.0.0.53:53>10.0.0.1:4000 incomplete 0007 1472/3019");
    bench.ip(20_000, &query(&message(8, 0)));
    bench.ip(40_000, &query(&message(9, 0)));
    let seen = bench.take();
    assert!(seen.contains(&late), "{seen:?}");
    let counters = bench.assembler.counters();
    assert_eq!(
        (counters.assembled, counters.incomplete, counters.fragments),
        (4, 1, 14)
    );
    // Also at the end.
    bench.ip(50_000, &parts[0]);
    assert_eq!(bench.end().len(), 1);
}

#[test]
fn fragments_of_ipv6() {
    let mut whole = Vec::new();
    PacketBuilder::ipv6([1; 16], [2; 16], 64)
        .udp(53, PORT)
        .write(&mut whole, &message(7, 2000))
        .unwrap();
    let payload = &whole[40..];
    let mut bench = Bench::new(&Options::default());
    for (offset, part, more) in [(0, &payload[..1232], 1), (1232, &payload[1232..], 0)] {
        let mut header = whole[..40].to_vec();
        let length = u16::try_from(8 + part.len()).unwrap();
        header[4..6].copy_from_slice(&length.to_be_bytes());
        header[6] = 44;
        let place = u16::try_from(offset).unwrap() | more;
        let extension = [&[17, 0][..], &place.to_be_bytes(), &[0, 0, 0, 5]].concat();
        bench.ip(1, &[header, extension, part.to_vec()].concat());
    }
    assert_eq!(bench.take().len(), 1);
}

/// Fragments that overlap are an attack.
#[test]
fn fragments_that_contradict() {
    let parts = fragments(&udp((SERVER, 53), (CLIENT, PORT), &message(7, 3000)), 1480);
    let mut odd = parts[1].clone();
    odd[6..8].copy_from_slice(&0x2064_u16.to_be_bytes());
    let mut bench = Bench::new(&Options::default());
    for part in [&parts[0], &odd, &parts[0], &parts[2], &parts[1]] {
        bench.ip(1, part);
    }
    assert_eq!(bench.take().len(), 1);
    assert_eq!(bench.assembler.counters().fragments_refused, 1);
}

#[test]
fn icmp_errors() {
    let asked = query(&message(7, 0));
    let error = |kind: u8, code: u8, rest: [u8; 4], quoted: &[u8]| {
        let mut packet = udp((SERVER, 1), (CLIENT, 1), &[]);
        packet.truncate(20);
        packet[9] = 1;
        packet.extend([kind, code, 0, 0]);
        packet.extend(rest);
        packet.extend(quoted);
        let length = u16::try_from(packet.len()).unwrap();
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet
    };
    let line = |what: &str, length: usize| {
        format!("#1 10.0.0.53:0>10.0.0.1:0 {what} udp 10.0.0.1:4000>10.0.0.53:53 {length}")
    };
    let raw = |packet: &[u8], expected: &str| check(LinkType::Raw, packet, &[expected]);
    raw(&error(3, 3, [0; 4], &asked), &line("Port", 19));
    raw(&error(3, 3, [0; 4], &asked[..28]), &line("Port", 0));
    raw(&error(3, 1, [0; 4], &asked), &line("Host", 19));
    raw(&error(3, 13, [0; 4], &asked), &line("Prohibited", 19));
    raw(
        &error(3, 4, [0, 0, 5, 0], &asked),
        &line("TooBig(Some(1280))", 19),
    );
    raw(&error(11, 0, [0; 4], &asked), &line("HopsExceeded", 19));
    // An answer to a ping, an error about something else, a cut one.
    check(LinkType::Raw, &error(0, 0, [0; 4], &asked), &[]);
    let other = udp((CLIENT, 9), (SERVER, 99), b"");
    check(LinkType::Raw, &error(3, 3, [0; 4], &other), &[]);
    check(LinkType::Raw, &error(3, 3, [0; 4], &asked[..22]), &[]);
    let mut six = Vec::new();
    PacketBuilder::ipv6([1; 16], [2; 16], 64)
        .udp(PORT, 53)
        .write(&mut six, &message(7, 0))
        .unwrap();
    let mut packet = Vec::new();
    PacketBuilder::ipv6([2; 16], [1; 16], 64)
        .icmpv6_raw(1, 4, [0; 4])
        .write(&mut packet, &six)
        .unwrap();
    let mut bench = Bench::new(&Options::default());
    bench.ip(1, &packet);
    assert!(bench.take()[0].contains("Port udp"));
}

#[test]
fn tunnels() {
    let inner = ethernet(&query(&message(7, 0)));
    let vxlan = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &inner].concat();
    let vxlan = udp(([1; 4], 9), ([2; 4], 4789), &vxlan);
    let geneve = [&[1, 0, 0x65, 0x58, 0, 0, 1, 0][..], &[0; 4], &inner].concat();
    let geneve = udp(([1; 4], 9), ([2; 4], 6081), &geneve);
    let twice = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &ethernet(&geneve)].concat();
    let twice = udp(([1; 4], 9), ([2; 4], 8472), &twice);
    let options = Options {
        decap: true,
        ..Options::default()
    };
    for packet in [&vxlan, &geneve, &twice] {
        let mut bench = Bench::new(&options);
        bench.ip(1, packet);
        assert_eq!(bench.take(), QUERY);
        let mut bench = Bench::new(&Options::default());
        bench.ip(1, packet);
        assert!(bench.take().is_empty());
        assert_eq!(bench.assembler.counters().tunnelled, 1);
    }
    // In the tunnel and out of it, it is one packet.
    let mut bench = Bench::new(&options);
    bench.ip(1, &vxlan);
    bench.ip(1, &query(&message(7, 0)));
    assert_eq!(bench.take().len(), 1);
}
