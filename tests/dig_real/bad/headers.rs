//! Headers, questions, response codes and senders.

#![expect(clippy::too_many_lines, reason = "tables are as long as they are")]

use super::message::{AA, OWNER, QR, RA, Reply, TC, a, name, opt, option};
use super::{Bad, Query, bad};
use crate::bad::serve::Act;

const WWW: &str = "www.example.test";
const STATUS: u16 = 2 << 11;

fn wrong_id(query: &Query) -> Reply {
    let mut reply = query.good();
    reply.id = reply.id.wrapping_add(1);
    reply
}

fn question(text: &[u8], rdtype: u8, class: u8) -> Vec<u8> {
    [&name(text)[..], &[0, rdtype, 0, class]].concat()
}

fn other_name(query: &Query) -> Reply {
    query.good().asks(&[question(b"other.example.test", 1, 1)])
}

fn wrong_opcode(query: &Query) -> Reply {
    query.good().set(STATUS)
}

fn asked_back(query: &Query) -> Reply {
    query.good().clear(QR)
}

/// The name's first label is `rN`.
fn rcode(query: &Query) -> Vec<Act> {
    vec![query.empty().rcode(query.number()).into()]
}

/// The name's first label is `xN`: with its upper bits in the OPT record.
fn extended(query: &Query) -> Vec<Act> {
    let (low, high) = (query.number() & 15, query.number() >> 4);
    let opt = opt(1232, u32::from(high) << 24, &[]);
    vec![query.empty().rcode(low).opt(&[opt]).into()]
}

fn bad_cookie(query: &Query, cookie: &[u8]) -> Act {
    let opt = opt(1232, 1 << 24, &option(10, cookie));
    query.empty().rcode(7).opt(&[opt]).into()
}

fn server_cookie(query: &Query) -> Vec<u8> {
    let client = query.cookie().unwrap_or_else(|| vec![0; 8]);
    [&client[..8], &[9; 16]].concat()
}

/// Versions down to the one in the name's first label.
fn versions(query: &Query) -> Vec<Act> {
    let version = u8::try_from(query.number()).unwrap();
    if query.version() <= version {
        return vec![query.good().into()];
    }
    let ttl = 1 << 24 | u32::from(query.version() - 1) << 16;
    vec![query.empty().opt(&[opt(1232, ttl, &[])]).into()]
}

pub(super) fn all() -> Vec<Bad> {
    let mut all = questions();
    all.extend(senders());
    all.extend(codes());
    all.extend(retries());
    all
}

fn questions() -> Vec<Bad> {
    vec![
        bad("wrong id", WWW, |q| vec![wrong_id(q).into()]),
        bad("wrong id, then ours", WWW, |q| {
            vec![wrong_id(q).into(), q.good().into()]
        }),
        bad("wrong id over TCP", "www.example.test +tcp", |q| {
            vec![wrong_id(q).into()]
        }),
        bad(
            "wrong id over TCP, then ours",
            "www.example.test +tcp",
            |q| vec![wrong_id(q).into(), q.good().into()],
        ),
        bad("other name", WWW, |q| vec![other_name(q).into()]),
        bad("other name, then ours", WWW, |q| {
            vec![other_name(q).into(), q.good().into()]
        }),
        bad("other name over TCP", "www.example.test +tcp", |q| {
            vec![other_name(q).into()]
        }),
        bad("other type", WWW, |q| {
            vec![
                q.good()
                    .asks(&[question(b"www.example.test", 28, 1)])
                    .into(),
            ]
        }),
        bad("other class", WWW, |q| {
            vec![q.good().asks(&[question(b"www.example.test", 1, 3)]).into()]
        }),
        bad("name in capitals", WWW, |q| {
            vec![q.good().asks(&[question(b"WWW.eXample.TEST", 1, 1)]).into()]
        }),
        bad("name with odd letters", WWW, |q| {
            vec![
                q.good()
                    .asks(&[question(b"w\x00w.\x1b[31m.\xff", 1, 1)])
                    .into(),
            ]
        }),
        bad("no question", WWW, |q| {
            let mut reply = q.empty().asks(&[]);
            reply.answers.push(a(&name(b"www.example.test"), 1));
            vec![reply.into()]
        }),
        bad("the question twice", WWW, |q| {
            vec![q.good().asks(&[q.question(), q.question()]).into()]
        }),
        bad("two questions", WWW, |q| {
            let other = question(b"other.example.test", 1, 1);
            vec![q.good().asks(&[q.question(), other]).into()]
        }),
        bad("two types in question", WWW, |q| {
            let other = question(b"www.example.test", 28, 1);
            vec![q.good().asks(&[q.question(), other]).into()]
        }),
        bad("not a response", WWW, |q| vec![asked_back(q).into()]),
        bad("not a response over TCP", "www.example.test +tcp", |q| {
            vec![asked_back(q).into()]
        }),
        bad("the query itself", WWW, |q| vec![Act::Say(q.wire.clone())]),
        bad("other opcode", WWW, |q| vec![wrong_opcode(q).into()]),
        bad("other opcode, then ours", WWW, |q| {
            vec![wrong_opcode(q).into(), q.good().into()]
        }),
        bad("other opcode over TCP", "www.example.test +tcp", |q| {
            vec![wrong_opcode(q).into()]
        }),
        bad(
            "other opcode asked for",
            "www.example.test +opcode=NOTIFY",
            |q| vec![q.good().into()],
        ),
        bad("update", "www.example.test +opcode=UPDATE", |q| {
            vec![q.good().into()]
        }),
        bad(
            "update of no class",
            "www.example.test +opcode=UPDATE -c ANY",
            |q| vec![q.good().into()],
        ),
        bad(
            "notify of no class",
            "www.example.test +opcode=NOTIFY -c NONE",
            |q| vec![q.good().into()],
        ),
    ]
}

fn senders() -> Vec<Bad> {
    vec![
        bad("from another address", WWW, |q| {
            vec![Act::Stranger(q.with(&[a(OWNER, 66)]).bytes())]
        }),
        bad("from another address, then ours", WWW, |q| {
            let spoof = Act::Stranger(q.with(&[a(OWNER, 66)]).bytes());
            vec![spoof, Act::Wait(50), q.good().into()]
        }),
        bad("from another port", WWW, |q| {
            vec![Act::OtherPort(q.with(&[a(OWNER, 66)]).bytes())]
        }),
        bad(
            "from another port, then ours",
            "www.example.test +qr",
            |q| {
                let spoof = Act::OtherPort(q.with(&[a(OWNER, 66)]).bytes());
                vec![spoof, Act::Wait(50), q.good().into()]
            },
        ),
        bad("twice the same", WWW, |q| {
            vec![q.good().into(), q.good().into()]
        }),
        bad("two different replies", WWW, |q| {
            vec![q.good().into(), q.with(&[a(OWNER, 66)]).into()]
        }),
        bad(
            "two replies for two names",
            "www.example.test mail.example.test",
            |q| vec![q.good().into(), q.with(&[a(OWNER, 66)]).into()],
        ),
        bad(
            "two replies on a kept connection",
            "www.example.test mail.example.test +tcp +keepopen",
            |q| vec![q.good().into(), q.with(&[a(OWNER, 66)]).into()],
        ),
    ]
}

fn codes() -> Vec<Bad> {
    vec![
        bad("FORMERR", "r1.example.test", rcode),
        bad("SERVFAIL", "r2.example.test", rcode),
        bad("SERVFAIL, do not stop", "r2.example.test +nofail", rcode),
        bad("NOTIMP", "r4.example.test", rcode),
        bad("REFUSED", "r5.example.test +dnssec", rcode),
        bad("YXDOMAIN", "r6.example.test +noall +comments", rcode),
        bad("NOTAUTH", "r9.example.test +yaml", rcode),
        bad("code 11", "r11.example.test", rcode),
        bad("code 15", "r15.example.test +yaml", rcode),
        bad("FORMERR without EDNS", WWW, |q| {
            vec![q.empty().rcode(1).opt(&[]).into()]
        }),
        bad("NOTIMP without EDNS", "www.example.test +dnssec", |q| {
            vec![q.empty().rcode(4).opt(&[]).into()]
        }),
        bad("REFUSED without EDNS", "www.example.test +short", |q| {
            vec![q.empty().rcode(5).opt(&[]).into()]
        }),
        bad("FORMERR as a header alone", WWW, |q| {
            vec![q.empty().rcode(1).asks(&[]).opt(&[]).into()]
        }),
        bad("code 16 without EDNS version", "x16.example.test", extended),
        bad("code 22", "x22.example.test", extended),
        bad("code 24", "x24.example.test", extended),
        bad("code 4095", "x4095.example.test +yaml", extended),
        bad(
            "NXDOMAIN with an answer",
            "www +search +domain=example.test",
            |q| vec![q.good().rcode(3).into()],
        ),
        bad("all flags", "www.example.test", |q| {
            vec![q.good().set(0x07f0 & !TC).into()]
        }),
        bad(
            "all flags, truncation ignored",
            "www.example.test +ignore +yaml",
            |q| vec![q.good().set(0x07f0).into()],
        ),
        bad("no flags", WWW, |q| vec![q.good().clear(0x07f0).into()]),
        bad("no recursion", "www.example.test +norecurse", |q| {
            vec![q.good().set(AA).clear(RA).into()]
        }),
    ]
}

fn retries() -> Vec<Bad> {
    vec![
        bad("older version", "v3.example.test +edns=7", versions),
        bad(
            "older version, not asked for",
            "v0.example.test +edns=1 +noednsneg",
            versions,
        ),
        bad(
            "older version over TCP",
            "v0.example.test +edns=2 +tcp",
            versions,
        ),
        bad(
            "more versions than lookups",
            "v0.example.test +edns=100",
            versions,
        ),
        bad("BADCOOKIE once", "www.example.test", |q| {
            if q.count == 0 {
                return vec![bad_cookie(q, &server_cookie(q))];
            }
            vec![q.good().into()]
        }),
        bad(
            "BADCOOKIE once, shown",
            "www.example.test +showbadcookie",
            |q| {
                if q.count == 0 {
                    return vec![bad_cookie(q, &server_cookie(q))];
                }
                vec![q.good().into()]
            },
        ),
        bad("BADCOOKIE always", "www.example.test", |q| {
            vec![bad_cookie(q, &server_cookie(q))]
        }),
        bad(
            "BADCOOKIE, no retry",
            "www.example.test +nobadcookie",
            |q| vec![bad_cookie(q, &server_cookie(q))],
        ),
        bad("BADCOOKIE for another client", "www.example.test", |q| {
            vec![bad_cookie(q, &[3; 24])]
        }),
        bad("BADCOOKIE with half a cookie", "www.example.test", |q| {
            vec![bad_cookie(q, &[3; 4])]
        }),
        bad("BADCOOKIE without a cookie", "www.example.test", |q| {
            vec![q.empty().rcode(7).opt(&[opt(1232, 1 << 24, &[])]).into()]
        }),
        bad(
            "no cookie in return",
            "www.example.test +cookie=0102030405060708",
            |q| vec![q.good().opt(&[]).into()],
        ),
        bad(
            "SERVFAIL, then the next server",
            "TWO www.example.test +nofail",
            |q| vec![q.empty().rcode(2).into()],
        ),
        bad(
            "SERVFAIL, the next server not asked",
            "TWO www.example.test +fail",
            |q| vec![q.empty().rcode(2).into()],
        ),
        bad(
            "REFUSED, the next server not asked",
            "TWO www.example.test",
            |q| vec![q.empty().rcode(5).into()],
        ),
    ]
}
