//! Rules about pods and pod templates: `KP`.

mod dns_pod_asks_itself;
mod edited_in_place;
mod foreign_search_domain;
mod host_network_cluster_first;
mod invalid_search_domain;
mod misplaced_dns_field;
mod misspelled_dns_field;
mod nameserver_cut_off;
mod nameserver_is_no_address;
mod ndots_too_high;
mod ndots_too_low;
mod none_without_nameserver;
mod none_without_searches;
mod option_unknown_to_musl;
mod option_value_in_name;
mod option_value_is_no_text;
mod option_without_name;
mod option_without_number;
mod pod_asks_itself;
mod search_domain_needs_newer_version;
mod search_list_too_long;
mod servers_with_other_views;
mod service_name_on_host_network;
mod spec;
mod stale_pod_file;
mod stub_in_dns_config;
mod too_many_nameservers;
mod unknown_dns_policy;
mod unknown_option;
mod waits_for_cluster_dns;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    host_network_cluster_first: Workload,
    waits_for_cluster_dns: Workload,
    dns_pod_asks_itself: Workload,
    pod_asks_itself: Node,
    none_without_nameserver: Workload,
    nameserver_cut_off: Workload,
    servers_with_other_views: Workload,
    ndots_too_high: Workload,
    ndots_too_low: Workload,
    option_unknown_to_musl: Workload,
    search_domain_needs_newer_version: Workload,
    stale_pod_file: Node,
    edited_in_place: Node,
    service_name_on_host_network: Workload,
    unknown_dns_policy: Workload,
    too_many_nameservers: Workload,
    nameserver_is_no_address: Workload,
    invalid_search_domain: Workload,
    search_list_too_long: Workload,
    option_without_number: Workload,
    option_value_in_name: Workload,
    option_value_is_no_text: Workload,
    option_without_name: Workload,
    none_without_searches: Workload,
    misplaced_dns_field: Workload,
    misspelled_dns_field: Workload,
    stub_in_dns_config: Workload,
    unknown_option: Workload,
    foreign_search_domain: Workload,
};
