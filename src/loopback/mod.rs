//! What a name server on a loopback or link-local address is, and where it
//! leads.
//!
//! A resolver that sends to 127.0.0.53 has not said who answers. The address
//! alone allows a guess; the file's comments and links, and the files that
//! local servers keep, can confirm it. Nothing is read here: see [`wanted`]
//! for what to read first.

pub mod owners;

use std::net::IpAddr;

use crate::address::{Address, inet_aton};
use crate::config::resolv_conf::{Line, ResolvConf};
use crate::loopback::owners::Owner;
use crate::text::Span;

/// What was found beside the file that lists a server.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Evidence {
    /// Absolute paths that the links of the file lead to, in order.
    pub links: Vec<String>,
    /// The files of [`wanted`] that are there, named by their path.
    pub files: Vec<ResolvConf>,
}

/// A name server, who it probably is, and where it leads.
#[derive(Clone, Debug, PartialEq)]
pub struct Lead {
    /// The address as written.
    pub address: IpAddr,
    /// Who usually has it.
    pub owner: &'static Owner,
    /// What confirms that; if empty, it is a guess from the address alone.
    pub confirmed_by: Vec<Confirmation>,
    /// Its own servers, if they were found.
    pub upstream: Option<Upstream>,
}

/// What confirms who a server is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Confirmation {
    /// A comment in the file that lists it, at this `FILE:LINE`.
    Header(String),
    /// A link that leads to this file.
    Link(String),
    /// A file that only this owner keeps.
    File(String),
}

/// The servers that a local server forwards to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Upstream {
    /// The file that lists them.
    pub file: String,
    /// The first [`MAX_UPSTREAM`] servers, in file order; never empty.
    pub servers: Vec<Listed>,
    /// How many more the file has.
    pub more: usize,
}

/// So many servers behind a local one are listed: its file can be a stranger's.
pub const MAX_UPSTREAM: usize = 100;

/// A server and where it is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listed {
    /// Its address.
    pub address: IpAddr,
    /// `FILE:LINE:COLUMN`.
    pub place: String,
}

/// The name servers of a file that are addresses, in order, repeats kept.
/// Scopes are left out. Lines count as they do for the most lenient reader.
pub fn name_servers(conf: &ResolvConf) -> impl Iterator<Item = (IpAddr, Span)> {
    conf.lines().filter_map(|line| {
        let mut words = line.words();
        let keyword = words.next()?;
        let word = words.next().filter(|_| keyword.bytes == b"nameserver")?;
        Some((parse_address(word.bytes)?, word.span))
    })
}

fn parse_address(bytes: &[u8]) -> Option<IpAddr> {
    if let Some(ip) = inet_aton(bytes) {
        return Some(ip.into());
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let (ip, _scope) = text.split_once('%').unwrap_or((text, ""));
    ip.parse().ok()
}

/// The files that could tell where the servers of `conf` lead, absolute
/// paths. Empty if all of them are ordinary servers.
pub fn wanted(conf: &ResolvConf) -> Vec<&'static str> {
    let mut files = Vec::new();
    for (address, _) in name_servers(conf) {
        for owner in owners::possible(reached(address)) {
            for file in owner.upstream_files {
                if !files.contains(file) {
                    files.push(*file);
                }
            }
        }
    }
    files
}

/// Whether somebody of the table can have the address: it is no ordinary server.
pub fn is_local(address: IpAddr) -> bool {
    owners::possible(reached(address)).next().is_some()
}

/// Who the server at `address`, listed in `conf`, is, and where it leads;
/// `None` if it is an ordinary server.
pub fn lead(address: IpAddr, conf: &ResolvConf, evidence: &Evidence) -> Option<Lead> {
    let mut best: Option<Lead> = None;
    for owner in owners::possible(reached(address)) {
        let confirmed_by = confirmations(owner, conf, evidence);
        let is_better = |best: &Lead| confirmed_by.len() > best.confirmed_by.len();
        if best.as_ref().is_none_or(is_better) {
            best = Some(Lead {
                address,
                owner,
                confirmed_by,
                upstream: upstream(owner, address, conf, evidence),
            });
        }
    }
    best
}

fn reached(address: IpAddr) -> IpAddr {
    Address::from(address).reached()
}

fn confirmations(owner: &Owner, conf: &ResolvConf, evidence: &Evidence) -> Vec<Confirmation> {
    let headers = owner.headers.iter();
    let header = headers
        .filter_map(|header| comment_with(header, conf))
        .min();
    let header = header.map(|line| Confirmation::Header(format!("{}:{line}", conf.source.name)));
    let link = evidence
        .links
        .iter()
        .find(|link| owner.linked_files.contains(&link.as_str()))
        .map(|link| Confirmation::Link(link.clone()));
    let file = evidence
        .files
        .iter()
        .map(|file| file.source.name.as_str())
        .find(|name| owner.own_files.contains(name))
        .map(|name| Confirmation::File(name.to_owned()));
    header.into_iter().chain(link).chain(file).collect()
}

/// The first comment that has `text` in it: its line, from 1. The text is
/// searched for, not the comments: a file can have half a million of them.
fn comment_with(text: &str, conf: &ResolvConf) -> Option<usize> {
    let hits = memchr::memmem::find_iter(&conf.source.bytes, text);
    hits.filter_map(|at| conf.line_at(at))
        .find(|(_, line)| is_comment(*line))
        .map(|(number, _)| number)
}

fn is_comment(line: Line<'_>) -> bool {
    line.bytes().starts_with(b"#") || line.bytes().starts_with(b";")
}

/// The servers of the owner's first file that has some besides itself.
fn upstream(
    owner: &Owner,
    itself: IpAddr,
    conf: &ResolvConf,
    evidence: &Evidence,
) -> Option<Upstream> {
    if owner.has_ext_servers {
        return listed(itself, conf, ext_servers(conf));
    }
    owner.upstream_files.iter().find_map(|wanted| {
        let mut files = evidence.files.iter();
        let file = files.find(|file| file.source.name == *wanted)?;
        listed(itself, file, name_servers(file))
    })
}

/// The servers of `file` but one; `None` if no other is there.
fn listed(
    itself: IpAddr,
    file: &ResolvConf,
    servers: impl Iterator<Item = (IpAddr, Span)>,
) -> Option<Upstream> {
    let mut others = servers.filter(|(address, _)| reached(*address) != reached(itself));
    let shown = others.by_ref().take(MAX_UPSTREAM);
    let servers: Vec<Listed> = shown
        .map(|(address, span)| Listed {
            address,
            place: file.place(span.start),
        })
        .collect();
    (!servers.is_empty()).then(|| Upstream {
        file: file.source.name.clone(),
        servers,
        more: others.count(),
    })
}

/// The servers of Docker's comment `# ExtServers: [192.0.2.1 host(127.0.0.53)]`.
///
/// Source: moby `libnetwork/internal/resolvconf/resolvconf.go`.
fn ext_servers(conf: &ResolvConf) -> impl Iterator<Item = (IpAddr, Span)> {
    let line = conf.lines().find(|line| {
        let mut words = line.words().map(|word| word.bytes);
        words.next() == Some(b"#") && words.next() == Some(b"ExtServers:")
    });
    let words = line.into_iter().flat_map(|line| line.split(b" []()\r"));
    words.filter_map(|word| Some((parse_address(word.bytes)?, word.span)))
}

impl Lead {
    /// Whether only the address says so.
    pub fn is_guess(&self) -> bool {
        self.confirmed_by.is_empty()
    }
}

#[cfg(test)]
mod tests;
