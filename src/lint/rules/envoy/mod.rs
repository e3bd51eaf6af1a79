//! Rules about Envoy's bootstrap: `KE`.

mod asks_ipv6;
mod resolver_service_address;
mod unqualified_service;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    unqualified_service: Object,
    asks_ipv6: Object,
    resolver_service_address: Object,
};
