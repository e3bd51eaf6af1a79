//! Command lines as BIND's dig reads them.

use super::*;

fn parser() -> Parser {
    Parser::new(Surroundings {
        tries: 3,
        version: "DiG 9.18".into(),
        ..Surroundings::default()
    })
}

fn read(line: &str) -> (Parser, Result<Vec<Lookup>, End>) {
    let mut parser = parser();
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let words = if line.is_empty() { &[][..] } else { &words };
    let lookups = match parser.preparse(words) {
        Ok(_) => parser.command_line(words),
        Err(end) => Err(end),
    };
    (parser, lookups)
}

/// Name, type, class and servers of every lookup, or how it ends.
fn check(line: &str, expected: &str) {
    let (_, lookups) = read(line);
    let shown = match lookups {
        Err(end) => format!("{end:?}"),
        Ok(lookups) => lookups
            .iter()
            .map(|lookup| {
                let servers: Vec<String> = lookup
                    .servers
                    .iter()
                    .map(|server| format!("@{}", server.address))
                    .collect();
                format!(
                    "{} {} {}{}{}",
                    String::from_utf8_lossy(&lookup.text),
                    lookup.rdtype,
                    lookup.rdclass,
                    if lookup.tcp { " tcp" } else { "" },
                    servers.join("")
                )
            })
            .collect::<Vec<_>>()
            .join("; "),
    };
    assert_eq!(shown, expected, "{line}");
}

#[test]
fn names_types_and_classes_in_any_order() {
    for (line, expected) in [
        ("", ". 2 1"),
        ("www", "www 1 1"),
        ("www mx", "www 15 1"),
        ("mx www", "www 15 1"),
        ("www web mx", "www 1 1; web 15 1"),
        ("mx www web", "www 15 1; web 15 1"),
        ("ch txt version.bind", "version.bind 16 3"),
        ("-t mx mx", "mx 15 1"),
        ("-c ch -t txt in", "in 16 3"),
        ("-q mx", "mx 1 1"),
        ("-tmx www", "www 15 1"),
        ("-t nosuch www", "www 1 1"),
        ("type65280 www", "www 65280 1"),
        ("any www", "www 255 1 tcp"),
        ("+notcp any www", "www 255 1"),
        ("ixfr www", "www 1 1"),
        ("ixfr=7 www", "www 251 1 tcp"),
        ("www % web", "www 1 1"),
        ("-4 -u www", "www 1 1"),
        ("-4u www", "www 1 1"),
    ] {
        check(line, expected);
    }
}

#[test]
fn servers_stand_anywhere() {
    for (line, expected) in [
        ("@10.0.0.1 www", "www 1 1@10.0.0.1"),
        ("www @10.0.0.1", "www 1 1@10.0.0.1"),
        (
            "@10.0.0.1 www @10.0.0.2 web",
            "www 1 1@10.0.0.1@10.0.0.2; web 1 1@10.0.0.1",
        ),
        (
            "-x @10.0.0.1 10.0.0.9",
            "9.0.0.10.in-addr.arpa. 12 1@10.0.0.1",
        ),
        ("-x 10.0.0.9 mx", "9.0.0.10.in-addr.arpa. 15 1"),
        ("@dns.test www", "Fatal"),
        ("@tls://10.0.0.1 www", "www 1 1 tcp@10.0.0.1"),
        ("+https www", "www 1 1 tcp"),
        ("+https +nohttps www", "www 1 1 tcp"),
        ("+https-get +notls-ca www", "www 1 1"),
        ("+notcp +tls-ca=ca.pem www", "www 1 1"),
    ] {
        check(line, expected);
    }
}

#[test]
fn bad_lines_end_the_program() {
    for (line, expected) in [
        ("-4 -6 www", "Fatal"),
        ("-z www", "Usage"),
        ("-t", "Usage"),
        ("-h", "Help"),
        ("-v", "Version"),
        ("+nosuch www", "Usage"),
        ("+sho www", "Usage"),
        ("+SHORT www", "Usage"),
        ("+time www", "Usage"),
        ("+time=x www", "Internal"),
        ("+trace www", "Fatal"),
        ("+notrace www", "www 1 1"),
        ("-y k:c2VjcmV0 www", "Fatal"),
        ("-p x www", "Fatal"),
        ("+ednsopt www", "Internal"),
        ("+ednsopt=x www", "Fatal"),
        ("+ednsopt=8:zz www", "Fatal"),
        ("+subnet=x www", "Fatal"),
        ("ixfr=x www", "Fatal"),
    ] {
        check(line, expected);
    }
}

#[test]
fn options_are_cut_as_dig_allows() {
    for (text, whole) in [
        ("shor", Some("short")),
        ("shorT", Some("short")),
        ("shOrt", None),
        ("sho", None),
        ("tim", Some("timeout")),
        ("time", Some("timeout")),
        ("i", Some("ignore")),
        ("ig", Some("ignore")),
        ("in", None),
        ("id", None),
        ("ide", Some("identify")),
        ("ad", Some("adflag")),
        ("add", Some("additional")),
        ("do", Some("dnssec")),
        ("dom", Some("domain")),
        ("dn", None),
        ("edns", Some("edns")),
        ("edn", None),
        ("ednso", Some("ednsopt")),
        ("ttl", Some("ttlid")),
        ("ttlu", Some("ttlunits")),
        ("tt", None),
        ("retr", Some("retry")),
        ("retri", Some("retries")),
        ("co", Some("coflag")),
        ("coo", Some("cookie")),
        ("c", None),
        ("v", Some("vc")),
        ("short2", None),
    ] {
        assert_eq!(plus::whole_word(text.as_bytes()), whole, "{text}");
    }
}

#[test]
fn options_before_a_name_hold_for_all_and_behind_it_for_one() {
    let (parser, lookups) = read("+tcp www +dnssec web +noadflag +short");
    let lookups = lookups.unwrap();
    assert!(lookups.iter().all(|lookup| lookup.tcp));
    let dnssec: Vec<bool> = lookups.iter().map(|it| it.edns.dnssec).collect();
    assert_eq!(dnssec, [true, false]);
    assert!(!lookups[1].flags.authentic);
    assert!(parser.globals.short);
    assert!(lookups[0].print.comments && !lookups[1].print.comments);
}

#[test]
fn the_greeting_repeats_the_words_once() {
    let (_, lookups) = read("@10.0.0.1 www web");
    let lookups = lookups.unwrap();
    assert_eq!(
        lookups[0].greeting.escape_ascii().to_string(),
        "\\n; <<>> DiG 9.18 <<>> @10.0.0.1 www web\\n; (1 server found)\\n;; global options: +cmd\\n"
    );
    assert!(lookups[1].greeting.is_empty());
}

#[test]
fn batch_lines_and_digrc() {
    let mut parser = parser();
    parser.digrc_line(b"+noall +answer\n").unwrap();
    let words: [&[u8]; 2] = [b"-f", b"names"];
    assert_eq!(parser.command_line(&words), Ok(Vec::new()));
    assert_eq!(parser.globals.batch.as_deref(), Some(&b"names"[..]));
    assert_eq!(parser.batch_line(b"# www\n"), Ok(None));
    let lookups = parser.batch_line(b"www mx +tcp\n").unwrap().unwrap();
    assert_eq!(lookups.len(), 1);
    assert!(!lookups[0].print.comments && lookups[0].print.answer);
    assert!(!lookups[0].tcp, "lines do not choose the transport");
}

#[test]
fn what_stands_before_tcp() {
    let check = |line: &str, expected: &str| {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut parser = Parser::new(Surroundings::default());
        let lookups = parser.command_line(&words).unwrap();
        let server = &lookups[0].asked(&std::rc::Rc::default())[0];
        let tls = server.secure.as_ref().and_then(|it| it.tls.as_ref());
        let tls = tls.map_or(String::new(), |it| format!("{} {:?} ", it.host, it.trust));
        let http = server.secure.as_ref().and_then(|it| it.http.as_ref());
        let http = http.map_or(String::new(), |it| format!("{}{} ", it.host, it.path));
        let transport = server.transport(lookups[0].tcp);
        let shown = format!("{tls}{http}{transport} {}", server.port());
        assert_eq!(shown, expected, "{line}");
    };
    for (line, expected) in [
        ("@10.0.0.1 a", "UDP 53"),
        ("@10.0.0.1 a +tls", "10.0.0.1 Anyone TLS 853"),
        (
            "@10.0.0.1 a +https",
            "10.0.0.1 Anyone 10.0.0.1/dns-query HTTPS 443",
        ),
        ("@::1 a +http-plain-get=/q", "::1/q HTTP-GET 80"),
        ("@10.0.0.1#99 a +https-get +tls", "10.0.0.1 Anyone TLS 99"),
        (
            "@10.0.0.1 a +http-plain +nohttps +https",
            "10.0.0.1/dns-query HTTP 80",
        ),
        (
            "@10.0.0.1 a +tls-ca +https",
            "10.0.0.1 Machine 10.0.0.1/dns-query HTTPS 443",
        ),
        ("@10.0.0.1 a +tls-hostname=b", "b Machine TLS 853"),
        ("@10.0.0.1 a +tls-hostname=b +notls-ca +tcp", "TCP 53"),
        ("@10.0.0.1 a +notcp +https", "UDP 53"),
        ("@tls://10.0.0.1 a +https", "10.0.0.1 Browsers TLS 853"),
        (
            "@https://10.0.0.1/q a +tls-ca +tls-hostname=b",
            "b Machine 10.0.0.1/q HTTPS 443",
        ),
    ] {
        check(line, expected);
    }
}
