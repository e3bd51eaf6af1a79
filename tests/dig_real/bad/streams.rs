//! Connections, truncation, silence and sizes.

#![expect(clippy::too_many_lines, reason = "tables are as long as they are")]

use super::message::{OWNER, Reply, TC, record, rr, texts};
use super::serve::{Act, Listens};
use super::{Acts, Bad, Query, bad};

const WWW: &str = "www.example.test";
const TCP: &str = "www.example.test +tcp";

fn truncated(query: &Query) -> Reply {
    query.empty().set(TC)
}

/// As the stream has it: with its length before it.
fn framed(length: usize, message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(length).unwrap().to_be_bytes();
    [&length[..], message].concat()
}

fn listens(listens: Listens, name: &'static str, words: &'static str, acts: Acts) -> Bad {
    Bad {
        listens,
        ..bad(name, words, acts)
    }
}

/// A reply of this many bytes, in records of TXT.
fn large(query: &Query, size: usize) -> Vec<u8> {
    let mut reply = query.empty();
    let data = texts(&[&[b'x'; 199]]);
    while reply.bytes().len() + 212 <= size {
        reply.answers.push(rr(16, &data));
    }
    let rest = size - reply.bytes().len();
    if rest > 12 {
        let padding = vec![7; rest - 12];
        reply
            .answers
            .push(record(OWNER, (65280, 1), 0, &padding, None));
    }
    reply.bytes()
}

pub(super) fn all() -> Vec<Bad> {
    let mut all = silences();
    all.extend(truncations());
    all.extend(connections());
    all.extend(datagrams());
    all
}

fn silences() -> Vec<Bad> {
    vec![
        bad("silence", WWW, |_| vec![]),
        bad("silence in YAML", "www.example.test +yaml", |_| vec![]),
        bad(
            "silence for two names",
            "www.example.test mail.example.test +short",
            |_| vec![],
        ),
        bad("silence over TCP", TCP, |_| vec![]),
        bad(
            "silence, then the second try",
            "www.example.test +tries=2",
            |q| {
                if q.count == 0 {
                    return vec![];
                }
                vec![q.good().into()]
            },
        ),
        bad(
            "silence, then the second try over TCP",
            "www.example.test +tcp +retry=1",
            |q| {
                if q.count == 0 {
                    return vec![];
                }
                vec![q.good().into()]
            },
        ),
        bad("too late", "www.example.test +tries=2", |q| {
            vec![Act::Wait(1300), q.good().into()]
        }),
        bad(
            "too late, but for the next name",
            "www.example.test mail.example.test",
            |q| {
                if q.count == 0 {
                    return vec![Act::Wait(1300), q.good().into()];
                }
                vec![Act::Wait(600), q.good().into()]
            },
        ),
        bad(
            "silence, then the next server",
            "TWO www.example.test",
            |_| vec![],
        ),
        listens(Listens::Nowhere, "nobody there", WWW, |_| vec![]),
        listens(
            Listens::Nowhere,
            "nobody there, three times",
            "www.example.test +tries=3",
            |_| vec![],
        ),
        listens(
            Listens::Nowhere,
            "nobody there over TCP",
            "www.example.test +tcp +tries=2",
            |_| vec![],
        ),
        listens(
            Listens::Nowhere,
            "nobody there in YAML",
            "www.example.test +yaml +tcp",
            |_| vec![],
        ),
        listens(
            Listens::Nowhere,
            "nobody there, then the next server",
            "TWO www.example.test",
            |_| vec![],
        ),
        listens(
            Listens::Nowhere,
            "nobody there, then the next server over TCP",
            "TWO www.example.test +tcp",
            |_| vec![],
        ),
    ]
}

fn truncations() -> Vec<Bad> {
    vec![
        bad("truncated", WWW, |q| {
            vec![if q.tcp { q.good() } else { truncated(q) }.into()]
        }),
        bad("truncated, in YAML", "www.example.test +yaml", |q| {
            vec![if q.tcp { q.good() } else { truncated(q) }.into()]
        }),
        bad(
            "truncated with an answer",
            "www.example.test +noedns",
            |q| vec![if q.tcp { q.good() } else { q.good().set(TC) }.into()],
        ),
        bad("truncated without end", WWW, |q| vec![truncated(q).into()]),
        bad(
            "truncated without end, ignored",
            "www.example.test +ignore",
            |q| vec![truncated(q).into()],
        ),
        bad("truncated in the middle of a record", WWW, |q| {
            let mut wire = q.good().set(TC).bytes();
            if !q.tcp {
                wire.truncate(40);
            }
            vec![Act::Say(wire)]
        }),
        bad(
            "truncated in the middle of a record, ignored",
            "www.example.test +ignore",
            |q| {
                let mut wire = q.good().set(TC).bytes();
                wire.truncate(40);
                vec![Act::Say(wire)]
            },
        ),
        listens(Listens::Udp, "truncated, but no TCP", WWW, |q| {
            vec![truncated(q).into()]
        }),
        bad("truncated, then silence", WWW, |q| {
            if q.tcp {
                vec![]
            } else {
                vec![truncated(q).into()]
            }
        }),
        bad("truncated, then closed", "www.example.test +tries=2", |q| {
            if q.tcp {
                vec![Act::Close]
            } else {
                vec![truncated(q).into()]
            }
        }),
        bad(
            "truncated for two names",
            "www.example.test mail.example.test +noall +answer",
            |q| vec![if q.tcp { q.good() } else { truncated(q) }.into()],
        ),
    ]
}

fn connections() -> Vec<Bad> {
    vec![
        bad("closed at once", TCP, |_| vec![Act::Close]),
        bad(
            "closed at once, twice",
            "www.example.test +tcp +tries=2",
            |_| vec![Act::Close],
        ),
        bad("closed within the length", TCP, |_| {
            vec![Act::Raw(vec![0]), Act::Close]
        }),
        bad("closed within the message", TCP, |q| {
            let wire = q.good().bytes();
            vec![Act::Raw(framed(wire.len(), &wire[..30])), Act::Close]
        }),
        bad("closed behind the message", TCP, |q| {
            vec![q.good().into(), Act::Close]
        }),
        bad(
            "closed, then the next server",
            "TWO www.example.test +tcp",
            |_| vec![Act::Close],
        ),
        bad("reset at once", TCP, |_| vec![Act::Reset]),
        bad("reset within the message", TCP, |q| {
            let wire = q.good().bytes();
            vec![
                Act::Raw(framed(wire.len(), &wire[..30])),
                Act::Wait(100),
                Act::Reset,
            ]
        }),
        bad(
            "reset between two names",
            "www.example.test mail.example.test +tcp +keepopen",
            |q| vec![q.good().into(), Act::Wait(100), Act::Reset],
        ),
        bad(
            "closed between two names",
            "www.example.test mail.example.test +tcp +keepopen",
            |q| vec![q.good().into(), Act::Close],
        ),
        bad("length too short", TCP, |q| {
            vec![Act::Raw(framed(40, &q.good().bytes()))]
        }),
        bad("length too short for a header", TCP, |q| {
            vec![Act::Raw(framed(11, &q.good().bytes()))]
        }),
        bad("length too long, then closed", TCP, |q| {
            vec![Act::Raw(framed(500, &q.good().bytes())), Act::Close]
        }),
        bad("length too long, then silence", TCP, |q| {
            vec![Act::Raw(framed(500, &q.good().bytes()))]
        }),
        bad("length 65535, then silence", TCP, |q| {
            vec![Act::Raw(framed(65_535, &q.good().bytes()))]
        }),
        bad("length 0", TCP, |_| vec![Act::Raw(vec![0, 0])]),
        bad("length 0, then a message", TCP, |q| {
            vec![Act::Raw(vec![0, 0]), q.good().into()]
        }),
        bad("length 0, then closed", TCP, |_| {
            vec![Act::Raw(vec![0, 0]), Act::Close]
        }),
        bad("byte by byte", TCP, |q| {
            let wire = q.good().bytes();
            let bytes = framed(wire.len(), &wire);
            let byte = |&byte: &u8| [Act::Raw(vec![byte]), Act::Wait(3)];
            bytes.iter().flat_map(byte).collect()
        }),
        bad("byte by byte, too slow", TCP, |q| {
            let wire = q.good().bytes();
            let bytes = framed(wire.len(), &wire);
            let byte = |&byte: &u8| [Act::Raw(vec![byte]), Act::Wait(60)];
            bytes.iter().flat_map(byte).collect()
        }),
        bad("another protocol", TCP, |_| {
            vec![
                Act::Raw(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
                Act::Close,
            ]
        }),
        bad(
            "64 KiB over TCP",
            "www.example.test TXT +tcp +noall +stats +comments",
            |q| vec![Act::Say(large(q, 65_535))],
        ),
        bad("a transfer that stops", "example.test AXFR", |q| {
            let soa = rr(
                6,
                b"\xc0\x0c\xc0\x0c\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01",
            );
            vec![q.with(&[soa]).into(), q.good().into(), Act::Close]
        }),
        bad("a transfer without a beginning", "example.test AXFR", |q| {
            vec![q.good().into()]
        }),
        bad(
            "a transfer that is silent",
            "example.test AXFR +tries=2",
            |_| vec![],
        ),
        bad("a transfer of nothing", "example.test AXFR", |q| {
            vec![q.empty().into()]
        }),
        bad("a transfer that is refused", "example.test AXFR", |q| {
            vec![q.empty().rcode(5).into()]
        }),
        bad(
            "a transfer with another id in its middle",
            "example.test AXFR",
            |q| {
                let soa = rr(
                    6,
                    b"\xc0\x0c\xc0\x0c\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01",
                );
                let mut second = q.with(std::slice::from_ref(&soa));
                second.id ^= 1;
                vec![q.with(&[soa]).into(), second.into()]
            },
        ),
    ]
}

fn datagrams() -> Vec<Bad> {
    vec![
        bad("empty datagram", WWW, |_| vec![Act::Say(vec![])]),
        bad("empty datagram, then ours", WWW, |q| {
            vec![Act::Say(vec![]), q.good().into()]
        }),
        bad("one byte", WWW, |_| vec![Act::Say(vec![0])]),
        bad("eleven bytes", WWW, |q| {
            vec![Act::Say(q.good().bytes()[..11].to_vec())]
        }),
        bad("eleven bytes, then ours", WWW, |q| {
            vec![Act::Say(q.good().bytes()[..11].to_vec()), q.good().into()]
        }),
        bad("a header alone", WWW, |q| {
            let reply = q.empty().asks(&[]).opt(&[]);
            vec![reply.into()]
        }),
        bad("a header that promises more", WWW, |q| {
            vec![Act::Say(q.good().bytes()[..12].to_vec())]
        }),
        bad(
            "a header that promises more, strictly",
            "www.example.test +nobesteffort +qid=7",
            |q| vec![Act::Say(q.good().bytes()[..12].to_vec())],
        ),
        bad("junk", WWW, |_| vec![Act::Say(vec![0xff; 100])]),
        bad("junk, then ours", WWW, |q| {
            vec![
                Act::Say(b"hello, this is not DNS at all".to_vec()),
                q.good().into(),
            ]
        }),
        bad("junk before the message", WWW, |q| {
            vec![Act::Say([&[1, 2, 3][..], &q.good().bytes()].concat())]
        }),
        bad(
            "64 KiB in a datagram",
            "www.example.test TXT +noall +stats +comments",
            |q| vec![Act::Say(large(q, 65_507))],
        ),
        bad(
            "more than was asked for",
            "www.example.test TXT +bufsize=512 +noall +stats +comments",
            |q| vec![Act::Say(large(q, 4000))],
        ),
        bad(
            "more than 512 without EDNS",
            "www.example.test TXT +noedns +noall +stats +comments",
            |q| vec![Act::Say(large(q, 1400))],
        ),
    ]
}
