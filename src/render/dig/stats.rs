//! What follows a reply, and what stands for one that cannot be read.

use std::fmt::Write as _;

use crate::dig::lookup::Globals;
use crate::dig::printed::{Exchange, Total};
use crate::host::clock;
use crate::text::escaped;

/// What follows a reply: times, server, size.
///
/// Source: BIND bin/dig/dig.c: `received` (9.18)
pub fn received(exchange: &Exchange, total: Total, globals: &Globals, out: &mut String) {
    let print = &exchange.lookup.print;
    let peer = peer(exchange);
    let elapsed = exchange.times.elapsed;
    if globals.short || globals.yaml || globals.json {
        return;
    }
    if print.stats {
        let _ = if print.microseconds {
            writeln!(out, ";; Query time: {} usec", elapsed.as_micros())
        } else {
            writeln!(out, ";; Query time: {} msec", elapsed.as_millis())
        };
        let transport = exchange.server.transport(exchange.tcp);
        let _ = writeln!(out, ";; SERVER: {peer} ({transport})");
        let _ = writeln!(out, ";; WHEN: {}", clock::local(exchange.times.received));
        let bytes = total.bytes;
        let _ = match total.transfer {
            Some((records, messages)) => writeln!(
                out,
                ";; XFR size: {records} records (messages {messages}, bytes {bytes})"
            ),
            None => writeln!(out, ";; MSG SIZE  rcvd: {bytes}"),
        };
        out.push('\n');
    } else if print.identify {
        let bytes = total.bytes;
        let took = if print.microseconds {
            format!("{} us", elapsed.as_micros())
        } else {
            format!("{} ms", elapsed.as_millis())
        };
        let _ = writeln!(out, ";; Received {bytes} bytes from {peer} in {took}\n");
    }
}

/// `10.0.0.1#53(dns.example)`
fn peer(exchange: &Exchange) -> String {
    let server = &exchange.server;
    let port = server.port();
    let word = escaped(&server.word());
    format!("{}#{port}({word})", server.address)
}

/// A message that is none: why, and all its bytes.
///
/// Source: BIND bin/dig/dighost.c: `recv_done`, `hex_dump` (9.18)
pub fn bad_packet(why: &str, wire: &[u8], out: &mut String) {
    let _ = writeln!(out, ";; Got bad packet: {why}\n{} bytes", wire.len());
    for line in wire.chunks(16) {
        for byte in line {
            let _ = write!(out, "{byte:02x} ");
        }
        out.push_str(&"   ".repeat(16 - line.len()));
        out.push_str("         ");
        out.extend(line.iter().map(|&byte| match byte {
            b'!'..=b'}' => char::from(byte),
            _ => '.',
        }));
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_packets_are_dumped() {
        let mut out = String::new();
        bad_packet("FORMERR", b"ab\0", &mut out);
        let spaces = " ".repeat(13 * 3 + 9);
        assert_eq!(
            out,
            format!(";; Got bad packet: FORMERR\n3 bytes\n61 62 00 {spaces}ab.\n")
        );
    }
}
