//! Reads the addresses of a network namespace.

use std::net::IpAddr;

use crate::host::node::kernel::of_network;
use crate::host::root::Root;
use crate::node::addresses;

/// The addresses of the node's own network namespace, loopback ones left
/// out, and the interfaces of those whose interface is known.
pub fn of_node(root: &Root) -> (Vec<IpAddr>, Vec<(IpAddr, String)>) {
    let read = |name| of_network(root, name).map_or_else(Vec::new, |it| it.bytes);
    let (fib_trie, if_inet6, route) = (read("fib_trie"), read("if_inet6"), read("route"));
    (
        addresses::parse(&fib_trie, &if_inet6),
        addresses::interfaces(&fib_trie, &if_inet6, &route),
    )
}
