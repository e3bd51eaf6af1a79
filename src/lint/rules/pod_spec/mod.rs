//! Rules about pods and pod templates: `KP`.

pub mod dns_pod_asks_itself;
pub mod edited_in_place;
pub mod host_network_cluster_first;
pub mod invalid_search_domain;
pub mod misplaced_dns_field;
pub mod misspelt_dns_field;
pub mod nameserver_cut_off;
pub mod nameserver_is_no_address;
pub mod ndots_too_high;
pub mod ndots_too_low;
pub mod none_without_nameserver;
pub mod none_without_searches;
pub mod option_unknown_to_musl;
pub mod option_value_in_name;
pub mod option_value_is_no_text;
pub mod option_without_name;
pub mod option_without_number;
pub mod pod_asks_itself;
pub mod search_domain_needs_newer_version;
pub mod search_list_too_long;
pub mod servers_with_other_views;
pub mod service_name_on_host_network;
mod spec;
pub mod stale_pod_file;
pub mod stub_in_dns_config;
pub mod too_many_nameservers;
pub mod unknown_dns_policy;
pub mod unknown_option;
pub mod waits_for_cluster_dns;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[
    &host_network_cluster_first::RULE,
    &waits_for_cluster_dns::RULE,
    &dns_pod_asks_itself::RULE,
    &pod_asks_itself::RULE,
    &none_without_nameserver::RULE,
    &nameserver_cut_off::RULE,
    &servers_with_other_views::RULE,
    &ndots_too_high::RULE,
    &ndots_too_low::RULE,
    &option_unknown_to_musl::RULE,
    &search_domain_needs_newer_version::RULE,
    &stale_pod_file::RULE,
    &edited_in_place::RULE,
    &service_name_on_host_network::RULE,
    &unknown_dns_policy::RULE,
    &too_many_nameservers::RULE,
    &nameserver_is_no_address::RULE,
    &invalid_search_domain::RULE,
    &search_list_too_long::RULE,
    &option_without_number::RULE,
    &option_value_in_name::RULE,
    &option_value_is_no_text::RULE,
    &option_without_name::RULE,
    &none_without_searches::RULE,
    &misplaced_dns_field::RULE,
    &misspelt_dns_field::RULE,
    &stub_in_dns_config::RULE,
    &unknown_option::RULE,
];
