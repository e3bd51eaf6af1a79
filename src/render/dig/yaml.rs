//! A message as YAML, as BIND's dig writes it.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::edns;
use super::idn::Refused;
use super::reply::{Shown, flags, record_text, short, write_question};
use super::style::Style;
use super::words::utc;
use crate::dig::message::{Message, flag};
use crate::dig::mnemonic::{opcode_text, rcode_text};
use crate::text::escaped;

/// The indentation of the message's own data.
const INDENT: &str = "      ";

/// Writes one item of the list that a run prints.
///
/// # Errors
///
/// A name has no letters of its own: of the item its head alone is there.
///
/// Source: BIND bin/dig/dig.c: `printmessage` (9.18)
pub fn write(shown: &Shown<'_>, out: &mut String) -> Result<(), Refused> {
    let message = shown.message;
    let lookup = &shown.exchange.lookup;
    out.push_str("- type: MESSAGE\n  message:\n");
    let recursion = if shown.is_query {
        flag::RD
    } else {
        flag::RD | flag::RA
    };
    let is_recursive = message.flags & recursion == recursion;
    let kind = match (is_recursive, shown.is_query) {
        (true, true) => "RECURSIVE_QUERY",
        (true, false) => "RECURSIVE_RESPONSE",
        (false, true) => "AUTH_QUERY",
        (false, false) => "AUTH_RESPONSE",
    };
    let _ = writeln!(out, "    type: {kind}");
    let micro = lookup.print.microseconds;
    let sent = timestamp(shown.exchange.times.sent, micro);
    let _ = writeln!(out, "    query_time: !!timestamp {sent}");
    if !shown.is_query {
        let received = timestamp(shown.exchange.times.received, micro);
        let _ = writeln!(out, "    response_time: !!timestamp {received}");
    }
    let _ = writeln!(out, "    message_size: {}b", message.size);
    sockets(shown, out);
    out.push_str(if shown.is_query {
        "    query_message_data:\n"
    } else {
        "    response_message_data:\n"
    });
    let head = out.len();
    header(message, out);
    let written = if shown.globals.short {
        // The head of an item and bare data below it are dig's.
        if lookup.print.answer {
            short(shown, out)
        } else {
            Ok(())
        }
    } else {
        if lookup.print.comments {
            options(message, shown.exchange.cookie_ok, out);
        }
        sections(shown, out)
    };
    written.inspect_err(|_| out.truncate(head))
}

fn sockets(shown: &Shown<'_>, out: &mut String) {
    let server = &shown.exchange.server;
    let family = if server.address.ip.is_ipv4() {
        "INET"
    } else {
        "INET6"
    };
    let transport = if shown.exchange.tcp { "TCP" } else { "UDP" };
    let address = with_end(&escaped(server.address.to_string().as_bytes()));
    let port = server.port();
    let _ = writeln!(
        out,
        "    socket_family: {family}\n    socket_protocol: {transport}\n    \
         response_address: \"{address}\"\n    response_port: {port}"
    );
    if let Some(local) = shown.exchange.times.local {
        let address = with_end(&local_text(local));
        let port = local.port();
        let _ = writeln!(
            out,
            "    query_address: \"{address}\"\n    query_port: {port}"
        );
    }
}

fn local_text(local: SocketAddr) -> String {
    match local.ip() {
        IpAddr::V6(ip) => ip.to_string(),
        ip @ IpAddr::V4(_) => ip.to_string(),
    }
}

/// `::` alone ends in a colon.
fn with_end(address: &str) -> String {
    if address == "::" {
        return "::0".to_owned();
    }
    address.to_owned()
}

/// Source: BIND lib/dns/message.c: `dns_message_headertotext` (9.18)
fn header(message: &Message, out: &mut String) {
    let (opcode, status) = (opcode_text(message.opcode), rcode_text(message.rcode));
    let (id, flags) = (message.id, flags(message));
    let _ = writeln!(
        out,
        "{INDENT}opcode: {opcode}\n{INDENT}status: {status}\n{INDENT}id: {id}\n{INDENT}flags:{flags}"
    );
    if message.flags & flag::Z != 0 {
        let _ = writeln!(out, "{INDENT}MBZ: 0x4");
    }
    let names = if message.opcode == 5 {
        ["ZONE", "PREREQ", "UPDATE", "ADDITIONAL"]
    } else {
        ["QUESTION", "ANSWER", "AUTHORITY", "ADDITIONAL"]
    };
    for (name, count) in names.iter().zip(message.counts) {
        let _ = writeln!(out, "{INDENT}{name}: {count}");
    }
}

/// Source: BIND lib/dns/message.c: `dns_message_pseudosectiontoyaml` (9.18)
fn options(message: &Message, cookie_ok: Option<bool>, out: &mut String) {
    let Some(opt) = &message.opt else {
        return;
    };
    let (flags, mbz) = edns::flags(opt.ttl);
    let (version, size) = (opt.version(), opt.size);
    let deep = format!("{INDENT}    ");
    let _ = writeln!(
        out,
        "{INDENT}OPT_PSEUDOSECTION:\n{INDENT}  EDNS:\n{deep}version: {version}\n{deep}flags:{flags}"
    );
    if mbz != 0 {
        let _ = writeln!(out, "{deep}MBZ: 0x{mbz:04x}");
    }
    let _ = writeln!(out, "{deep}udp: {size}");
    for (code, data) in opt.options() {
        let title = match code {
            11 => "TCP-KEEPALIVE".to_owned(),
            code => edns::title(code),
        };
        if let (15, Some((&number, text))) = (code, data.split_first_chunk::<2>()) {
            let number = u16::from_be_bytes(number);
            let meaning = edns::extended_error(number);
            let meaning = meaning.map_or(String::new(), |it| format!(" ({it})"));
            let _ = writeln!(out, "{deep}EDE:\n{deep}  INFO-CODE: {number}{meaning}");
            if text.is_empty() {
                // The empty line is dig's.
                out.push('\n');
            } else {
                let text = edns::extra_text(text);
                let _ = writeln!(out, "{deep}  EXTRA-TEXT:{text}");
            }
            continue;
        }
        let text = edns::value(code, data).unwrap_or_else(|| match code {
            15 => edns::undecoded(data),
            _ => edns::raw(code, data, cookie_ok),
        });
        let _ = writeln!(out, "{deep}{title}:{text}");
    }
}

/// Source: BIND lib/dns/message.c: `dns_message_sectiontotext` (9.18)
fn sections(shown: &Shown<'_>, out: &mut String) -> Result<(), Refused> {
    let print = &shown.exchange.lookup.print;
    let style = Style::of_section(print, shown.globals, shown.now());
    if shown.has_question() {
        let _ = writeln!(out, "{INDENT}{}_SECTION:", shown.question_title());
        for question in &shown.message.questions {
            let mut text = String::new();
            write_question(question, &style, &mut text);
            item(&text, out);
        }
    }
    for (section, records, wanted) in shown.sections() {
        if !wanted || records.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{INDENT}{section}_SECTION:");
        for record in records {
            item(&record_text(record, &style), out);
        }
    }
    if print.additional && shown.first {
        for (section, record) in shown.signatures() {
            let quoted = record_text(record, &style).replace('\'', "''");
            let _ = writeln!(
                out,
                "{INDENT}{section}_PSEUDOSECTION:\n{INDENT}- '{quoted}'\n"
            );
        }
    }
    style.refused()
}

/// An item of a list, in quotes.
fn item(text: &str, out: &mut String) {
    let quoted = text.replace('\'', "''");
    let _ = writeln!(out, "{INDENT}  - '{quoted}'");
}

/// `2023-11-14T22:13:20.000Z`
fn timestamp(time: Duration, micro: bool) -> String {
    let fraction = if micro {
        format!("{:06}", time.subsec_micros())
    } else {
        format!("{:03}", time.subsec_millis())
    };
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    format!("{}.{fraction}Z", utc(seconds, "%Y-%m-%dT%H:%M:%S"))
}
