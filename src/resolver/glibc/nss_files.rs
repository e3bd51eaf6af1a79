//! The module `files`: the hosts file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::Address;
use crate::config::hosts::{Entry, entries, may_have};
use crate::config::resolv_conf::{ResolvConf, Word};
use crate::resolver::glibc::host_conf::multi;
use crate::resolver::glibc::nss_dns::Found;
use crate::resolver::glibc::nsswitch::Status;
use crate::resolver::glibc::thread::{Errno, HostError, Thread};
use crate::scenario::Family;

/// Addresses of both families.
///
/// Source: glibc `nss/nss_files/files-hosts.c: _nss_files_gethostbyname4_r`
/// (2.36, with Debian's `submitted-missing-etc-hosts.diff`).
pub(super) fn gethostbyname4_r(thread: &mut Thread<'_>, name: &[u8]) -> Found {
    if thread.scenario.hosts.is_none() {
        thread.h_errno = HostError::NotFound;
    }
    lookup(thread, name, Family::Both)
}

/// Addresses of one family.
///
/// Source: glibc `nss/nss_files/files-hosts.c: _nss_files_gethostbyname3_r` (2.36).
pub(super) fn gethostbyname3_r(thread: &mut Thread<'_>, name: &[u8], family: Family) -> Found {
    lookup(thread, name, family)
}

fn lookup(thread: &mut Thread<'_>, name: &[u8], family: Family) -> Found {
    let Some(hosts) = &thread.scenario.hosts else {
        thread.errno = Errno::NoEntry;
        return Found::none(Status::Unavail);
    };
    let known = thread.in_files.iter().find(|it| it.0 == family);
    let addresses = if let Some((_, addresses)) = known {
        addresses.clone()
    } else {
        let addresses = addresses(thread, hosts, name, family);
        thread.in_files.push((family, addresses.clone()));
        addresses
    };
    if addresses.is_empty() {
        thread.h_errno = HostError::NotFound;
        return Found::none(Status::NotFound);
    }
    Found {
        status: Status::Success,
        addresses,
    }
}

/// The addresses of `name` in the file.
fn addresses(thread: &Thread<'_>, hosts: &ResolvConf, name: &[u8], family: Family) -> Vec<Address> {
    if !may_have(hosts, name) {
        return Vec::new();
    }
    // A line that has only an address has the empty name.
    let matches = |entry: &Entry<'_>| match entry.names.as_slice() {
        [] => name.is_empty(),
        names => names.iter().any(|it| it.bytes.eq_ignore_ascii_case(name)),
    };
    let mut found = entries(hosts)
        .filter_map(up_to_nul)
        .filter(matches)
        .filter_map(|entry| parse_address(entry.address.bytes, family));
    if multi(thread.scenario) {
        found.map(Address::from).collect()
    } else {
        found.next().map(Address::from).into_iter().collect()
    }
}

/// A line as C reads it, which ends at a NUL; `None` if nothing is before that.
///
/// Source: glibc `nss/nss_readline.c: __nss_readline` (2.36).
fn up_to_nul(mut entry: Entry<'_>) -> Option<Entry<'_>> {
    let is_cut = |word: &mut Word<'_>| {
        let nul = word.bytes.iter().position(|&byte| byte == 0);
        word.bytes = nul
            .and_then(|at| word.bytes.get(..at))
            .unwrap_or(word.bytes);
        nul.is_some()
    };
    if is_cut(&mut entry.address) {
        entry.names.clear();
    } else if let Some(last) = entry.names.iter_mut().position(is_cut) {
        entry.names.truncate(last + 1);
        entry.names.retain(|it| !it.bytes.is_empty());
    }
    (!entry.address.bytes.is_empty()).then_some(entry)
}

/// The address of a line, in the family asked for; other lines are ignored.
///
/// Source: glibc `nss/nss_files/files-hosts.c: LINE_PARSER` (2.36).
fn parse_address(text: &[u8], family: Family) -> Option<IpAddr> {
    let ip: IpAddr = std::str::from_utf8(text).ok()?.parse().ok()?;
    match (family, ip) {
        (Family::Both, ip)
        | (Family::Inet, ip @ IpAddr::V4(_))
        | (Family::Inet6, ip @ IpAddr::V6(_)) => Some(ip),
        (Family::Inet, IpAddr::V6(Ipv6Addr::LOCALHOST)) => Some(Ipv4Addr::LOCALHOST.into()),
        (Family::Inet, IpAddr::V6(ip)) => ip.to_ipv4_mapped().map(IpAddr::V4),
        (Family::Inet6, IpAddr::V4(_)) => None,
    }
}
