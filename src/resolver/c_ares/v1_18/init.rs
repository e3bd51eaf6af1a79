//! How c-ares 1.18 reads its configuration.
//!
//! Source: c-ares 1.18.1 `src/lib/ares_init.c: ares_init_options`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::lines::{CLine, c_lines, strtol, try_config};
use crate::resolver::c_ares::address::{
    Prefix, inet_net_pton_ipv4, inet_net_pton_ipv6, is_blacklisted,
};
use crate::resolver::c_ares::config::{Config, Defaults, Sysconfig};
use crate::resolver::c_ares::name::{c_string, is_space};
use crate::resolver::reading::{
    MAX_SEARCH, MAX_SERVERS, Origin, Setting, TOO_MANY_DOMAINS, TOO_MANY_SERVERS,
};
use crate::scenario::Scenario;
use crate::text::Span;

const DEFAULTS: Defaults = Defaults {
    timeout: 5000,
    tries: 4,
    // Queries have no OPT record.
    edns_size: 0,
};
/// Longest address in a `sortlist` (Debian's CVE-2022-4904 patch).
const SORTLIST_ADDRESS: usize = 16;
/// Longest address with its mask in a `sortlist`.
const SORTLIST_PREFIX: usize = 32;

/// A channel whose settings may not have been set yet.
#[derive(Default)]
struct Channel<'a> {
    read: Sysconfig<'a>,
    /// The variable `host` of `config_nameserver`, which nothing clears.
    host: [u8; 16],
}

/// A line that ends the reading of the file.
struct Stop;

/// Reads everything that a channel depends on.
pub(in crate::resolver::c_ares) fn config(scenario: &Scenario) -> Config<'_> {
    let mut channel = Channel::default();
    channel.init_by_environment(scenario);
    channel.init_by_resolv_conf(scenario);
    channel.read.init_by_defaults(scenario, DEFAULTS)
}

impl<'a> Channel<'a> {
    fn drop(&mut self, span: Span, why: &'static str) {
        self.read.dropped.push(span, why);
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_init.c: init_by_environment`.
    fn init_by_environment(&mut self, scenario: &'a Scenario) {
        if let Some(list) = scenario.env("LOCALDOMAIN") {
            let line = CLine::borrowed(c_string(list), Span::default());
            self.set_search(
                &line,
                0..line.text.len(),
                Origin::Environment("LOCALDOMAIN"),
            );
        }
        if let Some(options) = scenario.env("RES_OPTIONS") {
            let line = CLine::borrowed(c_string(options), Span::default());
            let origin = Some(Origin::Environment("RES_OPTIONS"));
            self.set_options(&line, 0..line.text.len(), origin);
        }
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_init.c: init_by_resolv_conf`.
    fn init_by_resolv_conf(&mut self, scenario: &'a Scenario) {
        let update_domains = self.read.domains.is_none();
        for line in scenario.resolv_conf.iter().flat_map(c_lines) {
            if let Err(Stop) = self.resolv_conf_line(&line, update_domains) {
                // The servers so far are lost, and no other file is read.
                self.read.servers.clear();
                self.drop(
                    line.span,
                    "c-ares 1.18 stops at this line and forgets the servers before it",
                );
                return;
            }
        }
        if self.read.lookups.is_none() {
            self.read.lookups = lookups_of_files(scenario).next();
        }
    }

    fn resolv_conf_line(&mut self, line: &CLine<'a>, update_domains: bool) -> Result<(), Stop> {
        let value = |keyword| try_config(&line.text, keyword, Some(b';'));
        if let Some(value) = value("domain") {
            self.domain_line(line, value, update_domains);
        } else if let Some(value) = value("search") {
            if update_domains {
                self.set_search(line, value.clone(), Origin::File(line.span_of(value)));
            } else {
                self.drop(line.span, "`LOCALDOMAIN` is set");
            }
        } else if let Some(value) = value("lookup") {
            if self.read.lookups.is_some() {
                self.drop(line.span, "only the first `lookup` line counts");
                return Ok(());
            }
            let words = line.text.get(value).unwrap_or_default();
            self.read.lookups = Some(config_lookup(words, b'b', b'b', b'f').ok_or(Stop)?);
        } else if let Some(value) = value("nameserver") {
            self.config_nameserver(line, value);
        } else if let Some(value) = value("sortlist") {
            return config_sortlist(line.text.get(value).unwrap_or_default());
        } else if let Some(value) = value("options") {
            self.set_options(line, value, None);
        } else if line.has_text() {
            self.drop(line.span, "c-ares does not know it, or it has no value");
        }
        Ok(())
    }

    /// The domain ends at the first blank.
    ///
    /// Source: c-ares 1.18.1 `src/lib/ares_init.c: config_domain`.
    fn domain_line(&mut self, line: &CLine<'a>, value: Range<usize>, update_domains: bool) {
        if !update_domains {
            return self.drop(line.span, "`LOCALDOMAIN` is set");
        }
        let word = line.words(value).next().unwrap_or_default();
        self.set_search(line, word.clone(), Origin::File(line.span_of(word)));
    }

    /// Sets the search list, or clears it. It is split at blanks and commas
    /// but not at other white space; a domain with which an earlier one
    /// begins counts as a repetition.
    ///
    /// Source: c-ares 1.18.1 `src/lib/ares_init.c: set_search`,
    /// `src/lib/ares_strsplit.c: ares_strsplit, list_contains`.
    fn set_search(&mut self, line: &CLine<'a>, value: Range<usize>, origin: Origin) {
        for old in self.read.domains.take().into_iter().flatten() {
            if let Origin::File(span) = old.origin {
                self.drop(span, "a later `search` or `domain` line replaces it");
            }
        }
        let mut domains: Vec<Setting<Cow<'a, [u8]>>> = Vec::new();
        // In lower case and sorted: what begins with a text follows it.
        let mut known: BTreeSet<Vec<u8>> = BTreeSet::new();
        let from_file = matches!(origin, Origin::File(_));
        let end = value.end;
        let parts = line.split(value, |byte| byte == b',' || byte == b' ');
        for (index, part) in parts.enumerate() {
            if index >= MAX_SEARCH {
                if from_file {
                    let rest = line.span_of(part.start..end);
                    self.drop(rest, TOO_MANY_DOMAINS);
                }
                break;
            }
            let span = line.span_of(part.clone());
            let text = line.part(part);
            let lower = text.to_ascii_lowercase();
            let next = known.range(lower.clone()..).next();
            let repeats = next.is_some_and(|old| old.starts_with(&lower));
            if repeats {
                if from_file {
                    self.drop(span, "an earlier domain begins with it");
                }
                continue;
            }
            let origin = if from_file {
                Origin::File(span)
            } else {
                origin
            };
            known.insert(lower);
            domains.push(Setting {
                value: text,
                origin,
            });
        }
        self.read.domains = (!domains.is_empty()).then_some(domains);
    }

    /// The first setting of each option wins. `strtol` reads on after blanks,
    /// so `ndots: 2` is 2.
    ///
    /// Source: c-ares 1.18.1 `src/lib/ares_init.c: set_options, try_option`.
    fn set_options(&mut self, line: &CLine<'a>, value: Range<usize>, origin: Option<Origin>) {
        for word in line.words(value.clone()) {
            let span = line.span_of(word.clone());
            let from_file = origin.is_none();
            let origin = origin.unwrap_or(Origin::File(span));
            let text = line.text.get(word.clone()).unwrap_or_default();
            let rest = line.text.get(word.start..value.end).unwrap_or_default();
            let number = |prefix: &str| {
                text.starts_with(prefix.as_bytes()).then(|| Setting {
                    value: strtol(rest.get(prefix.len()..).unwrap_or_default()),
                    origin,
                })
            };
            let (old, new) = if let Some(ndots) = number("ndots:") {
                (&mut self.read.ndots, ndots)
            } else if let Some(timeout) = number("retrans:") {
                (&mut self.read.timeout, timeout)
            } else if let Some(tries) = number("retry:") {
                (&mut self.read.tries, tries)
            } else if text.starts_with(b"rotate") {
                self.read.rotate.get_or_insert(origin);
                continue;
            } else {
                if from_file {
                    self.drop(
                        span,
                        "c-ares 1.18 knows only `ndots`, `retrans`, `retry` and `rotate`",
                    );
                }
                continue;
            };
            if old.is_some() && from_file {
                self.read
                    .dropped
                    .push(span, "the first setting of an option wins");
            }
            old.get_or_insert(new);
        }
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_init.c: config_nameserver`.
    fn config_nameserver(&mut self, line: &CLine<'a>, value: Range<usize>) {
        for part in line.split(value, |byte| is_space(byte) || byte == b',') {
            let span = line.span_of(part.clone());
            let text = line.text.get(part).unwrap_or_default();
            match self.inet_pton(text) {
                Some(_) if self.read.servers.len() >= MAX_SERVERS => {
                    self.drop(span, TOO_MANY_SERVERS);
                }
                Some(ip) => self.read.servers.push(Setting::file(ip.into(), span)),
                None => self.drop(span, "it is no address, or a site-local one"),
            }
        }
    }

    /// Reads an address over what was in memory.
    fn inet_pton(&mut self, text: &[u8]) -> Option<std::net::IpAddr> {
        if let Some(four) = self.host.first_chunk_mut::<4>()
            && let Some(bits) = inet_net_pton_ipv4(text, four, Prefix::Allowed)
        {
            let ip = std::net::IpAddr::from(*four);
            if bits < 32 && !text.contains(&b'/') {
                self.read.note = Some(
                    "a server's address is given in part: the rest is what was in memory, here zeros or what an earlier address left",
                );
            }
            return Some(ip);
        }
        inet_net_pton_ipv6(text, &mut self.host, Prefix::Allowed)?;
        let ip = std::net::IpAddr::from(self.host);
        (!is_blacklisted(ip)).then_some(ip)
    }
}

/// What each line of other files says of the order of hosts file and DNS.
///
/// Source: c-ares 1.18.1 `src/lib/ares_init.c: init_by_resolv_conf`, 1.27
/// `src/lib/ares_sysconfig_files.c: ares__init_sysconfig_files`.
pub(in crate::resolver::c_ares) fn lookups_of_files(
    scenario: &Scenario,
) -> impl Iterator<Item = String> {
    let files = [
        ("/etc/nsswitch.conf", "hosts:", b'd', b'r', b'f'),
        ("/etc/host.conf", "order", b'b', b'b', b'h'),
        ("/etc/svc.conf", "hosts=", b'b', b'b', b'l'),
    ];
    files
        .into_iter()
        .flat_map(move |(path, keyword, bind, other_bind, file)| {
            let lines = super::lines::file_lines(scenario, path).into_iter();
            lines.filter_map(move |line| {
                let words = line.text.get(try_config(&line.text, keyword, None)?)?;
                config_lookup(words, bind, other_bind, file)
            })
        })
}

/// Only the first letter of a word counts, and only two words.
///
/// Source: c-ares 1.18.1 `src/lib/ares_init.c: config_lookup`.
pub(in crate::resolver::c_ares) fn config_lookup(
    text: &[u8],
    bind: u8,
    other_bind: u8,
    file: u8,
) -> Option<String> {
    let lookups: String = text
        .split(|&byte| is_space(byte) || byte == b',')
        .filter_map(|word| match *word.first()? {
            first if first == bind || first == other_bind => Some('b'),
            first if first == file => Some('f'),
            _ => None,
        })
        .take(2)
        .collect();
    (!lookups.is_empty()).then_some(lookups)
}

/// Sorting is not modelled; a long address is an error, though.
///
/// Source: c-ares 1.18.1-3 (Debian) `src/lib/ares_init.c: config_sortlist`.
fn config_sortlist(text: &[u8]) -> Result<(), Stop> {
    for word in text.split(|&byte| is_space(byte)) {
        let address = word.iter().position(|&byte| byte == b'/');
        if address.unwrap_or(word.len()) >= SORTLIST_ADDRESS
            || address.is_some() && word.len() >= SORTLIST_PREFIX
        {
            return Err(Stop);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_files_there_are_defaults() {
        let scenario = Scenario::new("1", "db");
        let config = config(&scenario);
        let reading = &config.reading;
        assert_eq!(
            (reading.ndots, reading.attempts.value),
            (Some(Setting::built_in(1)), 4)
        );
        assert_eq!((config.timeout(), config.rotate()), (5000, false));
        assert_eq!(config.lookups, "fb");
    }
}
