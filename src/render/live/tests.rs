//! What servers say reaches no terminal as it is.

use std::net::IpAddr;
use std::time::Duration;

use super::*;
use crate::engine::io::Came;
use crate::engine::message::Transport;
use crate::explain::live::{Answer, Cause, Comparison, Played};
use crate::explain::transition::run_when;
use crate::resolver;
use crate::scenario;
use crate::text::is_unprintable;

fn hostile() -> (Scenario, Lived) {
    let mut scenario = Scenario::new("1", "db");
    let file = "nameserver 10.0.0.1\nsearch \u{1b}[31m\u{202e}.test\n";
    scenario.resolv_conf = Some(scenario::file("/etc/resolv.conf", file));
    let resolver = resolver::find("glibc").unwrap();
    let plan = run_when(&scenario, resolver, &[]);
    let extended_errors = vec![
        (15, b"\x1b]0;x\x07\xe2\x80\xae\xff".to_vec()),
        (99, Vec::new()),
    ];
    let exchanges = plan.sent.iter().map(|sent| Exchange {
        query: sent.query.clone(),
        at: sent.at,
        answer: sent.came.clone().map(|what| Answer {
            after: Duration::from_micros(412),
            what,
            why: None,
            rcode: 23,
            extended_errors: extended_errors.clone(),
        }),
        wrong: None,
        unsent: None,
    });
    let played = Played {
        resolver,
        exchanges: exchanges.collect(),
        unconnected: Vec::new(),
        strays: vec!["a message from \u{9b}31m was ignored".to_owned()],
        more_strays: 2,
        outcome: plan.outcome.clone(),
        elapsed: Duration::from_millis(1234),
        notes: Vec::new(),
        cut: None,
    };
    let comparison = Comparison::with_plan(&played, &plan);
    (scenario, Lived { played, comparison })
}

#[test]
fn what_servers_say_is_escaped() {
    let (scenario, lived) = hostile();
    let style = Style {
        colors: false,
        verbose: false,
        links: false,
        columns: 80,
    };
    let mut text = Vec::new();
    lookup(&scenario, &lived, style, &mut text).unwrap();
    json::line("1", &lived, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let strange: Vec<char> = text
        .chars()
        .filter(|it| *it != '\n' && is_unprintable(*it))
        .collect();
    assert!(strange.is_empty(), "{strange:?} in {text}");
    for part in [
        "BADCOOKIE in 0.4 ms; EDE 15 (Blocked):",
        r"\u{1b}]0;x\u{7}\u{202e}\xff; EDE 99 (unknown)",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(text.contains("and 2 such messages more"), "{text}");
}

#[test]
fn what_cannot_be_read_proves_nothing() {
    let (scenario, mut lived) = hostile();
    for exchange in &mut lived.played.exchanges {
        let answer = exchange.answer.as_mut().unwrap();
        answer.why = Some("the message is damaged".to_owned());
    }
    let style = Style {
        colors: false,
        verbose: false,
        links: false,
        columns: 400,
    };
    let mut text = Vec::new();
    lookup(&scenario, &lived, style, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("0.4 ms; the message is damaged; EDE"),
        "{text}"
    );
    let server = "10.0.0.1".parse::<IpAddr>().unwrap();
    let cause = lived.played.cause();
    assert_eq!(cause, Cause::Damaged(server.into()));
    // Nor does what is cut over TCP.
    for (transport, is_damaged) in [(Transport::Tcp, true), (Transport::Udp, false)] {
        for exchange in &mut lived.played.exchanges {
            exchange.query.transport = transport;
            let answer = exchange.answer.as_mut().unwrap();
            answer.why = None;
            if let Came::Reply(reply) = &mut answer.what {
                reply.truncated = true;
            }
        }
        let is_it = matches!(lived.played.cause(), Cause::Damaged(_));
        assert_eq!(is_it, is_damaged, "{transport:?}");
    }
}

#[test]
fn of_thousands_of_addresses_some_are_shown() {
    let (_, mut lived) = hostile();
    lived.played.outcome = Outcome::Found(vec![IpAddr::from([192, 0, 2, 1]).into(); 4000]);
    let text = verdict(&lived);
    assert!(text.ends_with("192.0.2.1, 3984 more"), "{text}");
}

#[test]
fn times_have_two_digits_or_more() {
    for (microseconds, expected) in [
        (0, "0.0 ms"),
        (412, "0.4 ms"),
        (9949, "9.9 ms"),
        (9950, "10 ms"),
        (999_400, "999 ms"),
        (999_500, "1 s"),
        (2_500_000, "2.5 s"),
    ] {
        assert_eq!(time(Duration::from_micros(microseconds)), expected);
    }
}
