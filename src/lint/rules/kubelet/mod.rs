//! Rules about kubelets' settings: `KK`.

pub mod cluster_dns_mismatch;
pub mod cluster_dns_no_listener;
pub mod cluster_dns_not_an_address;
pub mod cluster_domain_dot;
pub mod cluster_domain_empty;
pub mod cluster_domain_mismatch;
mod common;
pub mod drop_in_gate;
pub mod drop_in_key_ignored;
pub mod drop_in_list_replaced;
pub mod drop_in_suffix;
pub mod empty_flag_swallows;
pub mod empty_not_honoured;
pub mod empty_with_default_dns;
pub mod flag_shadows_file;
pub mod internal_key;
pub mod misspelt_key;
pub mod no_cluster_dns;
pub mod node_drift;
pub mod relative_path;
pub mod repeated_key;
pub mod shared_config;
pub mod stale_process;
pub mod stub_by_default;
pub mod uplink_without_resolved;
pub mod wanted_search_truncation;
pub mod windows_value;
pub mod wrong_type;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[
    &stub_by_default::RULE,
    &uplink_without_resolved::RULE,
    &internal_key::RULE,
    &drop_in_key_ignored::RULE,
    &drop_in_suffix::RULE,
    &drop_in_gate::RULE,
    &drop_in_list_replaced::RULE,
    &flag_shadows_file::RULE,
    &empty_flag_swallows::RULE,
    &empty_not_honoured::RULE,
    &empty_with_default_dns::RULE,
    &no_cluster_dns::RULE,
    &cluster_dns_mismatch::RULE,
    &cluster_dns_no_listener::RULE,
    &cluster_domain_mismatch::RULE,
    &cluster_domain_empty::RULE,
    &cluster_domain_dot::RULE,
    &node_drift::RULE,
    &shared_config::RULE,
    &stale_process::RULE,
    &relative_path::RULE,
    &windows_value::RULE,
    &wanted_search_truncation::RULE,
    &repeated_key::RULE,
    &misspelt_key::RULE,
    &wrong_type::RULE,
    &cluster_dns_not_an_address::RULE,
];
