//! musl's reading of `resolv.conf`.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use crate::address::Server;
use crate::config::resolv_conf::{Line, ResolvConf, Word, is_blank};
use crate::resolver::musl::ipliteral::{Literal, lookup_ipliteral};
use crate::resolver::reading::{Origin, Reading, Setting};
use crate::scenario::{Family, Scenario};
use crate::text::Span;

/// Source: musl `src/network/lookup.h: MAXNS`.
const MAX_SERVERS: usize = 3;
/// A line must fit a buffer of 256 bytes with its newline and final zero.
/// Source: musl `src/network/resolvconf.c: char line[256]`.
const MAX_LINE_BYTES: usize = 254;
/// Source: musl `src/network/resolvconf.c`: defaults and caps of the three numbers.
const NDOTS: Number = Number {
    key: "ndots:",
    default: 1,
    cap: 15,
};
const ATTEMPTS: Number = Number {
    key: "attempts:",
    default: 2,
    cap: 10,
};
const TIMEOUT: Number = Number {
    key: "timeout:",
    default: 5,
    cap: 60,
};

/// A number of the `options` line.
struct Number {
    key: &'static str,
    default: u32,
    cap: u32,
}

/// Reads the scenario's `resolv.conf` as musl does.
///
/// Source: musl `src/network/resolvconf.c: __get_resolv_conf`.
pub(super) fn get_resolv_conf(scenario: &Scenario) -> Reading<'_> {
    let mut reading = Reading {
        ndots: Some(Setting::built_in(NDOTS.default)),
        timeout: Setting::built_in(Duration::from_secs(TIMEOUT.default.into())),
        attempts: Setting::built_in(ATTEMPTS.default),
        ..Reading::default()
    };
    if let Some(conf) = &scenario.resolv_conf {
        for line in buffered_lines(conf, &mut reading) {
            read_line(line, scenario, &mut reading);
        }
    }
    if reading.servers.is_empty() {
        let localhost = IpAddr::V4(Ipv4Addr::LOCALHOST);
        reading.servers.push(Setting::built_in(localhost.into()));
    }
    reading
}

/// The lines that `fgets` and the checks after it let through, each up to its
/// first zero byte.
fn buffered_lines<'c>(conf: &'c ResolvConf, reading: &mut Reading<'_>) -> Vec<Text<'c>> {
    let mut kept = Vec::new();
    let mut swallow_next = false;
    for line in conf.lines() {
        let bytes = line.bytes();
        if std::mem::take(&mut swallow_next) {
            reading.drop(
                line.span(),
                "musl skips the line after one with a zero byte",
            );
        } else if bytes.len() > MAX_LINE_BYTES {
            reading.drop(
                line.span(),
                "a line of 255 characters or more: musl skips all of it",
            );
        } else if bytes.contains(&0) && line.ends_in_newline() {
            // `strchr` stops at the zero byte and finds no newline; the loop
            // that skips the rest of the line then eats the next one.
            reading.drop(
                line.span(),
                "a line with a zero byte: musl skips it and the next one",
            );
            swallow_next = true;
        } else {
            kept.push(Text::new(line));
        }
    }
    kept
}

/// A line as the C code holds it: it ends in its newline, if it has one.
#[derive(Clone, Copy)]
struct Text<'c> {
    line: Line<'c>,
    bytes: &'c [u8],
    newline: bool,
}

impl<'c> Text<'c> {
    fn new(line: Line<'c>) -> Self {
        let bytes = line.bytes();
        let end = bytes.iter().position(|&byte| byte == 0);
        Self {
            line,
            bytes: end.and_then(|end| bytes.get(..end)).unwrap_or(bytes),
            newline: line.ends_in_newline() && end.is_none(),
        }
    }

    /// Whether the line begins with `keyword` and white space; its newline is
    /// white space too.
    fn starts_with(self, keyword: &str) -> bool {
        self.bytes
            .strip_prefix(keyword.as_bytes())
            .is_some_and(|rest| rest.first().map_or(self.newline, |&byte| is_blank(byte)))
    }

    /// The words after a keyword of so many bytes.
    fn words_after(self, keyword: usize) -> impl Iterator<Item = Word<'c>> {
        let start = self.line.span().start as usize + keyword;
        let rest = self.bytes.get(keyword..).unwrap_or_default();
        Word {
            bytes: rest,
            span: Span::new(start, start + rest.len()),
        }
        .split(b" \t\r\x0b\x0c")
    }
}

fn read_line<'c>(text: Text<'c>, scenario: &Scenario, reading: &mut Reading<'c>) {
    if text.starts_with("options") {
        read_options(text, reading);
    } else if text.starts_with("nameserver") {
        read_nameserver(text, scenario, reading);
    } else if text.starts_with("domain") || text.starts_with("search") {
        for earlier in std::mem::take(&mut reading.search) {
            if let Origin::File(span) = earlier.origin {
                reading.drop(span, "a later `search` or `domain` line replaces it");
            }
        }
        // Both keywords have six letters, and both take every word.
        let words = text.words_after(6);
        reading
            .search
            .extend(words.map(|word| Setting::file(Cow::Borrowed(word.bytes), word.span)));
    } else {
        drop_unknown(text.line, reading);
    }
}

fn drop_unknown(line: Line<'_>, reading: &mut Reading<'_>) {
    let Some(first) = line.words().next() else {
        return;
    };
    let known = [&b"nameserver"[..], b"search", b"domain", b"options"];
    if first.bytes.starts_with(b"#") || first.bytes.starts_with(b";") {
        return;
    }
    let why = if first.span.start > line.span().start && known.contains(&first.bytes) {
        "the line is indented, so musl does not see it"
    } else if known.contains(&first.bytes) {
        "nothing stands behind the keyword, not even a newline"
    } else {
        "musl does not know this keyword"
    };
    reading.drop(line.span(), why);
}

fn read_nameserver(text: Text<'_>, scenario: &Scenario, reading: &mut Reading<'_>) {
    let mut words = text.words_after("nameserver".len());
    let Some(word) = words.next() else {
        reading.drop(text.line.span(), "no address");
        return;
    };
    if reading.servers.len() >= MAX_SERVERS {
        reading.drop(word.span, "musl uses the first 3 name servers");
        return;
    }
    match lookup_ipliteral(word.bytes, Family::Both, scenario) {
        Literal::Address(address) => {
            let server = Setting::file(Server::from(address), word.span);
            reading.servers.push(server);
        }
        Literal::BadScope => reading.drop(word.span, "there is no such scope"),
        _ => reading.drop(word.span, "no address"),
    }
    if let Some(extra) = words.next() {
        reading.drop(extra.span, "musl reads one address on a line");
    }
}

/// Each number is the first place in the line where its key stands, in the
/// middle of another word too.
fn read_options(text: Text<'_>, reading: &mut Reading<'_>) {
    if let Some(ndots) = read_number(&NDOTS, text, reading) {
        reading.ndots = Some(ndots);
    }
    if let Some(attempts) = read_number(&ATTEMPTS, text, reading) {
        reading.attempts = attempts;
    }
    if let Some(seconds) = read_number(&TIMEOUT, text, reading) {
        reading.timeout = Setting::new(Duration::from_secs(seconds.value.into()), seconds.origin);
    }
    for word in text.words_after("options".len()) {
        let key = |number: &Number| contains(word.bytes, number.key.as_bytes());
        if ![NDOTS, ATTEMPTS, TIMEOUT].iter().any(key) {
            reading.drop(word.span, "musl does not know this option");
        }
    }
}

fn read_number(number: &Number, text: Text<'_>, reading: &mut Reading<'_>) -> Option<Setting<u32>> {
    let key = number.key.as_bytes();
    let at = text
        .bytes
        .windows(key.len())
        .position(|window| window == key)?;
    let digits_at = at + key.len();
    let rest = text.bytes.get(digits_at..)?;
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let start = text.line.span().start as usize;
    let span = Span::new(start + at, start + digits_at + length);
    if length == 0 {
        reading.drop(span, "no digit follows");
        return None;
    }
    let digits = std::str::from_utf8(rest.get(..length)?).ok()?;
    let value = digits.parse().unwrap_or(u32::MAX);
    if value > number.cap {
        reading.drop(span, format!("counts as {}", number.cap));
    }
    Some(Setting::file(value.min(number.cap), span))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
