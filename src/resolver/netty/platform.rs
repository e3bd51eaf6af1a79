//! The servers where Netty finds none in the file.

use std::net::{IpAddr, Ipv6Addr};

use crate::address::{Address, DNS_PORT, Server};
use crate::config::resolv_conf::{ResolvConf, Word};
use crate::resolver::netty::BOTH;
use crate::resolver::netty::hosts::{addresses, ipv4, ipv6};
use crate::resolver::netty::read::{address, after, lines, number, short};
use crate::resolver::reading::MAX_SERVERS;
use crate::scenario::Scenario;
use crate::text::Span;

/// Google's, which are asked where no other server is known.
///
/// Source: `DefaultDnsServerAddressStreamProvider.java` (4.1.48), for an interface `lo` with `::1`
pub(super) const GOOGLE: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8888),
    Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8844),
];
/// Source: OpenJDK `sun/net/dns/ResolverConfigurationImpl.java: loadConfig` (17)
const MAX_PLATFORM_SERVERS: usize = 5;

/// What stands behind `nameserver`, and its server.
pub(super) type Servers<'a> = Vec<(Word<'a>, Result<Server, Unknown>)>;

/// No address of it is known.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Unknown {
    /// It has none.
    NoName,
    /// The C library may have one.
    Name,
}

/// What the JDK finds where Netty finds no server: words that it makes URIs of,
/// and of these Netty takes the hosts.
///
/// Source: OpenJDK `sun/net/dns/ResolverConfigurationImpl.java: resolvconf` (17),
/// Netty `DirContextUtils.java: addNameServers` (4.1.48)
pub(super) fn platform_servers<'a>(file: &'a ResolvConf, scenario: &Scenario) -> Servers<'a> {
    let words = lines(file).filter_map(|line| {
        let rest = line.bytes.strip_prefix(b"nameserver")?;
        let is_blank = matches!(rest.first(), Some(b' ' | b'\t'));
        is_blank.then(|| line.split(b" \t").nth(1))
    });
    let mut servers = Servers::new();
    for word in words.take(MAX_PLATFORM_SERVERS).flatten() {
        let text = std::str::from_utf8(word.bytes).unwrap_or_default();
        let has_no_interface = ipv6(text).is_some() && address(text, scenario).is_none();
        let Some((host, port)) = uri(text) else {
            continue;
        };
        let address = match host {
            _ if has_no_interface => Err(Unknown::NoName),
            Host::Ip(ip) => Ok(ip.into()),
            Host::Name(name) => looked_up(name, scenario),
        };
        servers.push((word, address.map(|address| Server { address, port })));
    }
    servers
}

/// What else follows `nameserver` where Netty finds no server: up to `#`, an address as Java reads it.
///
/// Source: Netty `ResolvConf.java` (4.1.108)
pub(super) fn own_servers<'a>(file: &'a ResolvConf, scenario: &Scenario) -> Servers<'a> {
    let rests = lines(file).filter_map(|line| {
        let span = Span::trimmed(line.bytes, line.span.start as usize);
        let bytes = line.bytes.trim_ascii();
        let rest = after(Word { bytes, span }, b"nameserver")?;
        let address = rest.bytes.split(|&byte| byte == b'#').next()?;
        let text = std::str::from_utf8(address.trim_ascii()).ok()?;
        (!text.is_empty()).then_some((text, rest))
    });
    let server = |text| looked_up(text, scenario).map(Server::from);
    let found = rests
        .take(MAX_SERVERS)
        .map(|(text, rest)| (rest, server(text)));
    found.collect()
}

/// The address that Java has for a text: that of a name is known from the hosts file alone.
///
/// Source: OpenJDK `java/net/InetAddress.java: getByName` (17)
pub(super) fn looked_up(text: &str, scenario: &Scenario) -> Result<Address, Unknown> {
    let known = address(text, scenario).or_else(|| Some(IpAddr::V4(short(text)?).into()));
    let in_hosts = || Some(addresses(scenario, text, BOTH).first()?.ip.into());
    let no_name = |it: char| it.is_whitespace() || matches!(it, ':' | '%');
    let is_name = !text.contains(no_name) && text.contains(char::is_alphabetic);
    known.or_else(in_hosts).ok_or(if is_name {
        Unknown::Name
    } else {
        Unknown::NoName
    })
}

enum Host<'w> {
    Ip(IpAddr),
    /// It is looked up.
    Name(&'w str),
}

/// Host and port of `dns://WORD`, as far as it has them: what stands behind `/`,
/// `?` or `#` is no part of them.
///
/// Source: OpenJDK `java/net/URI.java: Parser.parseServer` (17)
fn uri(word: &str) -> Option<(Host<'_>, u16)> {
    // One that has colons and nothing else is an IPv6 address.
    let has = |it: char| word.contains(it);
    if has(':') && !has('.') && !has('[') && !has(']') {
        return uri(&format!("[{word}]")).map(|(host, port)| match host {
            Host::Ip(ip) => (Host::Ip(ip), port),
            Host::Name(_) => (Host::Name(word), port),
        });
    }
    let text = word;
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let (authority, behind) = text.split_at(end);
    let is_of_uri = |it: char| it.is_ascii_alphanumeric() || URI.contains(it) || !it.is_ascii();
    let is_escape = |it: &str| {
        let digits = it.as_bytes().get(..2);
        digits.is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit))
    };
    // There is one fragment only.
    if !behind.chars().all(is_of_uri)
        || behind.matches('#').count() > 1
        || !behind.split('%').skip(1).all(is_escape)
    {
        return None;
    }
    let host_and_port = authority.split_once('@').map_or(authority, |it| it.1);
    let after = host_and_port.find(']').map_or(0, |at| at + 1);
    let colon = host_and_port.get(after..)?.find(':').map(|at| after + at);
    let (host, port) = match colon {
        Some(at) => (host_and_port.get(..at)?, host_and_port.get(at + 1..)?),
        None => (host_and_port, ""),
    };
    let port = match port {
        "" => DNS_PORT,
        digits => number(digits.as_bytes()).filter(|_| !digits.starts_with('+'))?,
    };
    if host.starts_with('[') {
        let ip = ipv6(host)?.0;
        let ip = ip.to_ipv4_mapped().map_or(ip.into(), IpAddr::V4);
        return Some((Host::Ip(ip), port));
    }
    // A number alone is an address, too.
    let number = || short(host).filter(|_| !host.contains('.'));
    match ipv4(host).or_else(number) {
        Some(ip) => Some((Host::Ip(ip.into()), port)),
        None => is_host_name(host).then_some((Host::Name(host), port)),
    }
}

/// What a URI has beside letters and digits; `%` begins an escaped byte.
const URI: &str = "-_.!~*'()%;/?:@&=+$,[]#";

/// Whether a URI can have such a host name: of several labels the last one begins
/// with a letter.
///
/// Source: OpenJDK `java/net/URI.java: Parser.parseHostname` (17)
fn is_host_name(host: &str) -> bool {
    let is_alphanumeric = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    let is_label = |label: &str| {
        let mut all = label.chars();
        all.all(|it| it.is_ascii_alphanumeric() || it == '-')
            && is_alphanumeric(label.chars().next())
            && is_alphanumeric(label.chars().next_back())
    };
    let labels = host.strip_suffix('.').unwrap_or(host);
    let last = labels.rsplit_once('.').map(|it| it.1);
    let is_last = last.is_none_or(|it| it.starts_with(|it: char| it.is_ascii_alphabetic()));
    is_last && labels.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::netty::read::parse_silently;
    use crate::resolver::netty::{V4_1_48, V4_1_101, V4_1_118};
    use crate::resolver::reading::Unused;
    use crate::scenario::file;

    fn check(word: &str, expected: &str) {
        let found = match uri(word) {
            Some((Host::Ip(ip), port)) => format!("{ip} {port}"),
            Some((Host::Name(_), port)) => format!("name {port}"),
            None => String::new(),
        };
        assert_eq!(found, expected, "{word}");
    }

    #[test]
    fn a_word_is_the_host_of_a_uri() {
        check("10.96.0.12#53", "10.96.0.12 53");
        check("10.96.0.12/24", "10.96.0.12 53");
        check("10.96.0.12:5353", "10.96.0.12 5353");
        check("10.96.0.12:", "10.96.0.12 53");
        check("a@10.96.0.12#x", "10.96.0.12 53");
        check("fd00::10", "fd00::10 53");
        check("[fd00::10]:5353", "fd00::10 5353");
        check("fe80::1%eth0", "fe80::1 53");
        check("dns.example", "name 53");
        check("dns", "name 53");
        check("0x0a60000c", "name 53");
        check("173015052", "10.80.0.12 53");
        for word in [
            "",
            "#53",
            "10.96.0.300",
            "10.96.0.12#5#3",
            "10.96.0.12#\"",
            "10.96.0.12/%zz",
            "10.96.0.12.",
            "127.1",
            "a_b",
            "a-.b",
            "a@b@10.0.0.1",
            "[10.96.0.12]:53",
            "10.96.0.12:+5",
            "10.96.0.12:x",
            "10.96.0.12,10.96.0.13",
            "::ffff:10.96.0.10",
            "fd00::10#53",
            "]",
            "[",
            "@",
            "é.example",
        ] {
            check(word, "");
        }
    }

    /// Words with which no resolver can be made, by whether the C library may have an address.
    #[test]
    fn a_name_is_not_known_to_have_no_address() {
        for (text, version, servers, refusing) in [
            ("nameserver known.test", V4_1_48, "10.0.0.1", None),
            ("nameserver known.test", V4_1_118, "10.0.0.1", None),
            ("nameserver known.test.53", V4_1_118, "10.0.0.1", None),
            ("nameserver dns.test", V4_1_48, "", Some(Unknown::Name)),
            ("nameserver dns.test", V4_1_118, "", Some(Unknown::Name)),
            ("nameserver 10.0.0.1:53", V4_1_101, "10.0.0.1", None),
            (
                "nameserver 10.0.0.1:53",
                V4_1_118,
                "",
                Some(Unknown::NoName),
            ),
            (
                "nameserver dns.test\nnameserver a b",
                V4_1_118,
                "",
                Some(Unknown::NoName),
            ),
        ] {
            let mut scenario = Scenario::new("1", "a");
            scenario.resolv_conf = Some(file("/etc/resolv.conf", text));
            scenario.hosts = Some(file("/etc/hosts", "10.0.0.1 known.test\n"));
            let found = parse_silently(&scenario, version);
            assert_eq!(found.refusing.map(|it| it.0), refusing, "{text}");
            assert_eq!(found.reading.dropped, Unused::default(), "{text}");
            if refusing.is_none() {
                let shown = found.servers_for("a").iter().map(Server::to_string);
                assert_eq!(shown.collect::<Vec<_>>(), [servers], "{text}");
            }
        }
    }
}
