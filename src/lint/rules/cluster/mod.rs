//! Rules about the objects around the cluster's DNS: `KD`.

mod cache_behind_dns_service;
mod chart_without_plugin;
mod dns_left_out;
mod dns_pods_not_spread;
mod dns_role_without_slices;
mod dns_rule_misses;
mod dns_service_without_port;
mod memory_limit_too_low;
mod names_not_watched;
mod one_dns_pod;
mod probe_without_plugin;
mod setting_of_kube_dns;
mod unknown_kubespray_word;
mod unready_name_kept;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    dns_service_without_port: Object,
    dns_role_without_slices: Object,
    one_dns_pod: Object,
    dns_left_out: Object,
    dns_rule_misses: Object,
    names_not_watched: Object,
    probe_without_plugin: Workload,
    setting_of_kube_dns: Object,
    chart_without_plugin: Object,
    dns_pods_not_spread: Object,
    memory_limit_too_low: Object,
    unready_name_kept: Workload,
    cache_behind_dns_service: Object,
    unknown_kubespray_word: Object,
};
