//! Rules about a node as it is, with `--root` or `--node`: `KN`.

pub mod bridge_passes_iptables_by;
pub mod cache_connections_tracked;
pub mod connection_table_full;
pub mod connections_lost;
pub mod connections_to_gone_dns_pods;
pub mod dns_pod_does_not_answer;
pub mod dns_service_without_pods;
pub mod extra_stub_on_cache_address;
pub(in crate::lint::rules) mod look;
pub mod nobody_listens_at_server;
pub mod orphan_cache_address;
pub mod port_53_taken;
pub mod resolvconf_stops_at_loopback;
pub mod runtime_copied_node_file;
pub mod stub_switched_off;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[
    &connections_lost::RULE,
    &connection_table_full::RULE,
    &bridge_passes_iptables_by::RULE,
    &dns_pod_does_not_answer::RULE,
    &dns_service_without_pods::RULE,
    &connections_to_gone_dns_pods::RULE,
    &port_53_taken::RULE,
    &orphan_cache_address::RULE,
    &stub_switched_off::RULE,
    &cache_connections_tracked::RULE,
    &resolvconf_stops_at_loopback::RULE,
    &nobody_listens_at_server::RULE,
    &runtime_copied_node_file::RULE,
    &extra_stub_on_cache_address::RULE,
];
