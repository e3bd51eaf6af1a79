//! What Go takes from `resolv.conf`.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::address::Server;
use crate::config::resolv_conf::{Line, ResolvConf, Word};
use crate::resolver::go::Version;
use crate::resolver::go::parse::{FIELD_BLANKS, MAX_LINE_BYTES, dtoi, parse_addr};
use crate::resolver::reading::{MAX_SEARCH, Origin, Reading, Setting, TOO_MANY_DOMAINS};
use crate::scenario::Scenario;
use crate::text::Span;

/// Name servers beyond these are not read.
/// Source: Go `src/net/dnsconfig_unix.go: dnsReadConfig`, as the next four.
const MAX_SERVERS: usize = 3;
const DEFAULT_NDOTS: u32 = 1;
const MAX_NDOTS: u32 = 15;
const DEFAULT_TIMEOUT_S: u32 = 5;
const DEFAULT_ATTEMPTS: u32 = 2;
/// Source: Go `src/net/dnsconfig.go: defaultNS`.
const DEFAULT_SERVERS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

/// Each loop over the servers begins one further.
pub(super) const ROTATE: &str = "rotate";
/// A, then AAAA, not both at once.
pub(super) const SINGLE_REQUEST: &str = "single-request";
/// TCP from the first query on.
pub(super) const USE_TCP: &str = "use-vc";
/// The AD bit in queries.
pub(super) const TRUST_AD: &str = "trust-ad";

/// Source: Go `src/net/dnsconfig.go: dnsConfig`.
#[derive(Debug, Default)]
pub(super) struct Config<'a> {
    /// Servers, search list (as written, without the final dots that Go adds),
    /// `ndots`, time-out, attempts and flags.
    pub(super) reading: Reading<'a>,
    /// The first keyword or option that Go does not know.
    pub(super) unknown: Option<&'a [u8]>,
    /// The line that made the search list, for the notes about one that is replaced.
    search_line: Option<Span>,
}

/// The configuration of `scenario`.
///
/// Source: Go `src/net/dnsconfig_unix.go: dnsReadConfig`.
pub(super) fn dns_read_config<'a>(scenario: &'a Scenario, version: &Version) -> Config<'a> {
    let mut config = Config {
        reading: Reading {
            ndots: Some(Setting::built_in(DEFAULT_NDOTS)),
            timeout: Setting::built_in(Duration::from_secs(DEFAULT_TIMEOUT_S.into())),
            attempts: Setting::built_in(DEFAULT_ATTEMPTS),
            ..Reading::default()
        },
        ..Config::default()
    };
    for line in scenario.resolv_conf.iter().flat_map(ResolvConf::lines) {
        if line.span().len() > MAX_LINE_BYTES {
            let why = "Go stops reading at a line of more than 65535 bytes";
            config.reading.drop(line.span(), why);
            break;
        }
        config.read_line(line, version);
    }
    if config.reading.servers.is_empty() {
        config.reading.servers = DEFAULT_SERVERS
            .map(|ip| Setting::built_in(ip.into()))
            .into();
    }
    if config.reading.search.is_empty() {
        config.reading.search = dns_default_search(&scenario.hostname);
    }
    config.reading.dropped.sort();
    config
}

/// The host name after its first dot.
///
/// Source: Go `src/net/dnsconfig_unix.go: dnsDefaultSearch`.
fn dns_default_search(hostname: &str) -> Vec<Setting<Cow<'_, [u8]>>> {
    hostname
        .split_once('.')
        .filter(|(_, domain)| !domain.is_empty())
        .map(|(_, domain)| Setting::new(Cow::Borrowed(domain.as_bytes()), Origin::HostName))
        .into_iter()
        .collect()
}

impl<'a> Config<'a> {
    /// Whether an option is in force.
    pub(super) fn has(&self, flag: &'static str) -> bool {
        self.reading.flags.iter().any(|it| it.value == flag)
    }

    fn read_line(&mut self, line: Line<'a>, version: &Version) {
        if line.bytes().starts_with(b";") || line.bytes().starts_with(b"#") {
            return;
        }
        let mut fields = line.split(FIELD_BLANKS);
        let Some(keyword) = fields.next() else {
            return;
        };
        match keyword.bytes {
            b"nameserver" => self.nameserver(keyword, fields, version),
            b"domain" => self.domain(keyword, fields),
            b"search" => self.search(line.span(), keyword, fields, version),
            b"options" => fields.for_each(|option| self.option(option, version)),
            b"lookup" => self.drop(keyword, "only Go on OpenBSD uses `lookup`"),
            other => {
                self.unknown.get_or_insert(other);
                let why = match other.first() {
                    Some(b'#' | b';') => "a comment begins at the start of a line for Go",
                    _ => "Go does not know this keyword",
                };
                self.drop(keyword, why);
            }
        }
    }

    fn drop(&mut self, word: Word<'_>, why: impl Into<Cow<'static, str>>) {
        self.reading.drop(word.span, why);
    }

    fn nameserver(
        &mut self,
        keyword: Word<'a>,
        mut fields: impl Iterator<Item = Word<'a>>,
        version: &Version,
    ) {
        let Some(field) = fields.next() else {
            return self.drop(keyword, "there is no address on the line");
        };
        let servers = self.reading.servers.len();
        match parse_addr(field.bytes, version) {
            _ if servers >= MAX_SERVERS => {
                self.drop(field, "a name server after the 3rd: only 3 are used");
            }
            Some(address) => {
                let server = Setting::file(Server::from(address), field.span);
                self.reading.servers.push(server);
            }
            None => self.drop(field, "Go knows only addresses, without a port"),
        }
        self.drop_rest(fields);
    }

    fn domain(&mut self, keyword: Word<'a>, mut fields: impl Iterator<Item = Word<'a>>) {
        let Some(field) = fields.next() else {
            return self.drop(keyword, "there is no domain on the line");
        };
        self.replace_search(join(keyword.span, field.span));
        let entry = Setting::file(Cow::Borrowed(field.bytes), field.span);
        self.reading.search.push(entry);
        self.drop_rest(fields);
    }

    fn search(
        &mut self,
        line: Span,
        keyword: Word<'a>,
        fields: impl Iterator<Item = Word<'a>>,
        version: &Version,
    ) {
        self.replace_search(keyword.span);
        for (index, field) in fields.enumerate() {
            if index >= MAX_SEARCH {
                let rest = Span::new(field.span.start as usize, line.end as usize);
                self.reading.drop(rest, TOO_MANY_DOMAINS);
                break;
            }
            self.search_line = Some(join(keyword.span, field.span));
            if field.bytes == b"." && !version.keeps_root_in_search {
                self.drop(field, "`.` does not count as a search domain");
                continue;
            }
            let entry = Setting::file(Cow::Borrowed(field.bytes), field.span);
            self.reading.search.push(entry);
        }
        if self.reading.search.is_empty() {
            self.drop(keyword, "an empty list counts as none at all");
        }
    }

    /// Forgets the search list for the one of the line under `span`.
    fn replace_search(&mut self, span: Span) {
        if let Some(earlier) = self.search_line.replace(span) {
            let why = "a later `search` or `domain` replaces it";
            self.reading.drop(earlier, why);
        }
        self.reading.search.clear();
    }

    fn drop_rest(&mut self, fields: impl Iterator<Item = Word<'a>>) {
        for field in fields {
            self.drop(field, "only the first word after the keyword counts");
        }
    }

    fn option(&mut self, option: Word<'a>, version: &Version) {
        let number = |prefix: &[u8]| {
            option
                .bytes
                .strip_prefix(prefix)
                .map(|text| (text, dtoi(text).0))
        };
        if let Some((text, given)) = number(b"ndots:") {
            let ndots = given.min(MAX_NDOTS);
            self.odd_number(option, "ndots", text, ndots);
            let earlier = self
                .reading
                .ndots
                .replace(Setting::file(ndots, option.span));
            self.replaced(earlier.map(|setting| setting.origin), "ndots");
        } else if let Some((text, given)) = number(b"timeout:") {
            let seconds = given.max(1);
            self.odd_number(option, "timeout", text, seconds);
            self.replaced(Some(self.reading.timeout.origin), "timeout");
            let timeout = Duration::from_secs(seconds.into());
            self.reading.timeout = Setting::file(timeout, option.span);
        } else if let Some((text, given)) = number(b"attempts:") {
            let attempts = given.max(1);
            self.odd_number(option, "attempts", text, attempts);
            self.replaced(Some(self.reading.attempts.origin), "attempts");
            self.reading.attempts = Setting::file(attempts, option.span);
        } else {
            self.flag(option, version);
        }
    }

    fn flag(&mut self, option: Word<'a>, version: &Version) {
        let name = match option.bytes {
            b"rotate" => ROTATE,
            b"single-request" | b"single-request-reopen" => SINGLE_REQUEST,
            b"use-vc" | b"usevc" | b"tcp" => USE_TCP,
            b"trust-ad" if version.knows_trust_ad => TRUST_AD,
            b"edns0" if version.knows_trust_ad => {
                return self.drop(option, "Go always sends EDNS");
            }
            b"no-reload" if version.knows_trust_ad => {
                return self.drop(option, "it only keeps Go from reading the file again");
            }
            other => {
                self.unknown.get_or_insert(other);
                return self.drop(option, "Go does not know this option");
            }
        };
        if !self.has(name) {
            self.reading.flags.push(Setting::file(name, option.span));
        }
    }

    /// Tells of a number that does not count as what it says.
    fn odd_number(&mut self, option: Word<'_>, name: &str, text: &[u8], counts: u32) {
        let plain = std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok());
        if plain != Some(counts) {
            self.drop(option, format!("it counts as `{name}:{counts}`"));
        }
    }

    /// Tells of an option that a later one overrides.
    fn replaced(&mut self, earlier: Option<Origin>, name: &str) {
        if let Some(Origin::File(span)) = earlier {
            self.reading
                .drop(span, format!("a later `{name}` replaces it"));
        }
    }
}

fn join(first: Span, last: Span) -> Span {
    Span {
        start: first.start,
        end: last.end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::go::{V1_19, V1_27};
    use crate::scenario::file;

    fn check(text: &str, version: &Version, expected: &str) {
        let mut scenario = Scenario::new("1", "db");
        scenario.resolv_conf = Some(file("/etc/resolv.conf", text));
        let reading = dns_read_config(&scenario, version).reading;
        let flags: Vec<&str> = reading.flags.iter().map(|flag| flag.value).collect();
        let read = format!(
            "{} {}:{}:{} {}",
            reading.servers.len(),
            reading.ndots.unwrap_or_default().value,
            reading.timeout.value.as_secs(),
            reading.attempts.value,
            flags.join(","),
        );
        let beginning: String = text.chars().take(40).collect();
        assert_eq!(read, expected, "{beginning:?}");
    }

    #[test]
    fn numbers_have_defaults_and_limits() {
        check("", &V1_27, "2 1:5:2 ");
        check("options ndots:16 timeout:0 attempts:0", &V1_27, "2 15:1:1 ");
        let four = "nameserver 10.0.0.1\n".repeat(4);
        check(&four, &V1_27, "3 1:5:2 ");
    }

    #[test]
    fn flags_have_one_name_each() {
        let all = "options rotate single-request-reopen tcp trust-ad edns0";
        check(all, &V1_19, "2 1:5:2 rotate,single-request,use-vc");
        check(all, &V1_27, "2 1:5:2 rotate,single-request,use-vc,trust-ad");
    }

    #[test]
    fn a_line_of_64_kib_ends_the_file() {
        let [first, long, last] = [1, 2, 3].map(|it| format!("nameserver 10.0.0.{it}"));
        for (bytes, expected) in [(65_535, "3 1:5:2 "), (65_536, "1 1:5:2 ")] {
            let blanks = " ".repeat(bytes - long.len());
            let text = format!("{first}\n{long}{blanks}\n{last}\n");
            check(&text, &V1_27, expected);
        }
    }
}
