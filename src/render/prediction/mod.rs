//! A prediction as JSON, one line for each scenario and resolver.
//!
//! The lines are written without serde, which took a quarter of the time that
//! many scenarios take. [`schema`] says what they look like; tests hold them
//! to it.

mod courses;
pub mod schema;

use std::io::{self, Write};
use std::net::IpAddr;
use std::ops::Range;

use hickory_proto::rr::RecordType;
use schemars::JsonSchema;
use serde::Serialize;

use crate::address::{Address, Server};
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Edns, Query, Question, SocketId, Transport};
use crate::name::Name;
use crate::render::json;
use crate::resolver::Resolver;
use crate::scenario::record_type::Shown;
use crate::simulation::courses::Courses;
use crate::simulation::{Run, Sent};

/// Appends the prediction of one run, and of what may differ, as a line of JSON.
///
/// # Errors
///
/// None: writing to memory does not fail.
pub fn line(
    case: &str,
    resolver: &Resolver,
    (run, courses): (&Run, &Courses),
    line: &mut Vec<u8>,
) -> io::Result<()> {
    line_with(case, resolver, (run, courses), line, |_| Ok(()))
}

/// The same with further keys, which `more` writes behind a comma.
pub(super) fn line_with(
    case: &str,
    resolver: &Resolver,
    (run, courses): (&Run, &Courses),
    line: &mut Vec<u8>,
    more: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    let start = line.len();
    line.write_all(b"{\"case\":")?;
    string(case, line)?;
    word(b",\"resolver\":\"", resolver.id, line);
    word(b"\",\"version\":\"", resolver.version, line);
    line.extend_from_slice(b"\",\"queries\":[");
    queries(&run.sent, sockets(&run.sent).as_deref(), line)?;
    line.push(b']');
    courses::write(courses, line)?;
    line.write_all(b",\"outcome\":")?;
    outcome(&run.outcome, line)?;
    note(run, courses, line)?;
    more(line)?;
    line.push(b'}');
    json::make_harmless(line, start);
    line.push(b'\n');
    Ok(())
}

/// What has to be said beside it, in one text.
fn note(run: &Run, courses: &Courses, line: &mut Vec<u8>) -> io::Result<()> {
    if run.notes.is_empty() && courses.why.is_empty() {
        return Ok(());
    }
    let notes = run.notes.iter().map(String::as_str);
    let notes: Vec<&str> = notes.chain(courses.why.iter().copied()).collect();
    line.write_all(b",\"note\":")?;
    string(&notes.join("; "), line)
}

/// Queries, with the numbers of their sockets where these are known.
fn queries(
    sent: &[Sent],
    sockets: Option<&[Option<(usize, &Server)>]>,
    line: &mut Vec<u8>,
) -> io::Result<()> {
    let mut before: Option<(&Query, Range<usize>)> = None;
    let number = |SocketId(socket)| {
        let (number, _) = (*sockets?.get(socket as usize)?)?;
        Some(number)
    };
    for sent in sent {
        let query = &sent.query;
        if before.is_some() {
            line.push(b',');
        }
        let start = line.len();
        match before {
            // Most names are asked for twice in a row, for A and AAAA.
            Some((other, text)) if begin_alike(query, other) => line.extend_from_within(text),
            _ => beginning(query, line)?,
        }
        before = Some((query, start..line.len()));
        ending(query, number(query.socket), line)?;
    }
    Ok(())
}

/// Whether [`beginning`] is the same for both.
fn begin_alike(one: &Query, other: &Query) -> bool {
    one.transport == other.transport && one.server == other.server && one.name() == other.name()
}

/// How, whom and for which name.
fn beginning(query: &Query, line: &mut Vec<u8>) -> io::Result<()> {
    line.write_all(match query.transport {
        Transport::Udp => b"{\"proto\":\"udp\",\"server\":\"",
        Transport::Tcp => b"{\"proto\":\"tcp\",\"server\":\"",
    })?;
    ip(query.server.address.reached(), line)?;
    line.write_all(b"\",\"qname\":")?;
    match query.name() {
        Some(name) => self::name(name, line),
        None => line.write_all(b"null"),
    }
}

/// What follows [`beginning`].
fn ending(query: &Query, socket: Option<usize>, line: &mut Vec<u8>) -> io::Result<()> {
    match &query.question {
        Question::Asked(_, RecordType::A) => line.extend_from_slice(b",\"qtype\":\"A\""),
        Question::Asked(_, RecordType::AAAA) => line.extend_from_slice(b",\"qtype\":\"AAAA\""),
        Question::Asked(_, other) => {
            line.extend_from_slice(b",\"qtype\":");
            string(&Shown(*other).to_string(), line)?;
        }
        Question::Malformed(bytes) => {
            line.write_all(b",\"bad\":\"")?;
            for byte in bytes {
                write!(line, "{byte:02x}")?;
            }
            line.push(b'"');
        }
    }
    if let Some(socket) = socket {
        line.write_all(b",\"sock\":")?;
        number(socket, line)?;
    }
    if let Some(edns) = &query.edns {
        self::edns(edns, line)?;
    }
    if query.authentic_data {
        line.write_all(b",\"ad\":true")?;
    }
    because(&query.because, line)?;
    line.push(b'}');
    Ok(())
}

/// The number of each socket, from 1 in order of use, and its server, by the
/// number of its making; `None` in a run in which one socket sends to several
/// servers.
fn sockets(sent: &[Sent]) -> Option<Vec<Option<(usize, &Server)>>> {
    // Not every socket that is made is used.
    let mut sockets = Vec::with_capacity(8);
    let mut used = 0;
    for sent in sent {
        let (SocketId(socket), server) = (sent.query.socket, &sent.query.server);
        let index = socket as usize;
        if index >= sockets.len() {
            sockets.resize(index + 1, None);
        }
        let (_, other) = *sockets.get_mut(index)?.get_or_insert_with(|| {
            used += 1;
            (used, server)
        });
        if other != server {
            return None;
        }
    }
    Some(sockets)
}

/// A scenario that could not be read, in place of its predictions.
#[derive(Serialize, JsonSchema)]
struct Unread<'r> {
    /// The scenario's number among the scenarios, from 1, or its name.
    case: &'r str,
    error: UnreadError<'r>,
}

#[derive(Serialize, JsonSchema)]
struct UnreadError<'r> {
    /// One sentence.
    message: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

/// Writes a line that says why there is no prediction; `at` is line and column.
///
/// # Errors
///
/// Any error of `out`.
pub fn error_line(
    case: &str,
    message: &str,
    at: Option<(usize, usize)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let unread = Unread {
        case,
        error: UnreadError {
            message,
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
        },
    };
    json::line(&unread, out)
}

fn edns(edns: &Edns, line: &mut Vec<u8>) -> io::Result<()> {
    line.write_all(b",\"edns\":{\"size\":")?;
    number(edns.size, line)?;
    if edns.dnssec_ok {
        line.write_all(b",\"do\":true")?;
    }
    if !edns.options.is_empty() {
        line.write_all(b",\"options\":")?;
        serde_json::to_writer(&mut *line, edns.options)?;
    }
    line.write_all(b"}")
}

fn because(because: &Because, line: &mut Vec<u8>) -> io::Result<()> {
    let word = match because {
        Because::Search(index) => {
            line.extend_from_slice(b",\"because\":{\"search\":");
            number(*index, line)?;
            line.push(b'}');
            return Ok(());
        }
        Because::AsIs => "as_is",
        Because::HostAlias => "host_alias",
        Because::Cname => "cname",
        Because::FollowUp => "follow_up",
        Because::Reverse => "reverse",
        Because::NameServer => "name_server",
    };
    self::word(b",\"because\":\"", word, line);
    line.push(b'"');
    Ok(())
}

/// A word of kdns's own, which needs no escapes, behind what comes before it.
fn word(before: &[u8], word: &str, line: &mut Vec<u8>) {
    line.extend_from_slice(before);
    line.extend_from_slice(word.as_bytes());
}

fn outcome(outcome: &Outcome, line: &mut Vec<u8>) -> io::Result<()> {
    match outcome {
        Outcome::Found(addresses) => {
            line.write_all(b"{\"status\":\"ok\",\"addrs\":[")?;
            for (index, address) in addresses.iter().enumerate() {
                if index > 0 {
                    line.push(b',');
                }
                self::address(address, line)?;
            }
            line.write_all(b"]}")
        }
        Outcome::Failed(code) => {
            word(b"{\"status\":\"error\",\"code\":\"", code, line);
            line.write_all(b"\"}")
        }
    }
}

fn address(address: &Address, line: &mut Vec<u8>) -> io::Result<()> {
    match (&address.written, &address.scope) {
        (None, None) => {
            line.push(b'"');
            ip(address.ip, line)?;
            line.push(b'"');
            Ok(())
        }
        _ => string(&address.to_string(), line),
    }
}

fn name(name: &Name, line: &mut Vec<u8>) -> io::Result<()> {
    let start = line.len();
    line.push(b'"');
    name.append_to(line);
    line.push(b'"');
    // In a name only these two need an escape, and are rare.
    let text = line.get(start + 1..line.len() - 1).unwrap_or_default();
    if text.iter().any(|byte| matches!(byte, b'"' | b'\\')) {
        line.truncate(start);
        string(&name.to_string(), line)?;
    }
    Ok(())
}

/// Most addresses are IPv4.
fn ip(ip: IpAddr, line: &mut Vec<u8>) -> io::Result<()> {
    let [a, b, c, d] = match ip {
        IpAddr::V4(ip) => ip.octets(),
        IpAddr::V6(ip) => return write!(line, "{ip}"),
    };
    octet(a, line);
    for byte in [b, c, d] {
        line.push(b'.');
        octet(byte, line);
    }
    Ok(())
}

fn octet(octet: u8, line: &mut Vec<u8>) {
    let digit = |value: u8| b'0' + value % 10;
    if octet >= 100 {
        line.push(digit(octet / 100));
    }
    if octet >= 10 {
        line.push(digit(octet / 10));
    }
    line.push(digit(octet));
}

fn number(number: impl Serialize, line: &mut Vec<u8>) -> io::Result<()> {
    Ok(serde_json::to_writer(line, &number)?)
}

fn string(text: &str, line: &mut Vec<u8>) -> io::Result<()> {
    Ok(serde_json::to_writer(line, text)?)
}
