//! Rules about files in the syntax of resolv.conf: `KR`.

mod carriage_returns;
mod cluster_dns_in_file;
mod common;
mod docker_nameserver;
mod domain_without_search;
mod duplicate_nameserver;
mod empty_nameserver_line;
mod file_missing;
mod generated_public_servers;
mod indented_keyword;
mod loopback_beside_others;
mod loopback_nameserver;
mod magicdns_nameserver;
mod missing_nameserver;
mod misspelled_option;
mod nameserver_in_cluster_network;
mod nameserver_not_ip;
mod nameserver_of_other_family;
mod not_plain_text;
mod options_not_inherited;
mod own_node_cache;
mod scoped_nameserver;
mod search_inherited;
mod search_of_strangers;
mod search_root;
mod search_too_long;
mod servers_beside_public_ones;
mod split_dns_flattened;
mod split_options;
mod stub_file_named;
mod too_many_nameservers;
mod too_many_search_domains;
mod trailing_comment;
mod uplink_file_empty;
mod volatile_path;
mod zero_address;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    loopback_nameserver: Resolver,
    loopback_beside_others: Resolver,
    zero_address: Resolver,
    own_node_cache: Resolver,
    cluster_dns_in_file: Resolver,
    too_many_nameservers: Resolver,
    duplicate_nameserver: Resolver,
    missing_nameserver: Resolver,
    empty_nameserver_line: Resolver,
    nameserver_not_ip: Resolver,
    scoped_nameserver: Resolver,
    nameserver_of_other_family: Resolver,
    search_root: Resolver,
    too_many_search_domains: Resolver,
    search_too_long: Resolver,
    search_inherited: Resolver,
    domain_without_search: Resolver,
    trailing_comment: Resolver,
    indented_keyword: Resolver,
    split_options: Resolver,
    misspelled_option: Resolver,
    options_not_inherited: Resolver,
    file_missing: Node,
    stub_file_named: Kubelet,
    uplink_file_empty: Resolver,
    magicdns_nameserver: Resolver,
    docker_nameserver: Resolver,
    generated_public_servers: Resolver,
    split_dns_flattened: Node,
    volatile_path: Kubelet,
    not_plain_text: Resolver,
    carriage_returns: Resolver,
    search_of_strangers: Resolver,
    servers_beside_public_ones: Resolver,
    nameserver_in_cluster_network: Resolver,
};
