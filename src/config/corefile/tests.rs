use super::*;

fn source(name: &str, text: &str) -> Source {
    Source::new(name, text)
}

/// The blocks as text: `KEY KEY { NAME ARGUMENT [LINE, LINE]; … }`, then the
/// findings, `!` before those that stop CoreDNS.
fn shown(corefile: &Corefile) -> String {
    let words = |words: &[Word]| {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        texts.join(" ")
    };
    let mut shown = String::new();
    for block in &corefile.blocks {
        let directives: Vec<String> = block
            .directives
            .iter()
            .map(|it| {
                let mut text = it.name.text.clone();
                for argument in &it.arguments {
                    text += " ";
                    text += &argument.text;
                }
                let lines: Vec<String> = it.lines.iter().map(|line| words(line)).collect();
                if !lines.is_empty() {
                    text.extend([format!(" [{}]", lines.join(", "))]);
                }
                text
            })
            .collect();
        shown.extend([format!(
            "{} {{ {} }}\n",
            words(&block.keys),
            directives.join("; ")
        )]);
    }
    for finding in &corefile.findings {
        let mark = if finding.stops { "!" } else { "" };
        let place = corefile.sources[finding.at.source].place_of(finding.at.span.start);
        shown.extend([format!("{mark}{place} {}\n", finding.message)]);
    }
    shown
}

fn check(text: &str, expected: &str) {
    check_with(text, &[], expected);
}

fn check_with(text: &str, others: &[Source], expected: &str) {
    let corefile = parse(source("/etc/coredns/Corefile", text), others);
    assert_eq!(shown(&corefile), expected, "{text}");
}

#[test]
fn blocks_have_keys_and_directives() {
    check("", "");
    check("# nothing\n", "");
    check(".:53 {\n  errors\n}\n", ".:53 { errors }\n");
    check(
        "a.example, b.example:1053,\nc.example {\n log\n}",
        "a.example b.example:1053 c.example { log }\n",
    );
    check("a.example\n{\n log\n}", "a.example { log }\n");
    check("a b {\n}\nc {\n}", "a b {  }\nc {  }\n");
    check("a.example\nlog\nerrors\n", "a.example { log; errors }\n");
    check("a.example", "a.example {  }\n");
    check("{\n log\n}\n. {\n}", ". {  }\n");
}

#[test]
fn directives_have_arguments_and_lines() {
    check(
        ". {\n forward . 1.1.1.1 8.8.8.8 {\n  policy sequential\n  force_tcp\n }\n cache 30\n}",
        ". { forward . 1.1.1.1 8.8.8.8 [policy sequential, force_tcp]; cache 30 }\n",
    );
    check(
        ". {\n forward . 1.1.1.1 { policy sequential }\n}",
        ". { forward . 1.1.1.1 [policy sequential] }\n",
    );
    check(
        ". {\n forward . 1.1.1.1 {\n }\n log\n}",
        ". { forward . 1.1.1.1; log }\n",
    );
    check(
        ". {\n a {\n  b {\n   c d\n  }\n  e\n }\n}",
        ". { a [b {, c d, }, e] }\n",
    );
}

#[test]
fn words_are_split_as_the_source_does() {
    check(". {\n log \"a b\" c\n}", ". { log a b c }\n");
    check(". {\n log \"a \\\" \\n\"\n}", ". { log a \" \\n }\n");
    check(". {\n log a\"b\n}", ". { log a\"b }\n");
    check("\u{feff}.\r\n{\r\n log\r\n}", ". { log }\n");
    check(". { # c\n log # c } {\n}", ". { log }\n");
    check(
        ". {\n forward . 1.1.1.1#the first\n}",
        ". { forward . 1.1.1.1 first }\n",
    );
    check(". {\n log \"a\nb\" c\n}", ". { log a\nb c }\n");
    check(". {\n log {$A} {%B%}\n}", ". { log {$A} {%B%} }\n");
}

#[test]
fn errors_have_their_place() {
    check(
        ". {\n log\n",
        ". { log }\n!/etc/coredns/Corefile:1:3 the server block has no closing }\n",
    );
    check(
        ". { errors }\n",
        ". { errors }\n!/etc/coredns/Corefile:1:12 unexpected } because no matching opening \
         brace is on its line\n",
    );
    check(
        ".:53{\n log\n}\n",
        ".:53{ { log }\n/etc/coredns/Corefile:1:1 the { is part of the key, as no blank is \
         before it\n",
    );
    check(
        "a, {\n log\n}\n",
        "a { log }\n!/etc/coredns/Corefile:1:4 expected another address but had { - check for \
         extra comma\n",
    );
    check(
        ". {\n forward . 1.1.1.1\n {\n policy x\n }\n}",
        ". { forward . 1.1.1.1 [policy x] }\n!/etc/coredns/Corefile:3:2 the { must be on the \
         line of its directive\n",
    );
}

/// CoreDNS starts with these, or not, as its parser and its plugins have it.
#[test]
fn braces_stop_what_they_stop() {
    for (text, stops) in [
        // The last word is a brace, and nobody asks which block it closes.
        (". {\n forward . 1.1.1.1 {\n  force_tcp\n }\n", false),
        (". {\n errors {\n }\n", false),
        (". {\n errors\n", true),
        (". {\n forward . 1.1.1.1 {\n  force_tcp\n", true),
        ("(s) {\n errors\n}\n. {\n import s\n", true),
        // A brace is missing further up: forward has no option loop.
        (". {\n forward . 1.1.1.1 {\n  force_tcp\n loop\n}\n", true),
        (". {\n hosts {\n  1.1.1.1 a\n loop\n}\n", false),
        // A word behind a block: the plugin's own name would be one, too.
        (". {\n health {\n  lameduck 5s\n } ready\n}\n", false),
        (". {\n cache {\n  success 5\n } ready\n}\n", true),
        (". {\n forward . 1.1.1.1 {\n } loop\n}\n", true),
        (". {\n errors\n} ready\n", false),
        (". {\n errors\n}\n}\n", false),
        (". {\n errors }\n}\n", true),
        (". {\n cache\n {\n }\n}\n", true),
        (". {\n log\n {\n }\n}\n", false),
        (".\n{\n errors\n}\n", false),
        (". { errors\n}\n", false),
    ] {
        let corefile = parse(source("/Corefile", text), &[]);
        assert_eq!(corefile.stop().is_some(), stops, "{text}: {corefile:?}");
    }
}

#[test]
fn snippets_and_files_are_put_in_place() {
    check(
        "(s) {\n errors\n log {\n  class all\n }\n}\n. {\n import s\n loop\n}",
        ". { errors; log [class all]; loop }\n",
    );
    check(
        "(s) { policy sequential\n}\n. {\n forward . 1.1.1.1 {\n  import s\n  force_tcp\n }\n}",
        ". { forward . 1.1.1.1 [policy sequential, force_tcp] }\n",
    );
    let custom = [
        source("/v/custom/b.override", "log\n"),
        source("/v/custom/a.override", "hosts {\n 1.1.1.1 a\n}\n"),
        source("/v/custom/x.server", "x.example {\n errors\n}\n"),
    ];
    check_with(
        ". {\n import custom/*.override\n loop\n}\nimport /etc/coredns/custom/*.server\n",
        &custom,
        ". { hosts [1.1.1.1 a]; log; loop }\nx.example { errors }\n",
    );
    check_with(
        ". {\n import other\n log\n}",
        &custom,
        ". { log }\n/etc/coredns/Corefile:2:9 the import other was not found\n",
    );
}

#[test]
fn imports_name_what_is_to_be_read() {
    let text = "import ../x/*.conf\n. {\n import a.conf\n import a.conf\n}";
    let corefile = parse(source("/etc/coredns/Corefile", text), &[]);
    let found: Vec<(&str, usize)> = corefile
        .imports
        .iter()
        .map(|it| (it.pattern.as_str(), it.found))
        .collect();
    assert_eq!(found, [("/etc/x/*.conf", 0), ("/etc/coredns/a.conf", 0)]);
}

#[test]
fn imports_end() {
    let itself = [source("/a.conf", "import /a.conf\nlog\n")];
    let corefile = parse(source("/Corefile", ". {\n import /a.conf\n}"), &itself);
    assert!(corefile.stop().is_some());
    let body = "log\n".repeat(2000);
    let text = format!("(s) {{\n{body}}}\n. {{\n{}}}", "import s\n".repeat(900));
    let corefile = parse(source("/Corefile", &text), &[]);
    assert!(corefile.stop().is_some());
}

fn check_key(key: &str, zones: &[&str], port: u16) {
    let split = split_key(key).expect(key);
    assert_eq!((split.zones, split.port), (own(zones), port), "{key}");
}

fn own(zones: &[&str]) -> Vec<String> {
    zones.iter().map(|&zone| zone.to_owned()).collect()
}

#[test]
fn keys_are_zones_and_ports() {
    check_key(".", &["."], 53);
    check_key(".:5353", &["."], 5353);
    check_key("dns://.:5353", &["."], 5353);
    check_key("tls://Example.ORG", &["example.org."], 853);
    check_key("https://.", &["."], 443);
    check_key("10.0.0.0/8", &["10.in-addr.arpa."], 53);
    check_key("10.0.0.0/24:1053", &["0.0.10.in-addr.arpa."], 1053);
    check_key(
        "10.96.0.0/15",
        &["96.10.in-addr.arpa.", "97.10.in-addr.arpa."],
        53,
    );
    check_key("2001:db8::/32", &["8.b.d.0.1.0.0.2.ip6.arpa."], 53);
    check_key("0.0.0.0/0", &["in-addr.arpa."], 53);
    check_key("cluster.local:name", &["cluster.local:name."], 53);
    check_key("example.org:53{", &["example.org:53{."], 53);
    let longest = "a".repeat(255);
    check_key(&longest, &[&format!("{longest}.")], 53);
    let longer = "a".repeat(256);
    for wrong in ["", "dns://", ".:", "a..b", ".:70000", ".:53{", &longer] {
        assert!(split_key(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn variables_are_seen() {
    for (text, has) in [
        ("{$A}", true),
        ("x{%A%}", true),
        ("{$}", false),
        ("$A", true),
        ("@A@", true),
        ("__PILLAR__A__", false),
        ("{1}", false),
    ] {
        let word = Word {
            text: text.to_owned(),
            ..Word::default()
        };
        assert_eq!(word.has_variable(), has, "{text}");
    }
}

/// Any bytes give a result, and every place lies in its file.
#[test]
fn any_bytes_end() {
    let pieces: [&[u8]; 14] = [
        b"{",
        b"}",
        b"\n",
        b" ",
        b"import",
        b"(a)",
        b"a",
        b"\"",
        b"#",
        b"\\",
        b"\xff",
        b",",
        b"\r",
        b"\xc2\xa0",
    ];
    let mut random = 1_u64;
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..20 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let piece = usize::try_from(random >> 33).unwrap() % pieces.len();
            bytes.extend_from_slice(pieces[piece]);
        }
        let main = Source::new("/Corefile", bytes);
        let other = Source {
            name: "/a".to_owned(),
            ..main.clone()
        };
        let corefile = parse(main, &[other]);
        for finding in &corefile.findings {
            let length = corefile.sources[finding.at.source].bytes.len();
            assert!(finding.at.span.end as usize <= length, "{corefile:?}");
        }
    }
}
