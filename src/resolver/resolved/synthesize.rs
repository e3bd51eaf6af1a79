//! Answers that resolved makes up by itself.
//!
//! Source: systemd `src/resolve/resolved-dns-synthesize.c`.

use std::net::{Ipv4Addr, Ipv6Addr};

use hickory_proto::rr::RecordType;

use crate::engine::message::{Data, Record};
use crate::name::Name;
use crate::resolver::resolved::Version;
use crate::resolver::resolved::dns_domain::{
    dns_name_concat, dns_name_dont_resolve, dns_name_is_root, dns_name_normalize,
    is_gateway_hostname, is_localhost, is_loopback_reverse, is_outbound_hostname,
};

/// Addresses of a scenario's machine, the loop's left out. There is no
/// gateway.
pub(in crate::resolver) const LOCAL_ADDRESSES: [Data; 3] = [
    Data::A(Ipv4Addr::new(10, 244, 1, 5)),
    Data::Aaaa(Ipv6Addr::new(0xfd00, 0x244, 0, 0, 0, 0, 0, 5)),
    Data::Aaaa(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1)),
];

/// The host name where there is none: the default is `localhost`, which will
/// not do.
///
/// Source: `resolved-manager.c: fallback_hostname`.
const FALLBACK_HOSTNAME: &str = "linux";

/// Names of this machine.
///
/// Source: `Manager.full_hostname`, `.llmnr_hostname`, `.mdns_hostname`.
#[derive(Clone, Debug)]
pub(super) struct Hostnames {
    names: Vec<Name>,
}

/// What resolved answers without asking a server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Synthesized {
    /// Nothing: others have to know.
    Nothing,
    /// There is no such name (`-ENXIO`).
    NoSuchName,
    /// These records, perhaps none.
    Records(Vec<Record>),
}

impl Hostnames {
    /// Source: `resolved-manager.c: determine_hostnames`, `make_fallback_hostnames`,
    /// `resolved-util.c: resolve_system_hostname`.
    pub(super) fn new(hostname: &str) -> Self {
        let first_label =
            |name: &Name| Name::from_labels(name.labels().take(1)).unwrap_or_default();
        let valid = |name: &Name| {
            !dns_name_is_root(name) && !is_localhost(name) && !is_localhost(&first_label(name))
        };
        let full = dns_name_normalize(hostname.as_bytes())
            .filter(valid)
            .or_else(|| dns_name_normalize(FALLBACK_HOSTNAME.as_bytes()))
            .unwrap_or_default();
        let first = first_label(&full);
        let local = Name::from_labels([&b"local"[..]]).unwrap_or_default();
        let mdns = dns_name_concat(&first, &local);
        Self {
            names: [Some(full), Some(first), mdns]
                .into_iter()
                .flatten()
                .collect(),
        }
    }

    /// Source: `resolved-manager.c: manager_is_own_hostname`.
    pub(super) fn has(&self, name: &Name) -> bool {
        self.names.iter().any(|own| own.eq_ignore_case(name))
    }
}

/// Source: `dns_synthesize_answer`.
pub(super) fn dns_synthesize_answer(
    version: Version,
    hostnames: &Hostnames,
    name: &Name,
    record_types: &[RecordType],
) -> Synthesized {
    let is_since_248 = !version.is_before_248;
    let records = if is_since_248 && dns_name_is_root(name) {
        Vec::new()
    } else if is_since_248 && dns_name_dont_resolve(name, version)
        || is_gateway_hostname(name)
        || is_outbound_hostname(name, version)
    {
        return Synthesized::NoSuchName;
    } else if is_localhost(name) {
        let loopback = [
            Data::A(Ipv4Addr::LOCALHOST),
            Data::Aaaa(Ipv6Addr::LOCALHOST),
        ];
        records(name, &loopback, record_types)
    } else if hostnames.has(name) {
        records(name, &LOCAL_ADDRESSES, record_types)
    } else if is_loopback_reverse(name) {
        Vec::new()
    } else {
        return Synthesized::Nothing;
    };
    Synthesized::Records(records)
}

fn records(name: &Name, data: &[Data], record_types: &[RecordType]) -> Vec<Record> {
    let wanted = data
        .iter()
        .filter(|data| record_types.contains(&data.record_type()));
    let record = |data: &Data| Record::new(name.clone(), data.clone());
    wanted.map(record).collect()
}
