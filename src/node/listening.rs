//! Who listens on a loopback address: that is another socket in each network
//! namespace.

use std::net::IpAddr;

use super::{Listener, Pod};
use crate::address::Address;
use crate::loopback::name_servers;
use crate::topology::Network;

/// What listens on this loopback address in the network namespace. `listeners` are all
/// sockets on port 53 there.
pub fn listener<'l>(
    listeners: &'l [Listener],
    network: &Network,
    address: IpAddr,
) -> Option<&'l Listener> {
    let ip = Address::from(address).reached();
    let fits = |it: &&Listener| {
        it.network == *network && it.is_udp && it.address.is_none_or(|own| own == ip)
    };
    listeners.iter().find(fits)
}

/// The loopback name servers of a pod that has a network of its own, each once.
pub fn loopback_servers(pod: &Pod) -> Vec<IpAddr> {
    let conf = pod.own_file().filter(|_| pod.host_network == Some(false));
    let mut found: Vec<IpAddr> = Vec::new();
    for (ip, _) in conf.into_iter().flat_map(name_servers) {
        if Address::from(ip).reached().is_loopback() && !found.contains(&ip) {
            found.push(ip);
        }
    }
    found
}
