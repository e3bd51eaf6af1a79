//! `/etc/hosts` as resolved reads it.
//!
//! Source: systemd `src/resolve/resolved-etc-hosts.c`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use hickory_proto::rr::RecordType;

use crate::config::resolv_conf::ResolvConf;
use crate::engine::message::{Data, Record};
use crate::name::Name;
use crate::resolver::resolved::dns_domain::{
    dns_name_count_labels, dns_name_normalize, ends_with_text, is_localhost,
};
use crate::resolver::resolved::words::{
    Extracted, Flags, Piece, extract_first_word, in_addr_ifindex_from_string_auto, lines,
};
use crate::text::ordered;

/// What the file says.
#[derive(Clone, Debug, Default)]
pub(super) struct EtcHosts {
    /// Names with their addresses, in file order.
    by_name: Vec<(Name, IpAddr)>,
    /// Addresses of lines, also of those without a valid name.
    by_address: Vec<IpAddr>,
    /// Names that have `0.0.0.0` or `::`.
    no_address: Vec<Name>,
    /// The first name of each address in `by_name`.
    canonical: BTreeMap<IpAddr, Name>,
    /// What stands in `by_name`, names in small letters.
    known: BTreeSet<(Vec<u8>, IpAddr)>,
}

/// Source: `etc_hosts_parse`.
pub(super) fn etc_hosts_parse(file: Option<&ResolvConf>) -> Arc<EtcHosts> {
    file.map_or_else(Arc::default, |file| {
        file.made.once(|| parse(&file.source.bytes))
    })
}

fn parse(text: &[u8]) -> EtcHosts {
    let mut hosts = EtcHosts::default();
    for line in lines(text) {
        let comment = line.bytes.iter().position(|&byte| byte == b'#');
        let bytes = comment.and_then(|at| line.bytes.get(..at));
        let line = Piece {
            bytes: bytes.unwrap_or(line.bytes),
            ..line
        };
        parse_line(&mut hosts, line);
    }
    for loopback in [
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
    ] {
        strip_localhost(&mut hosts, loopback);
    }
    hosts
}

fn parse_line(hosts: &mut EtcHosts, mut line: Piece<'_>) {
    let Some(address) = next_word(&mut line) else {
        return;
    };
    let address = in_addr_ifindex_from_string_auto(&address.text);
    // `in_addr_from_string_auto` knows no interfaces.
    let Some(address) = address.filter(|it| it.scope.is_none()) else {
        return;
    };
    if !address.ip.is_unspecified() {
        hosts.by_address.push(address.ip);
    }
    while let Some(word) = next_word(&mut line) {
        let Some(name) = dns_name_is_valid_ldh(&word.text) else {
            continue;
        };
        if address.ip.is_unspecified() {
            hosts.no_address.push(name);
        } else if hosts.known.insert((lower(&name), address.ip)) {
            let canonical = hosts.canonical.entry(address.ip);
            canonical.or_insert_with(|| name.clone());
            hosts.by_name.push((name, address.ip));
        }
    }
}

fn lower(name: &Name) -> Vec<u8> {
    name.as_wire().to_ascii_lowercase()
}

fn next_word<'c>(line: &mut Piece<'c>) -> Option<Extracted<'c>> {
    let flags = Flags {
        unquote: false,
        relax: true,
    };
    extract_first_word(line, flags).ok().flatten()
}

/// A name of letters, digits and inner hyphens only.
///
/// Source: `src/shared/dns-domain.c: dns_name_is_valid_ldh`.
fn dns_name_is_valid_ldh(text: &[u8]) -> Option<Name> {
    let name = dns_name_normalize(text).filter(|_| !text.contains(&b'\\'))?;
    let valid = |label: &[u8]| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        label.iter().all(plain) && !label.starts_with(b"-") && !label.ends_with(b"-")
    };
    let all_valid = name.labels().all(valid);
    all_valid.then_some(name)
}

/// Takes out the names of `loopback` if they are all `localhost` and have no
/// other addresses: resolved knows them by itself.
///
/// Source: `strip_localhost`.
fn strip_localhost(hosts: &mut EtcHosts, loopback: IpAddr) {
    let mut of_loopback = hosts.by_name.iter().filter(|it| it.1 == loopback);
    if !of_loopback.all(|(name, _)| is_localhost(name)) {
        return;
    }
    let of_loopback = hosts.by_name.iter().filter(|it| it.1 == loopback);
    let names: BTreeSet<Vec<u8>> = ordered(of_loopback.map(|(name, _)| lower(name)));
    let is_one = |name: &Name| names.contains(&lower(name));
    let in_order = hosts
        .by_name
        .iter()
        .all(|(name, address)| address.is_loopback() || !is_one(name));
    if in_order {
        hosts.by_name.retain(|(name, _)| !is_one(name));
        hosts.by_address.retain(|address| *address != loopback);
    }
}

impl EtcHosts {
    /// The records for `name`, with `has_aliases` at the first name that each address has in the
    /// file, to which `name` then is an alias; `None` if the file does not know it.
    ///
    /// Source: `manager_etc_hosts_lookup`.
    pub(super) fn lookup(
        &self,
        name: &Name,
        record_types: &[RecordType],
        has_aliases: bool,
    ) -> Option<Vec<Record>> {
        if let Some(address) = dns_name_address(name) {
            return self.by_address.contains(&address).then(Vec::new);
        }
        let named = self
            .by_name
            .iter()
            .filter(|(known, _)| known.eq_ignore_case(name));
        let known = named.clone().next().is_some()
            || self
                .no_address
                .iter()
                .any(|known| known.eq_ignore_case(name));
        let asked = |record_type| record_types.contains(&record_type);
        if !known || !(asked(RecordType::A) || asked(RecordType::AAAA)) {
            return None;
        }
        let written = named.clone().next().map(|it| &it.0);
        let mut records = Vec::new();
        for (name, address) in named {
            let data = match address {
                IpAddr::V4(address) => Data::A(*address),
                IpAddr::V6(address) => Data::Aaaa(*address),
            };
            if !asked(data.record_type()) {
                continue;
            }
            let canonical = self.canonical.get(address).filter(|_| has_aliases);
            let alias = written.filter(|it| canonical.is_some_and(|other| other != *it));
            if let (Some(alias), Some(canonical)) = (alias, canonical) {
                records.push(Record::new(alias.clone(), Data::Cname(canonical.clone())));
            }
            records.push(Record::new(canonical.unwrap_or(name).clone(), data));
        }
        Some(records)
    }
}

/// The address that a name below `in-addr.arpa` or `ip6.arpa` stands for.
///
/// Source: `src/shared/dns-domain.c: dns_name_address`.
pub(super) fn dns_name_address(name: &Name) -> Option<IpAddr> {
    let labels = || -> Option<Vec<&str>> {
        let labels = name.labels().map(|it| std::str::from_utf8(it).ok());
        labels.collect()
    };
    if ends_with_text(name, "in-addr.arpa") && dns_name_count_labels(name) == 6 {
        let mut bytes = [0; 4];
        for (byte, label) in bytes.iter_mut().rev().zip(labels()?) {
            *byte = label.parse().ok()?;
        }
        return Some(IpAddr::V4(bytes.into()));
    }
    if ends_with_text(name, "ip6.arpa") && dns_name_count_labels(name) == 34 {
        let mut bits: u128 = 0;
        for label in labels()?.iter().take(32).rev() {
            let digit = u128::from_str_radix(label, 16).ok()?;
            bits = bits << 4 | digit;
        }
        return Some(IpAddr::V6(bits.into()));
    }
    None
}
