//! glibc's reading of `resolv.conf` and its environment variables.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

use crate::address::{Address, Server, inet_aton};
use crate::config::resolv_conf::{Line, is_blank};
use crate::resolver::glibc::Version;
use crate::resolver::glibc::options::{
    DEFAULT_ATTEMPTS, DEFAULT_NDOTS, DEFAULT_TIMEOUT, MAX_SERVERS, Place, res_setoptions,
};
use crate::resolver::reading::{Dropped, MAX_SEARCH, Origin, Reading, Setting, TOO_MANY_DOMAINS};
use crate::scenario::Scenario;
use crate::text::Span;

/// `MAXDNSRCH` of `resolv/resolv.h`: entries that are copied to the old
/// `_res.dnsrch`.
const OLD_SEARCH_ENTRIES: usize = 6;
/// `sizeof (_res.defdname)`: bytes that these entries have there.
const OLD_SEARCH_BYTES: usize = 256;
/// `sizeof (_res.dnsrch)` on 64-bit machines, which an assertion takes for
/// [`OLD_SEARCH_BYTES`].
const OLD_SEARCH_POINTERS: usize = 56;

const KEYWORDS: [&[u8]; 5] = [b"nameserver", b"search", b"domain", b"options", b"sortlist"];

/// The configuration that a program starts with.
///
/// Source: glibc `resolv/res_init.c: __resolv_conf_load`,
/// `resolv/resolv_conf.c: update_from_conf` (2.36).
pub(super) fn res_vinit<'a>(scenario: &'a Scenario, version: &'static Version) -> Reading<'a> {
    let mut reading = res_vinit_1(scenario, version);
    match version.search_limits {
        Some(limits) => cut_search(&mut reading, limits),
        None => reading.refused = failed_assertion(&reading),
    }
    for server in reading.servers.iter().skip(MAX_SERVERS) {
        if let Origin::File(span) = server.origin {
            let why = format!("only {MAX_SERVERS} name servers are used");
            reading.dropped.push(span, why);
        }
    }
    reading.servers.truncate(MAX_SERVERS);
    reading.dropped.sort();
    reading
}

/// What an old `_res` has room for: so many domains, and so many bytes with
/// one between two of them.
fn cut_search(reading: &mut Reading<'_>, (domains, bytes): (usize, usize)) {
    let mut left = bytes;
    let mut kept = 0;
    for entry in &mut reading.search {
        if kept == domains || left == 0 {
            break;
        }
        kept += 1;
        if let Cow::Borrowed(value) = &mut entry.value {
            *value = value.get(..left).unwrap_or(value);
        }
        left = left.saturating_sub(entry.value.len() + 1);
    }
    for entry in reading.search.drain(kept..) {
        if let Origin::File(span) = entry.origin {
            let why = format!("before 2.26 glibc uses {domains} domains, of {bytes} bytes in all");
            reading.dropped.push(span, why);
        }
    }
}

/// The search list is copied to a place of 256 bytes for old programs, and an
/// assertion about the copy is wrong if an entry does not fit there and what
/// comes before it is short.
fn failed_assertion(reading: &Reading<'_>) -> Option<Dropped> {
    let mut used = 0;
    for entry in reading.search.iter().take(OLD_SEARCH_ENTRIES) {
        let size = entry.value.len() + 1;
        if used + size > OLD_SEARCH_BYTES {
            let span = match entry.origin {
                Origin::File(span) => span,
                _ => Span::default(),
            };
            return (used <= OLD_SEARCH_POINTERS).then(|| Dropped {
                span,
                why: "an assertion of glibc fails for so long a search domain, \
                      which ends the program"
                    .into(),
            });
        }
        used += size;
    }
    None
}

/// Source: glibc `resolv/res_init.c: res_vinit_1` (2.36).
fn res_vinit_1<'a>(scenario: &'a Scenario, version: &'static Version) -> Reading<'a> {
    let mut parser = Parser {
        reading: Reading {
            ndots: Some(Setting::built_in(DEFAULT_NDOTS)),
            timeout: Setting::built_in(DEFAULT_TIMEOUT),
            attempts: Setting::built_in(DEFAULT_ATTEMPTS),
            ..Reading::default()
        },
        have_environment: false,
        search_line: None,
        version,
    };
    if let Some(domains) = scenario.env("LOCALDOMAIN") {
        parser.have_environment = true;
        parser.reading.search = local_domain(domains.as_bytes());
    }
    if let Some(file) = &scenario.resolv_conf {
        parser.reading.servers.reserve(MAX_SERVERS);
        for line in file.lines() {
            parser.line(line);
        }
    }
    let mut reading = parser.reading;
    if reading.servers.is_empty() {
        let loopback = Server::from(IpAddr::V4(Ipv4Addr::LOCALHOST));
        reading.servers.push(Setting::built_in(loopback));
    }
    if reading.search.is_empty()
        && let Some((_, domain)) = scenario.hostname.split_once('.')
    {
        reading.search.push(Setting {
            value: Cow::Borrowed(domain.as_bytes()),
            origin: Origin::HostName,
        });
    }
    if let Some(options) = scenario.env("RES_OPTIONS") {
        res_setoptions(
            &mut reading,
            options.as_bytes(),
            Place::Environment,
            version,
        );
    }
    reading
}

/// The domains of `LOCALDOMAIN`. What stands before the first blank is one,
/// even if it is empty.
fn local_domain(text: &[u8]) -> Vec<Setting<Cow<'_, [u8]>>> {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
    let entries = line.split(|byte| matches!(byte, b' ' | b'\t'));
    entries
        .enumerate()
        .filter(|(index, entry)| *index == 0 || !entry.is_empty())
        .map(|(_, entry)| Setting {
            value: Cow::Borrowed(entry),
            origin: Origin::Environment("LOCALDOMAIN"),
        })
        .take(MAX_SEARCH)
        .collect()
}

struct Parser<'a> {
    reading: Reading<'a>,
    /// Whether `LOCALDOMAIN` is set.
    have_environment: bool,
    /// The line that the search list comes from.
    search_line: Option<Span>,
    version: &'static Version,
}

/// The rest of a line of the file, and where it begins.
#[derive(Clone, Copy)]
struct Rest<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Parser<'a> {
    fn line(&mut self, line: Line<'a>) {
        // The C code sees a string: it ends at a NUL byte.
        let text = line.bytes().split(|&byte| byte == 0).next();
        let text = text.unwrap_or_default();
        if matches!(text.first(), None | Some(b'#' | b';')) {
            return;
        }
        let rest = |keyword: &[u8]| matched(line, text, keyword);
        if let Some(rest) = rest(b"domain") {
            self.search(line, rest.words().take(1).collect());
            self.drop_further_words(rest);
        } else if let Some(rest) = rest(b"search") {
            self.search(line, rest.words().take(MAX_SEARCH + 1).collect());
        } else if let Some(rest) = rest(b"nameserver") {
            self.nameserver(line, rest);
            self.drop_further_words(rest);
        } else if rest(b"sortlist").is_some() {
            let why = "it only sorts what `gethostbyname` returns";
            self.reading.drop(line.span(), why);
        } else if let Some(rest) = rest(b"options") {
            res_setoptions(
                &mut self.reading,
                rest.bytes,
                Place::File(rest.offset),
                self.version,
            );
        } else if let Some(word) = line.words().next() {
            let why = why_unknown(text, word.bytes);
            self.reading.drop(line.span(), why);
        }
    }

    /// A `search` or `domain` line with these words.
    fn search(&mut self, line: Line<'a>, mut entries: Vec<Setting<Cow<'a, [u8]>>>) {
        if let Some(Origin::File(first)) = entries.get(MAX_SEARCH).map(|it| it.origin) {
            let rest = Span::new(first.start as usize, line.span().end as usize);
            self.reading.drop(rest, TOO_MANY_DOMAINS);
            entries.truncate(MAX_SEARCH);
        }
        if self.have_environment {
            self.reading.drop(line.span(), "`LOCALDOMAIN` overrides it");
        } else if entries.is_empty() {
            self.reading.drop(line.span(), "no domain follows");
        } else {
            self.reading.search = entries;
            if let Some(old) = self.search_line.replace(line.span()) {
                let why = "a later `search` or `domain` line replaces it";
                self.reading.drop(old, why);
            }
        }
    }

    fn nameserver(&mut self, line: Line<'a>, rest: Rest<'a>) {
        let Some(word) = rest.words().next() else {
            self.reading.drop(line.span(), "no address follows");
            return;
        };
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let ends_at_space = self.version.address_ends_at_space;
        let end = word
            .value
            .iter()
            .position(is_space)
            .filter(|_| ends_at_space);
        let v4 = end
            .and_then(|end| word.value.get(..end))
            .and_then(inet_aton);
        let found = match v4 {
            Some(ip) => Some(IpAddr::V4(ip).into()),
            None => Address::parse_c(&word.value),
        };
        match (found, word.origin) {
            (Some(address), origin) => self.reading.servers.push(Setting {
                value: address.into(),
                origin,
            }),
            (None, Origin::File(span)) => {
                let why = if word.value.ends_with(b"\r") {
                    "the carriage return at the end makes it no address"
                } else {
                    "it is no address"
                };
                self.reading.drop(span, why);
            }
            _ => {}
        }
    }

    fn drop_further_words(&mut self, rest: Rest<'a>) {
        for word in rest.words().skip(1) {
            if let Origin::File(span) = word.origin {
                self.reading.drop(span, "only the first word counts");
            }
        }
    }
}

impl<'a> Rest<'a> {
    /// The parts between blanks and TABs; a carriage return is no blank.
    fn words(self) -> impl Iterator<Item = Setting<Cow<'a, [u8]>>> {
        let mut start = self.offset;
        let parts = self.bytes.split(|byte| matches!(byte, b' ' | b'\t'));
        parts.filter_map(move |part| {
            let span = Span::new(start, start + part.len());
            start += part.len() + 1;
            (!part.is_empty()).then(|| Setting::file(Cow::Borrowed(part), span))
        })
    }
}

/// What follows `keyword` on the line: it must be the first thing there, and
/// a blank or TAB must follow it (the macro `MATCH`).
fn matched<'a>(line: Line<'a>, text: &'a [u8], keyword: &[u8]) -> Option<Rest<'a>> {
    let bytes = text.strip_prefix(keyword)?;
    matches!(bytes.first(), Some(b' ' | b'\t')).then(|| Rest {
        bytes,
        offset: line.span().start as usize + keyword.len(),
    })
}

fn why_unknown(text: &[u8], word: &[u8]) -> &'static str {
    let known = |word: &[u8]| KEYWORDS.contains(&word);
    if text.first().is_some_and(|&byte| is_blank(byte)) && known(word) {
        "the line is indented, so glibc does not see it"
    } else if known(word) {
        "nothing follows the keyword"
    } else if known(&word.to_ascii_lowercase()) {
        "keywords are in lower case"
    } else {
        "glibc does not know the keyword"
    }
}

#[cfg(test)]
mod tests;
