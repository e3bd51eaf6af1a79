//! `+tls`, which takes any certificate: the same words for both programs.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;

use super::address;
use super::certificates::{Authority, Kind, Leaf};
use super::serve::{self, Dot};
use crate::compare::{self, Line};

/// The name server of the laboratory's resolv.conf.
const USUAL: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 10);

/// Servers of certificates that are wrong, and servers that do wrong.
const SERVERS: &[(usize, Leaf, Dot)] = &[
    (2, Leaf::Expired, Dot::Answers),
    (3, Leaf::SelfSigned, Dot::Answers),
    (4, Leaf::OtherName, Dot::Answers),
    (5, Leaf::Stranger, Dot::Answers),
    (6, Leaf::Good, Dot::Hangs),
    (7, Leaf::Good, Dot::Ends),
];

/// What is asked; 127.90.0.1 has a certificate of an authority that nobody
/// has named.
const LINES: &[&str] = &[
    "@127.90.0.1 www.example.test +tls",
    "+tls www.example.test",
    "@127.90.0.2 www.example.test +tls",
    "@127.90.0.3 www.example.test +tls",
    "@127.90.0.4 www.example.test +tls",
    "@127.90.0.5 www.example.test +tls",
    "@127.90.0.6 www.example.test +tls +tries=1 +time=1",
    "@127.90.0.7 www.example.test +tls +tries=1 +time=1",
    "@127.90.0.250 www.example.test +tls +tries=1 +time=1",
    "@127.90.0.1 www.example.test +tls -p 854 +tries=1 +time=1",
    "@127.90.0.1 -p 853 example.test MX +tls +dnssec",
    "@127.90.0.1 example.test AXFR +tls",
    "@127.90.0.1 example.test -t IXFR=1 +tls",
    "@127.90.0.1 www.example.test ANY +tls",
    "@127.90.0.1 www.example.test +tls +qr +yaml",
    "@127.90.0.1 www.example.test +tls +short +identify",
    "@127.90.0.1 www.example.test +tcp +tls",
    "@127.90.0.1 www.example.test +TLS",
    "@127.90.0.1 www.example.test +tls=5",
    "@127.90.0.1 big.example.test +tls +keepopen www.example.test",
    "@127.0.0.1 www.example.test +notcp +tls",
    "@127.0.0.1 www.example.test +tls +notcp",
    "@127.0.0.1 www.example.test +tls +notls",
    "@127.0.0.1 www.example.test +tls +tcp +notls",
    "@127.0.0.1 www.example.test +tl",
    "@127.0.0.1 www.example.test +tls-",
    "@127.90.0.1 +tls www.example.test +nocomments example.test MX +notls @127.0.0.1",
    "@dns.secure.test www.example.test +tls",
    "@127.90.0.1 www.example.test +notls-ca +tls",
];

pub(super) fn trials(authority: &Arc<Authority>, is_list: bool) -> Vec<Trial> {
    if !is_list {
        for &(at, leaf, dot) in SERVERS {
            start(authority, address(at), leaf, dot);
        }
        super::both(authority, USUAL, Leaf::Good);
    }
    LINES.iter().map(|line| trial(line)).collect()
}

fn start(authority: &Authority, address: Ipv4Addr, leaf: Leaf, dot: Dot) {
    if dot == Dot::Answers {
        return super::both(authority, address, leaf);
    }
    serve::dot(
        (address, 853),
        dot,
        &authority.chain(&Kind { leaf, address }),
    );
}

fn trial(line: &'static str) -> Trial {
    Trial::test(format!("secure +tls: {line}"), move || {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        // What goes to port 53 without TLS is (TLS) to dig all the same.
        let same = if line.contains("+notcp") {
            vec![["(TLS)", "(UDP)", "(UDP)"].map(str::to_owned)]
        } else {
            Vec::new()
        };
        let line = Line {
            words: [words.clone(), words],
            same,
            ..Line::default()
        };
        compare::both(&line, Path::new("/"))
    })
}
