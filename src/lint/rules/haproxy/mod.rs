//! Rules about the configuration of `HAProxy`: `KH`.

mod servers;
mod service_resolved_once;
mod too_many_addresses;
mod unqualified_service;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    unqualified_service: Haproxy,
    service_resolved_once: Haproxy,
    too_many_addresses: Haproxy,
};
