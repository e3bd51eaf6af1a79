//! nginx' `resolver` directives.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::{MAX_SERVERS, Names, Section};
use crate::address::DNS_PORT;
use crate::config::statements::{Indexed, Statement};
use crate::scenario::own::{Daemon, Given, Own};
use crate::text::{Placed, escaped};

/// Of its words so many are shown.
const MAX_SHOWN: usize = 60;

pub(super) fn collect_names(conf: &Indexed<'_>, names: &mut Names) {
    block(conf, conf.statements, "main", None, names);
}

/// Directives of a block hold for those in it, unless these have their own.
fn block(
    conf: &Indexed<'_>,
    statements: &[Statement],
    label: &str,
    timeout: Option<Duration>,
    names: &mut Names,
) {
    let own = statements
        .iter()
        .find(|it| conf.word(it, 0) == b"resolver_timeout");
    let timeout = own.map_or(timeout, |it| time(conf.word(it, 1)));
    for statement in statements {
        let name = conf.word(statement, 0);
        let is_script = memchr::memmem::find(name, b"_by_lua").is_some()
            || [&b"js_"[..], b"perl", b"lua_"]
                .iter()
                .any(|it| name.starts_with(it));
        if is_script && names.scripts.is_none() {
            names.scripts = Some(conf.place(statement, 0));
        }
        if name == b"resolver" && statement.block.is_none() {
            names.put(resolver(conf, statement, label, timeout));
        }
        if let Some(inner) = &statement.block {
            let words = (0..statement.words.len()).map(|at| conf.word(statement, at));
            let words: Vec<&[u8]> = words.collect();
            let label: String = escaped(&words.join(&b' '))
                .chars()
                .take(MAX_SHOWN)
                .collect();
            block(conf, inner, &label, timeout, names);
        }
    }
}

/// Source: nginx `src/core/ngx_resolver.c: ngx_resolver_create` (1.22; `ipv4` from 1.23.1 on)
fn resolver(
    conf: &Indexed<'_>,
    statement: &Statement,
    label: &str,
    timeout: Option<Duration>,
) -> Section {
    let mut section = Section {
        place: conf.place(statement, 0),
        label: label.to_owned(),
        settings: Vec::new(),
        used: None,
        is_libc: false,
        names: Vec::new(),
        own: Own {
            timeout,
            ..Own::new(Daemon::Nginx)
        },
    };
    let own = &mut section.own;
    for at in 1..statement.words.len() {
        let word = conf.word(statement, at);
        let is_setting = [&b"valid="[..], b"ipv4=", b"ipv6=", b"status_zone="]
            .iter()
            .any(|it| word.starts_with(it));
        if is_setting {
            own.has_ipv4 &= word != b"ipv4=off";
            own.has_ipv6 &= word != b"ipv6=off";
            if section.settings.len() < MAX_SERVERS {
                section.settings.push(escaped(word));
            }
        } else if own.servers.len() < MAX_SERVERS {
            own.servers.push(Placed {
                value: server(word),
                place: conf.place(statement, at),
            });
        }
    }
    section
}

/// A name or an address with a port, IPv6 in brackets.
///
/// Source: nginx `src/core/ngx_inet.c: ngx_parse_url` (1.22)
fn server(word: &[u8]) -> Given {
    let unknown = || Given::Unknown(escaped(word));
    let Ok(text) = std::str::from_utf8(word) else {
        return unknown();
    };
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => match port.parse() {
            Ok(port) if port > 0 => (host, port),
            _ => return unknown(),
        },
        _ => (text, DNS_PORT),
    };
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let ip = match inner {
        Some(inner) => inner.parse::<Ipv6Addr>().map(IpAddr::from),
        None => host.parse::<Ipv4Addr>().map(IpAddr::from),
    };
    Given::host(host, ip.ok(), port).unwrap_or_else(unknown)
}

/// A time of nginx: numbers with units, seconds without one.
///
/// Source: nginx `src/core/ngx_parse.c: ngx_parse_time` (1.22)
fn time(word: &[u8]) -> Option<Duration> {
    const UNITS: [(&str, u64); 5] = [
        ("ms", 1),
        ("s", 1000),
        ("m", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
    ];
    let mut rest = std::str::from_utf8(word).ok()?;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest
            .find(|it: char| !it.is_ascii_digit())
            .unwrap_or(rest.len());
        let (digits, behind) = rest.split_at(end);
        let number: u64 = digits.parse().ok()?;
        let end = behind.find(|it: char| it.is_ascii_digit());
        let (unit, behind) = behind.split_at(end.unwrap_or(behind.len()));
        let unit = if unit.is_empty() { "s" } else { unit.trim() };
        let factor = UNITS.iter().find(|it| it.0 == unit)?.1;
        total = total.checked_add(number.checked_mul(factor)?)?;
        rest = behind;
    }
    Some(Duration::from_millis(total))
}
