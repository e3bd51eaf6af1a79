//! Conversations played by hand.

use std::net::IpAddr;

use super::*;
use crate::address::Address;
use crate::dig::settings::Wire;
use crate::engine::failure::{Certificate, Failure};
use crate::engine::io::{Heard, Request};
use crate::engine::machine::{Machine, Outcome, Step};

fn server(text: &str) -> Server {
    let ip: IpAddr = text.parse().unwrap();
    Server::plain(Address::from(ip))
}

fn lookup(name: &str) -> Lookup {
    let mut lookup = Lookup {
        text: name.into(),
        ..Lookup::default()
    };
    lookup.edns.version = None;
    lookup
}

/// A reply to the query: its flags' lower byte replaced by `rcode`.
fn reply(query: &[u8], flags: u16, rcode: u8) -> Vec<u8> {
    let mut wire = query.to_vec();
    wire[2] = 0x81 | u8::try_from(flags >> 8).unwrap();
    wire[3] = 0x80 | rcode;
    wire
}

/// What was opened and printed.
#[derive(Default)]
struct Shown(RefCell<Vec<String>>);

impl Screen for Shown {
    fn print(&self, printed: Printed) -> Result<(), Unprintable> {
        self.0.borrow_mut().push(match printed {
            Printed::Greeting(_) => "greeting".to_owned(),
            Printed::Query(..) => "query".to_owned(),
            Printed::Reply(_, message, _) => format!("reply {}", message.rcode),
            Printed::Received(..) => "stats".to_owned(),
            Printed::Plain(text) => text.to_owned(),
            Printed::BadPacket(why, _) => format!("bad packet: {why}"),
            Printed::NoServers => "no servers".to_owned(),
            Printed::NoAcceptable => "no acceptable".to_owned(),
            Printed::Servfail(server, goes_on) => format!("servfail {server} {goes_on}"),
            Printed::Error(text)
            | Printed::Warning(text)
            | Printed::Comment(text)
            | Printed::Stderr(text)
            | Printed::BadName(text)
            | Printed::Note(text) => text,
        });
        Ok(())
    }
}

/// Plays: `answer` gives what comes for each query, in order. The transcript.
fn play(
    lookup: Lookup,
    settings: Settings,
    mut answer: impl FnMut(usize, &[u8]) -> Heard,
) -> String {
    let settings = Settings {
        servers: [server("10.0.0.1"), server("10.0.0.2")].into(),
        cookie: [7; 8],
        wire: Some(Wire {
            ids: || 0x1234,
            began: Duration::ZERO,
        }),
        ..settings
    };
    let (shown, standing) = (Rc::new(Shown::default()), Rc::new(Standing::default()));
    let (screen, kept) = (Rc::clone(&shown), Rc::clone(&standing));
    let mut machine = Machine::new(|io| async move {
        let dighost = Dighost::new(io, settings, screen, kept);
        dighost.run([(lookup, Because::AsIs)]).await;
        Outcome::Found(Vec::new())
    });
    let mut query = (SocketId(0), Vec::new());
    let mut count = 0;
    while let Step::Waiting(_) = machine.step(Duration::ZERO) {
        let requests = machine.requests();
        if requests.is_empty() {
            count += 1;
            machine.heard(query.0, answer(count, &query.1));
        }
        for request in requests {
            match request {
                Request::Connect(socket, server, transport, secure) => {
                    let text = format!("{transport:?} {}", server.address);
                    shown.0.borrow_mut().push(text);
                    let opened = secure.map_or(Ok(()), |_| answer(0, &[]).map(drop));
                    machine.connected(socket, opened);
                }
                Request::Write(socket, wire) => query = (socket, wire),
                Request::Send(..) | Request::Close(_) => {}
            }
        }
    }
    shown.0.borrow_mut().push(standing.status().to_string());
    shown.0.take().join("|")
}

#[test]
fn a_reply_is_shown() {
    let transcript = play(lookup("a"), Settings::default(), |_, query| {
        Ok(reply(query, 0, 0))
    });
    assert_eq!(transcript, "Udp 10.0.0.1|reply 0|stats|0");
}

#[test]
fn silence_is_asked_three_times_then_the_next_server_once() {
    let transcript = play(lookup("a"), Settings::default(), |_, _| {
        Err(Failure::TimedOut)
    });
    let timeout = "communications error to 10.0.0.1#53: timed out";
    let next = timeout.replace("0.1#", "0.2#");
    assert_eq!(
        transcript,
        format!(
            "Udp 10.0.0.1|{timeout}|Udp 10.0.0.1|{timeout}|Udp 10.0.0.1|{timeout}|\
             Udp 10.0.0.2|{next}|greeting|no servers|9"
        )
    );
}

#[test]
fn truncation_leads_to_tcp() {
    let transcript = play(lookup("a"), Settings::default(), |count, query| {
        Ok(reply(query, if count == 1 { 0x200 } else { 0 }, 0))
    });
    assert_eq!(
        transcript,
        "Udp 10.0.0.1|Truncated, retrying in TCP mode.|Tcp 10.0.0.1|reply 0|stats|0"
    );
}

#[test]
fn what_is_not_ours_is_passed_over() {
    let transcript = play(lookup("a"), Settings::default(), |count, query| {
        let mut wire = reply(query, 0, 0);
        match count {
            1 => wire[0] = 0,
            2 => wire[13] = b'b',
            3 => wire.truncate(5),
            _ => {}
        }
        Ok(wire)
    });
    assert_eq!(
        transcript,
        "Udp 10.0.0.1|Warning: ID mismatch: expected ID 4660, got 52|\
         ;; Question section mismatch: got b/A/IN|\
         Warning: short (< header size) message received|reply 0|stats|0"
    );
}

#[test]
fn the_search_list_is_walked() {
    let settings = Settings {
        search: vec![b"x.test".to_vec(), b"y.test".to_vec()],
        ndots: 1,
        use_search: true,
        ..Settings::default()
    };
    let mut names = Vec::new();
    let transcript = play(lookup("a"), settings, |_, query| {
        names.push(query[13..query.len() - 5].escape_ascii().to_string());
        Ok(reply(query, 0, 3))
    });
    let expected = ["a\\x01x\\x04test", "a\\x01y\\x04test", "a"];
    assert_eq!(names, expected);
    assert!(transcript.ends_with("reply 3|stats|0"), "{transcript}");
}

#[test]
fn servfail_goes_on_if_told_so() {
    let mut asked = lookup("a");
    asked.servfail_stops = false;
    let transcript = play(asked, Settings::default(), |_, query| {
        Ok(reply(query, 0, 2))
    });
    assert_eq!(
        transcript,
        "Udp 10.0.0.1|servfail 10.0.0.1 true|Udp 10.0.0.2|servfail 10.0.0.2 false|\
         reply 2|stats|0"
    );
}

#[test]
fn names_that_are_none_end_the_program() {
    for (name, why) in [
        ("a..b", "'a..b' is not a legal name (empty label)|10"),
        ("", "'' is not a legal name (unexpected end of input)|10"),
    ] {
        assert_eq!(
            play(lookup(name), Settings::default(), |_, _| unreachable!()),
            why
        );
    }
}

/// What is said of this failure before there is TLS, and behind it.
fn secure(failure: Failure, settings: &Settings, change: impl Fn(&mut Lookup)) -> [String; 2] {
    [true, false].map(|is_first| {
        let mut asked = lookup("a");
        asked.tcp = true;
        asked.tries = 1;
        asked.secure.path = Some("/q".to_owned());
        change(&mut asked);
        let transcript = play(asked, settings.clone(), |count, _| {
            match (count, is_first) {
                (0, false) => Ok(Vec::new()),
                _ => Err(failure),
            }
        });
        transcript.replace("Tcp 10.0.0.", "")
    })
}

#[test]
fn tls_that_fails_is_told_as_dig_does() {
    let failure = Failure::Certificate(Certificate::Expired);
    let [first, _] = secure(failure, &Settings::default(), |_| {});
    let why = "TLS peer certificate verification for 10.0.0.1#443 failed: certificate has expired";
    assert_eq!(first, format!("1|{why}|0"));
    // No document of YAML, and yet it is said.
    let settings = Settings {
        keeps_warnings: true,
        ..Settings::default()
    };
    let [first, _] = secure(failure, &settings, |_| {});
    assert_eq!(first, format!("1|{why}|0"));
    let none = "TLS context cannot be created";
    let [first, _] = secure(Failure::NoContext, &Settings::default(), |_| {});
    assert_eq!(first, format!("1|{none}|2|{none}|0"));
    // Nothing is opened.
    let [first, _] = secure(Failure::NoTls, &Settings::default(), |it| {
        it.secure.identity.0 = Some(b"file".to_vec());
    });
    let half = "both TLS client certificate and key file must be specified a the same time";
    assert_eq!(first, format!("{half}|{half}|0"));
}

#[test]
fn what_dig_hides_is_said_beside_it() {
    let [_, then] = secure(Failure::Http(404), &Settings::default(), |_| {});
    let end = "greeting|no servers|9";
    let said =
        |number: u8, why: &str| format!("communications error to 10.0.0.{number}#443: {why}");
    let status = "the server answers with HTTP status 404";
    assert_eq!(
        then,
        format!(
            "1|{status}|{}|2|{status}|{}|{end}",
            said(1, "failure"),
            said(2, "failure")
        )
    );
    let [_, then] = secure(Failure::NoMessage, &Settings::default(), |_| {});
    assert_eq!(then, "1|ERROR: short (< header size) message|0");
}
