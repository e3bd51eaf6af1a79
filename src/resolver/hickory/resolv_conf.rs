//! The reading of `resolv.conf` by the crate resolv-conf.

use std::borrow::Cow;
use std::net::IpAddr;

use crate::address::Server;
use crate::config::resolv_conf::{Line, ResolvConf};
use crate::resolver::reading::{
    MAX_SEARCH, MAX_SERVERS, Origin, Setting, TOO_MANY_DOMAINS, TOO_MANY_SERVERS, Unused,
};
use crate::text::{Span, WordList};

/// Options that the crate knows and hickory does not look at.
const WITHOUT_EFFECT: WordList = WordList(
    "debug rotate no-check-names inet6 ip6-bytestring ip6-dotint no-ip6-dotint single-request \
     single-request-reopen no-reload trust-ad no-tld-query use-vc no-aaaa",
);

/// What the crate takes from a file.
///
/// Source: resolv-conf `src/lib.rs: Config`.
#[derive(Debug)]
pub(super) struct Config<'a> {
    /// Every address, without its scope: hickory does not pass it on.
    pub(super) nameservers: Vec<Setting<Server>>,
    /// The word of the last `domain` line.
    pub(super) domain: Option<Word<'a>>,
    /// The words of the last `search` line.
    pub(super) search: Vec<Word<'a>>,
    /// Whether the last line of the two kinds was a `domain` line: then the
    /// search list is the domain alone.
    pub(super) domain_is_last: bool,
    /// `ndots:`
    pub(super) ndots: Setting<u32>,
    /// `timeout:`, in seconds.
    pub(super) timeout: Setting<u32>,
    /// `attempts:`
    pub(super) attempts: Setting<u32>,
    /// Where `edns0` stands.
    pub(super) edns0: Option<Span>,
    /// What has no effect.
    pub(super) dropped: Unused,
    /// The first of it that the crate calls an error. hickory only logs it since 0.26.
    pub(super) error: Option<(Span, &'static str)>,
}

/// Text without white space, and where it stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Word<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Where it stands.
    pub(super) span: Span,
}

/// Source: resolv-conf `src/lib.rs: Config::default`.
impl Default for Config<'_> {
    fn default() -> Self {
        Self {
            nameservers: Vec::new(),
            domain: None,
            search: Vec::new(),
            domain_is_last: false,
            ndots: Setting::built_in(1),
            timeout: Setting::built_in(5),
            attempts: Setting::built_in(2),
            edns0: None,
            dropped: Unused::default(),
            error: None,
        }
    }
}

/// Reads the file; whatever cannot be read is left out.
///
/// Source: resolv-conf `src/lib.rs: Config::parse_with_errors`.
pub(super) fn parse_with_errors(file: &ResolvConf) -> Config<'_> {
    let mut config = Config::default();
    for line in file.lines() {
        config.read_line(line);
    }
    config
}

impl<'a> Config<'a> {
    fn read_line(&mut self, line: Line<'a>) {
        if is_comment(line.bytes()) {
            return;
        }
        let Ok(text) = std::str::from_utf8(line.bytes()) else {
            return self.error(
                line.span(),
                "the line is not UTF-8: hickory skips all of it",
            );
        };
        // A comment begins anywhere, in the middle of a word too.
        let text = text.split([';', '#']).next().unwrap_or_default();
        let mut words = words(text, line.span().start as usize);
        let Some(keyword) = words.next() else {
            return;
        };
        match keyword.text {
            "nameserver" => self.read_nameserver(keyword, words),
            "domain" => self.read_domain(keyword, words),
            "search" => self.read_search(line.span(), words),
            "options" => {
                for word in words {
                    self.read_option(word);
                }
            }
            "sortlist" | "lookup" | "family" => {
                self.drop(
                    line.span(),
                    "hickory reads this keyword and does nothing with it",
                );
            }
            _ => self.error(line.span(), "hickory does not know this keyword"),
        }
    }

    fn read_nameserver(&mut self, keyword: Word<'a>, mut words: impl Iterator<Item = Word<'a>>) {
        let Some(word) = words.next() else {
            return self.error(keyword.span, "no address");
        };
        match parse_scoped_ip(word.text) {
            Some((ip, scope)) => {
                if let Some(length) = scope {
                    let start = word.span.end as usize - length;
                    let span = Span::new(start, word.span.end as usize);
                    self.drop(span, "hickory sends without the scope");
                }
                if self.nameservers.len() < MAX_SERVERS {
                    self.nameservers.push(Setting::file(ip.into(), word.span));
                } else {
                    self.drop(word.span, TOO_MANY_SERVERS);
                }
            }
            None => self.error(word.span, "not an IP address as hickory reads them"),
        }
        if let Some(extra) = words.next() {
            self.error(extra.span, "hickory reads one address on a line");
        }
    }

    fn read_domain(&mut self, keyword: Word<'a>, mut words: impl Iterator<Item = Word<'a>>) {
        let Some(word) = words.next() else {
            return self.error(keyword.span, "no domain");
        };
        if let Some(earlier) = self.domain.replace(word) {
            self.drop(earlier.span, "a later `domain` line replaces it");
        }
        self.domain_is_last = true;
        if let Some(extra) = words.next() {
            self.error(extra.span, "hickory reads one domain on a line");
        }
    }

    fn read_search(&mut self, line: Span, words: impl Iterator<Item = Word<'a>>) {
        for earlier in std::mem::take(&mut self.search) {
            self.drop(earlier.span, "a later `search` line replaces it");
        }
        self.domain_is_last = false;
        for (index, word) in words.enumerate() {
            if index >= MAX_SEARCH {
                let rest = Span::new(word.span.start as usize, line.end as usize);
                return self.drop(rest, TOO_MANY_DOMAINS);
            }
            if word.text.contains(',') {
                self.drop(word.span, "hickory skips a word with a comma");
            } else {
                self.search.push(word);
            }
        }
    }

    fn read_option(&mut self, word: Word<'a>) {
        let (key, value) = match word.text.split_once(':') {
            Some((key, value)) => (key, Some(value)),
            None => (word.text, None),
        };
        let number = match (key, value) {
            ("ndots", Some(_)) => &mut self.ndots,
            ("timeout", Some(_)) => &mut self.timeout,
            ("attempts", Some(_)) => &mut self.attempts,
            ("edns0", _) => {
                self.edns0.get_or_insert(word.span);
                return;
            }
            _ if WITHOUT_EFFECT.has(key) => {
                return self.drop(
                    word.span,
                    "hickory reads this option and does nothing with it",
                );
            }
            _ => return self.error(word.span, "hickory does not know this option"),
        };
        match value.unwrap_or_default().parse() {
            Ok(value) => {
                let earlier = std::mem::replace(number, Setting::file(value, word.span));
                if let Origin::File(span) = earlier.origin {
                    self.drop(span, "a later value counts");
                }
            }
            Err(_) => self.error(word.span, "not a number up to 4294967295"),
        }
    }

    /// Notes that the words under `span` are an error.
    fn error(&mut self, span: Span, why: &'static str) {
        self.error.get_or_insert((span, why));
        self.drop(span, why);
    }

    /// Notes that the words under `span` have no effect.
    pub(super) fn drop(&mut self, span: Span, why: impl Into<Cow<'static, str>>) {
        self.dropped.push(span, why);
    }
}

/// Whether the first byte that is no blank begins a comment: such a line need
/// not be UTF-8.
fn is_comment(line: &[u8]) -> bool {
    line.iter()
        .find(|byte| !matches!(byte, b' ' | b'\t'))
        .is_some_and(|byte| matches!(byte, b';' | b'#'))
}

/// The words of `text`, which begins at `offset`, as `str::split_whitespace`
/// gives them: any white space of Unicode lies between.
pub(super) fn words(text: &str, offset: usize) -> impl Iterator<Item = Word<'_>> {
    let mut at = offset;
    text.split_inclusive(char::is_whitespace)
        .map(move |piece| {
            let start = at;
            at += piece.len();
            let text = piece.trim_end_matches(char::is_whitespace);
            Word {
                text,
                span: Span::new(start, start + text.len()),
            }
        })
        .filter(|word| !word.text.is_empty())
}

/// An address, and how many bytes of `text` its scope takes, with the `%`.
///
/// Source: resolv-conf `src/ip.rs: ScopedIp::from_str`.
fn parse_scoped_ip(text: &str) -> Option<(IpAddr, Option<usize>)> {
    let Some((address, scopes)) = text.split_once('%') else {
        return Some((text.parse().ok()?, None));
    };
    let ip: IpAddr = address.parse().ok()?;
    // What follows a second `%` is not looked at.
    let scope = scopes.split('%').next().unwrap_or_default();
    let good = ip.is_ipv6() && !scope.is_empty() && scope.chars().all(char::is_alphanumeric);
    good.then_some((ip, Some(scopes.len() + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::file;

    fn check(text: &str, expected: &str) {
        let file = file("f", text);
        let config = parse_with_errors(&file);
        let texts = |words: &[Word<'_>]| -> Vec<String> {
            words.iter().map(|word| word.text.to_owned()).collect()
        };
        let servers: Vec<String> = config
            .nameservers
            .iter()
            .map(|server| server.value.to_string())
            .collect();
        let read = format!(
            "{} | {} | {} | {}:{}:{}",
            servers.join(" "),
            config.domain.map_or("-", |word| word.text),
            texts(&config.search).join(" "),
            config.ndots.value,
            config.timeout.value,
            config.attempts.value,
        );
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn options_without_effect_are_known() {
        let words = "debug rotate no-check-names inet6 ip6-bytestring ip6-dotint no-ip6-dotint \
                     single-request single-request-reopen no-reload trust-ad no-tld-query use-vc \
                     no-aaaa";
        let file = file("f", format!("options {words} other"));
        let dropped = parse_with_errors(&file).dropped;
        let (other, known) = dropped.first().split_last().unwrap();
        assert_eq!(known.len(), 14);
        for it in known {
            let why = "hickory reads this option and does nothing with it";
            assert_eq!(it.why, why, "{:?}", it.span);
        }
        assert_eq!(other.why, "hickory does not know this option");
    }

    #[test]
    fn lines_are_read_as_by_the_crate() {
        check("", " | - |  | 1:5:2");
        check(" nameserver 10.0.0.1 # x", "10.0.0.1 | - |  | 1:5:2");
        check("nameserver 10.0.0.1#x 10.0.0.2", "10.0.0.1 | - |  | 1:5:2");
        check("nameserver 10.0.0.1 10.0.0.2", "10.0.0.1 | - |  | 1:5:2");
        check("nameserver 10.1\nnameserver 010.0.0.1", " | - |  | 1:5:2");
        check("nameserver fe80::1%eth0", "fe80::1 | - |  | 1:5:2");
        check(
            "nameserver fe80::1%\nnameserver 1.2.3.4%e",
            " | - |  | 1:5:2",
        );
        check(
            "search a b\ndomain c d\nsearch x,y e\r\n",
            " | c | e | 1:5:2",
        );
        check(
            "options ndots:+3 ndots:x timeout:0 attempts",
            " | - |  | 3:0:2",
        );
        check(
            "options ndots:5:6\u{a0}attempts:4294967295",
            " | - |  | 1:5:4294967295",
        );
        check("search\u{2003}a.t", " | - | a.t | 1:5:2");
        check("\u{feff}search a.t", " | - |  | 1:5:2");
    }
}
