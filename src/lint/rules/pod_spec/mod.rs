//! Rules about pods and pod templates: `KP`.

pub mod host_network_cluster_first;

use crate::lint::Rule;

/// The rules of this group, in the order of their codes.
pub const ALL: &[&Rule] = &[&host_network_cluster_first::RULE];
