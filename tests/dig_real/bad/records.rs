//! Record data that is not as its type wants it.

use super::message::{name, opt, record, rr, texts};
use super::serve::Act;
use super::{Bad, Query, bad};

const WWW: &str = "www.example.test";
/// The question's name.
const P: &[u8] = &[0xc0, 12];

/// One record, between two that are as they should be.
fn one(query: &Query, rdtype: u16, data: &[u8]) -> Vec<Act> {
    let records = [rr(1, &[10, 0, 0, 1]), rr(rdtype, data), rr(99, b"\x01s")];
    vec![query.with(&records).into()]
}

fn many(query: &Query, rdtype: u16, data: &[&[u8]]) -> Vec<Act> {
    let records: Vec<Vec<u8>> = data.iter().map(|data| rr(rdtype, data)).collect();
    vec![query.with(&records).into()]
}

pub(super) fn all() -> Vec<Bad> {
    let mut all = text();
    all.extend(names());
    all.extend(security());
    all.extend(services());
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

fn security() -> Vec<Bad> {
    vec![
        bad("content: NSEC with a bad map", WWW, |q| {
            one(q, 47, &[&name(b"a.test")[..], &[0, 0]].concat())
        }),
        bad("content: NSEC with windows out of order", WWW, |q| {
            one(
                q,
                47,
                &[&name(b"a.test")[..], &[1, 1, 64, 0, 1, 64]].concat(),
            )
        }),
        bad("content: NSEC with an empty map", WWW, |q| {
            one(q, 47, &name(b"a.test"))
        }),
        bad("content: NSEC of many types", WWW, |q| {
            many(
                q,
                47,
                &[&[
                    &name(b"a\x00.test")[..],
                    &[0, 7, 0x62, 1, 0x80, 8, 0, 3, 0xc0, 1, 1, 0x40, 0xff, 1, 1],
                ]
                .concat()],
            )
        }),
        bad("content: NSEC3", WWW, |q| {
            many(
                q,
                50,
                &[
                    &[1, 1, 0, 10, 2, 0xab, 0xcd, 4, 1, 2, 3, 4, 0, 1, 0x40],
                    &[1, 0, 0, 0, 0, 1, 9],
                ],
            )
        }),
        bad("content: NSEC3 with a hash of no bytes", WWW, |q| {
            one(q, 50, &[1, 0, 0, 0, 0, 0])
        }),
        bad("content: NSEC3PARAM", WWW, |q| {
            many(q, 51, &[&[1, 0, 0, 5, 0], &[1, 0, 0, 5, 2, 7, 8]])
        }),
        bad("content: RRSIG that covers nothing", WWW, |q| {
            one(
                q,
                46,
                &[
                    &[0, 0, 8, 2, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 1, 0, 7][..],
                    &name(b"t"),
                    &[1],
                ]
                .concat(),
            )
        }),
        bad("content: RRSIG without a signature", WWW, |q| {
            one(
                q,
                46,
                &[
                    &[0, 1, 8, 2, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 1, 0, 7][..],
                    &name(b"t"),
                ]
                .concat(),
            )
        }),
        bad("content: RRSIG from another century", WWW, |q| {
            many(
                q,
                46,
                &[&[
                    &[
                        0, 1, 253, 2, 0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 0x80, 0, 0, 0, 0, 7,
                    ][..],
                    &name(b"t"),
                    b"\x03alg\x00sig",
                ]
                .concat()],
            )
        }),
        bad("content: DS without a digest", WWW, |q| {
            one(q, 43, &[0, 1, 8, 2])
        }),
        bad("content: DS of the wrong length", WWW, |q| {
            one(q, 43, &[0, 1, 8, 2, 1, 2, 3])
        }),
        bad("content: DS to delete", WWW, |q| {
            many(q, 59, &[&[0, 0, 0, 0, 0]])
        }),
        bad("content: DNSKEY of many kinds", WWW, |q| {
            many(
                q,
                48,
                &[
                    &[1, 0, 3, 8, 3, 1, 0, 1, 9, 9],
                    &[1, 1, 3, 13, 1, 2],
                    &[1, 0x80, 3, 200, 1],
                    &[0, 0, 9, 253, 1],
                    &[0xc0, 0, 3, 8],
                ],
            )
        }),
        bad("content: DNSKEY cut off", WWW, |q| one(q, 48, &[1, 0, 3])),
        bad("content: KEY", WWW, |q| {
            many(q, 25, &[&[0xc0, 0, 3, 8], &[2, 0, 3, 5, 1, 2, 3]])
        }),
        bad("content: CDNSKEY to delete", WWW, |q| {
            many(q, 60, &[&[0, 0, 3, 0, 0]])
        }),
        bad("content: TLSA cut off", WWW, |q| one(q, 52, &[3, 1, 1])),
        bad("content: SSHFP cut off", WWW, |q| one(q, 44, &[1, 2])),
        bad("content: SSHFP of the wrong length", WWW, |q| {
            one(q, 44, &[1, 1, 1, 2, 3])
        }),
        bad("content: CERT of unknown kinds", WWW, |q| {
            many(q, 37, &[&[0, 99, 0, 1, 250, 1, 2], &[0, 254, 0, 1, 8, 1]])
        }),
        bad("content: IPSECKEY of each gateway", WWW, |q| {
            let named = [&[10, 3, 2][..], &name(b"g.test"), &[1, 2]].concat();
            many(q, 45, &[&[10, 0, 0], &[10, 1, 2, 10, 0, 0, 1, 9], &named])
        }),
        bad("content: IPSECKEY of no gateway", WWW, |q| {
            one(q, 45, &[10, 9, 2, 1])
        }),
        bad("content: TKEY", WWW, |q| {
            let data = [
                &name(b"gss-tsig")[..],
                &[0, 0, 0, 1, 0, 0, 0, 2, 0, 3, 0, 0, 0, 2, 1, 2, 0, 0],
            ]
            .concat();
            many(q, 249, &[&data])
        }),
        bad("content: OPENPGPKEY of nothing", WWW, |q| one(q, 61, &[])),
        bad("content: ZONEMD too short", WWW, |q| {
            one(q, 63, &[0, 0, 0, 1, 1, 1, 9])
        }),
        bad("content: CSYNC without types", WWW, |q| {
            many(q, 62, &[&[0, 0, 0, 1, 0, 3]])
        }),
        bad("content: DLV, TA and DOA", WWW, |q| {
            vec![
                q.with(&[
                    rr(32769, &[0, 1, 8, 1, 7]),
                    rr(32768, &[0, 1, 8, 1, 7]),
                    rr(259, &[0, 0, 0, 1, 0, 0, 0, 2, 1, 1, b'x', 9]),
                ])
                .into(),
            ]
        }),
    ]
}

fn services() -> Vec<Bad> {
    let all = vec![
        bad("content: SVCB of the alias form", WWW, |q| {
            many(q, 64, &[&[0, 0, 0]])
        }),
        bad("content: SVCB of the alias form with keys", WWW, |q| {
            one(q, 64, &[0, 0, 0, 0, 3, 0, 2, 0, 80])
        }),
        bad("content: SVCB keys out of order", WWW, |q| {
            one(
                q,
                64,
                &[0, 1, 0, 0, 3, 0, 2, 0, 80, 0, 1, 0, 3, 2, b'h', b'2'],
            )
        }),
        bad("content: SVCB key twice", WWW, |q| {
            one(q, 64, &[0, 1, 0, 0, 3, 0, 2, 0, 80, 0, 3, 0, 2, 0, 80])
        }),
        bad("content: HTTPS with many keys", WWW, |q| {
            let data = [
                &[0, 1, 0][..],
                &[0, 0, 0, 2, 0, 1],
                &[0, 1, 0, 6, 2, b'h', b',', 2, b'\\', b'"'],
                &[0, 2, 0, 0],
                &[0, 4, 0, 4, 10, 0, 0, 1],
                &[0, 5, 0, 2, 1, 2],
                &[0, 7, 0, 3, b'/', 0x1b, b'{'],
                &[0xff, 0, 0, 2, 0, 0xff],
            ]
            .concat();
            many(q, 65, &[&data])
        }),
        bad("content: HTTPS with an empty alpn", WWW, |q| {
            one(q, 65, &[0, 1, 0, 0, 1, 0, 0])
        }),
        bad("content: HTTPS whose alpn lies", WWW, |q| {
            one(q, 65, &[0, 1, 0, 0, 1, 0, 2, 9, b'h'])
        }),
        bad("content: HTTPS with half an address", WWW, |q| {
            one(q, 65, &[0, 1, 0, 0, 4, 0, 3, 10, 0, 0])
        }),
        bad("content: HTTPS that wants a key it lacks", WWW, |q| {
            one(q, 65, &[0, 1, 0, 0, 0, 0, 2, 0, 4])
        }),
        bad("content: APL", WWW, |q| {
            many(
                q,
                42,
                &[&[0, 1, 24, 0x83, 10, 0, 1], &[0, 2, 8, 1, 0xff], &[]],
            )
        }),
        bad("content: APL with a long prefix", WWW, |q| {
            one(q, 42, &[0, 1, 33, 1, 10])
        }),
        bad("content: APL of no family", WWW, |q| {
            many(q, 42, &[&[0, 7, 8, 1, 10]])
        }),
        bad("content: LOC", WWW, |q| {
            many(
                q,
                29,
                &[
                    &[
                        0, 0x12, 0x16, 0x13, 0x8b, 0x3d, 0x6f, 0x4e, 0x7f, 0, 0, 0, 0, 0x98, 0x96,
                        0x80,
                    ],
                    &[
                        0, 0, 0, 0, 0x80, 0, 0, 0, 0x80, 0, 0, 0, 0, 0x98, 0x96, 0x80,
                    ],
                ],
            )
        }),
        bad("content: LOC of another version", WWW, |q| {
            one(q, 29, &[1, 0, 0, 0])
        }),
        bad("content: LOC beyond the pole", WWW, |q| {
            one(
                q,
                29,
                &[
                    0, 0x12, 0x16, 0x13, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0x98, 0x96, 0x80,
                ],
            )
        }),
        bad("content: WKS", WWW, |q| {
            many(
                q,
                11,
                &[&[10, 0, 0, 1, 6, 0, 0, 0, 0x40, 1], &[10, 0, 0, 1, 200]],
            )
        }),
        bad("content: NSAP, EID and ATMA", WWW, |q| {
            vec![
                q.with(&[
                    rr(22, &[0x47, 1, 2]),
                    rr(31, &[1, 2]),
                    rr(34, &[0, 1, 2]),
                    rr(34, b"\x01123"),
                ])
                .into(),
            ]
        }),
        bad("content: EUI48 too short", WWW, |q| one(q, 108, &[1, 2, 3])),
        bad("content: NID, L32, L64 and LP", WWW, |q| {
            let host = [&[0, 1][..], &name(b"h.test")].concat();
            vec![
                q.with(&[
                    rr(104, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 9]),
                    rr(105, &[0, 1, 10, 0, 0, 1]),
                    rr(106, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 9]),
                    rr(107, &host),
                ])
                .into(),
            ]
        }),
        bad("content: HIP", WWW, |q| {
            let data = [&[2, 2, 0, 3, 0xaa, 0xbb, 1, 2, 3][..], &name(b"rvs.test")].concat();
            many(q, 55, &[&data, &[1, 2, 0, 1, 0xaa, 9]])
        }),
        bad("content: HIP whose lengths lie", WWW, |q| {
            one(q, 55, &[90, 2, 0, 1, 1])
        }),
        bad("content: AMTRELAY of each kind", WWW, |q| {
            let named = [&[1, 3][..], &name(b"r.test")].concat();
            many(
                q,
                260,
                &[&[1, 0x80], &[1, 1, 10, 0, 0, 1], &named, &[1, 9, 7]],
            )
        }),
        bad("content: A6", WWW, |q| {
            let whole = [&[0][..], &[0x20; 16]].concat();
            let part = [&[64][..], &[1; 8], &name(b"p.test")].concat();
            many(q, 38, &[&whole, &part, &[128, 0]])
        }),
        bad("content: DHCID, SINK and NXT", WWW, |q| {
            let next = [&name(b"n.test")[..], &[0x62, 1]].concat();
            vec![
                q.with(&[rr(49, &[0, 1, 2, 3]), rr(40, &[1, 2, 3, 4]), rr(30, &next)])
                    .into(),
            ]
        }),
        bad("content: NULL", WWW, |q| {
            many(q, 10, &[b"abc\x00\x1b", b""])
        }),
        bad("content: RESINFO, WALLET, NINFO and AVC", WWW, |q| {
            let text = texts(&[b"qnamemin", b"exterr=15"]);
            vec![
                q.with(&[
                    rr(261, &text),
                    rr(262, &text),
                    rr(56, &text),
                    rr(258, &text),
                ])
                .into(),
            ]
        }),
        bad("content: DSYNC, HHIT, BRID and KEYDATA", WWW, |q| {
            let sync = [&[0, 6, 1, 0, 53][..], &name(b"s.test")].concat();
            vec![
                q.with(&[
                    rr(66, &sync),
                    rr(67, &[1, 2]),
                    rr(68, &[1, 2]),
                    rr(65533, &[0; 20]),
                ])
                .into(),
            ]
        }),
    ];
    all
}
