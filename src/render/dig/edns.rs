//! The OPT pseudosection.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::words::ttl;
use crate::dig::message::Message;
use crate::dig::reader::Reader;
use crate::text::escaped;

/// What extended errors mean (RFC 8914), by number.
///
/// Source: BIND lib/dns/message.c: `edetext` (9.18)
const EXTENDED_ERRORS: [&str; 25] = [
    "Other",
    "Unsupported DNSKEY Algorithm",
    "Unsupported DS Digest Type",
    "Stale Answer",
    "Forged Answer",
    "DNSSEC Indeterminate",
    "DNSSEC Bogus",
    "Signature Expired",
    "Signature Not Yet Valid",
    "DNSKEY Missing",
    "RRSIGs Missing",
    "No Zone Key Bit Set",
    "NSEC Missing",
    "Cached Error",
    "Not Ready",
    "Blocked",
    "Censored",
    "Filtered",
    "Prohibited",
    "Stale NXDOMAIN Answer",
    "Not Authoritative",
    "Not Supported",
    "No Reachable Authority",
    "Network Error",
    "Invalid Data",
];

const COOKIE: u16 = 10;
const EDE: u16 = 15;

/// The pseudosection with its title; nothing if there is no OPT record.
///
/// Source: BIND lib/dns/message.c: `dns_message_pseudosectiontotext` (9.18)
pub(super) fn write(message: &Message, cookie_ok: Option<bool>, out: &mut String) {
    let Some(opt) = &message.opt else {
        return;
    };
    let (flags, mbz) = flags(opt.ttl);
    let mbz = match mbz {
        0 => String::new(),
        // The comma is dig's.
        mbz => format!("; MBZ: 0x{mbz:04x}, udp: {}", opt.size),
    };
    let size = if mbz.is_empty() {
        format!("; udp: {}", opt.size)
    } else {
        mbz
    };
    let version = opt.version();
    let _ = writeln!(
        out,
        ";; OPT PSEUDOSECTION:\n; EDNS: version: {version}, flags:{flags}{size}"
    );
    for (code, data) in opt.options() {
        let text = match known(code, data) {
            Some(text) => text,
            None => format!("{}:{}", title(code), raw(code, data, cookie_ok)),
        };
        let _ = writeln!(out, "; {text}");
    }
}

/// ` do co`, and the bits that must be zero.
pub(super) fn flags(ttl: u32) -> (String, u32) {
    let mut text = String::new();
    if ttl & 0x8000 != 0 {
        text.push_str(" do");
    }
    if ttl & 0x4000 != 0 {
        text.push_str(" co");
    }
    (text, ttl & 0x3fff)
}

/// What an extended error's number means.
pub(in crate::render) fn extended_error(number: u16) -> Option<&'static str> {
    EXTENDED_ERRORS.get(usize::from(number)).copied()
}

/// The name of an option.
pub(super) fn title(code: u16) -> String {
    let name = match code {
        1 => "LLQ",
        3 => "NSID",
        8 => "CLIENT-SUBNET",
        9 => "EXPIRE",
        COOKIE => "COOKIE",
        11 => "TCP KEEPALIVE",
        12 => "PAD",
        14 => "KEY-TAG",
        EDE => "EDE",
        16 => "CLIENT-TAG",
        17 => "SERVER-TAG",
        _ => return format!("OPT={code}"),
    };
    name.to_owned()
}

/// An option whose data has a form of its own; `None`: it has none, or it is
/// malformed.
fn known(code: u16, data: &[u8]) -> Option<String> {
    let title = title(code);
    let text = match code {
        12 if data.is_empty() => String::new(),
        12 => format!(" ({} bytes)", data.len()),
        EDE => return Some(error(data)),
        _ => value(code, data)?,
    };
    Some(format!("{title}:{text}"))
}

/// The data of an option that means something, with a space before it.
pub(super) fn value(code: u16, data: &[u8]) -> Option<String> {
    let mut reader = Reader::new(data);
    let text = match code {
        1 if data.len() == 18 => {
            let mut number = || reader.u16().unwrap_or_default();
            let (version, opcode, error) = (number(), number(), number());
            let (high, low) = (reader.u32().ok()?, reader.u32().ok()?);
            let id = u64::from(high) << 32 | u64::from(low);
            let lifetime = reader.u32().ok()?;
            format!(
                " Version: {version}, Opcode: {opcode}, Error: {error}, \
                 Identifier: {id}, Lifetime: {lifetime}"
            )
        }
        8 => subnet(data)?,
        9 if data.len() == 4 => {
            let seconds = reader.u32().ok()?;
            format!(" {seconds} ({})", ttl(seconds, true))
        }
        11 if data.len() == 2 => {
            let tenths = reader.u16().ok()?;
            format!(" {}.{} secs", tenths / 10, tenths % 10)
        }
        14 if !data.is_empty() && data.len().is_multiple_of(2) => {
            let mut tags = Vec::new();
            while reader.left() > 0 {
                tags.push(format!(" {}", reader.u16().ok()?));
            }
            tags.join(",")
        }
        16 | 17 if data.len() == 2 => format!(" {}", reader.u16().ok()?),
        _ => return None,
    };
    Some(text)
}

/// Source: BIND lib/dns/message.c: `render_ecs` (9.18)
fn subnet(data: &[u8]) -> Option<String> {
    let (&[family0, family1, prefix, scope], address) = data.split_first_chunk::<4>()?;
    let mut octets = [0; 16];
    let kept = address.get(..usize::from(prefix).div_ceil(8))?;
    octets.get_mut(..kept.len())?.copy_from_slice(kept);
    let address = match u16::from_be_bytes([family0, family1]) {
        0 if prefix == 0 && scope == 0 => "0".to_owned(),
        1 if prefix <= 32 && scope <= 32 => Ipv4Addr::from(*octets.first_chunk::<4>()?).to_string(),
        2 if prefix <= 128 && scope <= 128 => Ipv6Addr::from(octets).to_string(),
        _ => return None,
    };
    Some(format!(" {address}/{prefix}/{scope}"))
}

fn error(data: &[u8]) -> String {
    let Some((&number, text)) = data.split_first_chunk::<2>() else {
        let Some(byte) = data.first() else {
            return "EDE:".to_owned();
        };
        return format!("EDE: {byte:02x} (\"{}\")", printable(data, false));
    };
    let number = u16::from_be_bytes(number);
    let meaning = extended_error(number);
    let meaning = meaning.map_or(String::new(), |it| format!(" ({it})"));
    if text.is_empty() {
        return format!("EDE: {number}{meaning}");
    }
    format!("EDE: {number}{meaning}:{}", raw(EDE, text, None))
}

/// Hexadecimal digits, and the text that they may be.
pub(super) fn raw(code: u16, data: &[u8], cookie_ok: Option<bool>) -> String {
    if data.is_empty() {
        return String::new();
    }
    if code == COOKIE {
        let digits: Vec<String> = data.iter().map(|byte| format!("{byte:02x}")).collect();
        let digits = digits.concat();
        let verdict = match cookie_ok {
            Some(true) if data.len() >= 16 => " (good)",
            Some(true) => " (echoed)",
            Some(false) => " (bad)",
            None => "",
        };
        return format!(" {digits}{verdict}");
    }
    match code {
        8 => format!(" {}", digits(data)),
        EDE if is_text(data) => format!(" ({})", printable(data, true)),
        EDE => format!(" {}({})", digits(data), printable(data, false)),
        _ => undecoded(data),
    }
}

/// What YAML has of an extended error's text.
pub(super) fn extra_text(text: &[u8]) -> String {
    if is_text(text) {
        return format!(" \"{}\"", printable(text, true));
    }
    format!(" {}\"{}\"", digits(text), printable(text, false))
}

/// An option of which nothing is known but its bytes.
pub(super) fn undecoded(data: &[u8]) -> String {
    if data.is_empty() {
        return String::new();
    }
    format!(" {}(\"{}\")", digits(data), printable(data, false))
}

fn is_text(data: &[u8]) -> bool {
    std::str::from_utf8(data).is_ok()
}

fn digits(data: &[u8]) -> String {
    let digits = data.iter().map(|byte| format!("{byte:02x} "));
    digits.collect::<Vec<_>>().concat()
}

/// Bytes as text: a dot for what cannot be printed.
pub(super) fn printable(data: &[u8], is_utf8: bool) -> String {
    let bytes: Vec<u8> = data
        .iter()
        .map(|&byte| match byte {
            b' '..=b'~' => byte,
            0x80.. if is_utf8 => byte,
            _ => b'.',
        })
        .collect();
    escaped(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dig::message::Opt;

    fn check(code: u16, data: &[u8], expected: &str) {
        let mut bytes = code.to_be_bytes().to_vec();
        bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        bytes.extend(data);
        let message = Message {
            opt: Some(Opt {
                size: 1232,
                ttl: 0x8000,
                data: bytes,
            }),
            ..Message::default()
        };
        let mut out = String::new();
        write(&message, Some(true), &mut out);
        let head = ";; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags: do; udp: 1232\n";
        assert_eq!(out, format!("{head}{expected}\n"));
    }

    #[test]
    fn options_have_their_forms() {
        check(3, b"ns1", "; NSID: 6e 73 31 (\"ns1\")");
        check(10, &[1; 8], "; COOKIE: 0101010101010101 (echoed)");
        check(
            8,
            &[0, 1, 24, 0, 10, 1, 2],
            "; CLIENT-SUBNET: 10.1.2.0/24/0",
        );
        check(9, &[0, 0, 14, 16], "; EXPIRE: 3600 (1 hour)");
        check(11, &[0, 15], "; TCP KEEPALIVE: 1.5 secs");
        check(12, &[0; 9], "; PAD: (9 bytes)");
        check(14, &[0, 1, 0, 2], "; KEY-TAG: 1, 2");
        check(15, b"\0\x0fno", "; EDE: 15 (Blocked): (no)");
        check(15, &[0, 99], "; EDE: 99");
        check(65001, b"a\0", "; OPT=65001: 61 00 (\"a.\")");
    }
}
