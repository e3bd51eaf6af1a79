//! Rules about kubelets' settings: `KK`.

mod cluster_dns_mismatch;
mod cluster_dns_no_listener;
mod cluster_dns_not_an_address;
mod cluster_domain_dot;
mod cluster_domain_empty;
mod cluster_domain_mismatch;
mod common;
mod drop_in_gate;
mod drop_in_key_ignored;
mod drop_in_list_replaced;
mod drop_in_suffix;
mod empty_flag_swallows;
mod empty_not_honoured;
mod empty_with_default_dns;
mod flag_shadows_file;
mod internal_key;
mod misspelled_key;
mod no_cluster_dns;
mod node_drift;
mod relative_path;
mod repeated_key;
mod shared_config;
mod stale_process;
mod stub_by_default;
mod uplink_without_resolved;
mod wanted_search_truncation;
mod windows_value;
mod wrong_type;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    stub_by_default: Kubelet,
    uplink_without_resolved: Kubelet,
    internal_key: KubeletText,
    drop_in_key_ignored: KubeletText,
    drop_in_suffix: KubeletText,
    drop_in_gate: Kubelet,
    drop_in_list_replaced: Kubelet,
    flag_shadows_file: Kubelet,
    empty_flag_swallows: KubeletText,
    empty_not_honoured: KubeletText,
    empty_with_default_dns: KubeletText,
    no_cluster_dns: KubeletText,
    cluster_dns_mismatch: KubeletText,
    cluster_dns_no_listener: Node,
    cluster_domain_mismatch: Corefile,
    cluster_domain_empty: KubeletText,
    cluster_domain_dot: KubeletText,
    node_drift: Kubelet,
    shared_config: KubeletText,
    stale_process: Node,
    relative_path: KubeletText,
    windows_value: KubeletText,
    wanted_search_truncation: Node,
    repeated_key: KubeletText,
    misspelled_key: KubeletText,
    wrong_type: KubeletText,
    cluster_dns_not_an_address: KubeletText,
};
