//! Names, counts, lengths and sections that lie.

#![expect(clippy::too_many_lines, reason = "tables are as long as they are")]

use super::message::{OWNER, a, name, record, rr, texts};
use super::{Bad, bad};

const WWW: &str = "www.example.test";

pub(super) fn all() -> Vec<Bad> {
    let mut all = names();
    all.extend(counts());
    all.extend(chains());
    all
}

fn names() -> Vec<Bad> {
    vec![
        bad("content: pointer to itself", WWW, |q| {
            let at = u8::try_from(12 + q.question().len()).unwrap();
            vec![q.with(&[a(&[0xc0, at], 1)]).into()]
        }),
        bad("content: two pointers in a circle", WWW, |q| {
            let at = u8::try_from(12 + q.question().len()).unwrap();
            // The second stands in the data of the first record.
            let first = record(OWNER, (5, 1), 1, &[0xc0, at + 16], None);
            vec![q.with(&[first, a(&[0xc0, at + 12], 1)]).into()]
        }),
        bad("content: pointer forwards", WWW, |q| {
            vec![
                q.with(&[a(&[0xc0, 100], 1), a(OWNER, 2), a(OWNER, 3), a(OWNER, 4)])
                    .into(),
            ]
        }),
        bad("content: pointer past the end", WWW, |q| {
            vec![q.with(&[a(&[0xff, 0xff], 1)]).into()]
        }),
        bad("content: pointer into the header", WWW, |q| {
            vec![q.with(&[a(&[0xc0, 4], 1)]).into()]
        }),
        bad("content: pointer into the middle of a label", WWW, |q| {
            vec![q.with(&[a(&[0xc0, 14], 1)]).into()]
        }),
        bad("content: half a pointer", WWW, |q| {
            let mut reply = q.empty().opt(&[]).count(1, 1);
            reply.tail = vec![0xc0];
            vec![reply.into()]
        }),
        bad("content: label of type 64", WWW, |q| {
            vec![q.with(&[a(&[0x40, 1, 0], 1)]).into()]
        }),
        bad("content: label of type 128", WWW, |q| {
            vec![q.with(&[a(&[0x80, 1, 0], 1)]).into()]
        }),
        bad("content: name of 255 bytes", WWW, |q| {
            let text = [&[b'a'; 63][..], &[b'b'; 63], &[b'c'; 63], &[b'd'; 61]].join(&b'.');
            vec![q.with(&[a(&name(&text), 1)]).into()]
        }),
        bad("content: name of 256 bytes", WWW, |q| {
            let text = [&[b'a'; 63][..], &[b'b'; 63], &[b'c'; 63], &[b'd'; 62]].join(&b'.');
            vec![q.with(&[a(&name(&text), 1)]).into()]
        }),
        bad("content: name without end", WWW, |q| {
            let mut reply = q.empty().opt(&[]).count(1, 1);
            reply.tail = b"\x03abc\x03de".to_vec();
            vec![reply.into()]
        }),
        bad("content: name of odd bytes", WWW, |q| {
            let odd = b"a\x00b.\x1b[2J.\n\r\t.sp ace.\xff\x80.\"q\".semi;.\\.@$(";
            vec![q.with(&[a(&name(odd), 1), rr(5, &name(odd))]).into()]
        }),
        bad("content: name of letters beyond ASCII", WWW, |q| {
            let text = "caf\u{e9}.\u{202e}evil.\u{4f8b}\u{3048}".as_bytes();
            vec![q.with(&[rr(5, &name(text)), a(&name(text), 1)]).into()]
        }),
        bad("content: name with a dot in its label", WWW, |q| {
            vec![q.with(&[rr(12, b"\x03a.b\x01c\x00")]).into()]
        }),
        bad("content: punycode", WWW, |q| {
            let text = b"xn--bcher-kva.xn--a.xn--80ak6aa92e";
            vec![q.with(&[rr(5, &name(text)), a(&name(text), 1)]).into()]
        }),
    ]
}

fn counts() -> Vec<Bad> {
    vec![
        bad("content: more answers promised", WWW, |q| {
            vec![q.good().count(1, 5).into()]
        }),
        bad("content: 65535 answers promised", WWW, |q| {
            vec![q.good().count(1, 65535).into()]
        }),
        bad("content: fewer answers promised", WWW, |q| {
            vec![q.good().answer(a(OWNER, 2)).count(1, 1).into()]
        }),
        bad("content: nothing promised", WWW, |q| {
            vec![q.good().count(1, 0).count(3, 0).into()]
        }),
        bad("content: question not promised", WWW, |q| {
            vec![q.good().count(0, 0).into()]
        }),
        bad("content: second question promised", WWW, |q| {
            vec![q.good().count(0, 2).into()]
        }),
        bad("content: bytes behind the end", WWW, |q| {
            let mut reply = q.good();
            reply.tail = b"\x1b]0;title\x07 and more".to_vec();
            vec![reply.into()]
        }),
        bad("content: data longer than the message", WWW, |q| {
            let lie = record(OWNER, (1, 1), 300, &[10, 0, 0, 1], Some(400));
            vec![q.with(&[a(OWNER, 9), lie]).opt(&[]).into()]
        }),
        bad("content: data longer than its type", WWW, |q| {
            vec![q.with(&[rr(1, &[10, 0, 0, 1, 9])]).into()]
        }),
        bad("content: data shorter than its type", WWW, |q| {
            vec![q.with(&[a(OWNER, 9), rr(1, &[10, 0])]).into()]
        }),
        bad("content: no data", WWW, |q| {
            vec![q.with(&[rr(1, &[])]).into()]
        }),
        bad("content: cut within the record's head", WWW, |q| {
            let mut reply = q.empty().opt(&[]).count(1, 2).answer(a(OWNER, 9));
            reply.tail = [OWNER, &[0, 1, 0, 1, 0]].concat();
            vec![reply.into()]
        }),
        bad("content: cut within the question", WWW, |q| {
            let mut wire = q.empty().opt(&[]).bytes();
            wire.truncate(20);
            vec![super::serve::Act::Say(wire)]
        }),
    ]
}

fn chains() -> Vec<Bad> {
    vec![
        bad("content: alias of itself", WWW, |q| {
            vec![q.with(&[rr(5, OWNER)]).into()]
        }),
        bad("content: aliases in a circle", WWW, |q| {
            let other = name(b"other.test");
            let back = record(&other, (5, 1), 300, OWNER, None);
            vec![q.with(&[rr(5, &other), back]).into()]
        }),
        bad("content: two aliases", WWW, |q| {
            let aliases = [rr(5, &name(b"one.test")), rr(5, &name(b"two.test"))];
            vec![q.with(&aliases).into()]
        }),
        bad("content: an alias and an address", WWW, |q| {
            vec![q.with(&[a(OWNER, 1), rr(5, &name(b"one.test"))]).into()]
        }),
        bad("content: other names", WWW, |q| {
            vec![q.with(&[a(&name(b"bank.test"), 66), a(&[0], 67)]).into()]
        }),
        bad("content: other types", WWW, |q| {
            let quad = rr(
                28,
                &[0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            );
            vec![q.with(&[quad, rr(16, &texts(&[b"t"]))]).into()]
        }),
        bad("content: other classes", WWW, |q| {
            let class = |class| record(OWNER, (16, class), 1, &texts(&[b"t"]), None);
            vec![
                q.with(&[class(3), class(255), class(254), class(0), class(77)])
                    .into(),
            ]
        }),
        bad("content: the same record twice", WWW, |q| {
            vec![q.with(&[a(OWNER, 1), a(OWNER, 1)]).into()]
        }),
        bad("content: one set with two times to live", WWW, |q| {
            let short = record(OWNER, (1, 1), 5, &[10, 0, 0, 2], None);
            vec![q.with(&[a(OWNER, 1), short]).into()]
        }),
        bad("content: sets in turns", WWW, |q| {
            let (mail, text) = (rr(15, &[0, 1, 0xc0, 12]), rr(16, &texts(&[b"t"])));
            vec![
                q.with(&[a(OWNER, 2), mail.clone(), a(OWNER, 1), text, mail])
                    .into(),
            ]
        }),
        bad("content: names in turns, in two cases", WWW, |q| {
            let upper = name(b"WWW.EXAMPLE.test");
            let all = [
                a(OWNER, 2),
                a(&name(b"b.test"), 1),
                a(&upper, 3),
                a(&name(b"B.test"), 4),
            ];
            vec![q.with(&all).into()]
        }),
        bad("content: times to live at their ends", WWW, |q| {
            let ttl = |ttl, last| record(OWNER, (1, 1), ttl, &[10, 0, 0, last], None);
            let other = record(&name(b"o.test"), (1, 1), u32::MAX, &[10, 0, 0, 9], None);
            vec![q.with(&[ttl(0x8000_0000, 1), other]).into()]
        }),
        bad("content: time to live 0 and the greatest", WWW, |q| {
            let ttl = |owner: &[u8], ttl| record(owner, (1, 1), ttl, &[10, 0, 0, 1], None);
            let least = ttl(&name(b"o.test"), 0);
            vec![
                q.with(&[
                    ttl(OWNER, 0x7fff_ffff),
                    least,
                    ttl(&name(b"w.test"), 90_061),
                ])
                .into(),
            ]
        }),
        bad("content: types 0, 255 and 65535", WWW, |q| {
            vec![
                q.with(&[rr(0, b"x"), rr(255, b"y"), rr(65535, b"z"), rr(65280, b"")])
                    .into(),
            ]
        }),
        bad("content: addresses everywhere", WWW, |q| {
            let mut reply = q.good();
            reply.authorities.push(a(OWNER, 2));
            reply.additionals.push(a(OWNER, 3));
            vec![reply.into()]
        }),
        bad("content: a signed message", WWW, |q| {
            let mut data = name(b"hmac-sha256");
            data.extend([
                0, 0, 0x65, 0, 0, 0, 1, 44, 0, 4, 1, 2, 3, 4, 0, 7, 0, 0, 0, 0,
            ]);
            let mut reply = q.good();
            reply
                .additionals
                .push(record(&name(b"key"), (250, 255), 0, &data, None));
            vec![reply.into()]
        }),
        bad("content: a signature in the answer", WWW, |q| {
            vec![
                q.with(&[record(OWNER, (250, 255), 0, &[0; 20], None), a(OWNER, 1)])
                    .into(),
            ]
        }),
        bad("content: a signature with a key", WWW, |q| {
            let mut data = vec![0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 7];
            data.extend([&name(b"key")[..], &[1, 2, 3, 4]].concat());
            let mut reply = q.good();
            reply
                .additionals
                .push(record(&[0], (24, 255), 0, &data, None));
            vec![reply.into()]
        }),
        bad(
            "content: a thousand answers",
            "www.example.test +tcp",
            |q| {
                let records: Vec<Vec<u8>> = (0..1000_u16)
                    .map(|at| [&[10, 1][..], &at.to_be_bytes()].concat())
                    .map(|data| rr(1, &data))
                    .collect();
                vec![q.with(&records).into()]
            },
        ),
    ]
}
