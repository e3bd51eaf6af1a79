//! What dig's machine wants printed.

use std::fmt::Write as _;

use super::idn::Refused;
use super::reply::{self, Shown};
use super::{json, stats, yaml};
use crate::dig::lookup::Globals;
use crate::dig::printed::Printed;
use crate::text::escaped;

/// Whether this belongs on standard error. Of `+json` standard output has
/// documents only.
pub fn is_error(printed: &Printed, globals: &Globals) -> bool {
    match printed {
        Printed::Stderr(_) | Printed::BadName(_) | Printed::Note(_) => true,
        Printed::Plain(_)
        | Printed::Error(_)
        | Printed::NoServers
        | Printed::Warning(_)
        | Printed::NoAcceptable
        | Printed::Servfail(..)
        | Printed::Comment(_) => globals.json,
        Printed::Greeting(_)
        | Printed::Query(..)
        | Printed::Reply(..)
        | Printed::Received(..)
        | Printed::BadPacket(..) => false,
    }
}

/// Writes what the machine wants printed; what belongs on standard error
/// ([`is_error`]) too.
///
/// # Errors
///
/// A name has no letters of its own: dig writes no more of the message than
/// its head, says so and ends.
pub fn write(printed: &Printed, globals: &Globals, out: &mut String) -> Result<(), Refused> {
    let line = |out: &mut String, before: &str, text: &str| {
        out.push_str(before);
        out.push_str(&escaped(text.as_bytes()));
        out.push('\n');
    };
    let error = if globals.yaml {
        "- type: DIG_ERROR\n  message: |\n    "
    } else {
        ";; "
    };
    match printed {
        Printed::Greeting(_) if globals.json => {}
        Printed::Greeting(greeting) => reply::write_greeting(greeting, out),
        Printed::Query(exchange, message) => {
            let shown = Shown {
                exchange,
                message,
                is_query: true,
                first: true,
                globals,
            };
            message_text(&shown, out)?;
            if exchange.lookup.print.stats && !globals.yaml && !globals.json {
                let _ = write!(out, ";; QUERY SIZE: {}\n\n", exchange.query_size);
            }
        }
        Printed::Reply(exchange, message, first) => {
            let shown = Shown {
                exchange,
                message,
                is_query: false,
                first: *first,
                globals,
            };
            message_text(&shown, out)?;
        }
        Printed::Received(exchange, total) => {
            stats::received(exchange, *total, globals, out);
        }
        Printed::BadPacket(why, wire) => {
            if !globals.yaml && !globals.json {
                stats::bad_packet(why, wire, out);
            }
        }
        Printed::Plain(text) => line(out, "", text),
        Printed::Error(text) => line(out, error, text),
        Printed::NoServers => line(out, error, "no servers could be reached"),
        Printed::Warning(text) | Printed::Comment(text) => line(out, ";; ", text),
        Printed::NoAcceptable => line(out, ";; ", "No acceptable nameservers"),
        Printed::Servfail(server, goes_on) => line(out, ";; ", &servfail(server, *goes_on)),
        Printed::Stderr(text) | Printed::BadName(text) => line(out, "dig: ", text),
        Printed::Note(text) => line(out, "kdns: ", text),
    }
    Ok(())
}

fn servfail(server: &str, goes_on: bool) -> String {
    let next = if goes_on { ", trying next server" } else { "" };
    format!("Got SERVFAIL reply from {server}{next}")
}

fn message_text(shown: &Shown<'_>, out: &mut String) -> Result<(), Refused> {
    if shown.globals.json {
        json::write(shown, out);
        Ok(())
    } else if shown.globals.yaml {
        yaml::write(shown, out)
    } else {
        reply::write(shown, out)
    }
}
