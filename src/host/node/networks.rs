//! Reads the addresses of a network namespace.

use std::net::IpAddr;
use std::path::Path;

use crate::host::root::Root;
use crate::node::addresses;

/// The addresses of the node's own network namespace, loopback ones left
/// out, and the interfaces of those whose interface is known.
pub fn of_node(root: &Root) -> (Vec<IpAddr>, Vec<(IpAddr, String)>) {
    let read = |name: &str| {
        let paths = [format!("/proc/1/net/{name}"), format!("/proc/net/{name}")];
        let mut found = paths
            .iter()
            .filter_map(|path| root.read(Path::new(path)).ok());
        found.next().map_or_else(Vec::new, |file| file.source.bytes)
    };
    let (fib_trie, if_inet6, route) = (read("fib_trie"), read("if_inet6"), read("route"));
    (
        addresses::parse(&fib_trie, &if_inet6),
        addresses::interfaces(&fib_trie, &if_inet6, &route),
    )
}
