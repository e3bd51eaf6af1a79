//! `resolv.conf` as Ruby's `Resolv` reads it.

use std::borrow::Cow;
use std::time::Duration;

use crate::address::{Address, Server};
use crate::config::resolv_conf::{Line, ResolvConf, Word};
use crate::engine::message::Because;
use crate::resolver::reading::{
    MAX_SEARCH, MAX_SERVERS, Origin, Reading, Setting, TOO_MANY_DOMAINS, TOO_MANY_SERVERS,
};
use crate::scenario::Scenario;

/// White space of Ruby's regular expressions.
pub(super) const SPACES: &[u8] = b" \t\n\x0b\x0c\r";
/// Source: resolv.rb `Config::InitialTimeout` (0.2.1)
const INITIAL_TIMEOUT: u64 = 5;
/// Where the file has none. Source: `Config#lazy_initialize`
const NO_SERVER: &[u8] = b"0.0.0.0";

/// What a resolver is made of.
pub(super) struct Config<'a> {
    pub(super) reading: Reading<'a>,
    /// All that stands behind `nameserver`, in order.
    pub(super) servers: Vec<&'a [u8]>,
    ndots: usize,
}

/// A name's labels.
pub(super) type Labels = Vec<Vec<u8>>;

impl<'a> Config<'a> {
    /// Source: resolv.rb `Config.parse_resolv_conf, Config#lazy_initialize` (0.2.1)
    pub(super) fn from_scenario(scenario: &'a Scenario) -> Self {
        let mut config = Self {
            reading: Reading {
                ndots: Some(Setting::built_in(1)),
                timeout: Setting::built_in(Duration::from_secs(INITIAL_TIMEOUT)),
                attempts: Setting::built_in(4),
                ..Reading::default()
            },
            servers: Vec::new(),
            ndots: 1,
        };
        for line in scenario.resolv_conf.iter().flat_map(ResolvConf::lines) {
            config.line(line);
        }
        if config.servers.is_empty() {
            config.servers.push(NO_SERVER);
            let server = Server::from(std::net::IpAddr::from([0, 0, 0, 0]));
            config.reading.servers.push(Setting::built_in(server));
        }
        if config.reading.search.is_empty()
            && let Some((_, domain)) = scenario.hostname.split_once('.')
        {
            config.reading.search.push(Setting {
                value: Cow::Borrowed(domain.as_bytes()),
                origin: Origin::HostName,
            });
        }
        config.reading.dropped.sort();
        config
    }

    fn line(&mut self, line: Line<'a>) {
        let is_comment = |byte: &u8| matches!(byte, b'#' | b';');
        let bytes = line.bytes();
        let end = bytes.iter().position(is_comment).unwrap_or(bytes.len());
        let kept = Word {
            bytes: bytes.get(..end).unwrap_or_default(),
            span: line.span(),
        };
        let mut words = kept.split(SPACES);
        let Some(keyword) = words.next() else {
            return;
        };
        if bytes.first().is_some_and(|byte| SPACES.contains(byte)) {
            self.reading
                .drop(line.span(), "the line begins with a blank");
            return;
        }
        let values: Vec<Word<'a>> = words.collect();
        match keyword.bytes {
            b"nameserver" => values.iter().for_each(|word| self.name_server(*word)),
            b"domain" => self.search(values.get(..1).unwrap_or_default()),
            b"search" => self.search(&values),
            b"options" => values.iter().for_each(|word| self.option(*word)),
            _ => self
                .reading
                .drop(line.span(), "Ruby's Resolv does not know it"),
        }
    }

    fn name_server(&mut self, word: Word<'a>) {
        if self.servers.len() == MAX_SERVERS {
            self.reading.drop(word.span, TOO_MANY_SERVERS);
            return;
        }
        self.servers.push(word.bytes);
        match Address::parse_c(word.bytes) {
            Some(address) => {
                let server = Server::from(address);
                self.reading.servers.push(Setting::file(server, word.span));
            }
            None => {
                let why = "it is no address: Ruby asks the C library for it";
                self.reading.drop(word.span, why);
            }
        }
    }

    /// The last line counts, unless it is empty.
    fn search(&mut self, domains: &[Word<'a>]) {
        if domains.is_empty() {
            return;
        }
        for old in std::mem::take(&mut self.reading.search) {
            if let Origin::File(span) = old.origin {
                self.reading.drop(span, "a later line replaces it");
            }
        }
        let (kept, rest) = domains.split_at(domains.len().min(MAX_SEARCH));
        let settings = kept
            .iter()
            .map(|word| Setting::file(Cow::Borrowed(word.bytes), word.span));
        self.reading.search.extend(settings);
        if let Some(first) = rest.first() {
            self.reading.drop(first.span, TOO_MANY_DOMAINS);
        }
    }

    fn option(&mut self, word: Word<'a>) {
        let digits = word.bytes.strip_prefix(b"ndots:").unwrap_or_default();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            let why = "Ruby's Resolv does not know it, or its number";
            self.reading.drop(word.span, why);
            return;
        }
        let number = std::str::from_utf8(digits)
            .ok()
            .and_then(|it| it.parse().ok());
        let number: u32 = number.unwrap_or(u32::MAX);
        self.ndots = usize::try_from(number).unwrap_or(usize::MAX);
        self.reading.ndots = Some(Setting::file(number, word.span));
    }

    /// The names that are asked, in order, each as its labels.
    ///
    /// Source: resolv.rb `Config#generate_candidates` (0.2.1)
    pub(super) fn candidates(&self, name: &str) -> Vec<(Labels, Because)> {
        let own = labels(name.as_bytes());
        let as_is = (own.clone(), Because::AsIs);
        if name.ends_with('.') {
            return vec![as_is];
        }
        let mut names = Vec::new();
        // One dot fewer than labels.
        if self.ndots < own.len() {
            names.push(as_is.clone());
        }
        if self.reading.search.is_empty() {
            // The empty domain of a host name without one.
            names.push(as_is.clone());
        }
        for (index, domain) in self.reading.search.iter().enumerate() {
            let below = own.iter().cloned().chain(labels(&domain.value)).collect();
            names.push((below, Because::Search(index)));
        }
        let is_own = |it: &(Labels, Because)| same(&it.0, &own);
        if !names.iter().any(is_own) {
            names.push(as_is);
        }
        names
    }

    /// How long each server is waited for, round by round.
    ///
    /// Source: resolv.rb `Config#generate_timeouts` (0.2.1)
    pub(super) fn timeouts(&self) -> [Duration; 4] {
        let servers = u64::try_from(self.servers.len()).unwrap_or(u64::MAX);
        let second = INITIAL_TIMEOUT * 2 / servers.max(1);
        [INITIAL_TIMEOUT, second, second * 2, second * 4].map(Duration::from_secs)
    }
}

/// Whether both are one name, whatever the case.
pub(super) fn same(one: &Labels, other: &Labels) -> bool {
    let pairs = || one.iter().zip(other);
    one.len() == other.len() && pairs().all(|(one, other)| one.eq_ignore_ascii_case(other))
}

/// Empty labels are passed over. Source: resolv.rb `Label.split` (0.2.1)
fn labels(name: &[u8]) -> Labels {
    let labels = name.split(|&byte| byte == b'.');
    let labels = labels.filter(|label| !label.is_empty());
    labels.map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::file;

    #[test]
    fn a_line_counts_from_its_first_byte() {
        let mut scenario = Scenario::new("1", "a");
        let text = "search x\nsearch a b;c\n domain d\nnameserver 10.0.0.1 10.0.0.2\noptions ndots:2x ndots:3\n";
        scenario.resolv_conf = Some(file("/etc/resolv.conf", text));
        let config = Config::from_scenario(&scenario);
        assert_eq!(config.servers, [b"10.0.0.1", b"10.0.0.2"]);
        let search: Vec<&[u8]> = config.reading.search.iter().map(|it| &*it.value).collect();
        assert_eq!(search, [b"a", b"b"]);
        assert_eq!(config.ndots, 3);
        assert_eq!(config.timeouts().map(|it| it.as_secs()), [5, 5, 10, 20]);
    }

    #[test]
    fn names_are_tried_in_order() {
        let check = |text: &str, name: &str, expected: &str| {
            let mut scenario = Scenario::new("1", name);
            scenario.resolv_conf = Some(file("/etc/resolv.conf", text));
            let names = Config::from_scenario(&scenario).candidates(name);
            let names: Vec<String> = names
                .iter()
                .map(|it| String::from_utf8_lossy(&it.0.join(&b'.')).into_owned())
                .collect();
            assert_eq!(names.join(" "), expected, "{text:?} {name}");
        };
        check("search a b\n", "web", "web.a web.b web");
        check("search a b\n", "web.x", "web.x web.x.a web.x.b");
        check(
            "search a b\noptions ndots:2",
            "web.x",
            "web.x.a web.x.b web.x",
        );
        check("search a b\n", "web.", "web");
        check("", "web", "web");
        check("", "web..x", "web.x web.x");
    }
}
