//! `resolv.conf` as Netty reads it: name servers, search list and `ndots` each
//! on their own.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

use crate::address::{Address, DNS_PORT, Server};
use crate::config::resolv_conf::{Line, ResolvConf, Word};
use crate::resolver::netty::Version;
use crate::resolver::netty::hosts::{ipv4, ipv6};
use crate::resolver::netty::options::{LIMITS, Limits, TIMEOUT, read_options};
use crate::resolver::netty::platform::{GOOGLE, Unknown, looked_up, own_servers, platform_servers};
use crate::resolver::reading::{
    MAX_SEARCH, MAX_SERVERS, Reading, Setting, TOO_MANY_DOMAINS, TOO_MANY_SERVERS,
};
use crate::scenario::Scenario;
use crate::text::Span;

/// Source: `UnixResolverDnsServerAddressStreamProvider.java: DEFAULT_NDOTS` (4.1.48)
const NDOTS: i64 = 1;
/// White space of Java's regular expressions.
pub(super) const WHITE: &[u8] = b" \t\n\x0b\x0c\r";

/// What a resolver is made of.
pub(super) struct Configuration<'a> {
    pub(super) reading: Reading<'a>,
    /// The domains of the search list.
    pub(super) search: Vec<Cow<'a, [u8]>>,
    /// Names with so many dots are asked as they are first; 0: there is no search list.
    pub(super) ndots: i64,
    pub(super) limits: Limits,
    pub(super) version: Version,
    /// Whether there is a name server that is a name which the hosts file does not have.
    pub(super) has_names: bool,
    /// The name server without an address with which no resolver can be made.
    pub(super) refusing: Option<(Unknown, Word<'a>)>,
    /// The servers of the file, those behind a `domain` line by it.
    by_domain: ByDomain<'a>,
}

type ByDomain<'a> = Vec<(Option<&'a [u8]>, Vec<Server>)>;

impl Configuration<'_> {
    /// The servers for `name`: those behind the `domain` line that it is below.
    ///
    /// Source: `UnixResolverDnsServerAddressStreamProvider.java: nameServerAddressStream` (4.1.48)
    pub(super) fn servers_for(&self, name: &str) -> &[Server] {
        let of = |domain: &[u8]| self.by_domain.iter().find(|it| it.0 == Some(domain));
        let mut name = name.as_bytes();
        // A first dot does not count.
        while let Some(dot) = name.iter().skip(1).position(|&byte| byte == b'.') {
            if dot + 2 == name.len() {
                break;
            }
            if let Some((_, servers)) = of(name) {
                return servers;
            }
            name = name.get(dot + 2..).unwrap_or_default();
        }
        self.default()
    }

    fn default(&self) -> &[Server] {
        let without = self.by_domain.iter().find(|it| it.0.is_none());
        let found = without.or_else(|| self.by_domain.first());
        found.map_or(&[], |it| it.1.as_slice())
    }
}

/// Source: `UnixResolverDnsServerAddressStreamProvider.java: parseSilently,
/// parseEtcResolverFirstNdots, parseEtcResolverSearchDomains` (4.1.48)
pub(super) fn parse_silently(scenario: &Scenario, version: Version) -> Configuration<'_> {
    let mut reading = Reading {
        ndots: Some(Setting::built_in(1)),
        timeout: Setting::built_in(TIMEOUT),
        attempts: Setting::built_in(1),
        ..Reading::default()
    };
    let mut ndots = NDOTS;
    let mut limits = LIMITS;
    let mut by_domain = Vec::new();
    let (mut unknown, mut refusing) = (None, None::<(Unknown, Word<'_>)>);
    if let Some(file) = &scenario.resolv_conf {
        if version.counts_options {
            read_options(file, scenario, (&mut ndots, &mut limits), &mut reading);
        } else if let Some((value, span)) = first_ndots(file) {
            ndots = value;
            let shown = u32::try_from(value).unwrap_or(1);
            reading.ndots = Some(Setting::file(shown, span));
        }
        search_domains(file, &mut reading);
        (by_domain, unknown) = name_servers(file, scenario, &mut reading);
        if by_domain.is_empty() || unknown.is_some() && version.refuses_names {
            reading.servers.clear();
            let servers = if version.asks_jdk {
                platform_servers(file, scenario)
            } else {
                own_servers(file, scenario)
            };
            for (word, server) in servers {
                reading.dropped.forget(word.span);
                match server {
                    Ok(server) => reading.servers.push(Setting::file(server, word.span)),
                    Err(why) => {
                        unknown = unknown.max(Some(why));
                        if refusing.is_none_or(|(first, _)| why < first) {
                            refusing = Some((why, word));
                        }
                    }
                }
            }
            let servers = reading.servers.iter().map(|it| it.value.clone());
            by_domain = vec![(None, servers.collect())];
        }
    }
    if by_domain.iter().all(|it| it.1.is_empty()) {
        let servers = GOOGLE.map(|ip| Server::from(IpAddr::V6(ip)));
        reading.servers = servers.clone().map(Setting::built_in).to_vec();
        by_domain = vec![(None, servers.to_vec())];
    }
    reading.dropped.sort();
    let search = reading.search.iter().map(|it| it.value.clone()).collect();
    Configuration {
        reading,
        search,
        ndots,
        limits,
        version,
        has_names: unknown == Some(Unknown::Name),
        refusing,
        by_domain,
    }
}

/// The lines as Java reads them.
pub(super) fn lines(file: &ResolvConf) -> impl Iterator<Item = Word<'_>> {
    file.lines().flat_map(Line::at_returns)
}

/// `ndots` of the first `options` line, up to a blank; a number that is none is 1.
fn first_ndots(file: &ResolvConf) -> Option<(i64, Span)> {
    let line = lines(file).find(|it| it.bytes.starts_with(b"options"))?;
    let at = memchr::memmem::find(line.bytes, b"ndots:")? + b"ndots:".len();
    let bytes = line.bytes.get(at..).unwrap_or_default();
    let bytes = bytes.split(|&byte| byte == b' ').next()?;
    let number = std::str::from_utf8(bytes).ok()?.parse::<i32>().ok()?;
    // Below zero it is the default, which is this one.
    let start = line.span.start as usize + at;
    Some((number.into(), Span::new(start, start + bytes.len())))
}

/// All `search` lines together; `domain` only without any.
fn search_domains<'a>(file: &'a ResolvConf, reading: &mut Reading<'a>) {
    let mut local: Option<Word<'a>> = None;
    for line in lines(file) {
        if let (None, Some(rest)) = (local, after(line, b"domain")) {
            local = Some(rest);
        } else if let Some(rest) = after(line, b"search") {
            for word in rest.split(WHITE) {
                if reading.search.len() == MAX_SEARCH {
                    reading.drop(word.span, TOO_MANY_DOMAINS);
                    return;
                }
                let value = Cow::Borrowed(word.bytes);
                reading.search.push(Setting::file(value, word.span));
            }
        }
    }
    let Some(local) = local else {
        return;
    };
    if reading.search.is_empty() {
        let value = Cow::Borrowed(local.bytes);
        reading.search.push(Setting::file(value, local.span));
    } else {
        reading.drop(local.span, "there is a `search` line");
    }
}

/// What stands behind a keyword with which the text begins, blanks or none between.
pub(super) fn after<'a>(text: Word<'a>, keyword: &[u8]) -> Option<Word<'a>> {
    let rest = text.bytes.strip_prefix(keyword)?;
    let kept = rest.trim_ascii_start();
    if kept.is_empty() {
        return None;
    }
    let start = text.span.start as usize + text.bytes.len() - kept.len();
    let span = Span::new(start, start + kept.len());
    Some(Word { bytes: kept, span })
}

/// With them, whether another one has no address.
///
/// Source: `UnixResolverDnsServerAddressStreamProvider.java: parse` (4.1.48)
fn name_servers<'a>(
    file: &'a ResolvConf,
    scenario: &Scenario,
    reading: &mut Reading<'a>,
) -> (ByDomain<'a>, Option<Unknown>) {
    let mut found: ByDomain<'a> = Vec::new();
    let mut unknown = None;
    let mut domain = None;
    let mut servers = Vec::new();
    // A port counts for the lines that follow, too.
    let mut port = DNS_PORT;
    let mut put = |domain, servers: &mut Vec<Server>| {
        let servers = std::mem::take(servers);
        let is_new = found.iter().all(|it| it.0 != domain);
        if is_new && !servers.is_empty() {
            found.push((domain, servers));
        }
    };
    let mut count = 0;
    for line in lines(file) {
        let span = Span::trimmed(line.bytes, line.span.start as usize);
        let bytes = line.bytes.trim_ascii();
        let line = Word { bytes, span };
        if let Some(rest) = after(line, b"nameserver") {
            if count == MAX_SERVERS {
                reading.drop(rest.span, TOO_MANY_SERVERS);
                continue;
            }
            match name_server(rest, scenario, &mut port) {
                Ok(server) => {
                    count += 1;
                    match server {
                        Ok(server) => {
                            let setting = Setting::file(server.clone(), rest.span);
                            reading.servers.push(setting);
                            servers.push(server);
                        }
                        Err(why) => {
                            unknown = unknown.max(Some(why));
                            reading.drop(rest.span, "it is no address that is known");
                        }
                    }
                }
                Err(why) => reading.drop(line.span, why),
            }
        } else if let Some(rest) = after(line, b"domain") {
            put(domain, &mut servers);
            domain = Some(rest.bytes);
        } else if let Some(rest) = after(line, b"port") {
            match number(rest.bytes) {
                Some(number) => port = number,
                None => reading.drop(line.span, "Netty does not understand it"),
            }
        }
    }
    put(domain, &mut servers);
    (found, unknown)
}

/// The server that a line names.
fn name_server(
    rest: Word<'_>,
    scenario: &Scenario,
    port: &mut u16,
) -> Result<Result<Server, Unknown>, &'static str> {
    const NOT: &str = "Netty does not understand it";
    let is_white = |byte: &u8| WHITE.contains(byte);
    let end = rest
        .bytes
        .iter()
        .position(is_white)
        .unwrap_or(rest.bytes.len());
    let (word, more) = rest.bytes.split_at(end);
    if !matches!(more.trim_ascii().first(), None | Some(b'#')) {
        return Err("Netty does not understand what follows the address");
    }
    let word = std::str::from_utf8(word).map_err(|_| NOT)?;
    if let Some(address) = address(word, scenario) {
        return Ok(Ok(Server {
            address,
            port: *port,
        }));
    }
    if ipv6(word).is_some() {
        return Ok(Err(Unknown::NoName));
    }
    // What stands behind the last dot is a port.
    let (ip, behind) = word.rsplit_once('.').ok_or(NOT)?;
    *port = number(behind.as_bytes()).ok_or(NOT)?;
    Ok(looked_up(ip, scenario).map(|address| Server {
        address,
        port: *port,
    }))
}

pub(super) fn number(bytes: &[u8]) -> Option<u16> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// An address that Java takes, too: a scope is an interface that exists.
pub(super) fn address(word: &str, scenario: &Scenario) -> Option<Address> {
    if let Some(ip) = ipv4(word) {
        return Some(IpAddr::V4(ip).into());
    }
    let (ip, scope) = ipv6(word)?;
    if let Some(ip) = ip.to_ipv4_mapped() {
        return Some(IpAddr::V4(ip).into());
    }
    match scope {
        Some(scope) if !scenario.interfaces.iter().any(|it| it == scope) => None,
        scope => Some(Address::scoped(ip.into(), scope.map(Into::into))),
    }
}

/// Fewer than four numbers, of which the last one fills the rest.
///
/// Source: OpenJDK `sun/net/util/IPAddressUtil.java: textToNumericFormatV4` (17)
pub(super) fn short(word: &str) -> Option<Ipv4Addr> {
    let numbers: Result<Vec<u32>, _> = word.split('.').map(str::parse).collect();
    let numbers = numbers.ok()?;
    let (last, first) = numbers.split_last()?;
    let mut ip = 0;
    for (at, number) in first.iter().enumerate() {
        ip |= u32::from(u8::try_from(*number).ok()?) << (24 - 8 * at.min(3));
    }
    let fits = first.len() < 4 && u64::from(*last) >> (8 * (4 - first.len())) == 0;
    fits.then(|| Ipv4Addr::from(ip | last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::netty::V4_1_48;
    use crate::scenario::file;

    fn check(text: &str, name: &str, servers: &str, search: &str, ndots: i64) {
        let mut scenario = Scenario::new("1", name);
        scenario.resolv_conf = Some(file("/etc/resolv.conf", text));
        let found = parse_silently(&scenario, V4_1_48);
        let shown = found.servers_for(name).iter().map(Server::to_string);
        assert_eq!(shown.collect::<Vec<_>>().join(" "), servers, "{text:?}");
        let domains = found.search.iter().map(|it| String::from_utf8_lossy(it));
        assert_eq!(domains.collect::<Vec<_>>().join(" "), search, "{text:?}");
        assert_eq!(found.ndots, ndots, "{text:?}");
    }

    #[test]
    fn a_file_is_read_three_times() {
        let google = "2001:4860:4860::8888 2001:4860:4860::8844";
        check("", "a", google, "", 1);
        check(
            "nameserver 10.0.0.1\nsearch a b\noptions ndots:5\n",
            "a",
            "10.0.0.1",
            "a b",
            5,
        );
        check(
            "nameserver10.0.0.1\n nameserver 10.0.0.2 # x\nsearch a\nsearch b # c\n",
            "a",
            "10.0.0.1 10.0.0.2",
            "a b # c",
            1,
        );
        check(
            "options edns0\noptions ndots:5\nnameserver 10.0.0.1 10.0.0.2",
            "a",
            "10.0.0.1",
            "",
            1,
        );
        check(
            "options ndots:5\ttimeout:1\nnameserver 10.0.0.1",
            "a",
            "10.0.0.1",
            "",
            1,
        );
        check(
            "options ndots:-1\nnameserver 10.0.0.1",
            "a",
            "10.0.0.1",
            "",
            -1,
        );
    }

    #[test]
    fn servers_have_ports_and_domains() {
        check(
            "nameserver 10.0.0.1.5353\nnameserver 10.0.0.2",
            "a",
            "10.0.0.1#5353 10.0.0.2#5353",
            "",
            1,
        );
        check("nameserver 10.96.0.300", "a", "10.96.0.0#300", "", 1);
        let text = "nameserver 10.0.0.1\ndomain a.test\nnameserver 10.0.0.2\n";
        check(text, "x.a.test", "10.0.0.2", "a.test", 1);
        check(text, "x.b.test", "10.0.0.1", "a.test", 1);
        check("nameserver 10.0.0.1:53", "a", "10.0.0.1", "", 1);
    }
}
