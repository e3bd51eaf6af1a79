//! `/etc/hosts`.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use foldhash::quality::RandomState;
use hickory_proto::rr::{Name, RecordType};

use crate::resolver::hickory::Version;
use crate::scenario::Scenario;

/// The names of the hosts file with their addresses.
///
/// Source: hickory-resolver `src/hosts.rs: Hosts`.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// Each with whether its name has a final dot in the file; the keys have one.
    by_name: HashMap<Name, Vec<(IpAddr, bool)>, RandomState>,
    addresses: BTreeSet<IpAddr>,
}

impl Hosts {
    /// Reads the scenario's file. One that is not UTF-8 counts as empty.
    ///
    /// Source: hickory-resolver `src/hosts.rs: Hosts::from_system, read_hosts_conf`.
    pub(super) fn from_system(scenario: &Scenario) -> Arc<Self> {
        let file = scenario.hosts.as_ref();
        file.map_or_else(Arc::default, |file| {
            file.made.once(|| Self::parse(&file.source.bytes))
        })
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut hosts = Self::default();
        let Ok(text) = std::str::from_utf8(bytes) else {
            return hosts;
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            hosts.read_line(line.split_whitespace());
        }
        hosts
    }

    fn read_line<'l>(&mut self, mut words: impl Iterator<Item = &'l str>) {
        let Some(address) = words.next().and_then(|word| word.parse().ok()) else {
            return;
        };
        for word in words {
            if let Ok(mut name) = word.to_lowercase().parse::<Name>() {
                let written = name.is_fqdn();
                name.set_fqdn(true);
                let named = self.by_name.entry(name);
                let named = named.or_insert_with(|| Vec::with_capacity(1));
                named.push((address, written));
                self.addresses.insert(address);
            }
        }
    }

    /// The addresses of `name` of this type; `None` if it has none here, also
    /// if it has some of the other type.
    ///
    /// A name is the same with a final dot, but not before 0.25.
    ///
    /// Source: hickory-resolver `src/hosts.rs: Hosts::lookup_static_host`.
    pub(super) fn lookup_static_host(
        &self,
        name: &Name,
        record_type: RecordType,
        version: Version,
    ) -> Option<Vec<IpAddr>> {
        match record_type {
            RecordType::A | RecordType::AAAA => {
                let mut key = name.clone();
                key.set_fqdn(true);
                let is_meant = |it: &&(IpAddr, bool)| {
                    it.0.is_ipv4() == (record_type == RecordType::A)
                        && (!version.is_before_25 || it.1 == name.is_fqdn())
                };
                let known = self.by_name.get(&key)?.iter().filter(is_meant);
                let found: Vec<IpAddr> = known.map(|it| it.0).collect();
                Some(found).filter(|found| !found.is_empty())
            }
            // The records are names: there is no address to give.
            RecordType::PTR if !version.is_before_25 => {
                let ip = name.parse_arpa_name().ok()?.addr();
                self.addresses.contains(&ip).then(Vec::new)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::hickory::V0_26;
    use crate::scenario::file;

    fn check(text: &str, name: &str, expected: &[&str]) {
        let scenario = Scenario {
            hosts: Some(file("/etc/hosts", text)),
            ..Scenario::new("hosts", "x")
        };
        let hosts = Hosts::from_system(&scenario);
        let mut name: Name = name.parse().unwrap();
        name.set_fqdn(true);
        let found: Vec<String> = [RecordType::A, RecordType::AAAA]
            .iter()
            .filter_map(|&record_type| hosts.lookup_static_host(&name, record_type, V0_26))
            .flatten()
            .map(|ip| ip.to_string())
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn names_are_found_in_any_case() {
        check("10.0.0.1 Web WEB.b\n::1 web", "wEb", &["10.0.0.1", "::1"]);
        check("10.0.0.1 web.", "web", &["10.0.0.1"]);
        check(
            "10.0.0.2 web\n10.0.0.1 web.",
            "web",
            &["10.0.0.2", "10.0.0.1"],
        );
        check("010.0.0.1 web\n10.1 web\nfe80::1%e web", "web", &[]);
        check("10.0.0.1 a#web\n#10.0.0.2 web", "web", &[]);
        check(
            "\u{feff}10.0.0.1\u{a0}web\r\n10.0.0.2 web",
            "web",
            &["10.0.0.1", "10.0.0.2"],
        );
    }
}
