//! Rules about Envoy's bootstrap: `KE`.

mod asks_ipv6;
mod resolver_service_address;
mod unqualified_service;

use crate::config::envoy_bootstrap::Cluster;
use crate::config::yaml::Node;
use crate::lint::{Check, Rule};
use crate::text::has_placeholder;

/// The rules of this group, in the order of their codes, each with what it
/// looks at.
pub const ALL: &[&Rule] = rules! {
    unqualified_service: Object,
    asks_ipv6: Object,
    resolver_service_address: Object,
};

/// The names that a cluster asks servers for, where they stand: those that are filled in
/// later can be addresses, and `localhost` is known without asking.
fn asked(cluster: Cluster<'_>) -> impl Iterator<Item = (&Node, &str)> {
    let names = cluster.names().filter(move |_| cluster.is_by_name());
    let names = names.filter_map(|it| Some((it, it.as_scalar()?.text.as_str())));
    names.filter(|(_, name)| *name != "localhost" && !has_placeholder(name))
}
