//! `resolv.conf` as dnspython reads it.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use crate::address::{Address, Server};
use crate::config::resolv_conf::{Line, Word};
use crate::resolver::dnspython::Exception;
use crate::resolver::reading::{Origin, Reading, Setting};
use crate::scenario::Scenario;
use crate::text::Span;

/// `timeout` of `BaseResolver.reset`.
const TIMEOUT: Duration = Duration::from_secs(2);
/// `ndots` where none is given.
const NDOTS: u32 = 1;

/// What a resolver is made of.
#[derive(Debug)]
pub(super) struct Configuration<'a> {
    pub(super) reading: Reading<'a>,
    /// All that stands behind `nameserver`, in order; `None`: no address.
    pub(super) servers: Vec<Option<Server>>,
    /// The labels of the search list's names, without the root.
    pub(super) search: Vec<Vec<Vec<u8>>>,
    /// Names with more labels than this are asked as they are first.
    pub(super) ndots: usize,
    /// What making it raises.
    pub(super) exception: Option<Exception>,
}

/// Source: dnspython `dns/resolver.py: BaseResolver.reset, read_resolv_conf` (2.3)
pub(super) fn read_resolv_conf(scenario: &Scenario) -> Configuration<'_> {
    let mut parser = Parser {
        reading: Reading {
            ndots: Some(Setting::built_in(NDOTS)),
            timeout: Setting::built_in(TIMEOUT),
            attempts: Setting::built_in(1),
            ..Reading::default()
        },
        servers: Vec::new(),
        domain: None,
        exception: None,
    };
    match &scenario.resolv_conf {
        Some(file) => {
            let lines = file.lines().flat_map(Line::at_returns);
            parser.exception = lines.map(|line| parser.line(line)).find_map(Result::err);
        }
        None => parser.exception = Some("NoResolverConfiguration"),
    }
    parser.finish(scenario)
}

struct Parser<'a> {
    reading: Reading<'a>,
    servers: Vec<Option<Server>>,
    /// The last `domain` line's.
    domain: Option<Setting<Cow<'a, [u8]>>>,
    exception: Option<Exception>,
}

impl<'a> Parser<'a> {
    fn line(&mut self, line: Word<'a>) -> Result<(), Exception> {
        if matches!(line.bytes.first(), Some(b'#' | b';')) {
            return Ok(());
        }
        let words: Vec<Word<'a>> = line.split(b" \t\x0b\x0c").collect();
        let [keyword, values @ ..] = words.as_slice() else {
            return Ok(());
        };
        let Some(first) = values.first() else {
            self.reading.drop(line.span, "nothing follows it");
            return Ok(());
        };
        match keyword.bytes {
            b"nameserver" => self.nameserver(*first),
            b"domain" => {
                domain(first.bytes)?;
                self.drop_search("a later `domain` line replaces it");
                self.domain = Some(setting(*first));
            }
            b"search" => {
                self.drop_search("a later `search` line replaces it");
                for word in values {
                    domain(word.bytes)?;
                    self.reading.search.push(setting(*word));
                }
            }
            b"options" => {
                for word in values {
                    self.option(*word);
                }
            }
            _ => self.reading.drop(line.span, "dnspython does not know it"),
        }
        Ok(())
    }

    fn drop_search(&mut self, why: &'static str) {
        for old in std::mem::take(&mut self.reading.search) {
            if let Origin::File(span) = old.origin {
                self.reading.drop(span, why);
            }
        }
    }

    /// What is no address is taken for the URL of a server, and is of no use.
    fn nameserver(&mut self, word: Word<'a>) {
        match address(word.bytes) {
            Some(address) => {
                let server = Server::from(address);
                self.servers.push(Some(server.clone()));
                self.reading.servers.push(Setting::file(server, word.span));
            }
            None => {
                self.servers.push(None);
                self.reading.drop(word.span, "it is no address");
            }
        }
    }

    /// Source: `read_resolv_conf`; texts are looked for anywhere in the word.
    fn option(&mut self, word: Word<'a>) {
        let has = |text: &[u8]| memchr::memmem::find(word.bytes, text).is_some();
        let number = word.bytes.split(|&byte| byte == b':').nth(1).and_then(int);
        match (word.bytes, number) {
            (b"rotate", _) => self.flag("rotate", word.span),
            (b"edns0", _) => self.flag("edns0", word.span),
            (_, Some(number)) if has(b"timeout") => {
                let seconds = u64::try_from(number).unwrap_or(0);
                self.reading.timeout = Setting::file(Duration::from_secs(seconds), word.span);
            }
            (_, Some(number)) if has(b"ndots") => {
                let dots = u32::try_from(number.max(0)).unwrap_or(u32::MAX);
                self.reading.ndots = Some(Setting::file(dots, word.span));
            }
            _ => self
                .reading
                .drop(word.span, "dnspython does not know it, or its number"),
        }
    }

    fn flag(&mut self, name: &'static str, span: Span) {
        self.reading.flags.push(Setting::file(name, span));
    }

    fn finish(mut self, scenario: &'a Scenario) -> Configuration<'a> {
        if self.exception.is_none() && self.servers.is_empty() {
            self.exception = Some("NoResolverConfiguration");
        }
        if self.reading.search.is_empty() {
            let of_host = scenario.hostname.split_once('.').map(|(_, domain)| {
                Setting::new(Cow::Borrowed(domain.as_bytes()), Origin::HostName)
            });
            let is_root = |it: &Setting<Cow<'_, [u8]>>| it.value.as_ref() == b".";
            let domain = self.domain.or(of_host);
            self.reading.search.extend(domain.filter(|it| !is_root(it)));
        }
        let names = self.reading.search.iter().map(|it| from_text(&it.value));
        let search = names.map(|name| name.unwrap_or_default().0).collect();
        let ndots = self.reading.ndots.map_or(NDOTS, |it| it.value);
        Configuration {
            servers: self.servers,
            search,
            ndots: usize::try_from(ndots).unwrap_or(usize::MAX),
            exception: self.exception,
            reading: self.reading,
        }
    }
}

/// A name of the search list, which must be one.
fn domain(text: &[u8]) -> Result<(), Exception> {
    super::joined(&from_text(text)?.0, &[]).map(|_| ())
}

fn setting(word: Word<'_>) -> Setting<Cow<'_, [u8]>> {
    Setting::file(Cow::Borrowed(word.bytes), word.span)
}

/// Python's `int` of a text of ASCII.
fn int(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let separated = digits.split('_').all(|part| !part.is_empty());
    let number: i64 = digits.replace('_', "").parse().ok()?;
    let is_plain = separated && digits.bytes().all(|it| it == b'_' || it.is_ascii_digit());
    is_plain.then_some(if text.starts_with('-') {
        -number
    } else {
        number
    })
}

/// Source: dnspython `dns/inet.py: is_address` (2.3)
fn address(text: &[u8]) -> Option<Address> {
    let four = std::str::from_utf8(text).ok()?.parse::<Ipv4Addr>();
    let four = four.ok().map(|it| IpAddr::V4(it).into());
    four.or_else(|| Address::parse_scoped(text))
}

/// The labels that a text spells, and whether it ends with the root.
///
/// Source: dnspython `dns/name.py: from_text` (2.3)
pub(super) fn from_text(text: &[u8]) -> Result<(Vec<Vec<u8>>, bool), Exception> {
    match text {
        b"" | b"@" => return Ok((Vec::new(), false)),
        b"." => return Ok((Vec::new(), true)),
        _ => {}
    }
    let mut labels = Vec::new();
    let mut label = Vec::new();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'.' if label.is_empty() => return Err("EmptyLabel"),
            b'.' => labels.push(std::mem::take(&mut label)),
            b'\\' => {
                let (byte, after) = escape(after)?;
                label.push(byte);
                rest = after;
            }
            byte => label.push(byte),
        }
    }
    let is_absolute = label.is_empty();
    if !is_absolute {
        labels.push(label);
    }
    Ok((labels, is_absolute))
}

/// The byte that follows a backslash, or that three digits spell.
fn escape(text: &[u8]) -> Result<(u8, &[u8]), Exception> {
    match text {
        [a, b, c, rest @ ..] if [a, b, c].iter().all(|it| it.is_ascii_digit()) => {
            let digit = |byte: &u8| u32::from(byte - b'0');
            let value = digit(a) * 100 + digit(b) * 10 + digit(c);
            // What is more does not fit a byte.
            Ok((u8::try_from(value).map_err(|_| "error")?, rest))
        }
        [byte, rest @ ..] if !byte.is_ascii_digit() => Ok((*byte, rest)),
        _ => Err("BadEscape"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::file;

    #[test]
    fn names_have_escapes_and_no_empty_labels() {
        let check = |text: &str, expected: Result<(&[&str], bool), Exception>| {
            let found = from_text(text.as_bytes());
            let expected = expected.map(|(labels, absolute)| {
                let labels = labels.iter().map(|it| it.as_bytes().to_vec()).collect();
                (labels, absolute)
            });
            assert_eq!(found, expected, "{text}");
        };
        check("", Ok((&[], false)));
        check(".", Ok((&[], true)));
        check("a.b", Ok((&["a", "b"], false)));
        check("a.b.", Ok((&["a", "b"], true)));
        check("a\\.b\\046c", Ok((&["a.b.c"], false)));
        check("a..b", Err("EmptyLabel"));
        check(".a", Err("EmptyLabel"));
        check("a\\", Err("BadEscape"));
        check("a\\1", Err("BadEscape"));
    }

    #[test]
    fn numbers_are_pythons() {
        for (text, expected) in [
            ("5", Some(5)),
            ("-5", Some(-5)),
            ("+1_000", Some(1000)),
            ("1__0", None),
            ("", None),
            ("5x", None),
        ] {
            assert_eq!(int(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn the_last_search_list_counts() {
        let mut scenario = Scenario::new("1", "a");
        let text =
            "search a b\nnameserver 10.0.0.1\ndomain c\noptions xtimeoutx:3 ndots:2 rotate\n";
        scenario.resolv_conf = Some(file("resolv.conf", text));
        let configuration = read_resolv_conf(&scenario);
        assert_eq!(configuration.search, [[b"c".to_vec()]]);
        assert_eq!(configuration.ndots, 2);
        let reading = configuration.reading;
        assert_eq!(reading.timeout.value.as_secs(), 3);
        assert_eq!(reading.flags.len(), 1);
        assert_eq!(reading.servers.len(), 1);
    }
}
