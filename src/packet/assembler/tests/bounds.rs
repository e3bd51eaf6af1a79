use super::*;
use crate::packet::Limits;

/// A generator of numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

fn tcp(source: u32, syn: bool, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, d] = source.to_be_bytes();
    let mut builder =
        PacketBuilder::ipv4([a | 1, b, c, d], SERVER, 64).tcp(PORT, 53, sequence, 1000);
    if syn {
        builder = builder.syn();
    }
    let mut packet = Vec::new();
    builder.write(&mut packet, payload).unwrap();
    packet
}

/// However many connections, fragments and bytes out of order: what is kept is
/// bounded, and what is not is counted.
#[test]
fn memory_is_bounded() {
    let limits = Limits {
        streams: 64,
        stream_bytes: 4096,
        fragmented: 32,
        bytes: 64 << 10,
        ..Limits::default()
    };
    let mut bench = Bench::new(&Options {
        limits,
        ..Options::default()
    });
    for source in 0..2000 {
        bench.ip(0, &tcp(source, true, 99, &[]));
        // A message that is announced and does not come, and bytes far ahead.
        bench.ip(0, &tcp(source, false, 100, b"\x0f\xffxyz"));
        for ahead in 1..10 {
            bench.ip(0, &tcp(source, false, 1000 * ahead, &[7; 600]));
        }
        assert!(bench.assembler.kept() <= limits.bytes, "{source}");
    }
    let counters = *bench.assembler.counters();
    // One that is forgotten in its middle begins anew.
    assert!(counters.streams >= 2000, "{counters:?}");
    assert!(counters.streams_forgotten >= 1900, "{counters:?}");
    assert!(counters.segments_refused >= 2000, "{counters:?}");
    let whole = udp((SERVER, 53), (CLIENT, PORT), &message(7, 3000));
    for number in 0..4000u16 {
        let mut part = whole[..1500].to_vec();
        part[2..4].copy_from_slice(&1500u16.to_be_bytes());
        part[4..6].copy_from_slice(&number.to_be_bytes());
        part[6..8].copy_from_slice(&0x2000u16.to_be_bytes());
        bench.ip(0, &part);
        assert!(bench.assembler.kept() <= limits.bytes, "{number}");
    }
    let counters = *bench.assembler.counters();
    assert!(
        counters.incomplete + counters.fragments_refused >= 3900,
        "{counters:?}"
    );
    // A time that goes backwards, and one that is far ahead.
    bench.ip(-1_000_000, &tcp(1, false, 100, b"x"));
    bench.ip(8_000_000_000_000, &tcp(1, false, 100, b"x"));
    bench.end();
    assert_eq!(bench.assembler.kept(), 0);
}

/// Whatever is changed in packets, nothing breaks.
#[test]
fn odd_packets_do_no_harm() {
    let mut numbers = Numbers(7);
    let reply = udp((SERVER, 53), (CLIENT, PORT), &message(7, 30));
    let opening = tcp(5, true, 99, &[]);
    let segment = tcp(5, false, 100, &[&[0, 19][..], &message(7, 0)].concat());
    let tunnel = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &ethernet(&reply)].concat();
    let tunnel = udp(([1; 4], 9), ([2; 4], 4789), &tunnel);
    let options = Options {
        decap: true,
        ..Options::default()
    };
    let mut bench = Bench::new(&options);
    let links = [
        LinkType::Raw,
        LinkType::Ethernet,
        LinkType::CookedV1,
        LinkType::CookedV2,
        LinkType::Loopback,
    ];
    for round in 0..40_000 {
        let all = [&reply, &opening, &segment, &tunnel];
        let mut packet = all[numbers.next(all.len())].clone();
        for _ in 0..numbers.next(4) {
            let at = numbers.next(packet.len());
            packet[at] = u8::try_from(numbers.next(256)).unwrap();
        }
        packet.truncate(numbers.next(packet.len() + 20));
        let link = links[if round % 2 == 0 {
            0
        } else {
            numbers.next(links.len())
        }];
        bench.frame(link, round / 10, &packet);
    }
    bench.end();
    assert_eq!(bench.assembler.kept(), 0);
    assert!(bench.assembler.counters().messages > 1000);
}
