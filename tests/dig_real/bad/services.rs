//! Data of services and places that is not as its type wants it.

#![expect(clippy::too_many_lines, reason = "tables are as long as they are")]

use super::message::{name, rr, texts};
use super::records::{many, one};
use super::{Bad, bad};

const WWW: &str = "www.example.test";

pub(super) fn all() -> Vec<Bad> {
    vec![
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
    ]
}
