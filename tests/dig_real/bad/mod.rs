//! A server that does what no server should.
//!
//! Every behaviour has a network of its own: server .1 is for dig and .2 for
//! kdns, so both may be asked at the same time; .3 and .4 answer as they should
//! and stand behind the bad ones under the name `TWO`; .8 and .9 spoof.

mod content;
mod edns;
mod fuzz;
mod headers;
mod keys;
mod message;
mod records;
mod serve;
mod services;
mod streams;

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;

use self::message::Query;
use self::serve::{Act, Listens};
use crate::compare::{self, Line};

/// What a server does with a query.
type Acts = fn(&Query) -> Vec<Act>;

/// One way to be bad.
pub(crate) struct Bad {
    name: &'static str,
    /// Words for dig, besides the server, `+tries=1` and `+time=1`; `TWO` is
    /// the name of both servers.
    words: &'static str,
    acts: Acts,
    listens: Listens,
}

const fn bad(name: &'static str, words: &'static str, acts: Acts) -> Bad {
    Bad {
        name,
        words,
        acts,
        listens: Listens::Both,
    }
}

fn all() -> Vec<Bad> {
    let mut all = Vec::new();
    all.extend(streams::all());
    all.extend(headers::all());
    all.extend(edns::all());
    all.extend(content::all());
    all.extend(records::all());
    all.extend(keys::all());
    all.extend(services::all());
    all
}

/// Content is looked at in all the ways that dig shows it.
const WAYS: &[(&str, &str)] = &[
    ("yaml", "+yaml"),
    ("short", "+short"),
    ("strict", "+nobesteffort"),
    ("multiline", "+multiline +rrcomments +ttlunits"),
    ("generic", "+unknownformat"),
];

/// Of the network of behaviour `at`.
fn address(at: usize, last: u8) -> Ipv4Addr {
    let [high, low] = u16::try_from(at).unwrap().to_be_bytes();
    Ipv4Addr::new(127, 66 + high, low, last)
}

/// The names of `/etc/hosts` for behaviours with a second server.
pub(crate) fn hosts() -> String {
    let two = |(at, _): (usize, Bad)| {
        let at = at + 1;
        let line = |last: u8, who: &str| format!("{} two-{who}-{at}\n", address(at, last));
        let lines = [
            line(1, "dig"),
            line(3, "dig"),
            line(2, "kdns"),
            line(4, "kdns"),
        ];
        lines.concat()
    };
    all().into_iter().enumerate().map(two).collect()
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (at, bad) in all().into_iter().enumerate() {
        let at = at + 1;
        let bad = Arc::new(bad);
        let mut ways = vec![("", "")];
        if bad.name.starts_with("content") || bad.name.starts_with("edns") {
            ways.extend(WAYS);
        }
        for (way, words) in ways {
            // Where the text is longer than its first buffer, dig forgets the
            // head of its YAML, which then is none.
            let is_large =
                bad.name.ends_with("60,000 bytes") || bad.name.ends_with("thousand answers");
            if way == "yaml" && is_large {
                continue;
            }
            let name = format!("bad {} {way}", bad.name);
            let bad = Arc::clone(&bad);
            trials.push(Trial::test(name.trim_end().to_owned(), move || {
                serve::once(at, bad.acts, bad.listens);
                compare::both(&line(at, bad.words, words), Path::new("/"))
            }));
        }
    }
    let first = all().len() + 1;
    for (at, (bad, words)) in fuzz::all().into_iter().enumerate() {
        let at = first + at;
        let rdtype = words.split('.').nth(1).unwrap_or_default().to_owned();
        // Options before the first name hold for all.
        trials.push(Trial::test(format!("dice {rdtype}"), move || {
            serve::once(at, bad.acts, bad.listens);
            compare::both(&line(at, &words, ""), Path::new("/"))
        }));
    }
    trials
}

fn line(at: usize, words: &str, more: &str) -> Line {
    let words = ["dig", "kdns"].map(|who| {
        let last = if who == "dig" { 1 } else { 2 };
        let two = format!("two-{who}-{at}");
        let server = address(at, last);
        let uses_two = words.contains("TWO");
        let text = format!("@SERVER +tries=1 +time=1 +qid=7 {words} {more}");
        let word = |word: &str| match word {
            "@SERVER" if uses_two => format!("@{two}"),
            "@SERVER" => format!("@{server}"),
            word => word.to_owned(),
        };
        let words = text.split_whitespace().filter(|&it| it != "TWO");
        words.map(word).collect()
    });
    let pair =
        |dig: &str, ours: &str, both: &str| [dig.to_owned(), ours.to_owned(), both.to_owned()];
    let text = |last| address(at, last).to_string();
    Line {
        words,
        same: vec![
            pair(&format!("two-dig-{at}"), &format!("two-kdns-{at}"), "TWO"),
            pair(&text(1), &text(2), "SERVER"),
            pair(&text(3), &text(4), "SECOND"),
        ],
        ..Line::default()
    }
}
