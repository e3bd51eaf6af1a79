//! Who listens on a loopback address: that is another socket in each network
//! namespace.

use std::net::IpAddr;

use super::{Listener, Pod};
use crate::address::Address;
use crate::loopback::name_servers;
use crate::topology::Network;

/// Who listens on this loopback address in the network namespace, as the end
/// of a sentence. `listeners` are all sockets on port 53 there.
pub fn who(listeners: &[Listener], network: &Network, address: IpAddr) -> String {
    match listener(listeners, network, address).map(|it| &it.owner) {
        None => "nobody listens there on port 53".to_owned(),
        Some(None) => "a process that was not found listens there".to_owned(),
        Some(Some(owner)) => format!("{} (process {}) listens there", owner.comm, owner.pid),
    }
}

/// Whether it is known that nobody listens there.
pub fn is_deaf(listeners: &[Listener], network: &Network, address: IpAddr) -> bool {
    listener(listeners, network, address).is_none()
}

fn listener<'l>(
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
