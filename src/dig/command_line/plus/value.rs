//! Options with a value.

use super::{Plus, Trouble};
use crate::dig::command_line::number::{self, hex, netprefix};
use crate::dig::command_line::{Line, Parser};
use crate::dig::lookup::Edns;
use crate::dig::mnemonic::opcode_of;

/// Source: BIND bin/dig/dighost.h: `COMMSIZE`, `MAXNDOTS`, `MAXTRIES`,
/// `MAXTIMEOUT` (9.18)
const MAX_MESSAGE: u32 = 0xffff;
const MAX_NDOTS: u32 = 0xffff;
const MAX_TRIES: u32 = 0xffff_ffff;
const MAX_TIMEOUT: u32 = 0xffff;
/// As many sockets as a program may have open without asking for more.
const MAX_IN_FLIGHT: u32 = 512;
/// Source: BIND bin/dig/dighost.c: `EDNSOPT_OPTIONS` (9.18)
const MAX_OPTIONS: usize = 100;
/// Source: BIND bin/dig/dig.c: `hexcookie` (9.18)
const MAX_COOKIE_DIGITS: usize = 80;
/// What `+bufsize` alone means.
/// Source: BIND bin/dig/dighost.h: `DEFAULT_EDNS_BUFSIZE` (9.18)
const DEFAULT_SIZE: u16 = 1232;

/// EDNS options that have a name.
///
/// Source: BIND bin/dig/dighost.c: `optnames` (9.18)
#[rustfmt::skip]
const OPTION_NAMES: &[(&str, u16)] = &[
    ("LLQ", 1), ("NSID", 3), ("DAU", 5), ("DHU", 6), ("N3U", 7), ("ECS", 8), ("EXPIRE", 9),
    ("COOKIE", 10), ("KEEPALIVE", 11), ("PADDING", 12), ("PAD", 12), ("CHAIN", 13), ("KEY-TAG", 14),
    ("EDE", 15), ("CLIENT-TAG", 16), ("SERVER-TAG", 17), ("DEVICEID", 26946),
];

pub(super) fn apply(
    parser: &mut Parser,
    line: &mut Line<'_>,
    plus: &Plus<'_>,
) -> Result<(), Trouble> {
    match plus.word {
        "bufsize" | "cookie" | "dnssec" | "edns" | "ednsflags" | "ednsopt" | "nsid" | "padding"
        | "subnet" => edns(parser, line, plus),
        "opcode" => opcode(parser, line, plus),
        "qid" => {
            let qid = if plus.state {
                let number = number(parser, needed(plus)?, 0xffff, "qid")?;
                u16::try_from(number).ok()
            } else {
                None
            };
            parser.lookup(line).qid = qid;
            Ok(())
        }
        "retry" | "retries" | "tries" => tries(parser, line, plus),
        "ndots" => {
            parser.globals.ndots = Some(count(parser, plus, MAX_NDOTS)?);
            Ok(())
        }
        "timeout" => {
            parser.globals.timeout = Some(count(parser, plus, MAX_TIMEOUT)?.max(1));
            Ok(())
        }
        "inflight" => {
            let count = count(parser, plus, MAX_IN_FLIGHT)?;
            parser.globals.in_flight = usize::try_from(count.max(1)).unwrap_or(1);
            Ok(())
        }
        "domain" => {
            parser.globals.domain = Some(needed_and_on(plus)?.to_vec());
            Ok(())
        }
        "split" => split(parser, plus),
        _ => Err(Trouble::Invalid),
    }
}

fn edns(parser: &mut Parser, line: &mut Line<'_>, plus: &Plus<'_>) -> Result<(), Trouble> {
    let state = plus.state;
    match (plus.word, plus.value) {
        ("bufsize", _) if !state => return Err(Trouble::Invalid),
        ("bufsize", None) => parser.lookup(line).edns.size = Some(DEFAULT_SIZE),
        ("bufsize", Some(value)) => {
            let size = number(parser, value, MAX_MESSAGE, "buffer size")?;
            // dig keeps it in a signed number and takes a negative one for none.
            let size = u16::try_from(size).ok().filter(|&size| size < 1 << 15);
            parser.lookup(line).edns.size = size;
        }
        ("edns", _) if !state => parser.lookup(line).edns.version = None,
        ("edns", None) => parser.lookup(line).edns.version = Some(0),
        ("edns", Some(value)) => {
            let version = number(parser, value, 255, "edns")?;
            parser.lookup(line).edns.version = u8::try_from(version).ok();
        }
        ("ednsflags", Some(value)) if state => flags(parser, line, value)?,
        ("ednsflags", _) => parser.lookup(line).edns.flags = 0,
        ("ednsopt", _) if !state => parser.lookup(line).edns.options.clear(),
        ("ednsopt", value) => save_option(parser, line, value)?,
        _ => return edns_option(parser, line, plus),
    }
    Ok(())
}

fn flags(parser: &mut Parser, line: &mut Line<'_>, value: &[u8]) -> Result<(), Trouble> {
    let flags = number::xint(value, 0xffff).map_err(|why| {
        parser.invalid("ednsflags", value, why);
        parser.internal("Couldn't parse ednsflags")
    })?;
    switched_on(parser, line, true).flags = u16::try_from(flags).unwrap_or_default();
    Ok(())
}

/// Options of the OPT record that have words of their own.
fn edns_option(parser: &mut Parser, line: &mut Line<'_>, plus: &Plus<'_>) -> Result<(), Trouble> {
    let state = plus.state;
    match (plus.word, plus.value) {
        ("cookie", value) => {
            if value.is_some_and(|value| value.len() > MAX_COOKIE_DIGITS) {
                return Err(parser.internal("COOKIE data too large").into());
            }
            let edns = switched_on(parser, line, state);
            edns.send_cookie = state;
            edns.cookie = value.map(<[u8]>::to_vec);
        }
        ("dnssec", _) => switched_on(parser, line, state).dnssec = state,
        ("nsid", _) => switched_on(parser, line, state).nsid = state,
        ("padding", _) => {
            switched_on(parser, line, state);
            let size = number(parser, needed(plus)?, 512, "padding")?;
            parser.lookup(line).edns.padding = u16::try_from(size).unwrap_or_default();
        }
        ("subnet", value) => {
            let subnet = match (state, value) {
                (false, _) => None,
                (true, None) => return Err(Trouble::Invalid),
                (true, Some(value)) => Some(netprefix(value).map_err(|why| parser.fatal(&why))?),
            };
            switched_on(parser, line, state).subnet = subnet;
        }
        _ => return Err(Trouble::Invalid),
    }
    Ok(())
}

/// Options that need EDNS bring it back after `+noedns`.
fn switched_on<'p>(parser: &'p mut Parser, line: &'p mut Line<'_>, state: bool) -> &'p mut Edns {
    let edns = &mut parser.lookup(line).edns;
    if state && edns.version.is_none() {
        edns.version = Some(0);
    }
    edns
}

/// Source: BIND bin/dig/dighost.c: `save_opt` (9.18)
fn save_option(
    parser: &mut Parser,
    line: &mut Line<'_>,
    value: Option<&[u8]>,
) -> Result<(), Trouble> {
    let mut parts = value.unwrap_or_default().splitn(2, |&byte| byte == b':');
    let code = parts.next().filter(|code| !code.is_empty());
    let code = code.ok_or_else(|| parser.internal("ednsopt no code point specified"))?;
    let data = parts.next().filter(|data| !data.is_empty());
    if parser.lookup(line).edns.options.len() >= MAX_OPTIONS {
        return Err(parser.fatal("too many ednsopts").into());
    }
    let named = OPTION_NAMES
        .iter()
        .find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(code));
    let number = if let Some(&(_, number)) = named {
        number
    } else {
        let number = number::uint(code, 0xffff).map_err(|why| {
            parser.invalid("ednsopt", code, why);
            let shown = String::from_utf8_lossy(code);
            parser.fatal(&format!("bad edns code point: {shown}"))
        })?;
        u16::try_from(number).unwrap_or_default()
    };
    let data = hex(data.unwrap_or_default())
        .map_err(|why| parser.fatal(&format!("isc_hex_decodestring: {why}")))?;
    parser.lookup(line).edns.options.push((number, data));
    Ok(())
}

fn opcode(parser: &mut Parser, line: &mut Line<'_>, plus: &Plus<'_>) -> Result<(), Trouble> {
    let opcode = match (plus.state, plus.value) {
        (false, _) => 0,
        (true, None) => return Err(Trouble::Invalid),
        (true, Some(value)) => {
            if let Some(opcode) = opcode_of(value) {
                opcode
            } else {
                let opcode = number(parser, value, 15, "opcode")?;
                u8::try_from(opcode).unwrap_or_default()
            }
        }
    };
    parser.lookup(line).opcode = opcode;
    Ok(())
}

fn tries(parser: &mut Parser, line: &mut Line<'_>, plus: &Plus<'_>) -> Result<(), Trouble> {
    let value = needed_and_on(plus)?;
    let tries = if plus.word == "tries" {
        number(parser, value, MAX_TRIES, "tries")?.max(1)
    } else {
        number(parser, value, MAX_TRIES - 1, "retries")? + 1
    };
    parser.lookup(line).tries = tries;
    Ok(())
}

fn split(parser: &mut Parser, plus: &Plus<'_>) -> Result<(), Trouble> {
    let value = match (plus.state, plus.value) {
        (false, Some(_)) => return Err(Trouble::Invalid),
        (false, None) => {
            parser.globals.split = Some(0);
            return Ok(());
        }
        (true, None) => return Ok(()),
        (true, Some(value)) => value,
    };
    let read = number::uint(value, 1023);
    let before = parser.globals.split.unwrap_or(u32::MAX);
    let width = read.unwrap_or(before);
    let whole = width.wrapping_add(3) / 4 * 4;
    // dig adjusts before it looks whether it has read a number.
    if whole != width {
        parser.err(format!(
            ";; Warning, split must be a multiple of 4; adjusting to {whole}"
        ));
    }
    if let Err(why) = read {
        parser.invalid("split", value, why);
        return Err(parser.internal("Couldn't parse split").into());
    }
    // The printing of a word takes three off again (dig.c: `plus_option`).
    parser.globals.split = Some(if whole == 0 { 0 } else { whole + 3 });
    Ok(())
}

fn needed<'w>(plus: &Plus<'w>) -> Result<&'w [u8], Trouble> {
    plus.value.ok_or(Trouble::Invalid)
}

fn needed_and_on<'w>(plus: &Plus<'w>) -> Result<&'w [u8], Trouble> {
    needed(plus).and_then(|value| plus.state.then_some(value).ok_or(Trouble::Invalid))
}

/// The number of an option that cannot be switched off.
fn count(parser: &mut Parser, plus: &Plus<'_>, max: u32) -> Result<u32, Trouble> {
    number(parser, needed_and_on(plus)?, max, plus.word)
}

/// A number, or the end of the program with status 10.
fn number(parser: &mut Parser, value: &[u8], max: u32, what: &str) -> Result<u32, Trouble> {
    number::uint(value, max).map_err(|why| {
        parser.invalid(what, value, why);
        parser.internal(&format!("Couldn't parse {what}")).into()
    })
}
