//! `HAProxy`'s `resolvers` sections.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use super::{MAX_SERVERS, Names, Section};
use crate::config::statements::{Indexed, Statement};
use crate::scenario::own::{Daemon, Given, Own};
use crate::text::{Place, Placed, escaped};

pub(super) fn collect_names(conf: &Indexed<'_>, names: &mut Names) {
    let mut used: BTreeMap<Vec<u8>, Place> = BTreeMap::new();
    for section in conf.statements {
        for line in section.block.iter().flatten() {
            let first = conf.word(line, 0);
            let is_script = first.starts_with(b"lua-load");
            if is_script && names.scripts.is_none() {
                names.scripts = Some(conf.place(line, 0));
            }
            // What counts of these is not known here.
            if first.starts_with(b".if") {
                let place = conf.place(line, 0);
                let why = format!("{place}: which lines the condition leaves is not known here");
                if names.unread.len() < MAX_SERVERS {
                    names.unread.push(why);
                }
            }
            if let Some((id, at)) = named(conf, line) {
                used.entry(id).or_insert_with(|| conf.place(line, at));
            }
        }
    }
    for section in conf.statements {
        if conf.word(section, 0) == b"resolvers" {
            let mut found = resolvers(conf, section);
            found.used = used.remove(conf.word(section, 1));
            names.put(found);
        }
    }
}

/// The `resolvers` section that a line uses, and at which word: a server's, the
/// action `do-resolve`.
fn named(conf: &Indexed<'_>, line: &Statement) -> Option<(Vec<u8>, usize)> {
    let words = (0..line.words.len()).map(|at| conf.word(line, at));
    let mut words = words.enumerate();
    let is_server = [&b"server"[..], b"default-server", b"server-template"];
    if is_server.contains(&conf.word(line, 0)) {
        let (at, _) = words.find(|(_, word)| *word == b"resolvers")?;
        return Some((conf.word(line, at + 1).to_vec(), at + 1));
    }
    // do-resolve(<var>,<resolvers>,[ipv4,ipv6])
    let (at, word) = words.find(|(_, word)| word.starts_with(b"do-resolve("))?;
    let mut inside = word.split(|byte| b"(,)".contains(byte));
    Some((inside.nth(2)?.trim_ascii().to_vec(), at))
}

/// Source: HAProxy `src/resolvers.c: cfg_parse_resolvers` (2.6)
fn resolvers(conf: &Indexed<'_>, section: &Statement) -> Section {
    let mut found = Section {
        place: conf.place(section, 0),
        label: escaped(conf.word(section, 1)),
        settings: Vec::new(),
        used: None,
        is_libc: false,
        names: Vec::new(),
        own: Own::new(Daemon::Haproxy),
    };
    let own = &mut found.own;
    for line in section.block.iter().flatten() {
        let word = |at| conf.word(line, at);
        let text = |at| std::str::from_utf8(word(at)).unwrap_or_default();
        let mut put = |value, at| {
            if own.servers.len() < MAX_SERVERS {
                let place = conf.place(line, at);
                own.servers.push(Placed { value, place });
            }
        };
        match word(0) {
            b"nameserver" => put(server(word(2)), 2),
            b"parse-resolv-conf" => put(Given::ResolvConf, 0),
            b"resolve_retries" => own.retries = text(1).parse().ok(),
            b"accepted_payload_size" => own.edns_size = text(1).parse().ok(),
            b"timeout" if word(1) == b"retry" => own.retry = time(text(2)),
            _ => {}
        }
        let is_shown = [
            &b"hold"[..],
            b"timeout",
            b"resolve_retries",
            b"accepted_payload_size",
        ];
        if is_shown.contains(&word(0)) && found.settings.len() < MAX_SERVERS {
            let words: Vec<&[u8]> = (0..line.words.len()).map(word).collect();
            found.settings.push(escaped(&words.join(&b' ')));
        }
    }
    found
}

/// An address with its port, which has to be there; a name is looked up.
///
/// Source: HAProxy `src/tools.c: str2sa_range` (2.6)
fn server(word: &[u8]) -> Given {
    let unknown = || Given::Unknown(escaped(word));
    let Ok(text) = std::str::from_utf8(word) else {
        return unknown();
    };
    let transports = ["udp@", "udp4@", "udp6@", "ipv4@", "ipv6@"];
    let bare = transports.iter().find_map(|it| text.strip_prefix(it));
    let Some((host, port)) = bare.unwrap_or(text).rsplit_once(':') else {
        return unknown();
    };
    let Some(port) = port.parse().ok().filter(|it| *it > 0) else {
        return unknown();
    };
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let ip = inner.unwrap_or(host).parse::<IpAddr>().ok();
    Given::host(host, ip, port).unwrap_or_else(unknown)
}

/// A time of `HAProxy`: a number with a unit, milliseconds without one.
///
/// Source: HAProxy `include/haproxy/tools.h: parse_time_err` (2.6)
fn time(text: &str) -> Option<Duration> {
    let end = text
        .find(|it: char| !it.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits.parse().ok()?;
    let millis = match unit {
        "us" => return Some(Duration::from_micros(number)),
        "" | "ms" => number,
        "s" => number.checked_mul(1000)?,
        "m" => number.checked_mul(60_000)?,
        "h" => number.checked_mul(3_600_000)?,
        "d" => number.checked_mul(86_400_000)?,
        _ => return None,
    };
    Some(Duration::from_millis(millis))
}
