//! systemd-resolved: its settings, the servers of its links, and what its
//! files leave out.
//!
//! Source: `resolved.conf(5)`, `systemd-resolved.service(8)`; systemd
//! `src/resolve/resolved-conf.c`, `src/resolve/resolved-link.c:
//! link_save_user`, `src/network/networkd-state-file.c`,
//! `src/resolve/resolved-resolv-conf.c`.

pub mod reported;
mod server;
mod words;

use std::net::{IpAddr, Ipv4Addr};

use crate::address::DNS_PORT;
use crate::config::ini::{self, Entry};
use crate::config::resolv_conf::ResolvConf;
use crate::loopback;
use crate::order::Order as _;
use crate::text::{Lines, Place, Placed, Source, escaped};
use crate::topology::{MAX_TARGETS, MAX_ZONES};

pub use server::{Lost, ScopeName, server};
pub use words::{Domain, Extra, ServerWord, Stub};

/// Its file with the real servers.
pub const UPLINK_FILE: &str = "/run/systemd/resolve/resolv.conf";
/// Its file with its own address.
pub const STUB_FILE: &str = "/run/systemd/resolve/stub-resolv.conf";
/// The same as it comes with the package, under both names that it has had.
pub const STATIC_FILES: [&str; 2] = ["/usr/lib/systemd/resolv.conf", "/lib/systemd/resolv.conf"];

/// The files that tell what it does; those that are not there are left out.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// `resolved.conf`, then the drop-ins that count, in their order.
    pub settings: Vec<Source>,
    /// `/run/systemd/resolve/netif/N`, by interface number.
    pub links: Vec<(u32, Source)>,
    /// `/run/systemd/netif/links/N`, systemd-networkd's, by interface number.
    pub networkd: Vec<(u32, Source)>,
    /// [`UPLINK_FILE`].
    pub uplink: Option<ResolvConf>,
    /// `/etc/resolv.conf` where it is none of its own files.
    pub foreign: Option<ResolvConf>,
}

/// What systemd-resolved does with queries, from its files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolved {
    /// Where its stub listens.
    pub stub: Stub,
    /// The setting that says so.
    pub stub_place: Option<Place>,
    /// `DNSStubListenerExtra=`.
    pub extra: Vec<Placed<Extra>>,
    /// The servers that belong to no link: `DNS=`, or those of a foreign
    /// `/etc/resolv.conf`.
    pub global: Scope,
    /// Whether those of [`Resolved::global`] are of a foreign `/etc/resolv.conf`.
    pub is_foreign: bool,
    /// The links that have servers, by number.
    pub links: Vec<(u32, Scope)>,
    /// The zones that are delegated to servers of their own, by name.
    pub delegates: Vec<(String, Scope)>,
    /// `FallbackDNS=`; `None`: what was compiled in counts.
    pub fallback: Option<Vec<Placed<ServerWord>>>,
    /// Servers of [`UPLINK_FILE`] that are not among the others: those of
    /// links whose state is in no file.
    pub uplink: Vec<Placed<ServerWord>>,
    /// The search domains of that file that are not among the others.
    pub uplink_domains: Vec<String>,
    /// Servers of `DNS=` that are not in that file, which it writes itself:
    /// they were set after it was started, and it does not ask them.
    pub unread: Vec<Placed<ServerWord>>,
}

/// Servers and the domains that are asked there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// The servers, in order.
    pub servers: Vec<Placed<ServerWord>>,
    /// The domains, lower case, with their final dot: `corp.example.`, `.`.
    pub domains: Vec<Domain>,
    /// `DNSOverTLS`, unless it is off.
    pub dns_over_tls: Option<String>,
    /// Whether names of no domain are asked here; `None`: not set.
    pub default_route: Option<bool>,
}

/// What is `/etc/resolv.conf` to systemd-resolved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// A link to [`STUB_FILE`].
    Stub,
    /// A link to one of [`STATIC_FILES`].
    Static,
    /// A link to [`UPLINK_FILE`].
    Uplink,
    /// A file of others, which systemd-resolved reads.
    Foreign,
    /// There is no such file.
    Missing,
}

impl Mode {
    /// The mode by the path of the file at the end of all links; `None`:
    /// there is none.
    ///
    /// Source: systemd `src/resolve/resolved-resolv-conf.c: resolv_conf_mode`,
    /// which compares the files, not what is in them: 127.0.0.53 in a plain
    /// file is foreign.
    pub fn of_file(file: Option<&str>) -> Self {
        match file {
            None => Self::Missing,
            Some(STUB_FILE) => Self::Stub,
            Some(UPLINK_FILE) => Self::Uplink,
            Some(file) if STATIC_FILES.contains(&file) => Self::Static,
            Some(_) => Self::Foreign,
        }
    }

    /// The word that systemd-resolved has for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stub => "stub",
            Self::Static => "static",
            Self::Uplink => "uplink",
            Self::Foreign => "foreign",
            Self::Missing => "missing",
        }
    }
}

/// What systemd-resolved does with these files.
pub fn from_files(files: &Files) -> Resolved {
    let mut resolved = Resolved::default();
    let mut reads_foreign = true;
    for source in &files.settings {
        let lines = Lines::new(source);
        for entry in ini::entries(&source.bytes) {
            setting(source, &lines, &entry, &mut resolved, &mut reads_foreign);
        }
    }
    if let Some(foreign) = files.foreign.as_ref().filter(|_| reads_foreign) {
        resolved.global = foreign_scope(foreign);
        resolved.is_foreign = true;
    }
    resolved.links = links(files);
    if let Some(uplink) = &files.uplink {
        add_uplink(uplink, &mut resolved);
    }
    resolved
}

fn setting(
    source: &Source,
    lines: &Lines<'_>,
    entry: &Entry,
    resolved: &mut Resolved,
    reads_foreign: &mut bool,
) {
    if entry.section.slice(&source.bytes) != b"Resolve" {
        return;
    }
    let words: Vec<(&[u8], _)> = entry.words(source).take(MAX_TARGETS).collect();
    let servers = || {
        let words = words.iter();
        let servers = words.filter_map(|(word, at)| server_at(word, || lines.place_of(at.start)));
        servers.collect()
    };
    let place = || lines.place_of(entry.start());
    match entry.key.slice(&source.bytes) {
        b"DNS" => {
            *reads_foreign = false;
            assign(&mut resolved.global.servers, servers(), words.is_empty());
        }
        b"FallbackDNS" => {
            let list = resolved.fallback.get_or_insert_default();
            assign(list, servers(), words.is_empty());
        }
        b"Domains" => {
            *reads_foreign = false;
            let domains = words.iter().map(|(word, _)| Domain::parse(word)).collect();
            assign(&mut resolved.global.domains, domains, words.is_empty());
        }
        b"DNSOverTLS" => resolved.global.dns_over_tls = dns_over_tls(entry.first(source)),
        b"DNSStubListener" => {
            if let Some(stub) = Stub::parse(entry.first(source)) {
                resolved.stub = stub;
                resolved.stub_place = Some(place());
            }
        }
        b"DNSStubListenerExtra" => {
            let extra = Extra::parse(entry.first(source)).map(|value| Placed::new(value, place()));
            let new = extra.into_iter().collect();
            assign(&mut resolved.extra, new, words.is_empty());
        }
        _ => {}
    }
}

fn server_at(word: &[u8], place: impl FnOnce() -> Place) -> Option<Placed<ServerWord>> {
    Some(Placed::new(ServerWord::parse(word)?, place()))
}

/// An assignment adds to the list; an empty one empties it.
fn assign<T>(list: &mut Vec<T>, new: Vec<T>, is_empty: bool) {
    if is_empty {
        list.clear();
    }
    list.extend(new);
    list.truncate(MAX_TARGETS);
}

fn dns_over_tls(value: &[u8]) -> Option<String> {
    let is_off = matches!(value, b"" | b"no" | b"false" | b"0" | b"off" | b"n" | b"f");
    (!is_off).then(|| escaped(value))
}

/// The servers and domains of an `/etc/resolv.conf` of others.
///
/// Source: systemd `src/resolve/resolved-resolv-conf.c:
/// manager_read_resolv_conf`.
fn foreign_scope(file: &ResolvConf) -> Scope {
    let servers = loopback::name_servers(file).take(MAX_TARGETS);
    let servers =
        servers.filter_map(|(_, span)| server_at(file.bytes(span), || file.place_of(span.start)));
    let mut domains = Vec::new();
    for line in file.lines() {
        let mut words = line.words().map(|word| word.bytes);
        if matches!(words.next(), Some(b"search" | b"domain")) {
            // The last line counts.
            domains = words.map(Domain::parse).collect();
        }
    }
    Scope {
        servers: servers.collect(),
        domains,
        ..Scope::default()
    }
}

/// The links: what was set at systemd-resolved itself beats what
/// systemd-networkd has.
fn links(files: &Files) -> Vec<(u32, Scope)> {
    let own = files.links.iter().map(|(index, file)| {
        let keys = ["SERVERS", "DOMAINS", "", "DEFAULT_ROUTE", "DNSOVERTLS"];
        (*index, link(file, keys))
    });
    let networkd = files.networkd.iter().map(|(index, file)| {
        let keys = [
            "DNS",
            "DOMAINS",
            "ROUTE_DOMAINS",
            "DNS_DEFAULT_ROUTE",
            "DNS_OVER_TLS",
        ];
        (*index, link(file, keys))
    });
    let mut links: Vec<(u32, Scope)> = Vec::new();
    for (index, scope) in own.chain(networkd) {
        if !scope.servers.is_empty() && links.iter().all(|(other, _)| *other != index) {
            links.push((index, scope));
        }
    }
    links.order_by_key(|(index, _)| *index);
    links
}

/// A link's state file, with its keys for servers, search domains, route-only
/// domains, default route and DNS over TLS.
fn link(source: &Source, keys: [&str; 5]) -> Scope {
    let mut scope = Scope::default();
    let lines = Lines::new(source);
    let [servers, domains, routes, default, tls] = keys;
    for entry in ini::entries(&source.bytes) {
        let key = entry.key.slice(&source.bytes);
        let is = |name: &str| !name.is_empty() && key == name.as_bytes();
        let words = entry.words(source).take(MAX_TARGETS);
        if is(servers) {
            let servers =
                words.filter_map(|(word, at)| server_at(word, || lines.place_of(at.start)));
            scope.servers.extend(servers);
        } else if is(domains) {
            scope
                .domains
                .extend(words.map(|(word, _)| Domain::parse(word)));
        } else if is(routes) {
            let route = |(word, _): (&[u8], _)| Domain {
                route_only: true,
                ..Domain::parse(word)
            };
            scope.domains.extend(words.map(route));
        } else if is(default) {
            scope.default_route = Some(entry.first(source) == b"yes");
        } else if is(tls) {
            scope.dns_over_tls = dns_over_tls(entry.first(source));
        }
    }
    scope.servers.truncate(MAX_TARGETS);
    scope.domains.truncate(MAX_ZONES);
    scope
}

/// Whether it never asks a server with this address: its own ones.
pub(super) fn refuses(ip: IpAddr) -> bool {
    let own = [53, 54].map(|last| IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)));
    ip.is_unspecified() || own.contains(&ip)
}

/// What only the file with the real servers shows: those of links whose state
/// is in no file, and which of `DNS=` it has read.
///
/// Source: systemd `src/resolve/resolved-resolv-conf.c:
/// write_resolv_conf_server`, which leaves out servers with a port of their own.
fn add_uplink(file: &ResolvConf, resolved: &mut Resolved) {
    let found = foreign_scope(file);
    let is_read = |it: &Placed<ServerWord>| {
        let listed = found
            .servers
            .iter()
            .any(|listed| listed.value.ip == it.value.ip);
        listed || it.value.port != DNS_PORT || refuses(it.value.ip)
    };
    if !resolved.is_foreign {
        let servers = std::mem::take(&mut resolved.global.servers);
        (resolved.global.servers, resolved.unread) = servers.into_iter().partition(is_read);
    }
    let known: Vec<IpAddr> = resolved.scopes().flat_map(Scope::addresses).collect();
    let is_new = |it: &Placed<ServerWord>| !known.contains(&it.value.ip);
    resolved.uplink = found.servers.into_iter().filter(is_new).collect();
    let domains: Vec<Domain> = resolved
        .scopes()
        .flat_map(|it| it.domains.clone())
        .collect();
    let is_new = |it: &Domain| it.name != "." && domains.iter().all(|known| known.name != it.name);
    let names = found.domains.into_iter().filter(is_new);
    resolved.uplink_domains = names.map(|it| it.name).collect();
}

impl Resolved {
    /// The servers of all, of each link and of each delegated zone.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        std::iter::once(&self.global).chain(self.own_scopes())
    }

    /// Those of each link and of each delegated zone.
    fn own_scopes(&self) -> impl Iterator<Item = &Scope> {
        let links = self.links.iter().map(|(_, scope)| scope);
        links.chain(self.delegates.iter().map(|(_, scope)| scope))
    }
}

impl Scope {
    /// The addresses of its servers.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.servers.iter().map(|it| it.value.ip)
    }
}
