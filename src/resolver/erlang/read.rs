//! `resolv.conf` as Erlang reads it.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use crate::address::{Address, Server, inet_aton};
use crate::config::hosts::entries;
use crate::config::resolv_conf::{Line, ResolvConf, Word};
use crate::resolver::reading::{
    MAX_SEARCH, MAX_SERVERS, Origin, Reading, Setting, TOO_MANY_DOMAINS, TOO_MANY_SERVERS,
};
use crate::scenario::Scenario;

/// Source: OTP `inet_res.hrl: RES_TIMEOUT, RES_RETRY` (25)
const TIMEOUT: Duration = Duration::from_secs(2);
const RETRY: u32 = 3;

/// What it is made of.
pub(super) struct Configuration<'a> {
    pub(super) reading: Reading<'a>,
    /// The domains that a name is put below, `""` for none.
    pub(super) search: Vec<Cow<'a, [u8]>>,
}

impl<'a> Configuration<'a> {
    /// Source: OTP `inet_db.erl: handle_call({res_set, resolv_conf, _})`, `inet_parse.erl: resolv` (25)
    pub(super) fn from_scenario(scenario: &'a Scenario) -> Self {
        let mut reading = Reading {
            timeout: Setting::built_in(TIMEOUT),
            attempts: Setting::built_in(RETRY),
            ..Reading::default()
        };
        for line in scenario.resolv_conf.iter().flat_map(ResolvConf::lines) {
            read_line(&mut reading, line);
        }
        if !reading.search.iter().all(|it| is_visible(&it.value)) {
            drop_all(&mut reading);
        }
        if reading.search.is_empty()
            && let Some(domain) = domain(scenario)
        {
            reading.search.push(Setting::new(domain, Origin::HostName));
        }
        reading.dropped.sort();
        let mut search: Vec<_> = reading.search.iter().map(|it| it.value.clone()).collect();
        if search.is_empty() {
            search.push(Cow::Borrowed(b""));
        }
        Self { reading, search }
    }
}

fn read_line<'a>(reading: &mut Reading<'a>, line: Line<'a>) {
    let bytes = line.bytes();
    let end = bytes.iter().position(|&byte| byte == b'#');
    let kept = Word {
        bytes: bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes),
        span: line.span(),
    };
    let kept = Word {
        bytes: kept.bytes.strip_suffix(b"\r").unwrap_or(kept.bytes),
        ..kept
    };
    let words: Vec<Word<'a>> = kept.split(b" \t").collect();
    match words.as_slice() {
        [] => {}
        [keyword, domains @ ..] if keyword.bytes == b"search" => replace_search(reading, domains),
        [keyword, domain] if keyword.bytes == b"domain" => replace_search(reading, &[*domain]),
        [keyword, word] if keyword.bytes == b"nameserver" => match address(word.bytes) {
            _ if reading.servers.len() == MAX_SERVERS => {
                reading.drop(word.span, TOO_MANY_SERVERS);
            }
            Some(address) => {
                let server = Server::from(address);
                reading.servers.push(Setting::file(server, word.span));
            }
            None => reading.drop(line.span(), "it is no address: Erlang skips the line"),
        },
        [keyword, ..] if matches!(keyword.bytes, b"nameserver" | b"domain") => {
            reading.drop(
                line.span(),
                "Erlang skips a line with another number of words",
            );
        }
        _ => reading.drop(line.span(), "Erlang does not know it"),
    }
}

/// Source: OTP `inet_db.erl: res_check_search`, `inet_parse.erl: visible_string` (25)
fn is_visible(domain: &[u8]) -> bool {
    domain.iter().all(u8::is_ascii_graphic)
}

/// The servers are set after the search list, and so not at all where that is refused.
///
/// Source: OTP `inet_db.erl: handle_call({res_set, resolv_conf, _}), handle_rc_list` (25)
fn drop_all(reading: &mut Reading<'_>) {
    let domains = std::mem::take(&mut reading.search).into_iter();
    let servers = std::mem::take(&mut reading.servers).into_iter();
    let origins = domains
        .map(|it| it.origin)
        .chain(servers.map(|it| it.origin));
    for origin in origins {
        if let Origin::File(span) = origin {
            reading.drop(
                span,
                "the search list has a byte that Erlang refuses, and then it takes nothing of the file",
            );
        }
    }
}

fn replace_search<'a>(reading: &mut Reading<'a>, domains: &[Word<'a>]) {
    for old in std::mem::take(&mut reading.search) {
        if let Origin::File(span) = old.origin {
            reading.drop(span, "a later line replaces it");
        }
    }
    let (kept, rest) = domains.split_at(domains.len().min(MAX_SEARCH));
    let settings = kept
        .iter()
        .map(|it| Setting::file(Cow::Borrowed(it.bytes), it.span));
    reading.search.extend(settings);
    if let Some(first) = rest.first() {
        reading.drop(first.span, TOO_MANY_DOMAINS);
    }
}

/// The domain of the host name, or of the name that the hosts file has for it.
///
/// Source: OTP `inet_config.erl: init, set_hostname` (25)
fn domain(scenario: &Scenario) -> Option<Cow<'_, [u8]>> {
    let of = |name: &str| {
        name.split_once('.')
            .map(|(_, domain)| domain.as_bytes().to_vec())
    };
    if let Some(domain) = of(&scenario.hostname) {
        return Some(domain.into());
    }
    let file = scenario.hosts.as_ref()?;
    let host = scenario.hostname.as_bytes();
    let own = entries(file).find(|it| it.names.iter().any(|word| word.bytes == host))?;
    let first = std::str::from_utf8(own.names.first()?.bytes).ok()?;
    of(first).map(Cow::Owned)
}

/// Source: OTP `inet_parse.erl: address` (25)
pub(super) fn address(word: &[u8]) -> Option<Address> {
    if let Some(ip) = inet_aton(word) {
        return Some(IpAddr::V4(ip).into());
    }
    let text = std::str::from_utf8(word).ok()?;
    // The scope is lost.
    let ip = text.split_once('%').map_or(text, |(ip, _)| ip);
    let ip: std::net::Ipv6Addr = ip.parse().ok()?;
    Some(IpAddr::V6(ip).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::file;

    #[test]
    fn lines_have_their_number_of_words() {
        let mut scenario = Scenario::new("1", "a");
        let text = "search x\n search a b#c\nnameserver 10.0.0.1 10.0.0.2\nnameserver 10.0.0.3#x\nnameserver dns\n";
        scenario.resolv_conf = Some(file("/etc/resolv.conf", text));
        let found = Configuration::from_scenario(&scenario);
        assert_eq!(found.search, [&b"a"[..], b"b"]);
        let servers: Vec<String> = found
            .reading
            .servers
            .iter()
            .map(|it| it.value.to_string())
            .collect();
        assert_eq!(servers, ["10.0.0.3"]);
    }

    #[test]
    fn a_search_list_that_is_refused_leaves_no_servers() {
        let mut scenario = Scenario::new("1", "a");
        for (text, servers) in [
            ("nameserver 10.0.0.1\nsearch a b\u{fc}.test\n", 0),
            ("nameserver 10.0.0.1\nsearch b\u{fc}.test\nsearch a\n", 1),
            ("nameserver 10.0.0.1\nsearch a\noptions b\u{fc}\n", 1),
        ] {
            scenario.resolv_conf = Some(file("/etc/resolv.conf", text));
            let found = Configuration::from_scenario(&scenario);
            assert_eq!(found.reading.servers.len(), servers, "{text}");
        }
    }

    #[test]
    fn the_host_has_a_domain() {
        let mut scenario = Scenario::new("1", "a");
        scenario.hostname = "web-0".to_owned();
        assert_eq!(Configuration::from_scenario(&scenario).search, [&b""[..]]);
        let text = "10.0.0.1 web-0.web.default.svc.cluster.local web-0\n";
        scenario.hosts = Some(file("/etc/hosts", text));
        let found = Configuration::from_scenario(&scenario);
        assert_eq!(found.search, [&b"web.default.svc.cluster.local"[..]]);
    }
}
