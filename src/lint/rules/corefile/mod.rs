//! Rules about Corefiles: `KC`.

pub mod forward_loopback;
pub mod too_many_upstreams;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[&forward_loopback::RULE, &too_many_upstreams::RULE];
