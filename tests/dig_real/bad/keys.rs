//! Data of keys, signatures and proofs that is not as its type wants it.

#![expect(clippy::too_many_lines, reason = "tables are as long as they are")]

use super::message::{name, rr};
use super::records::{many, one};
use super::{Bad, bad};

const WWW: &str = "www.example.test";

pub(super) fn all() -> Vec<Bad> {
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
