//! OPT records and their options.

#![expect(clippy::too_many_lines, reason = "tables are as long as they are")]

use super::message::{OWNER, a, opt, option, record};
use super::{Bad, Query, bad};
use crate::bad::serve::Act;

const WWW: &str = "www.example.test";

/// A reply with one OPT record of these options.
fn options(query: &Query, options: &[Vec<u8>]) -> Vec<Act> {
    vec![query.good().opt(&[opt(1232, 0, &options.concat())]).into()]
}

fn error(code: u16, text: &[u8]) -> Vec<u8> {
    option(15, &[&code.to_be_bytes()[..], text].concat())
}

pub(super) fn all() -> Vec<Bad> {
    let mut all = records();
    all.extend(known_options());
    all
}

fn records() -> Vec<Bad> {
    vec![
        bad("edns missing", WWW, |q| vec![q.good().opt(&[]).into()]),
        bad("edns twice", WWW, |q| {
            vec![q.good().opt(&[opt(1232, 0, &[]), opt(512, 0, &[])]).into()]
        }),
        bad("edns in the answer", WWW, |q| {
            vec![q.with(&[opt(1232, 0, &[])]).opt(&[]).into()]
        }),
        bad("edns in the authority section", WWW, |q| {
            let mut reply = q.good().opt(&[]);
            reply.authorities.push(opt(1232, 0, &[]));
            vec![reply.into()]
        }),
        bad("edns with a name", WWW, |q| {
            let named = record(OWNER, (41, 1232), 0, &[], None);
            vec![q.good().opt(&[named]).into()]
        }),
        bad("edns before other records", WWW, |q| {
            vec![q.good().opt(&[opt(0, 0, &[]), a(OWNER, 9)]).into()]
        }),
        bad("edns not asked for", "www.example.test +noedns", |q| {
            vec![q.good().opt(&[opt(65535, 0, &[])]).into()]
        }),
        bad("edns version 1", WWW, |q| {
            vec![q.good().opt(&[opt(1232, 1 << 16, &[])]).into()]
        }),
        bad("edns all flags", WWW, |q| {
            vec![q.good().opt(&[opt(1232, 0xffff, &[])]).into()]
        }),
        bad("edns half an option", WWW, |q| {
            vec![q.good().opt(&[opt(1232, 0, &[0, 3, 0])]).into()]
        }),
        bad("edns option longer than its record", WWW, |q| {
            vec![q.good().opt(&[opt(1232, 0, &[0, 3, 0, 9, 1])]).into()]
        }),
        bad("edns cut off", WWW, |q| {
            let record = record(&[0], (41, 1232), 0, &[0, 3, 0, 1, 65], Some(90));
            vec![q.good().opt(&[record]).into()]
        }),
    ]
}

fn known_options() -> Vec<Bad> {
    vec![
        bad("edns error with text", WWW, |q| {
            options(q, &[error(18, b"blocked by policy"), error(0, b"")])
        }),
        bad("edns error with control characters", WWW, |q| {
            options(q, &[error(15, b"a\x1b[31mred\r\n;; forged\x00\x07\x7f")])
        }),
        bad("edns error with letters of two directions", WWW, |q| {
            options(
                q,
                &[error(
                    15,
                    "caf\u{e9} \u{202e}txet\u{2066} \u{85}".as_bytes(),
                )],
            )
        }),
        bad("edns error that is no text", WWW, |q| {
            options(q, &[error(15, b"\xff\xfe\xc3")])
        }),
        bad(
            "edns errors that are no text, as YAML",
            "www.example.test +yaml",
            |q| {
                options(
                    q,
                    &[error(15, b"\xff\x01x"), error(15, "caf\u{e9}".as_bytes())],
                )
            },
        ),
        bad(
            "edns error of one letter, as YAML",
            "www.example.test +yaml",
            |q| options(q, &[option(15, b"A")]),
        ),
        bad("edns error with a quote", WWW, |q| {
            options(q, &[error(4, b"say \"no\" \\ 'x': # y")])
        }),
        bad("edns error that nobody knows", WWW, |q| {
            options(q, &[error(31, b"new"), error(65535, b"x"), error(24, b"")])
        }),
        bad("edns error of one byte", WWW, |q| {
            options(q, &[option(15, &[1])])
        }),
        bad("edns error without anything", WWW, |q| {
            options(q, &[option(15, &[])])
        }),
        bad("edns error with a long text", WWW, |q| {
            options(q, &[error(1, &[b'x'; 1000])])
        }),
        bad("edns error that ends in NUL", WWW, |q| {
            options(q, &[error(3, b"stale\x00")])
        }),
        bad("edns many errors", WWW, |q| {
            let errors: Vec<Vec<u8>> = (0..30).map(|code| error(code, b"n")).collect();
            options(q, &errors)
        }),
        bad("edns server's id of bytes", "www.example.test +nsid", |q| {
            options(q, &[option(3, b"\x00\x1b[2Jns\xff\"\\")])
        }),
        bad(
            "edns server's id of nothing",
            "www.example.test +nsid",
            |q| options(q, &[option(3, b"")]),
        ),
        bad("edns cookie too short", WWW, |q| {
            options(q, &[option(10, &[1, 2, 3])])
        }),
        bad(
            "edns cookie too long",
            "www.example.test +cookie=0102030405060708",
            |q| {
                let client = q.cookie().unwrap_or_default();
                options(q, &[option(10, &[&client[..], &[5; 40]].concat())])
            },
        ),
        bad("edns cookie of another", WWW, |q| {
            options(q, &[option(10, &[7; 24])])
        }),
        bad("edns cookie that is the client's", WWW, |q| {
            options(q, &[option(10, &q.cookie().unwrap_or_default())])
        }),
        bad("edns two cookies", WWW, |q| {
            let client = q.cookie().unwrap_or_default();
            options(q, &[option(10, &[7; 24]), option(10, &client)])
        }),
        bad(
            "edns client subnet",
            "www.example.test +subnet=10.1.0.0/16",
            |q| options(q, &[option(8, &[0, 1, 16, 8, 10, 1])]),
        ),
        bad("edns client subnet with a long prefix", WWW, |q| {
            options(q, &[option(8, &[0, 1, 40, 0, 10, 1, 2, 3, 4])])
        }),
        bad("edns client subnet with bits too many", WWW, |q| {
            options(q, &[option(8, &[0, 1, 20, 0, 10, 1, 255])])
        }),
        bad("edns client subnet of no family", WWW, |q| {
            options(q, &[option(8, &[0, 9, 8, 0, 10])])
        }),
        bad("edns client subnet too short", WWW, |q| {
            options(q, &[option(8, &[0, 1, 24])])
        }),
        bad("edns client subnet of six", WWW, |q| {
            options(q, &[option(8, &[0, 2, 33, 64, 0x20, 1, 0x0d, 0xb8, 0x80])])
        }),
        bad("edns client subnet of family 0", WWW, |q| {
            options(q, &[option(8, &[0, 0, 0, 0])])
        }),
        bad("edns client subnet of family 0 with a prefix", WWW, |q| {
            options(q, &[option(8, &[0, 0, 8, 0, 10])])
        }),
        bad("edns expire", WWW, |q| {
            options(q, &[option(9, &[0, 1, 0x51, 0x80]), option(9, &[])])
        }),
        bad("edns expire of three bytes", WWW, |q| {
            options(q, &[option(9, &[1, 2, 3])])
        }),
        bad("edns keepalive", WWW, |q| {
            options(q, &[option(11, &[0, 123]), option(11, &[])])
        }),
        bad("edns keepalive of one byte", WWW, |q| {
            options(q, &[option(11, &[3])])
        }),
        bad("edns padding", WWW, |q| {
            options(
                q,
                &[option(12, &[0; 40]), option(12, &[]), option(12, b"text")],
            )
        }),
        bad("edns long-lived query", WWW, |q| {
            options(
                q,
                &[option(
                    1,
                    &[0, 1, 0, 2, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 1, 0],
                )],
            )
        }),
        bad("edns long-lived query too short", WWW, |q| {
            options(q, &[option(1, &[0, 1, 0, 2])])
        }),
        bad("edns key tags", WWW, |q| {
            options(
                q,
                &[
                    option(14, &[0, 1, 0, 2]),
                    option(14, &[0, 1, 2]),
                    option(14, &[]),
                ],
            )
        }),
        bad("edns tags of client and server", WWW, |q| {
            options(q, &[option(16, &[0, 1]), option(17, &[1, 0])])
        }),
        bad("edns tag too long", WWW, |q| {
            options(q, &[option(16, &[0, 1, 2])])
        }),
        bad("edns algorithms understood", WWW, |q| {
            options(
                q,
                &[
                    option(5, &[8, 13, 99]),
                    option(6, &[1, 2]),
                    option(7, &[1, 0]),
                ],
            )
        }),
        bad("edns chain", WWW, |q| {
            options(
                q,
                &[option(13, b"\x07example\x04test\x00"), option(13, b"\xc0")],
            )
        }),
        bad("edns options that nobody knows", WWW, |q| {
            options(
                q,
                &[
                    option(65001, b"abc\x1b\x00\xff"),
                    option(18, b"\x05agent\x00"),
                    option(19, &[1, 0, 0, 0, 0, 9]),
                    option(26946, b"device"),
                    option(4, &[]),
                ],
            )
        }),
    ]
}
