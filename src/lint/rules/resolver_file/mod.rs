//! Rules about files in the syntax of resolv.conf: `KR`.

pub mod loopback_nameserver;
pub mod missing_nameserver;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[&loopback_nameserver::RULE, &missing_nameserver::RULE];
