//! Any bytes in any file: nothing panics, everything ends.

use std::io;
use std::time::{Duration, Instant};

use kdns::config::manifest;
use kdns::config::resolv_conf::ResolvConf;
use kdns::engine::machine::Outcome;
use kdns::explain::transition::Detail;
use kdns::explain::{Context, explain};
use kdns::render::Style;
use kdns::render::explanation;
use kdns::resolver::{self, Resolver};
use kdns::scenario::{Scenario, file, json};
use kdns::text::Source;

use crate::generate::Random;
use crate::one_of_each_family;

/// In a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes that resolvers look for, so that random texts get somewhere.
const PIECES: &[&[u8]] = &[
    b"nameserver",
    b"search",
    b"domain",
    b"options",
    b"hosts:",
    b"files",
    b"dns",
    b"ndots:",
    b"timeout:",
    b" ",
    b" ",
    b"\t",
    b"\n",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xc3\xa9",
    b"#",
    b";",
    b".",
    b":",
    b"%",
    b"[",
    b"]",
    b"=",
    b"!",
    b"-",
    b"1",
    b"255",
    b"10.0.0.1",
    b"::1",
    b"fe80::1",
    b"eth0",
    b"a",
    b"test",
    b"localhost",
    b"web",
    b"99999999999999999999",
    b"\x0b",
    b"\x0c",
    b"\\",
    b"\"",
    b"{",
    b"success",
    b"return",
];

fn text(random: &mut Random) -> Vec<u8> {
    let pieces = (0..random.below(40)).map(|_| {
        if random.chance(20) {
            vec![u8::try_from(random.below(256)).unwrap()]
        } else {
            random.pick(PIECES).to_vec()
        }
    });
    pieces.collect::<Vec<_>>().concat()
}

/// The resolver reads it, asks, and ends.
fn check(scenario: &Scenario, resolver: &'static Resolver, shown: &str) {
    let start = Instant::now();
    let reading = resolver.reading(scenario);
    let length = scenario
        .resolv_conf
        .as_ref()
        .map_or(0, |file| file.source.bytes.len());
    for dropped in reading.dropped.first().iter().chain(&reading.refused) {
        assert!(
            dropped.span.start <= dropped.span.end,
            "{} {shown}",
            resolver.id
        );
        assert!(
            dropped.span.end as usize <= length,
            "{} {shown}",
            resolver.id
        );
    }
    let run = resolver.predict(scenario);
    let is_cut = run.sent.len() >= kdns::simulation::MAX_QUERIES;
    assert!(
        run.outcome != Outcome::Hung || is_cut,
        "{} {shown}",
        resolver.id
    );
    let took = start.elapsed();
    assert!(
        took < PATIENCE,
        "{} takes {took:?} for {shown}",
        resolver.id
    );
}

#[test]
fn any_bytes_are_read() {
    let mut random = Random(0x6279_7465);
    for _ in 0..400 {
        let mut scenario = Scenario::new("bytes", "web.prod");
        let texts = [
            text(&mut random),
            text(&mut random),
            text(&mut random),
            text(&mut random),
        ];
        scenario.resolv_conf = Some(file("f", texts[0].clone()));
        scenario.hosts = Some(file("h", texts[1].clone()));
        scenario.nsswitch = Some(file("n", texts[2].clone()));
        scenario
            .env
            .insert("HOSTALIASES".to_owned(), "/etc/a".to_owned());
        scenario.files.insert("/etc/a".to_owned(), texts[3].clone());
        if random.chance(4) {
            let value = String::from_utf8_lossy(&texts[3]).replace('\0', "");
            scenario.env.insert("RES_OPTIONS".to_owned(), value);
        }
        let shown: Vec<_> = texts
            .iter()
            .map(|text| String::from_utf8_lossy(text))
            .collect();
        for resolver in resolver::ALL {
            check(&scenario, resolver, &format!("{shown:?}"));
        }
        let all: Vec<&'static Resolver> = resolver::ALL.iter().collect();
        let explanation = explain(&scenario, Context::default(), &all, Detail::Short);
        let style = Style {
            colors: false,
            links: false,
            verbose: true,
            columns: 80,
        };
        explanation::write(&explanation, style, &mut io::sink()).unwrap();
        explanation::json::write(&explanation, &mut io::sink()).unwrap();
    }
}

#[test]
fn any_bytes_are_a_name() {
    let mut random = Random(0x6e61_6d65);
    for _ in 0..400 {
        let name = String::from_utf8_lossy(&text(&mut random)).into_owned();
        let mut scenario = Scenario::new("name", name.clone());
        scenario.resolv_conf = Some(file(
            "f",
            "nameserver 10.0.0.53\nsearch a.test\noptions ndots:2\n",
        ));
        for resolver in resolver::ALL {
            check(&scenario, resolver, &format!("{name:?}"));
        }
    }
}

#[test]
fn any_bytes_are_a_scenario_or_an_error() {
    let mut random = Random(0x6a73_6f6e);
    let good =
        br#"{"name":"a","resolv_conf":"\u00ff","answers":[{"reply":"ANSWER","a":["192.0.2.1"]}]}"#;
    for _ in 0..2_000 {
        let mut text = good.to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len());
            text[at] = u8::try_from(random.below(256)).unwrap();
        }
        if let Err(error) = json::parse(&text, "1") {
            assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
        }
    }
}

#[test]
fn any_bytes_are_a_manifest_or_an_error() {
    let mut random = Random(0x7961_6d6c);
    let pieces: &[&str] = &[
        "kind: Pod\n",
        "spec:\n",
        "  dnsConfig: ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ": ",
        "\n",
        "  ",
        "&a ",
        "*a ",
        "<<: ",
        "---\n",
        "\"",
        "'",
        "|\n",
        "name: ",
        "\t",
        "\u{85}",
        "%YAML",
        "? ",
        "!!str ",
    ];
    for _ in 0..2_000 {
        let text: String = (0..random.below(25))
            .map(|_| *random.pick(pieces))
            .collect();
        let source = Source::new("m", text);
        let _ = manifest::first_pod(&source);
    }
}

/// Files so large that what is quadratic takes for ever.
#[test]
fn large_files_are_read_in_time() {
    let server = "nameserver 10.0.0.53\n";
    let words: Vec<String> = (0..1_000).map(|n| format!("b{n}.test")).collect();
    let words = words.join(" ");
    let servers: Vec<String> = (0..10_000)
        .map(|n| format!("nameserver 10.0.{}.{}", n / 250, n % 250))
        .collect();
    for (what, text) in [
        (
            "a long word",
            format!("search {}\n{server}", "a".repeat(1_000_000)),
        ),
        ("a long line", format!("search {words}\n{server}")),
        (
            "many options",
            format!("{server}options{}\n", " ndots:2 bogus".repeat(70_000)),
        ),
        (
            "many lines",
            format!(
                "{}{}",
                "search a.test\n".repeat(5_000),
                server.repeat(5_000)
            ),
        ),
        ("many servers", servers.join("\n")),
        ("blanks", format!("{}\n{server}", " ".repeat(1_000_000))),
        (
            "zero bytes",
            format!("{}\n{server}", "\0".repeat(1_000_000)),
        ),
        ("empty lines", format!("{}{server}", "\n".repeat(1_000_000))),
    ] {
        let mut scenario = Scenario::new("large", "web");
        scenario.resolv_conf = Some(file("f", text));
        // The others are versions of these, and read files by the same functions.
        for resolver in one_of_each_family() {
            check(&scenario, resolver, what);
        }
    }
}

#[test]
fn places_are_inside_of_the_file() {
    let mut random = Random(0x706c_6163);
    for _ in 0..300 {
        let conf = ResolvConf::parse(Source::new("f", text(&mut random)));
        for word in conf
            .lines()
            .flat_map(|line| line.words().collect::<Vec<_>>())
        {
            assert_eq!(
                conf.position(word.span.start),
                conf.source.position(word.span.start)
            );
        }
    }
}
