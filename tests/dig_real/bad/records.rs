//! Record data that is not as its type wants it.

#![expect(clippy::too_many_lines, reason = "tables are as long as they are")]

use super::message::{name, opt, record, rr, texts};
use super::serve::Act;
use super::{Bad, Query, bad};

const WWW: &str = "www.example.test";
/// The question's name.
const P: &[u8] = &[0xc0, 12];

/// One record, between two that are as they should be.
pub(super) fn one(query: &Query, rdtype: u16, data: &[u8]) -> Vec<Act> {
    let records = [rr(1, &[10, 0, 0, 1]), rr(rdtype, data), rr(99, b"\x01s")];
    vec![query.with(&records).into()]
}

pub(super) fn many(query: &Query, rdtype: u16, data: &[&[u8]]) -> Vec<Act> {
    let records: Vec<Vec<u8>> = data.iter().map(|data| rr(rdtype, data)).collect();
    vec![query.with(&records).into()]
}

pub(super) fn all() -> Vec<Bad> {
    let mut all = text();
    all.extend(names());
    all
}

fn text() -> Vec<Bad> {
    vec![
        bad("content: TXT of all bytes", WWW, |q| {
            let all: Vec<u8> = (0..=255).collect();
            many(q, 16, &[&texts(&[&all[..128], &all[128..]])])
        }),
        bad("content: TXT of letters of two directions", WWW, |q| {
            let text = "\u{202e}abc \u{1f600} \u{2066}x\u{200f}".as_bytes();
            many(q, 16, &[&texts(&[text])])
        }),
        bad(
            "content: TXT of 60,000 bytes",
            "www.example.test TXT +tcp",
            |q| {
                let text = texts(&[[b'x'; 255].as_slice()].repeat(235));
                many(q, 16, &[&text])
            },
        ),
        bad("content: TXT whose length lies", WWW, |q| {
            one(q, 16, b"\x09abc")
        }),
        bad("content: TXT of no string", WWW, |q| one(q, 16, b"")),
        bad("content: TXT of an empty string", WWW, |q| {
            many(q, 16, &[b"\x00", b"\x00\x00"])
        }),
        bad("content: HINFO of one string", WWW, |q| {
            one(q, 13, b"\x02PC")
        }),
        bad(
            "content: HINFO of RFC 8482",
            "www.example.test ANY +notcp",
            |q| many(q, 13, &[b"\x07RFC8482\x00"]),
        ),
        bad("content: NAPTR cut off", WWW, |q| {
            one(q, 35, b"\x00\x01\x00\x02\x01U\x03si")
        }),
        bad("content: CAA", WWW, |q| {
            many(
                q,
                257,
                &[
                    b"\x80\x05issueca.test",
                    b"\x00\x03tbs\x1b\x00\xff\"",
                    b"\x00\x05issue",
                ],
            )
        }),
        bad("content: CAA without a tag", WWW, |q| {
            one(q, 257, b"\x00\x00value")
        }),
        bad("content: CAA with a tag too long", WWW, |q| {
            one(q, 257, b"\x00\x63iss")
        }),
        bad("content: CAA with an odd tag", WWW, |q| {
            one(q, 257, b"\x00\x03a-bx")
        }),
        bad("content: URI", WWW, |q| {
            many(q, 256, &[b"\x00\x01\x00\x01http://x/\"\x1b\n"])
        }),
        bad("content: URI of nothing", WWW, |q| {
            one(q, 256, b"\x00\x01\x00\x01")
        }),
        bad("content: SPF", WWW, |q| {
            many(q, 99, &[&texts(&[b"v=spf1 \x07 -all"])])
        }),
        bad("content: X25 of letters", WWW, |q| one(q, 19, b"\x04abcd")),
        bad("content: ISDN of two strings", WWW, |q| {
            many(q, 20, &[b"\x02ab\x01c", b"\x02ab"])
        }),
        bad("content: GPOS of letters", WWW, |q| {
            one(q, 27, b"\x02ab\x01c\x01d")
        }),
    ]
}

fn names() -> Vec<Bad> {
    vec![
        bad("content: SOA cut off", WWW, |q| {
            one(q, 6, b"\xc0\x0c\xc0\x0c\0\0\0\x01")
        }),
        bad("content: SOA", "www.example.test +multiline", |q| {
            let mut data = name(b"ns.test");
            data.extend(name(b"host.master.test"));
            data.extend([0xff; 4]);
            data.extend([
                0, 9, 0x3a, 0x80, 0, 0, 0x0e, 0x10, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0,
            ]);
            many(q, 6, &[&data])
        }),
        bad("content: MX behind its name", WWW, |q| {
            one(q, 15, &[&[0, 1], P, &[9]].concat())
        }),
        bad("content: MX without a name", WWW, |q| one(q, 15, &[0, 1])),
        bad("content: MX of the root", WWW, |q| {
            many(q, 15, &[&[0, 0, 0]])
        }),
        bad("content: SRV with a pointer", WWW, |q| {
            one(q, 33, &[&[0, 0, 0, 5, 0, 80], P].concat())
        }),
        bad("content: SRV", "_http._tcp.example.test SRV", |q| {
            let data = [&[0, 0, 0, 5, 0, 80][..], &name(b"www.test")].concat();
            many(q, 33, &[&data])
        }),
        bad("content: NS whose name is longer than the data", WWW, |q| {
            let lie = record(P, (2, 1), 1, &name(b"ns.test"), Some(4));
            vec![q.with(&[lie]).into()]
        }),
        bad("content: DNAME with a pointer", WWW, |q| one(q, 39, P)),
        bad("content: RP and MINFO", WWW, |q| {
            vec![
                q.with(&[rr(17, &[P, P].concat()), rr(14, &[P, P].concat())])
                    .into(),
            ]
        }),
        bad("content: KX, RT, AFSDB and PX", WWW, |q| {
            let one = [&[0, 1][..], &name(b"a.test")].concat();
            let two = [&one[..], &name(b"b.test")].concat();
            vec![
                q.with(&[rr(36, &one), rr(21, &one), rr(18, &one), rr(26, &two)])
                    .into(),
            ]
        }),
        bad("content: AAAA of 15 bytes", WWW, |q| {
            one(q, 28, &[0x20; 15])
        }),
        bad(
            "content: AAAA of many kinds",
            "www.example.test AAAA",
            |q| {
                let mut mapped = [0; 16];
                mapped[10..].copy_from_slice(&[0xff, 0xff, 10, 0, 0, 1]);
                let mut nat64 = [0; 16];
                nat64[..4].copy_from_slice(&[0, 0x64, 0xff, 0x9b]);
                let mut link = [0; 16];
                link[..2].copy_from_slice(&[0xfe, 0x80]);
                link[15] = 1;
                many(q, 28, &[&mapped, &nat64, &link, &[0; 16], &[0xff; 16]])
            },
        ),
        bad("content: A of class CH", "www.example.test -c CH", |q| {
            let data = [&name(b"ch.test")[..], &[1, 2]].concat();
            vec![q.with(&[record(P, (1, 3), 1, &data, None)]).into()]
        }),
        bad("content: A of class HS", "www.example.test -c HS", |q| {
            vec![q.with(&[record(P, (1, 4), 1, &[1, 2, 3, 4], None)]).into()]
        }),
        bad(
            "content: A of another class",
            "www.example.test -c CLASS77",
            |q| vec![q.with(&[record(P, (1, 77), 1, &[1, 2, 3, 4], None)]).into()],
        ),
        bad(
            "content: an OPT record was asked for",
            "www.example.test OPT",
            |q| vec![q.with(&[opt(9, 9, b"abc")]).into()],
        ),
        bad("content: ANY type", "www.example.test TYPE65400", |q| {
            many(q, 65400, &[b"\x00\x01", b""])
        }),
    ]
}
