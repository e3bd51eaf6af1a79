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
        ("a", "a 1 1"),
        ("a mx", "a 15 1"),
        ("mx a", "a 15 1"),
        ("a b mx", "a 1 1; b 15 1"),
        ("mx a b", "a 15 1; b 15 1"),
        ("ch txt version.bind", "version.bind 16 3"),
        ("-t mx mx", "mx 15 1"),
        ("-c ch -t txt in", "in 16 3"),
        ("-q mx", "mx 1 1"),
        ("-tmx a", "a 15 1"),
        ("-t nosuch a", "a 1 1"),
        ("type65280 a", "a 65280 1"),
        ("any a", "a 255 1 tcp"),
        ("+notcp any a", "a 255 1"),
        ("ixfr a", "a 1 1"),
        ("ixfr=7 a", "a 251 1 tcp"),
        ("a % b", "a 1 1"),
        ("-4 -u a", "a 1 1"),
        ("-4u a", "a 1 1"),
    ] {
        check(line, expected);
    }
}

#[test]
fn servers_stand_anywhere() {
    for (line, expected) in [
        ("@10.0.0.1 a", "a 1 1@10.0.0.1"),
        ("a @10.0.0.1", "a 1 1@10.0.0.1"),
        (
            "@10.0.0.1 a @10.0.0.2 b",
            "a 1 1@10.0.0.1@10.0.0.2; b 1 1@10.0.0.1",
        ),
        (
            "-x @10.0.0.1 10.0.0.9",
            "9.0.0.10.in-addr.arpa. 12 1@10.0.0.1",
        ),
        ("-x 10.0.0.9 mx", "9.0.0.10.in-addr.arpa. 15 1"),
        ("@dns.test a", "Fatal"),
        ("@tls://10.0.0.1 a", "Fatal"),
    ] {
        check(line, expected);
    }
}

#[test]
fn bad_lines_end_the_program() {
    for (line, expected) in [
        ("-4 -6 a", "Fatal"),
        ("-z a", "Usage"),
        ("-t", "Usage"),
        ("-h", "Help"),
        ("-v", "Version"),
        ("+nosuch a", "Usage"),
        ("+sho a", "Usage"),
        ("+SHORT a", "Usage"),
        ("+time a", "Usage"),
        ("+time=x a", "Internal"),
        ("+trace a", "Fatal"),
        ("+notrace a", "a 1 1"),
        ("-y k:c2VjcmV0 a", "Fatal"),
        ("-p x a", "Fatal"),
        ("+ednsopt a", "Internal"),
        ("+ednsopt=x a", "Fatal"),
        ("+ednsopt=8:zz a", "Fatal"),
        ("+subnet=x a", "Fatal"),
        ("ixfr=x a", "Fatal"),
    ] {
        check(line, expected);
    }
}

#[test]
fn options_are_cut_as_dig_allows() {
    for (text, whole) in [
        ("shor", Some("short")),
        ("shOrt", Some("short")),
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
        assert_eq!(plus::whole_word_for_tests(text), whole, "{text}");
    }
}

#[test]
fn options_before_a_name_hold_for_all_and_behind_it_for_one() {
    let (parser, lookups) = read("+tcp a +dnssec b +noadflag +short");
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
    let (_, lookups) = read("@10.0.0.1 a b");
    let lookups = lookups.unwrap();
    assert_eq!(
        lookups[0].greeting.escape_ascii().to_string(),
        "\\n; <<>> DiG 9.18 <<>> @10.0.0.1 a b\\n; (1 server found)\\n;; global options: +cmd\\n"
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
    assert_eq!(parser.batch_line(b"# a\n"), Ok(None));
    let lookups = parser.batch_line(b"a mx +tcp\n").unwrap().unwrap();
    assert_eq!(lookups.len(), 1);
    assert!(!lookups[0].print.comments && lookups[0].print.answer);
    assert!(!lookups[0].tcp, "lines do not choose the transport");
}
