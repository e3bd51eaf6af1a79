//! `resolv.conf` as busybox's nslookup reads it.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use crate::address::{DNS_PORT, Server, inet_aton};
use crate::config::resolv_conf::{ResolvConf, Word};
use crate::resolver::busybox::Version;
use crate::resolver::busybox::send_queries::{RETRY, TIMEOUT};
use crate::resolver::glibc;
use crate::resolver::reading::{MAX_SERVERS, Origin, Reading, Setting, TOO_MANY_SERVERS};
use crate::scenario::Scenario;
use crate::text::Span;

/// A line is read in pieces of one byte less. Source: busybox
/// networking/nslookup.c: `parse_resolvconf` (1.35), `line`
const LINE_SIZE: usize = 512;
/// The same in 1.29.
const OLD_LINE_SIZE: usize = 128;

/// What the program keeps of the file.
#[derive(Debug)]
pub(super) struct Configuration<'a> {
    pub(super) reading: Reading<'a>,
    /// Every `nameserver`, in order, those that are no address included.
    pub(super) servers: Vec<NameServer>,
}

/// What stands behind `nameserver`.
#[derive(Debug)]
pub(super) enum NameServer {
    /// An address.
    Address(Server),
    /// A host name, and the port.
    Host(String, u16),
    /// Brackets that do not match: the program ends there.
    BadAddress,
    /// A port that is none: the program ends there.
    BadPort,
}

impl Configuration<'_> {
    /// Whether glibc sets the AD bit in what `res_mkquery` makes.
    pub(super) fn trust_ad(&self) -> bool {
        self.reading.flags.iter().any(|flag| flag.value == TRUST_AD)
    }
}

/// The one option that has an effect, because glibc reads it.
const TRUST_AD: &str = "trust-ad";

/// Source: busybox networking/nslookup.c: `parse_resolvconf` (1.35)
pub(super) fn parse_resolvconf(scenario: &Scenario, version: Version) -> Configuration<'_> {
    let is_1_29 = version == Version::V1_29;
    let size = if is_1_29 { OLD_LINE_SIZE } else { LINE_SIZE };
    let mut parser = Parser {
        is_1_29,
        reading: Reading {
            timeout: Setting::built_in(Duration::from_secs(TIMEOUT)),
            attempts: Setting::built_in(RETRY),
            ..Reading::default()
        },
        servers: Vec::new(),
        search: None,
        have_search_directive: false,
    };
    if let Some(conf) = &scenario.resolv_conf {
        for line in conf.lines() {
            for piece in pieces(conf, line.span(), size) {
                parser.line(piece);
            }
        }
    }
    let flags = glibc::reading(scenario, &glibc::V2_36).flags.into_iter();
    parser.reading.flags = flags.filter(|flag| flag.value == TRUST_AD).collect();
    parser.finish(scenario)
}

/// The C strings that `fgets` makes of a line.
fn pieces(conf: &ResolvConf, line: Span, size: usize) -> impl Iterator<Item = Word<'_>> {
    let start = line.start as usize;
    let chunks = conf.bytes(line).chunks(size - 1);
    chunks.enumerate().map(move |(index, chunk)| {
        let start = start + index * (size - 1);
        let bytes = chunk.split(|&byte| byte == 0).next().unwrap_or_default();
        Word {
            bytes,
            span: Span::new(start, start + bytes.len()),
        }
    })
}

struct Parser<'a> {
    is_1_29: bool,
    reading: Reading<'a>,
    servers: Vec<NameServer>,
    search: Option<Word<'a>>,
    have_search_directive: bool,
}

impl<'a> Parser<'a> {
    fn line(&mut self, line: Word<'a>) {
        let Some(keyword) = line.split(b" \t").next() else {
            return;
        };
        let is_comment = matches!(keyword.bytes.first(), Some(b'#' | b';'));
        // One byte behind the keyword is its end; the rest is the value,
        // blanks included.
        let value_start = keyword.span.end as usize + 1 - line.span.start as usize;
        let value = line.bytes.get(value_start..).unwrap_or_default();
        if value.is_empty() {
            if !is_comment {
                self.reading
                    .drop(keyword.span, "nothing follows the keyword");
            }
            return;
        }
        let value = Word {
            bytes: value,
            span: Span::new(keyword.span.end as usize + 1, line.span.end as usize),
        };
        match keyword.bytes {
            b"domain" | b"search" if self.is_1_29 => {
                let why = "busybox nslookup 1.29 has no search list";
                self.reading.drop(trimmed(value), why);
            }
            b"nameserver" if self.is_1_29 => {
                if let Some(word) = value.split(b" \t").next() {
                    self.nameserver(word);
                }
            }
            b"domain" if self.have_search_directive => {
                let why = "a `search` before it counts instead";
                self.reading.drop(trimmed(value), why);
            }
            b"domain" => self.set_search(value),
            b"search" => {
                self.have_search_directive = true;
                self.set_search(value);
            }
            b"nameserver" => self.nameserver(value),
            _ if is_comment => {}
            b"options" => self.options(value),
            _ => {
                let why = "busybox nslookup does not know this keyword";
                self.reading.drop(keyword.span, why);
            }
        }
    }

    fn set_search(&mut self, value: Word<'a>) {
        if let Some(before) = self.search.replace(value) {
            let why = "a later `domain` or `search` replaces it";
            self.reading.drop(trimmed(before), why);
        }
    }

    fn nameserver(&mut self, value: Word<'a>) {
        if self.servers.len() >= MAX_SERVERS {
            return self.reading.drop(trimmed(value), TOO_MANY_SERVERS);
        }
        let server = str2sockaddr(value.bytes);
        match &server {
            NameServer::Address(server) => {
                let server = Setting::file(server.clone(), trimmed(value));
                self.reading.servers.push(server);
            }
            NameServer::Host(..) => {
                let why = "it is not an address: it is looked up as a host name first, \
                           and the program ends if there is none";
                self.reading.drop(value.span, why);
            }
            NameServer::BadAddress | NameServer::BadPort => {
                let why = "it is no address with a port, so the program ends";
                self.reading.drop(value.span, why);
            }
        }
        self.servers.push(server);
    }

    fn options(&mut self, value: Word<'a>) {
        for option in value.split(b" \t\r") {
            if option.bytes != TRUST_AD.as_bytes() {
                let why = "busybox nslookup reads no options";
                self.reading.drop(option.span, why);
            }
        }
    }

    fn finish(self, scenario: &'a Scenario) -> Configuration<'a> {
        let mut reading = self.reading;
        let file = self.search.map(|search| (search.bytes, Some(search.span)));
        let own = || {
            let hostname = scenario.hostname.as_bytes();
            let dot = hostname.iter().position(|&byte| byte == b'.')?;
            Some((hostname.get(dot + 1..)?, None))
        };
        if let Some((search, span)) = file.or_else(own)
            && search != b"."
            && !self.is_1_29
        {
            reading.search = domains(search, span);
        }
        if self.servers.is_empty() {
            let local = Server::from(IpAddr::from([127, 0, 0, 1]));
            reading.servers.push(Setting::built_in(local));
        }
        Configuration {
            reading,
            servers: self.servers,
        }
    }
}

/// The span of a value without the blanks around it.
fn trimmed(value: Word<'_>) -> Span {
    let start =
        value.span.start as usize + value.bytes.len() - value.bytes.trim_ascii_start().len();
    Span::new(start, start + value.bytes.trim_ascii().len())
}

/// The domains of the list: the text before the first blank, however empty,
/// then one for each further word.
///
/// Source: busybox networking/nslookup.c: `add_query_with_search` (1.35)
fn domains(search: &[u8], span: Option<Span>) -> Vec<Setting<Cow<'_, [u8]>>> {
    let mut domains = Vec::new();
    let mut at = 0;
    loop {
        let rest = search.get(at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| is_space(byte));
        let length = length.unwrap_or(rest.len());
        let domain = rest.get(..length).unwrap_or_default();
        domains.push(Setting {
            value: Cow::Borrowed(domain),
            origin: match span {
                Some(span) => {
                    let start = span.start as usize + at;
                    Origin::File(Span::new(start, start + length))
                }
                None => Origin::HostName,
            },
        });
        let blanks = rest.iter().skip(length).take_while(|&&byte| is_space(byte));
        at += length + blanks.count();
        if at >= search.len() {
            return domains;
        }
    }
}

/// An address or a host name, with or without a port.
///
/// Source: busybox libbb/xconnect.c: `str2sockaddr` (1.35)
fn str2sockaddr(text: &[u8]) -> NameServer {
    let Some((host, port)) = split_port(text) else {
        return NameServer::BadAddress;
    };
    let port = match port {
        None => DNS_PORT,
        Some(port) => match bb_strtou(port) {
            Some(port) => port,
            None => return NameServer::BadPort,
        },
    };
    // glibc's inet_aton looks at nothing behind white space.
    let end = host.iter().position(|&byte| is_space(byte));
    let v4 = inet_aton(host.get(..end.unwrap_or(host.len())).unwrap_or_default());
    let text = std::str::from_utf8(host);
    let v6 = || text.ok()?.parse::<Ipv6Addr>().ok();
    let address = v4.map(IpAddr::from).or_else(|| v6().map(IpAddr::from));
    match address {
        Some(ip) => NameServer::Address(Server {
            address: ip.into(),
            port,
        }),
        // Scenarios have no names of bytes that are not UTF-8.
        None => NameServer::Host(String::from_utf8_lossy(host).into_owned(), port),
    }
}

/// The host and the text of the port; `None` if brackets do not match.
fn split_port(text: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    if let Some(text) = text.strip_prefix(b"[") {
        let end = text.iter().position(|&byte| byte == b']')?;
        let (host, rest) = text.split_at_checked(end)?;
        return match rest {
            [b']'] => Some((host, None)),
            [b']', b':', port @ ..] => Some((host, Some(port))),
            _ => None,
        };
    }
    let mut parts = text.split(|&byte| byte == b':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(host), Some(port), None) => Some((host, Some(port))),
        _ => Some((text, None)),
    }
}

/// Source: busybox `libbb/bb_strtonum.c`: `bb_strtou` (1.35), base 10
fn bb_strtou(text: &[u8]) -> Option<u16> {
    let digits = text.first()?.is_ascii_digit();
    let text = std::str::from_utf8(text).ok()?;
    digits.then(|| text.parse().ok()).flatten()
}

/// C's `isspace`.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::file;

    fn check(text: &str, servers: &str, search: &[&str]) {
        let scenario = Scenario {
            resolv_conf: Some(file("/etc/resolv.conf", text)),
            hostname: "pod.own.test".to_owned(),
            ..Scenario::new("1", "a")
        };
        let configuration = parse_resolvconf(&scenario, Version::V1_35);
        assert_eq!(format!("{:?}", list(&configuration)), servers, "{text:?}");
        let domains = configuration.reading.search.iter();
        let domains: Vec<_> = domains.map(|domain| &*domain.value).collect();
        let expected: Vec<_> = search.iter().map(|domain| domain.as_bytes()).collect();
        assert_eq!(domains, expected, "{text:?}");
    }

    fn list(configuration: &Configuration<'_>) -> Vec<String> {
        let servers = configuration.servers.iter();
        let show = |server: &NameServer| match server {
            NameServer::Address(server) => server.to_string(),
            NameServer::Host(host, port) => format!("?{host}:{port}"),
            NameServer::BadAddress | NameServer::BadPort => "!".to_owned(),
        };
        servers.map(show).collect()
    }

    #[test]
    fn search_lists_keep_the_blanks_that_were_doubled() {
        check("search a b \n", "[]", &["a", "b"]);
        check("search  a\tb\r\n", "[]", &["", "a", "b"]);
        check("domain a\nsearch b\ndomain c\n", "[]", &["b"]);
        check("search .\n", "[]", &[]);
        check("search\n", "[]", &["own.test"]);
    }

    #[test]
    fn servers_are_addresses_names_or_the_end() {
        check("nameserver 10.1 # x\n", r#"["10.0.0.1"]"#, &["own.test"]);
        check("nameserver 10.0.0.1\r\n", r#"["10.0.0.1"]"#, &["own.test"]);
        check(
            "nameserver  10.0.0.1\n",
            r#"["? 10.0.0.1:53"]"#,
            &["own.test"],
        );
        check(
            "nameserver [fd00::1]:99\n",
            r#"["fd00::1#99"]"#,
            &["own.test"],
        );
        check("nameserver fd00::1\n", r#"["fd00::1"]"#, &["own.test"]);
        check("nameserver dns:5x\n", r#"["!"]"#, &["own.test"]);
        check("nameserver [fd00::1\n", r#"["!"]"#, &["own.test"]);
    }
}
