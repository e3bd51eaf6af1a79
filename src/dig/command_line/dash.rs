//! Options that begin with `-`.

use std::net::{IpAddr, SocketAddr};

use super::{AXFR, End, Families, IXFR, Line, Parser, is_ixfr, number};
use crate::dig::mnemonic::{class_of, type_of};

/// Source: BIND bin/dig/dig.c: `single_dash_opts`, `dash_opts` (9.18)
const SINGLE: &[u8] = b"46dhimnruv";
const ALL: &[u8] = b"46bcdfhikmnpqrtvyx";

/// Looks at all words before any counts; whether `~/.digrc` is to be read.
pub(super) fn preparse(parser: &mut Parser, words: &[&[u8]]) -> Result<bool, End> {
    let mut reads_digrc = true;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(mut option) = word.strip_prefix(b"-") else {
            continue;
        };
        while let Some((letter, rest)) = option.split_first()
            && SINGLE.contains(letter)
        {
            let globals = &mut parser.globals;
            match letter {
                b'r' => reads_digrc = false,
                b'4' => globals.ipv4_only = true,
                b'6' => globals.ipv6_only = true,
                _ => {}
            }
            parser.families = Families {
                v4: !globals.ipv6_only,
                v6: !globals.ipv4_only,
            };
            if globals.ipv4_only && globals.ipv6_only {
                return Err(parser.fatal("only one of -4 and -6 allowed"));
            }
            option = rest;
        }
        match option {
            [] => {}
            [letter] if ALL.contains(letter) => {
                if words.next().is_none() {
                    return Err(invalid(parser, option));
                }
            }
            [letter, ..] if ALL.contains(letter) => {}
            _ => return Err(invalid(parser, option)),
        }
    }
    Ok(reads_digrc)
}

/// Applies `-option`, with the words behind it; how many of those it took.
///
/// Source: BIND bin/dig/dig.c: `dash_option` (9.18)
pub(super) fn option(
    parser: &mut Parser,
    line: &mut Line<'_>,
    option: &[u8],
    next: &[&[u8]],
) -> Result<usize, End> {
    let mut option = option;
    while let Some((letter, rest)) = option.split_first()
        && SINGLE.contains(letter)
    {
        match letter {
            b'h' => return Err(End::Help),
            b'v' => return Err(End::Version),
            b'u' => parser.lookup(line).print.microseconds = true,
            b'd' if !rest.first().is_some_and(|letter| ALL.contains(letter)) => {
                if b"debug".starts_with(option) {
                    return Ok(0);
                }
                return Err(invalid(parser, option));
            }
            _ => {}
        }
        option = rest;
        if rest.is_empty() {
            return Ok(0);
        }
    }
    let Some((&letter, rest)) = option.split_first() else {
        return Err(invalid(parser, option));
    };
    let mut taken = 0;
    let mut value = rest;
    if rest.is_empty() {
        let Some(&word) = next.first() else {
            return Err(invalid(parser, option));
        };
        (taken, value) = (1, word);
    }
    if letter == b'x' && taken == 1 && value.starts_with(b"@") {
        (taken, value) = server_between(parser, line, value, next)?;
    }
    apply(parser, line, letter, value, option)?;
    Ok(taken)
}

/// `-x @server address`: dig would turn the server's address round. The
/// server is taken for one, and said so.
fn server_between<'w>(
    parser: &mut Parser,
    line: &mut Line<'_>,
    server: &[u8],
    next: &[&'w [u8]],
) -> Result<(usize, &'w [u8]), End> {
    let shown = String::from_utf8_lossy(server);
    let Some(&address) = next.get(1) else {
        return Err(invalid(parser, b"x"));
    };
    parser.err(format!(
        ";; Note: -x belongs to the address behind it; {shown} is taken for the server, \
         which BIND's dig would not do"
    ));
    parser.server(line, server.get(1..).unwrap_or_default())?;
    Ok((2, address))
}

fn apply(
    parser: &mut Parser,
    line: &mut Line<'_>,
    letter: u8,
    value: &[u8],
    option: &[u8],
) -> Result<(), End> {
    match letter {
        b'b' => source(parser, value),
        b'c' => {
            line.open_type_class = false;
            if let Some(class) = class_of(value) {
                parser.set_class(line, class);
            } else {
                let shown = String::from_utf8_lossy(value).into_owned();
                parser.err(format!(";; Warning, ignoring invalid class {shown}"));
            }
            Ok(())
        }
        b'f' => {
            parser.globals.batch = Some(value.to_vec());
            Ok(())
        }
        b'p' => match number::uint(value, 0xffff) {
            Ok(port) => {
                parser.globals.port = u16::try_from(port).ok();
                Ok(())
            }
            Err(why) => {
                parser.invalid("port number", value, why);
                Err(parser.fatal("Couldn't parse port number"))
            }
        },
        b'q' => {
            if !line.config_only {
                parser.name(line, value);
            }
            Ok(())
        }
        b't' => rdtype(parser, line, value),
        b'x' => {
            parser.begin_lookup(line);
            let lookup = parser.lookup(line);
            lookup.text = number::reverse_name(value);
            if !lookup.rdtype_set {
                lookup.rdtype = 12;
            }
            if !lookup.rdclass_set {
                lookup.rdclass = 1;
            }
            parser.greet(line);
            Ok(())
        }
        b'k' | b'y' => {
            let letter = char::from(letter);
            parser.err(format!(
                "kdns: -{letter} is not supported: kdns dig signs no queries (TSIG)"
            ));
            Err(End::Fatal)
        }
        _ => Err(invalid(parser, option)),
    }
}

fn rdtype(parser: &mut Parser, line: &mut Line<'_>, value: &[u8]) -> Result<(), End> {
    line.open_type_class = false;
    let rdtype = if is_ixfr(value) {
        Some(IXFR)
    } else {
        type_of(value).filter(|&rdtype| rdtype != IXFR)
    };
    let Some(rdtype) = rdtype else {
        let shown = String::from_utf8_lossy(value).into_owned();
        parser.err(format!(";; Warning, ignoring invalid type {shown}"));
        return Ok(());
    };
    let was_set = parser.lookup(line).rdtype_set;
    parser.set_type(line, rdtype, value)?;
    if line.config_only && rdtype != IXFR {
        parser.lookup(line).rdtype_set = was_set;
    }
    debug_assert!(rdtype != AXFR || parser.lookup(line).rdtype == AXFR);
    Ok(())
}

fn source(parser: &mut Parser, value: &[u8]) -> Result<(), End> {
    let text = String::from_utf8_lossy(value).into_owned();
    let (address, port) = match text.split_once('#') {
        Some((address, port)) => match number::uint(port.as_bytes(), 0xffff) {
            Ok(number) => (address, u16::try_from(number).unwrap_or_default()),
            Err(why) => {
                parser.invalid("port number", port.as_bytes(), why);
                return Err(parser.fatal("Couldn't parse port number"));
            }
        },
        None => (text.as_str(), 0),
    };
    let families = parser.families;
    match address.parse::<IpAddr>() {
        // What servers the words behind it name must be of its family.
        Ok(ip) if families.has(ip) => {
            parser.globals.source = Some(SocketAddr::new(ip, port));
            parser.families = Families {
                v4: ip.is_ipv4(),
                v6: ip.is_ipv6(),
            };
            Ok(())
        }
        _ => Err(parser.fatal(&format!("invalid address {text}"))),
    }
}

fn invalid(parser: &mut Parser, option: &[u8]) -> End {
    let shown = String::from_utf8_lossy(option).into_owned();
    parser.err(format!("Invalid option: -{shown}"));
    End::Usage
}
