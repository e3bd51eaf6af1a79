//! Rules about the objects around the cluster's DNS: `KD`.

mod dns_left_out;
mod dns_role_without_slices;
mod dns_service_without_port;
mod one_dns_pod;

use crate::lint::{Check, Rule};

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    dns_service_without_port: Object,
    dns_role_without_slices: Object,
    one_dns_pod: Object,
    dns_left_out: Object,
};
