//! What resolved takes from the configuration.
//!
//! Source: systemd `src/resolve/resolved-resolv-conf.c`, `resolved-conf.c`,
//! `resolved-dns-search-domain.c`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use crate::address::{Address, DNS_PORT, Server};
use crate::config::resolv_conf::ResolvConf;
use crate::name::Name;
use crate::resolver::reading::{MAX_SEARCH, Reading, Setting, TOO_MANY_DOMAINS};
use crate::resolver::resolved::Version;
use crate::resolver::resolved::dns_domain::{dns_name_is_root, dns_name_normalize, escaped};
use crate::resolver::resolved::etc_hosts::{EtcHosts, etc_hosts_parse};
use crate::resolver::resolved::synthesize::Hostnames;
use crate::resolver::resolved::transaction::{TRANSACTION_ATTEMPTS_MAX, TRANSACTION_UDP_TIMEOUT};
use crate::resolver::resolved::words::{
    Extracted, Flags, Piece, extract_first_word, in_addr_port_ifindex_name_from_string_auto, lines,
};
use crate::scenario::{Scenario, file};
use crate::text::Span;

/// Source: `resolved-manager.h: MANAGER_SEARCH_DOMAINS_MAX`, `MANAGER_DNS_SERVERS_MAX`.
const SEARCH_DOMAINS_MAX: usize = 256;
const DNS_SERVERS_MAX: usize = 256;
/// The domains that programs see before 247. Source: `MAXDNSRCH`, `write_resolv_conf_search` (245).
const OLD_MAX_SEARCH: usize = 6;
const OLD_MAX_SEARCH_LENGTH: usize = 256;
/// The port of DNS over TLS, which counts as none.
const DNS_OVER_TLS_PORT: u16 = 853;
/// The stub listener and the proxy listener.
///
/// Source: `resolved-def.h: INADDR_DNS_STUB`, `INADDR_DNS_PROXY_STUB`.
const OWN_LISTENERS: [Ipv4Addr; 2] = [Ipv4Addr::new(127, 0, 0, 53), Ipv4Addr::new(127, 0, 0, 54)];

/// A search domain, or one that only says where names below it go.
///
/// Source: `DnsSearchDomain`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct SearchDomain {
    /// Its name.
    pub name: Name,
    /// It is written with a `~`, or is the root: never put behind a name.
    pub route_only: bool,
    span: Span,
}

/// Everything that is configured.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    /// Servers and domains.
    pub file: Arc<Settings>,
    /// `/etc/hosts`.
    pub etc_hosts: Arc<EtcHosts>,
    /// The names of this machine.
    pub hostnames: Hostnames,
}

/// Servers and domains.
#[derive(Debug)]
pub(super) struct Settings {
    /// Whether a server can have no port yet.
    is_before_247: bool,
    /// What people see of it.
    pub reading: Reading<'static>,
    /// All domains, in order, those for routing only as well.
    pub search_domains: Vec<SearchDomain>,
    /// Where each stands there, by its name in lower case, in wire format.
    known_domains: BTreeMap<Vec<u8>, usize>,
}

/// What is made of a file by [`manager_read_resolv_conf`], and by [`resolved_conf`].
struct FromResolvConf(Arc<Settings>);
struct FromResolvedConf(Arc<Settings>);

impl Configuration {
    /// Where programs ask nss-resolve.
    pub(super) fn from_resolv_conf(scenario: &Scenario, version: Version) -> Self {
        Self::new(scenario, |file| {
            if version.is_before_247 {
                return Arc::new(manager_read_resolv_conf(file, true));
            }
            let read = || FromResolvConf(Arc::new(manager_read_resolv_conf(file, false)));
            Arc::clone(&file.made.once(read).0)
        })
    }

    /// Where programs ask the stub listener.
    pub(super) fn from_resolved_conf(scenario: &Scenario, version: Version) -> Self {
        Self::new(scenario, |file| {
            if version.is_before_247 {
                return Arc::new(resolved_conf(file, true));
            }
            let read = || FromResolvedConf(Arc::new(resolved_conf(file, false)));
            Arc::clone(&file.made.once(read).0)
        })
    }

    fn new(scenario: &Scenario, read: impl FnOnce(&ResolvConf) -> Arc<Settings>) -> Self {
        Self {
            file: match &scenario.resolv_conf {
                Some(file) => read(file),
                None => read(&ResolvConf::default()),
            },
            etc_hosts: etc_hosts_parse(scenario.hosts.as_ref()),
            hostnames: Hostnames::new(&scenario.hostname),
        }
    }
}

/// Reads `/etc/resolv.conf`, a file that is not resolved's own.
///
/// Source: `manager_read_resolv_conf`.
fn manager_read_resolv_conf(file: &ResolvConf, is_before_247: bool) -> Settings {
    let mut settings = Settings::new(is_before_247);
    for line in lines(&file.source.bytes) {
        let line = line.strip();
        if matches!(line.bytes.first(), None | Some(b'#' | b';')) {
            continue;
        }
        if let Some(servers) = line.first_word("nameserver") {
            settings.parse_dns_servers(servers);
        } else if let Some(domains) = line
            .first_word("domain")
            .or_else(|| line.first_word("search"))
        {
            settings.parse_search_domains(domains);
        } else {
            settings.drop_line(line);
        }
    }
    settings.finish()
}

/// Reads the file's servers and domains as if they stood in `resolved.conf`,
/// where a machine with the stub listener has them: a server from each
/// `nameserver` line, the domains from the last `search` or `domain` line.
///
/// Source: `src/shared/conf-parser.c: parse_line` for what is not UTF-8.
fn resolved_conf(file: &ResolvConf, is_before_247: bool) -> Settings {
    let mut settings = Settings::new(is_before_247);
    let mut domains: Option<Piece<'_>> = None;
    for line in file.lines() {
        let piece = Piece {
            bytes: line.bytes(),
            offset: line.span().start as usize,
        };
        // What stands behind a NUL byte is a line of its own, which sets nothing.
        let line = piece.until_nul().strip();
        if let Some(server) = line.first_word("nameserver") {
            settings.parse_dns_servers(server.first());
        } else if let Some(list) = line
            .first_word("domain")
            .or_else(|| line.first_word("search"))
        {
            if !list.bytes.is_empty()
                && let Some(before) = domains.replace(list)
            {
                let why = "a later `search` or `domain` line replaces it";
                settings.reading.drop(before.span(), why);
            }
        } else if !matches!(line.bytes.first(), None | Some(b'#' | b';')) {
            settings.drop_line(line);
        }
    }
    match domains {
        Some(domains) if std::str::from_utf8(domains.bytes).is_err() => {
            let why = "systemd reads no line that is not UTF-8";
            settings.reading.drop(domains.span(), why);
        }
        Some(domains) => settings.parse_search_domains(domains),
        None => {}
    }
    settings.finish()
}

impl Settings {
    fn new(is_before_247: bool) -> Self {
        let reading = Reading {
            timeout: Setting::built_in(TRANSACTION_UDP_TIMEOUT),
            attempts: Setting::built_in(TRANSACTION_ATTEMPTS_MAX),
            ..Reading::default()
        };
        Self {
            is_before_247,
            reading,
            search_domains: Vec::new(),
            known_domains: BTreeMap::new(),
        }
    }

    fn finish(mut self) -> Self {
        let searched = self.search_domains.iter().filter(|it| !it.route_only);
        self.reading.search = searched
            .map(|domain| {
                let text = Cow::Owned(escaped(&domain.name).into_bytes());
                Setting::file(text, domain.span)
            })
            .collect();
        self
    }

    fn drop_line(&mut self, line: Piece<'_>) {
        let options = line.first_word("options").is_some();
        let why = if options {
            "systemd-resolved reads no options"
        } else {
            "systemd-resolved does not know this line"
        };
        self.reading.drop(line.span(), why);
    }

    /// Source: `manager_parse_dns_server_string_and_warn`.
    fn parse_dns_servers(&mut self, mut text: Piece<'_>) {
        loop {
            match extract_first_word(&mut text, Flags::default()) {
                Ok(Some(word)) => self.add_dns_server(&word),
                Ok(None) => return,
                Err(_) => return self.reading.drop(text.span(), "it ends in a backslash"),
            }
        }
    }

    /// Source: `manager_add_dns_server_by_string`.
    fn add_dns_server(&mut self, word: &Extracted<'_>) {
        let address = in_addr_port_ifindex_name_from_string_auto(&word.text);
        let Some(address) = address.filter(|it| !(self.is_before_247 && it.port.is_some())) else {
            return self.reading.drop(word.span, "it is no address");
        };
        let own = |ip: &Ipv4Addr| address.ip == IpAddr::V4(*ip);
        if address.ip.is_unspecified() || OWN_LISTENERS.iter().any(own) {
            let why = "systemd-resolved does not ask itself";
            return self.reading.drop(word.span, why);
        }
        let port = address
            .port
            .filter(|&port| port != DNS_OVER_TLS_PORT)
            .unwrap_or(DNS_PORT);
        let server = Server {
            address: Address::scoped(address.ip, address.scope),
            port,
        };
        if self.reading.servers.iter().any(|it| it.value == server) {
            self.reading
                .drop(word.span, "the server stands there already");
        } else if self.reading.servers.len() >= DNS_SERVERS_MAX {
            self.reading.drop(word.span, "only 256 servers are used");
        } else {
            self.reading.servers.push(Setting::file(server, word.span));
        }
    }

    /// Source: `manager_parse_search_domains_and_warn`.
    fn parse_search_domains(&mut self, mut text: Piece<'_>) {
        let flags = Flags {
            unquote: true,
            relax: false,
        };
        for index in 0.. {
            let rest = text.span();
            match extract_first_word(&mut text, flags) {
                Ok(Some(_)) if index >= MAX_SEARCH => {
                    return self.reading.drop(rest, TOO_MANY_DOMAINS);
                }
                Ok(Some(word)) => self.add_search_domain(&word),
                Ok(None) => return,
                Err(_) => {
                    let why = "a quote or a backslash stands alone in it";
                    return self.reading.drop(text.span(), why);
                }
            }
        }
    }

    /// Source: `manager_add_search_domain_by_string`, `dns_search_domain_new`.
    fn add_search_domain(&mut self, word: &Extracted<'_>) {
        let (mut route_only, text) = match word.text.strip_prefix(b"~") {
            Some(text) => (true, text),
            None => (false, &*word.text),
        };
        let everything = text == b"*";
        let name = if everything {
            Some(Name::root())
        } else {
            dns_name_normalize(text)
        };
        let Some(name) = name else {
            return self.reading.drop(word.span, "it is no name");
        };
        route_only |= dns_name_is_root(&name);
        if route_only {
            let why = "it only says where names below it go";
            self.reading.drop(word.span, why);
        }
        let full = self.search_domains.len() >= SEARCH_DOMAINS_MAX;
        let lower = name.as_wire().to_ascii_lowercase();
        let known = self.known_domains.get(&lower);
        match known.and_then(|&at| self.search_domains.get_mut(at)) {
            Some(domain) => {
                domain.route_only = route_only;
                self.reading
                    .drop(word.span, "the domain stands there already");
            }
            None if full => self.reading.drop(word.span, "only 256 domains are used"),
            None => {
                self.known_domains.insert(lower, self.search_domains.len());
                self.search_domains.push(SearchDomain {
                    name,
                    route_only,
                    span: word.span,
                });
            }
        }
    }
}

/// The file that programs see where resolved has the stub listener.
///
/// Source: `write_stub_resolv_conf_contents`, `write_resolv_conf_search`.
pub(super) fn stub_resolv_conf(settings: &Settings, version: Version) -> ResolvConf {
    let searched = settings.search_domains.iter().filter(|it| !it.route_only);
    let mut domains: Vec<String> = searched.map(|domain| escaped(&domain.name)).collect();
    if version.is_before_247 {
        let mut length = 0;
        let fits = |it: &&String| {
            length += it.len() + 1;
            length <= OLD_MAX_SEARCH_LENGTH
        };
        let kept = domains.iter().take(OLD_MAX_SEARCH).take_while(fits).count();
        domains.truncate(kept);
    } else if domains.is_empty() {
        domains.push(".".to_owned());
    }
    let options = if version.is_before_247 {
        "edns0"
    } else {
        "edns0 trust-ad"
    };
    let mut text = format!("nameserver 127.0.0.53\noptions {options}\n");
    if !domains.is_empty() {
        text.push_str(&format!("search {}\n", domains.join(" ")));
    }
    file("/run/systemd/resolve/stub-resolv.conf", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_256_servers_and_256_domains_at_most() {
        for (count, kept) in [(255, 255), (256, 256), (257, 256)] {
            let line =
                |it: u32| format!("nameserver 10.1.{}.{}\nsearch d{it}\n", it / 100, it % 100);
            let text: String = (1..=count).map(line).collect();
            let reading = manager_read_resolv_conf(&file("/etc/resolv.conf", text), false).reading;
            assert_eq!((reading.servers.len(), reading.search.len()), (kept, kept));
        }
    }
}
