//! Messages of any bytes between few addresses and ports, at any times, joined to
//! lookups and judged: each query is in one lookup, and all of it can be written.

use std::net::SocketAddr;

use kdns::packet::{Content, Counters, Quoted, SeenMessage, StreamId, Transport, Unreachable};
use kdns::render::watch::{Style, json, summary};
use kdns::resolver;
use kdns::scenario::{self, Scenario};
use kdns::watch::{End, Setup, Watch};

use super::SEPARATOR;

const FILE: &str = "nameserver 10.0.0.53\nsearch a.test b.test\noptions ndots:2\n";

/// What is known beforehand, then what was seen with a separator between each and
/// the next.
pub(crate) fn run(data: &[u8]) {
    let (&form, rest) = data.split_first().unwrap_or((&0, &[]));
    let mut scenario = Scenario::new("fuzz", "x");
    scenario.resolv_conf = Some(scenario::file("/etc/resolv.conf", FILE));
    let mut watch = Watch::new(Setup {
        scenario: (form & 1 != 0).then_some(scenario),
        resolver: (form & 2 != 0).then(|| resolver::find("glibc")).flatten(),
        all: true,
        show: None,
        is_live: form & 4 != 0,
    });
    let mut time = 0;
    for (number, bytes) in (1..).zip(rest.split(|&byte| byte == SEPARATOR)) {
        let Some((head, bytes)) = bytes.split_first_chunk() else {
            continue;
        };
        watch.push(&seen(*head, bytes, number, &mut time));
    }
    watch.finish(None);
    let style = Style::default();
    let mut out = Vec::new();
    let mut queries = 0;
    for judged in watch.take_judged() {
        assert!(!judged.lookup.readings.is_empty() && !judged.lookup.exchanges.is_empty());
        queries += judged.lookup.queries() as u64;
        for fault in &judged.faults {
            assert!(fault.exchange < judged.lookup.exchanges.len());
        }
        json::line(&judged, &style, &mut out).unwrap();
    }
    let report = watch.end(&End {
        counters: Counters::default(),
        ..End::default()
    });
    assert_eq!(report.queries, queries);
    summary(&report, &[], &[], &style, &mut out).unwrap();
    let is_plain = |byte: &u8| *byte == b'\n' || !byte.is_ascii_control();
    assert!(out.iter().all(is_plain));
}

/// Four bytes say when, between whom and what: three in eight are queries, three
/// responses.
fn seen<'b>(head: [u8; 4], bytes: &'b [u8], number: u64, time: &mut i64) -> SeenMessage<'b> {
    let [later, client, server, kind] = head;
    // From a microsecond to a minute, mostly little.
    *time = time.saturating_add(1000_i64 << (later % 28));
    let client = SocketAddr::from(([10, 0, 0, client & 3], 1024 + u16::from(client >> 6)));
    let server = SocketAddr::from(([10, 0, 0, 53 + (server & 1)], 53));
    let is_back = kind & 1 != 0;
    let (from, to) = if is_back {
        (server, client)
    } else {
        (client, server)
    };
    let transport = if kind & 0x80 == 0 {
        Transport::Udp
    } else {
        Transport::Tcp(StreamId(u64::from(kind >> 4 & 3)))
    };
    let length = bytes.len() + 1;
    let content = match kind >> 1 & 7 {
        0 => Content::Cut { length },
        1 => Content::Incomplete { length },
        2 if kind & 8 != 0 => Content::Connect,
        3 => Content::Unreachable {
            kind: Unreachable::Port,
            quoted: Quoted {
                from: to,
                to: from,
                is_tcp: kind & 0x80 != 0,
            },
        },
        4 => Content::Reset,
        _ => Content::Message,
    };
    SeenMessage {
        number,
        time: *time,
        is_time_known: later < 0xf0,
        interface: 1,
        from,
        to,
        transport,
        ip_id: Some(u16::from(later)),
        content,
        bytes,
    }
}
