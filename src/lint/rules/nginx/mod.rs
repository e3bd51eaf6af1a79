//! Rules about the configuration of nginx: `KG`.

pub(super) mod names;
mod resolver_asks_ipv6;
mod resolver_node_stub;
mod resolver_service_address;
mod resolver_valid_long;
mod service_resolved_once;
mod unqualified_service;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    unqualified_service: Nginx,
    service_resolved_once: Nginx,
    resolver_node_stub: Nginx,
    resolver_service_address: Nginx,
    resolver_asks_ipv6: Nginx,
    resolver_valid_long: Nginx,
};
