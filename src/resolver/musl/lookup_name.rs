//! musl's order of sources, search list, and judgement of replies.

use std::net::IpAddr;

use crate::config::hosts::may_have;
use crate::config::resolv_conf::{Line, ResolvConf, is_blank};
use crate::engine::io::Io;
use crate::engine::machine::Outcome::{self, Failed};
use crate::engine::message::{Because, Rcode, Reply};
use crate::resolver::musl::Version;
use crate::resolver::musl::ipliteral::{Literal, lookup_ipliteral};
use crate::resolver::musl::read::get_resolv_conf;
use crate::resolver::musl::res_msend::{res_mkquery, res_msend};
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Scenario};

/// Addresses, or the `EAI_` code of the failure.
type Found = Result<Vec<IpAddr>, Outcome>;

/// Longest name with its final zero. Source: `lookup_name.c`, buffers of 256 bytes.
const MAX_NAME_BYTES: usize = 254;
/// A line of the hosts file is read in pieces of so many bytes. Source:
/// `lookup_name.c: name_from_hosts, char line[512]`.
const HOSTS_LINE_BYTES: usize = 511;
/// Source: `lookup.h: MAXADDRS`.
const MAX_ADDRESSES: usize = 48;

/// All flags that musl knows, and those that change the lookup. `AI_ADDRCONFIG`
/// does not: the machine has loopback addresses of both families.
///
/// Source: musl `src/network/getaddrinfo.c: getaddrinfo`, `include/netdb.h`.
const KNOWN_FLAGS: u32 = 0x43f;
const NUMERICHOST: u32 = 0x4;
const V4MAPPED: u32 = 0x8;
const ALL: u32 = 0x10;

/// Source: musl `src/network/lookup_name.c: __lookup_name`. Sorting (RFC 6724)
/// is left out: it changes no query.
pub(super) async fn lookup_name(
    io: &Io,
    scenario: &Scenario,
    version: &Version,
    family: Family,
) -> Found {
    if scenario.flags & !KNOWN_FLAGS != 0 {
        return Err(Failed("EAI_BADFLAGS"));
    }
    let maps = scenario.flags & V4MAPPED != 0 && family == Family::Inet6;
    let asked = if maps { Family::Both } else { family };
    let mut found = lookup(io, scenario, version, asked).await?;
    if maps {
        if scenario.flags & ALL == 0 && found.iter().any(IpAddr::is_ipv6) {
            found.retain(IpAddr::is_ipv6);
        }
        found = found.into_iter().map(mapped).collect();
    }
    Ok(found)
}

fn mapped(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().into(),
        IpAddr::V6(_) => ip,
    }
}

/// Tries each source until one has an address.
async fn lookup(io: &Io, scenario: &Scenario, version: &Version, family: Family) -> Found {
    let name = scenario.name.as_bytes();
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(Failed("EAI_NONAME"));
    }
    match lookup_ipliteral(name, family, scenario) {
        Literal::Address(address) => return Ok(vec![address.ip]),
        Literal::WrongFamily => return Err(Failed(version.no_data)),
        Literal::BadScope => return Err(Failed("EAI_NONAME")),
        Literal::NotOne if scenario.flags & NUMERICHOST != 0 => return Err(Failed("EAI_NONAME")),
        Literal::NotOne => {}
    }
    let from_hosts = name_from_hosts(scenario, version, family)?;
    if !from_hosts.is_empty() {
        return Ok(from_hosts);
    }
    name_from_dns_search(io, scenario, version, family).await
}

/// The addresses of the hosts file; empty if the name is not there.
///
/// Source: musl `src/network/lookup_name.c: name_from_hosts`.
fn name_from_hosts(scenario: &Scenario, version: &Version, family: Family) -> Found {
    let mut found = Vec::new();
    let mut wrong_family = false;
    let name = scenario.name.as_bytes();
    let hosts = scenario.hosts.iter().filter(|it| may_have(it, name));
    let lines = hosts.flat_map(ResolvConf::lines);
    for (line, is_closed) in lines.flat_map(pieces) {
        if found.len() >= MAX_ADDRESSES || !names_host(line, is_closed, name) {
            continue;
        }
        let end = line.iter().position(|&byte| is_blank(byte));
        let address = end.and_then(|end| line.get(..end)).unwrap_or(line);
        match lookup_ipliteral(address, family, scenario) {
            Literal::Address(address) => found.push(address.ip),
            Literal::NotOne => {}
            Literal::WrongFamily | Literal::BadScope => wrong_family = true,
        }
    }
    if found.is_empty() && wrong_family {
        return Err(Failed(version.no_data));
    }
    Ok(found)
}

/// A line in the pieces that `fgets` gives, and whether a newline ends each.
/// A `#` counts as one, and hides the rest of its piece only.
fn pieces(line: Line<'_>) -> impl Iterator<Item = (&[u8], bool)> {
    line.bytes().chunks(HOSTS_LINE_BYTES).map(move |piece| {
        let comment = piece.iter().position(|&byte| byte == b'#');
        match comment.and_then(|at| piece.get(..at)) {
            Some(text) => (text, true),
            // After a full piece the newline is one of its own.
            None => (
                piece,
                line.ends_in_newline() && piece.len() < HOSTS_LINE_BYTES,
            ),
        }
    })
}

/// Whether `name` stands in `line` between white space, after its first byte.
/// The end of the file is no white space: a last line without a newline does
/// not give its last name.
fn names_host(line: &[u8], is_closed: bool, name: &[u8]) -> bool {
    let is_blank_at = |at: usize| line.get(at).is_some_and(|&byte| is_blank(byte));
    line.windows(name.len())
        .enumerate()
        .skip(1)
        .any(|(at, window)| {
            let end = at + name.len();
            is_blank_at(at - 1)
                && window == name
                && (is_blank_at(end) || is_closed && end == line.len())
        })
}

/// Source: musl `src/network/lookup_name.c: name_from_dns_search`.
async fn name_from_dns_search(
    io: &Io,
    scenario: &Scenario,
    version: &Version,
    family: Family,
) -> Found {
    let conf = get_resolv_conf(scenario);
    let name = scenario.name.as_bytes();
    let dots = name.iter().filter(|&&byte| byte == b'.').count();
    let ndots = conf.ndots.map_or(0, |ndots| ndots.value);
    let rooted = name.ends_with(b".");
    let searches = !rooted && dots < ndots as usize;
    let stripped = name.strip_suffix(b".").unwrap_or(name);
    if stripped.is_empty() || stripped.ends_with(b".") {
        return Err(Failed("EAI_NONAME"));
    }
    let suffixes = conf.search.iter().enumerate().filter(|_| searches);
    for (index, suffix) in suffixes {
        // Name, dot, suffix and final zero must fit 256 bytes.
        if suffix.value.len() >= 256 - stripped.len() - 1 {
            continue;
        }
        let candidate = [stripped, b".", &suffix.value].concat();
        let because = Because::Search(index);
        let found = name_from_dns(io, &candidate, family, because, &conf, version).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let found = name_from_dns(io, name, family, Because::AsIs, &conf, version).await?;
    if found.is_empty() {
        return Err(Failed("EAI_NONAME"));
    }
    Ok(found)
}

/// Asks for one candidate. Empty: it does not exist, the next one may.
///
/// Source: musl `src/network/lookup_name.c: name_from_dns`.
async fn name_from_dns(
    io: &Io,
    name: &[u8],
    family: Family,
    because: Because,
    conf: &Reading<'_>,
    version: &Version,
) -> Found {
    let Some(packets) = res_mkquery(name, family.record_types(), &because, version) else {
        return if version.skips_bad_candidates {
            Ok(Vec::new())
        } else {
            Err(Failed("EAI_NONAME"))
        };
    };
    let Ok(replies) = res_msend(io, &packets, conf, version).await else {
        io.note("killed by signal 8 (SIGFPE): `attempts:0` is a division by zero");
        return Err(Outcome::Crashed);
    };
    let failure = |reply: &Option<Reply>| match reply {
        None => Some(Err(Failed("EAI_AGAIN"))),
        Some(reply) if reply.rcode == Rcode::NxDomain => Some(Ok(Vec::new())),
        Some(_) => None,
    };
    // A before AAAA, whatever came first: a name that does not exist for A is
    // left before AAAA is looked at.
    let first = replies.iter().take(if version.needs_both { 2 } else { 1 });
    let failure = first.into_iter().find_map(failure);
    // In the question a byte above 193 is taken for the start of a
    // pointer, and no record is found (`dns_parse.c: __dns_parse`).
    let parsed = replies.iter().flatten().filter(|_| name.is_ascii());
    let addresses: Vec<IpAddr> = parsed
        .flat_map(|reply| &reply.answers)
        .filter_map(|it| it.data.ip())
        .take(MAX_ADDRESSES)
        .collect();
    match failure {
        Some(failure) if version.needs_both || addresses.is_empty() => failure,
        _ if addresses.is_empty() => Err(Failed(version.no_data)),
        _ => Ok(addresses),
    }
}
