//! Rules about a node as it is, with `--root` or `--node`: `KN`.

mod bridge_passes_iptables_by;
mod cache_connections_tracked;
mod connection_table_full;
mod connections_lost;
mod connections_to_gone_dns_pods;
mod dns_pod_does_not_answer;
mod dns_server_drops_queries;
mod dns_service_without_pods;
mod extra_stub_on_cache_address;
pub(in crate::lint::rules) mod look;
mod nobody_listens_at_server;
mod orphan_cache_address;
mod port_53_taken;
mod resolvconf_stops_at_loopback;
mod runtime_copied_node_file;
mod stub_switched_off;
mod unknown_resolved_setting;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    connections_lost: Node,
    connection_table_full: Node,
    bridge_passes_iptables_by: Node,
    dns_pod_does_not_answer: Node,
    dns_service_without_pods: Node,
    connections_to_gone_dns_pods: Node,
    port_53_taken: Node,
    orphan_cache_address: Node,
    stub_switched_off: Node,
    cache_connections_tracked: Node,
    resolvconf_stops_at_loopback: Node,
    nobody_listens_at_server: Node,
    runtime_copied_node_file: Node,
    extra_stub_on_cache_address: Settings,
    unknown_resolved_setting: Settings,
    dns_server_drops_queries: Node,
};
