//! Rules about files in the syntax of resolv.conf: `KR`.

pub mod carriage_returns;
pub mod cluster_dns_in_file;
mod common;
pub mod docker_nameserver;
pub mod domain_without_search;
pub mod duplicate_nameserver;
pub mod empty_nameserver_line;
pub mod file_missing;
pub mod generated_public_servers;
pub mod indented_keyword;
pub mod loopback_beside_others;
pub mod loopback_nameserver;
pub mod magicdns_nameserver;
pub mod missing_nameserver;
pub mod misspelt_option;
pub mod nameserver_not_ip;
pub mod nameserver_of_other_family;
pub mod not_plain_text;
pub mod options_not_inherited;
pub mod own_node_cache;
pub mod scoped_nameserver;
pub mod search_inherited;
pub mod search_root;
pub mod search_too_long;
pub mod split_dns_flattened;
pub mod split_options;
pub mod stub_file_named;
pub mod too_many_nameservers;
pub mod too_many_search_domains;
pub mod trailing_comment;
pub mod uplink_file_empty;
pub mod volatile_path;
pub mod zero_address;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[
    &loopback_nameserver::RULE,
    &loopback_beside_others::RULE,
    &zero_address::RULE,
    &own_node_cache::RULE,
    &cluster_dns_in_file::RULE,
    &too_many_nameservers::RULE,
    &duplicate_nameserver::RULE,
    &missing_nameserver::RULE,
    &empty_nameserver_line::RULE,
    &nameserver_not_ip::RULE,
    &scoped_nameserver::RULE,
    &nameserver_of_other_family::RULE,
    &search_root::RULE,
    &too_many_search_domains::RULE,
    &search_too_long::RULE,
    &search_inherited::RULE,
    &domain_without_search::RULE,
    &trailing_comment::RULE,
    &indented_keyword::RULE,
    &split_options::RULE,
    &misspelt_option::RULE,
    &options_not_inherited::RULE,
    &file_missing::RULE,
    &stub_file_named::RULE,
    &uplink_file_empty::RULE,
    &magicdns_nameserver::RULE,
    &docker_nameserver::RULE,
    &generated_public_servers::RULE,
    &split_dns_flattened::RULE,
    &volatile_path::RULE,
    &not_plain_text::RULE,
    &carriage_returns::RULE,
];
