//! `+https`, `+http-plain` and `+tls-ca` with all that belongs to them: the
//! same words for both programs.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;

use super::address;
use super::certificates::{Authority, Kind, Leaf};
use super::serve::{self, Dot, Http};
use crate::compare::{self, Line, Look};

/// Servers with both protocols, as many as there are kinds of certificates.
const SERVERS: &[(u8, Leaf)] = &[
    (2, Leaf::Expired),
    (3, Leaf::SelfSigned),
    (4, Leaf::OtherName),
    (5, Leaf::Stranger),
    (200, Leaf::Future),
    (201, Leaf::Authority),
    (202, Leaf::StrangerToo),
    (203, Leaf::ExpiredOtherName),
    (204, Leaf::ExpiredStranger),
    (205, Leaf::FutureOtherName),
    (206, Leaf::Client),
    (208, Leaf::Subject),
];
/// [`super::anyone`] starts those before.
const OWN: u8 = 200;
/// It wants a certificate of the client.
const WARY: u8 = 207;

/// Asked of 127.90.0.1. `CA` is the authority's file, `OWN` all that a wary
/// server wants, `DIR` the folder of the files.
const LINES: &[&str] = &[
    "www.example.test +https",
    "www.example.test +https-get",
    "www.example.test +https-post",
    "www.example.test +http-plain",
    "www.example.test +http-plain-get",
    "www.example.test +http-plain-post",
    // What is asked of HTTP.
    "a.test TXT +https=/echo +qid=7 +nocookie",
    "a.test TXT +https-get=/echo +qid=7 +nocookie",
    "a.test TXT +http-plain=/echo +qid=65535 +nocookie",
    "a.test TXT +http-plain-get=/echo +qid=0 +cookie=0102030405060708 +padding=128",
    "a.test TXT +https=/echo +qid=7 +nocookie +tls-ca=CA +tls-hostname=dns.secure.test",
    "a.test TXT +https=/a%41/b",
    // Words.
    "www.example.test +https=",
    "www.example.test +https=dns-query",
    "www.example.test +https=/a?b",
    "www.example.test +https-get=//",
    "www.example.test +https=/%zz",
    "www.example.test +http",
    "www.example.test +ht",
    "www.example.test +http-",
    "www.example.test +https-",
    "www.example.test +https-g",
    "www.example.test +https-p",
    "www.example.test +https-x",
    "www.example.test +http-plain-",
    "www.example.test +http-plain-g",
    "www.example.test +httpS-GET",
    "www.example.test +HTTPS",
    "www.example.test +tls-hostname",
    "www.example.test +tls-certfile",
    "www.example.test +tls-keyfile=",
    "www.example.test +tls-c",
    "www.example.test +tls-CA=CA",
    // Which of them counts.
    "www.example.test +tls +https",
    "www.example.test +https +tls",
    "www.example.test +https +tcp",
    "www.example.test +notcp +https",
    "www.example.test +https +notls +tcp",
    "www.example.test +http-plain +https",
    "www.example.test +https-get +https",
    "www.example.test +https +tls-ca=CA",
    "www.example.test +tls-ca=CA",
    "www.example.test +tls-ca=CA +tls",
    "www.example.test +tls-ca=CA +http-plain",
    "www.example.test +tls-ca=CA +notls-ca +tls-ca",
    "www.example.test +https -p 853",
    "www.example.test +http-plain -p 8053",
    // On port 53, where nobody speaks HTTP.
    "@127.0.0.1 www.example.test +https +nohttps",
    "@127.0.0.1 www.example.test +nohttp",
    "@127.0.0.1 www.example.test +https +notls-ca",
    "@127.0.0.1 www.example.test +tls-ca=CA +notls-ca",
    // What comes back.
    "www.example.test +https +qr",
    "www.example.test +https +yaml +qr",
    "www.example.test +https-get +short +identify",
    "big.example.test +https-get",
    "nosuch.example.test +https +dnssec +nsid",
    "example.test AXFR +tls-ca=CA",
    "example.test AXFR +https",
    "example.test IXFR=1 +http-plain-get",
    "example.test ANY +notcp +https",
    "www.example.test +https=/junk",
    "www.example.test +https=/page",
    "www.example.test +https=/empty",
    "www.example.test +http-plain=/other-id",
    "www.example.test +http-plain=/404 +tries=2",
    "www.example.test +https-get=/500 +tries=1",
    "www.example.test +https=/302 +tries=1 +yaml",
    "www.example.test +http-plain=/hangs +time=1 +tries=2",
    "@127.90.0.250 www.example.test +https",
    "@127.90.0.250 @127.90.0.1 www.example.test +http-plain +tries=1",
    "@dns.secure.test www.example.test +https +tls-ca=CA",
    "@dns.secure.test a.test TXT +http-plain=/echo +qid=7 +nocookie",
    "+https +keepopen www.example.test example.test MX",
    "+https www.example.test example.test MX +nohttps @127.0.0.1 txt.example.test TXT +http-plain",
    "-b 127.0.0.5 www.example.test +https",
    "-f DIR/options.batch",
    // BIND's own server.
    "@127.0.0.1 www.example.test +tls",
    "@127.0.0.1 www.example.test +tls-ca",
    "@127.0.0.1 www.example.test +https +qr",
    "@127.0.0.1 big.example.test +https-get",
    "@127.0.0.1 www.example.test +https=/nowhere +tries=1 +noall",
    "@127.0.0.1 example.test MX +http-plain +dnssec +multiline",
    "@127.0.0.1 nosuch.example.test +http-plain-get +yaml",
    "@127.0.0.1 example.test AXFR +tls",
    "@127.0.0.1 example.test AXFR +http-plain",
    // Certificates.
    "www.example.test +tls-ca",
    "www.example.test +https +tls-ca",
    "www.example.test +tls-hostname=dns.secure.test",
    "www.example.test +tls-ca=CA +tls-hostname=other.test",
    "www.example.test +tls-ca=CA +tls-hostname=127.0.0.9",
    "www.example.test +tls-ca=CA +tls-hostname=other.test +notls-hostname +tls",
    "@127.90.0.3 www.example.test +tls-ca=DIR/127.90.0.3.pem",
    "@127.90.0.201 www.example.test +https +tls-ca=DIR/127.90.0.201.pem",
    "@127.90.0.201 www.example.test +tls-ca=DIR/127.90.0.201.pem +tls-hostname=other.test",
    "@127.90.0.4 www.example.test +tls-ca=CA +tls-hostname=other.secure.test",
    "@127.90.0.4 @127.90.0.1 www.example.test +tls-ca=CA",
    "@127.90.0.208 www.example.test +tls-ca=CA +tls-hostname=dns.secure.test",
    "@127.90.0.208 www.example.test +https +tls-ca=CA +tls-hostname=DNS.secure.test",
    "@127.90.0.208 www.example.test +https +tls-ca=CA +tls-hostname=other.test",
    "@127.90.0.4 www.example.test +tls-ca=CA example.test MX @127.0.0.1",
    "www.example.test +tls-ca=DIR/nobody.pem",
    "@127.90.0.2 @127.90.0.1 www.example.test +https +tls-ca=DIR/nobody.pem www.example.test +tls",
    "www.example.test +tls-certfile=DIR/client.pem",
    "www.example.test +https +tls-keyfile=DIR/client.key +notls-ca +tcp",
    "www.example.test +https +tls-ca=CA OWN",
    "@127.90.0.207 www.example.test +tls-ca=CA OWN",
    "@127.90.0.207 www.example.test +https +tls-ca=CA OWN",
    "@127.90.0.207 www.example.test +https-get OWN +notls-ca +tcp",
    "@127.90.0.207 www.example.test +tls +tries=1",
    "@127.90.0.207 www.example.test +tls-ca=CA +tls-certfile=DIR/client.pem +tls-keyfile=DIR/other.key",
    "@127.90.0.207 www.example.test +https +tls-certfile=DIR/client.key +tls-keyfile=DIR/client.key",
];

/// Where kdns says on standard error what dig says nowhere: what is wrong with
/// a file, the status of HTTP, and whom a server lets in.
const EXPLAINED: &[&str] = &[
    "DIR", "-f", "-p 853", "/nowhere", "/404", "/500", "/302", ".207",
];

/// The lines of `options.batch`. (What dig has read for a server it keeps: it
/// would not look at another file for 127.90.0.1.)
const BATCH: &str = "@127.90.0.1 www.example.test +https +short +identify
@127.90.0.1 www.example.test +http-plain-get
@127.90.0.1 www.example.test +notcp +tls-ca=CA
@127.90.0.4 www.example.test +https +tls-ca=CA
@127.90.0.2 www.example.test +tls-ca=DIR/nobody.pem
@127.0.0.1 www.example.test
@127.90.0.1 www.example.test +https=/junk
";

pub(super) fn trials(authority: &Arc<Authority>, folder: &Path, is_list: bool) -> Vec<Trial> {
    if !is_list {
        start(authority);
        let batch = filled(BATCH, authority, folder);
        std::fs::write(folder.join("options.batch"), batch).unwrap();
    }
    let mut lines: Vec<String> = LINES.iter().map(|&line| line.to_owned()).collect();
    for (number, _) in SERVERS {
        for options in ["+tls-ca=CA", "+https +tls-ca=CA", "+https-get"] {
            lines.push(format!("@127.90.0.{number} www.example.test {options}"));
        }
    }
    let of_machine = ["+tls-ca", "+https +tls-ca"].map(|options| {
        let mut line = line(&format!("www.example.test {options}"), authority, folder);
        let variable = ("SSL_CERT_FILE".to_owned(), authority.file.clone());
        line.variables.push(variable);
        trial(&format!("SSL_CERT_FILE {options}"), line)
    });
    let trials = lines
        .iter()
        .map(|text| trial(text, line(text, authority, folder)));
    trials.chain(of_machine).collect()
}

fn start(authority: &Authority) {
    authority.write_client();
    for &(number, leaf) in SERVERS.iter().filter(|(number, _)| *number >= OWN) {
        super::both(authority, address(number.into()), leaf);
    }
    let here: Ipv4Addr = address(WARY.into());
    let wary = authority.wary(&Kind {
        leaf: Leaf::Good,
        address: here,
    });
    serve::dot((here, 853), Dot::Answers, &wary);
    serve::http((here, 443), Http::Answers, &wary);
}

fn filled(text: &str, authority: &Authority, folder: &Path) -> String {
    let own = "+tls-certfile=DIR/client.pem +tls-keyfile=DIR/client.key";
    text.replace("OWN", own)
        .replace("=CA", &format!("={}", authority.file))
        .replace("DIR", &folder.display().to_string())
}

fn line(text: &str, authority: &Authority, folder: &Path) -> Line {
    let names_servers = text.contains('@') || text.starts_with("-f");
    let before = if names_servers { "" } else { "@127.90.0.1 " };
    let filled = filled(&format!("{before}{text}"), authority, folder);
    let words: Vec<String> = filled.split(' ').map(str::to_owned).collect();
    let is_explained = EXPLAINED.iter().any(|it| text.contains(it));
    // What goes to port 53 without HTTP is (HTTPS) to dig all the same.
    let is_plain = text.contains("+https +notls-ca");
    let same = ["(HTTPS)", "(UDP)", "(UDP)"].map(str::to_owned);
    let mut same = Vec::from_iter(is_plain.then_some(same));
    // How a server's end looks is a matter of who comes first.
    if text.contains(".207") {
        same.push(["connection reset", "connection reset", "end of file"].map(str::to_owned));
    }
    Line {
        words: [words.clone(), words],
        look: if is_explained {
            Look::NotErrors
        } else {
            Look::All
        },
        same,
        ..Line::default()
    }
}

fn trial(name: &str, line: Line) -> Trial {
    Trial::test(format!("secure options: {name}"), move || {
        compare::both(&line, Path::new("/"))
    })
}
