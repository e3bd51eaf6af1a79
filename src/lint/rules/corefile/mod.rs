//! Rules about Corefiles: `KC`.

mod autopath_unverified;
mod bind_interface;
mod blocks;
mod empty_corefile;
mod false_loop_version;
mod force_tcp_upstream;
mod forward_itself;
mod forward_loopback;
mod forward_name;
mod gone;
mod health_twice;
mod hosts_answers_all;
mod loop_plugin_missing;
mod loop_zone_order;
mod many_forwards;
mod misspelled_plugin;
mod mutual_forward;
mod no_cache;
mod no_errors_plugin;
mod no_lameduck;
mod node_cache_ipvs_bind;
mod node_cache_no_bind;
mod non_equivalent_upstreams;
mod nxdomain_for_one_type;
mod overflow_version;
mod pillar_left;
mod plugin_twice;
mod plugins;
mod proxy_directive;
mod query_log_on;
mod refused_argument;
mod shadowed_forward;
mod template_answers_all;
mod template_without_fallthrough;
mod too_many_upstreams;
mod unknown_property;
mod unknown_snippet;
mod unparseable_corefile;
mod upstream_option;
mod zone_conflict;
mod zone_served_twice;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    loop_plugin_missing: Corefile,
    forward_loopback: Corefile,
    forward_itself: Corefile,
    mutual_forward: Corefile,
    proxy_directive: Corefile,
    upstream_option: Corefile,
    many_forwards: Corefile,
    too_many_upstreams: Corefile,
    force_tcp_upstream: Corefile,
    non_equivalent_upstreams: Corefile,
    no_errors_plugin: Corefile,
    no_lameduck: Corefile,
    zone_conflict: Corefile,
    node_cache_no_bind: Corefile,
    node_cache_ipvs_bind: Corefile,
    pillar_left: Corefile,
    query_log_on: Corefile,
    loop_zone_order: Corefile,
    bind_interface: Corefile,
    false_loop_version: Corefile,
    shadowed_forward: Corefile,
    unparseable_corefile: Corefile,
    zone_served_twice: Corefile,
    misspelled_plugin: Corefile,
    plugin_twice: Corefile,
    health_twice: Corefile,
    forward_name: Corefile,
    unknown_snippet: Corefile,
    empty_corefile: Corefile,
    unknown_property: Corefile,
    refused_argument: Corefile,
    hosts_answers_all: Corefile,
    template_answers_all: Corefile,
    autopath_unverified: Corefile,
    no_cache: Corefile,
    overflow_version: Corefile,
    nxdomain_for_one_type: Corefile,
    template_without_fallthrough: Corefile,
};
