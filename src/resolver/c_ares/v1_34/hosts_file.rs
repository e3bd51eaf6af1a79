//! The hosts file. Lines that share an address or a name become one entry.
//!
//! Source: c-ares 1.34 `src/lib/ares_hosts_file.c`.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::config::resolv_conf::{Line, ResolvConf};
use crate::resolver::c_ares::address::{dns_pton, is_of};
use crate::resolver::c_ares::name::is_hostnamech;
use crate::resolver::c_ares::v1_34::buffer::fits;
use crate::scenario::Family;

/// Room for an address (`INET6_ADDRSTRLEN`).
const ADDRESS_BUFFER: usize = 46;
/// Room for a name.
const NAME_BUFFER: usize = 256;

/// `struct ares_hosts_file`.
#[derive(Debug, Default)]
struct HostsFile {
    /// The addresses of each entry.
    entries: Vec<Vec<IpAddr>>,
    iphash: HashMap<IpAddr, usize>,
    /// By names in lower case.
    hosthash: HashMap<Vec<u8>, usize>,
}

/// The addresses of the entry that has `name`, if there is one.
///
/// Source: c-ares 1.34 `src/lib/ares_hosts_file.c: ares_hosts_search_host,
/// ares_hosts_entry_to_addrinfo`.
pub(super) fn ares_hosts_search_host(
    file: &ResolvConf,
    name: &[u8],
    family: Family,
) -> Option<Vec<IpAddr>> {
    let hosts = file.made.once(|| {
        let mut hosts = HostsFile::default();
        for (ip, names) in file.lines().filter_map(parse_line) {
            hosts.add(ip, &names);
        }
        hosts
    });
    let ips = hosts.entries.get(hosts.entry_of(name)?)?.iter().copied();
    Some(ips.filter(|&ip| is_of(family, ip)).collect())
}

/// Source: c-ares 1.34 `src/lib/ares_hosts_file.c: ares_parse_hosts,
/// ares_parse_hosts_ipaddr, ares_parse_hosts_hostnames`.
fn parse_line(line: Line<'_>) -> Option<(IpAddr, Vec<&[u8]>)> {
    let mut words = line.words().map(|word| word.bytes);
    let address = words.next().filter(|word| fits(word, ADDRESS_BUFFER))?;
    let ip = dns_pton(address)?;
    let mut names: Vec<&[u8]> = Vec::new();
    for word in words.take_while(|word| !word.starts_with(b"#")) {
        let is_good = fits(word, NAME_BUFFER);
        // The first name must at least be printable.
        if !is_good && names.is_empty() {
            return None;
        }
        if is_good && word.iter().all(|&byte| is_hostnamech(byte) || byte == b'*') {
            names.push(word);
        }
    }
    (!names.is_empty()).then_some((ip, names))
}

impl HostsFile {
    /// Source: c-ares 1.34 `src/lib/ares_hosts_file.c: ares_hosts_file_add,
    /// ares_hosts_file_match, ares_hosts_file_merge_entry`.
    fn add(&mut self, ip: IpAddr, names: &[&[u8]]) {
        let by_ip = self.iphash.get(&ip).copied();
        let by_name = || names.iter().find_map(|name| self.entry_of(name));
        let entry = by_ip.or_else(by_name).unwrap_or(self.entries.len());
        if entry == self.entries.len() {
            self.entries.push(Vec::new());
        }
        if by_ip.is_none() {
            if let Some(ips) = self.entries.get_mut(entry) {
                ips.push(ip);
            }
            self.iphash.insert(ip, entry);
        }
        for name in names {
            let name = name.to_ascii_lowercase();
            self.hosthash.entry(name).or_insert(entry);
        }
    }

    fn entry_of(&self, name: &[u8]) -> Option<usize> {
        self.hosthash.get(&name.to_ascii_lowercase()).copied()
    }
}
