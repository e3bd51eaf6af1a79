//! Which names the scope of unicast DNS is good for.
//!
//! Source: systemd `src/resolve/resolved-dns-scope.c`.

use hickory_proto::rr::RecordType;

use crate::resolver::resolved::dns_domain::{
    dns_name_dont_resolve, dns_name_endswith, dns_name_is_root, dns_name_is_single_label,
    ends_with_text, is_gateway_hostname, is_localhost, is_loopback_reverse, is_outbound_hostname,
};
use crate::resolver::resolved::manager::Manager;
use crate::resolver::resolved::transaction::Key;

/// Reverse names of link-local addresses.
///
/// Source: `match_link_local_reverse_lookups`.
const LINK_LOCAL_REVERSE: [&str; 5] = [
    "254.169.in-addr.arpa",
    "8.e.f.ip6.arpa",
    "9.e.f.ip6.arpa",
    "a.e.f.ip6.arpa",
    "b.e.f.ip6.arpa",
];

impl Manager<'_> {
    /// Whether servers may be asked for the query at all.
    ///
    /// Source: `dns_scope_good_domain`.
    pub(super) fn dns_scope_good_domain(&mut self, q: usize) -> bool {
        let query = &self.queries[q];
        let name = &query.name_idna;
        let special = is_localhost(name)
            || is_loopback_reverse(name)
            || dns_name_dont_resolve(name, self.version)
            || !self.version.is_before_247 && is_gateway_hostname(name)
            || is_outbound_hostname(name, self.version)
            || dns_name_is_root(name) && query.record_types.iter().all(|it| is_address(*it));
        if special || self.get_dns_server().is_none() {
            return false;
        }
        let name = &self.queries[q].name_idna;
        let mut domains = self.configuration.file.search_domains.iter();
        let has_search_domains = self
            .configuration
            .file
            .search_domains
            .iter()
            .any(|domain| !domain.route_only);
        if has_search_domains && dns_name_is_single_label(name)
            || domains.any(|domain| dns_name_endswith(name, &domain.name))
        {
            return true;
        }
        // `local` is for multicast DNS unless a domain says otherwise.
        !ends_with_text(name, "local")
            && !LINK_LOCAL_REVERSE
                .iter()
                .any(|suffix| ends_with_text(name, suffix))
    }
}

/// Addresses of the root and of single labels are never asked for.
///
/// Source: `dns_scope_good_key`.
pub(super) fn dns_scope_good_key(key: &Key) -> bool {
    let refused = dns_name_is_single_label(&key.name) || dns_name_is_root(&key.name);
    !(refused && is_address(key.record_type))
}

fn is_address(record_type: RecordType) -> bool {
    matches!(record_type, RecordType::A | RecordType::AAAA)
}
