//! `+idnout`: names in their own letters, and those at which dig ends.

use std::path::Path;

use libtest_mimic::Trial;

use crate::compare::{self, Line};

const NAMES: &[&str] = &[
    // All is well with these.
    "xn--bcher-kva.example",
    "XN--BCHER-2pa.Example",
    "xn--fa-hia.de",
    "xn--3xa.gr",
    "xn--bc-6kc.xn--tda",
    "xn----jn6bt1bcz6g.x",
    "xn--ab-0ea.x",
    "xn--1-zhc.x",
    "xn--1-0mc6o.x",
    "xn--n3h.x",
    "xn--x4g.x",
    "xn--_-eha._x",
    "xn-----wkac.x",
    "xn--tda.a\\.b",
    "xn--mgbc.xn--4db.1",
    "xn--n--tda-9168a.x",
    "xn--tdaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.x",
    "www.example.test",
    // Punycode that is none.
    "xn--99999",
    "xn--",
    "xn---",
    "xn--a-.c",
    "xn--abc-.x",
    "xn--zzzz.x",
    "xn--0000h",
    "xn--@-tda",
    // Labels that are too long: escaped, they have four characters a byte.
    "xn--tda.\\255\\255\\255\\255\\255\\255\\255\\255\\255\\255\\255\\255\\255\\255\\255\\255.x",
    // Names that are not of IDNA.
    "xn--a",
    "a.xn--a.b",
    "xn--tda.xn--A",
    "xn--hb9b.x",
    "xn--zva.x",
    "xn--pvg.x",
    "xn--n--a-9j0y.x",
    "ab--cd.x",
    "xn--ab---3ra.x",
    "a-.ab--c",
    "ab--c.a-",
    "a-.x",
    "xn----eha.x",
    "xn----dha.x",
    "xn--tda5911k.x",
    "xn--tda.xn--4db.a-",
    "xn--a-ubb.x",
    "xn--7cb8d.x",
    "xn--eua.x",
    "xn--ab-m1t.x",
    "xn--0ug.x",
    "xn--mgbc799q.x",
    "xn--1ug812pba",
    "xn--1-0hc.x",
    "xn--a-zhc.x",
    "xn--a-0hc.x",
    "xn--b-0mcb.x",
    "xn--9hb20a.x",
];

/// How a reply with such a name is shown.
const OPTIONS: &[&str] = &[
    "+qr",
    "+short",
    "+yaml",
    "+yaml +short",
    "+nocomments",
    "+multiline",
    "+noall +question",
    "+noidnout",
    "+noquestion +noauthority",
];

pub(crate) fn trials() -> Vec<Trial> {
    let names = NAMES.iter().map(|name| format!("+idnout +qid=7 {name}"));
    let options = OPTIONS.iter().flat_map(|option| {
        ["xn--a.example.test", "xn--tda.example.test"]
            .map(|name| format!("+idnout +qid=7 {option} {name}"))
    });
    let lines = names
        .chain(options)
        .map(|line| format!("@127.0.0.1 {line}"));
    lines.map(trial).collect()
}

fn trial(line: String) -> Trial {
    Trial::test(format!("idn: {line}"), move || {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let line = Line {
            words: [words.clone(), words],
            variables: vec![("LC_ALL".to_owned(), "C.UTF-8".to_owned())],
            ..Line::default()
        };
        compare::both(&line, Path::new("/"))
    })
}
