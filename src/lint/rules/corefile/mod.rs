//! Rules about Corefiles: `KC`.

pub mod bind_interface;
mod blocks;
pub mod empty_corefile;
pub mod false_loop_version;
pub mod force_tcp_upstream;
pub mod forward_itself;
pub mod forward_loopback;
pub mod forward_name;
pub mod health_twice;
pub mod loop_plugin_missing;
pub mod loop_zone_order;
pub mod many_forwards;
pub mod misspelled_plugin;
pub mod mutual_forward;
pub mod no_errors_plugin;
pub mod no_lameduck;
pub mod node_cache_ipvs_bind;
pub mod node_cache_no_bind;
pub mod non_equivalent_upstreams;
pub mod pillar_left;
pub mod plugin_twice;
pub mod proxy_directive;
pub mod query_log_on;
pub mod shadowed_forward;
pub mod too_many_upstreams;
pub mod unknown_snippet;
pub mod unparseable_corefile;
pub mod upstream_option;
pub mod zone_conflict;
pub mod zone_served_twice;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[
    &loop_plugin_missing::RULE,
    &forward_loopback::RULE,
    &forward_itself::RULE,
    &mutual_forward::RULE,
    &proxy_directive::RULE,
    &upstream_option::RULE,
    &many_forwards::RULE,
    &too_many_upstreams::RULE,
    &force_tcp_upstream::RULE,
    &non_equivalent_upstreams::RULE,
    &no_errors_plugin::RULE,
    &no_lameduck::RULE,
    &zone_conflict::RULE,
    &node_cache_no_bind::RULE,
    &node_cache_ipvs_bind::RULE,
    &pillar_left::RULE,
    &query_log_on::RULE,
    &loop_zone_order::RULE,
    &bind_interface::RULE,
    &false_loop_version::RULE,
    &shadowed_forward::RULE,
    &unparseable_corefile::RULE,
    &zone_served_twice::RULE,
    &misspelled_plugin::RULE,
    &plugin_twice::RULE,
    &health_twice::RULE,
    &forward_name::RULE,
    &unknown_snippet::RULE,
    &empty_corefile::RULE,
];
