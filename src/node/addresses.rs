//! The addresses of a network namespace, from the kernel's tables as text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::order::Order as _;
use crate::text::utf8_lines;

/// The addresses that packets to this network namespace reach, loopback ones
/// left out, sorted, each once. Either text may be empty; lines that are not
/// understood are passed over.
///
/// `fib_trie` is `/proc/net/fib_trie`, `if_inet6` is `/proc/net/if_inet6`.
///
/// Source: Linux `net/ipv4/fib_trie.c: fib_trie_seq_show`,
/// `net/ipv6/addrconf.c: if6_seq_show`.
pub fn parse(fib_trie: &[u8], if_inet6: &[u8]) -> Vec<IpAddr> {
    let v4 = local_v4(fib_trie).into_iter().map(IpAddr::V4);
    let v6 = v6(if_inet6).map(|(address, _)| IpAddr::V6(address));
    let mut found: Vec<IpAddr> = v4.chain(v6).filter(|ip| !ip.is_loopback()).collect();
    found.order();
    found.dedup();
    found
}

/// Which interface has which address, as far as these tables tell, in the
/// order of [`parse`]. For IPv4 that is the interface of the most special
/// route without a gateway that has the address.
///
/// `route` is `/proc/net/route` of a little-endian machine.
///
/// Source: Linux `net/ipv4/fib_trie.c: fib_route_seq_show`.
pub fn interfaces(fib_trie: &[u8], if_inet6: &[u8], route: &[u8]) -> Vec<(IpAddr, String)> {
    let routes = routes(route);
    let mut names: Vec<(IpAddr, String)> = Vec::new();
    for address in local_v4(fib_trie) {
        let bits = u32::from(address);
        let has = |it: &&Route| bits & it.mask == it.network;
        let best = routes.iter().filter(has).max_by_key(|it| it.mask);
        names.extend(best.map(|it| (address.into(), it.interface.clone())));
    }
    names.extend(v6(if_inet6).map(|(address, name)| (address.into(), name)));
    names.retain(|(address, _)| !address.is_loopback());
    names.order();
    names.dedup_by(|a, b| a.0 == b.0);
    names
}

/// The leaves that say `/32 host LOCAL`.
fn local_v4(fib_trie: &[u8]) -> Vec<Ipv4Addr> {
    let mut found = Vec::new();
    let mut leaf: Option<Ipv4Addr> = None;
    for line in utf8_lines(fib_trie) {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("|--"), Some(address), _) => leaf = address.parse().ok(),
            (Some("/32"), Some("host"), Some("LOCAL")) => found.extend(leaf),
            _ => {}
        }
    }
    found
}

/// Addresses and the names of their interfaces.
fn v6(if_inet6: &[u8]) -> impl Iterator<Item = (Ipv6Addr, String)> {
    utf8_lines(if_inet6).filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let digits = words.next().filter(|digits| digits.len() == 32)?;
        let address = Ipv6Addr::from(u128::from_str_radix(digits, 16).ok()?);
        let name = words.nth(4)?;
        Some((address, name.to_owned()))
    })
}

/// A route without a gateway, both numbers in host order.
struct Route {
    network: u32,
    mask: u32,
    interface: String,
}

fn routes(route: &[u8]) -> Vec<Route> {
    let number = |word: &str| Some(u32::from_str_radix(word, 16).ok()?.swap_bytes());
    let found = utf8_lines(route).filter_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [interface, network, gateway, _, _, _, _, mask, ..] = words.as_slice() else {
            return None;
        };
        let route = Route {
            network: number(network)?,
            mask: number(mask)?,
            interface: (*interface).to_owned(),
        };
        (number(gateway)? == 0 && route.mask != 0).then_some(route)
    });
    found.collect()
}

/// The names of the interfaces in `/proc/PID/net/dev`, in its order.
///
/// Source: Linux `net/core/net-procfs.c` `dev_seq_show`.
pub fn interface_names(net_dev: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(net_dev);
    let named = |line: &str| Some(line.split_once(':')?.0.trim().to_owned());
    text.lines().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIB_TRIE: &[u8] = include_bytes!("../../testdata/proc/fib_trie");
    const ROUTE: &[u8] = include_bytes!("../../testdata/proc/route");
    const IF_INET6: &[u8] = b"\
fe80000000000000bc2a8bfffe93a204 03 40 20 80     eth0\n\
00000000000000000000000000000001 01 80 10 80       lo\n\
fd54616c6f7300000000000000000001 03 40 00 80     eth0\n";

    fn check(fib_trie: &[u8], if_inet6: &[u8], expected: &[&str]) {
        let found = parse(fib_trie, if_inet6);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn addresses_of_a_real_node() {
        // kube-proxy in IPVS mode keeps the service addresses on the node.
        let expected = ["10.96.0.1", "10.96.0.10", "10.244.0.1", "172.31.0.10"];
        check(FIB_TRIE, b"", &expected);
        check(
            b"",
            IF_INET6,
            &["fd54:616c:6f73::1", "fe80::bc2a:8bff:fe93:a204"],
        );
        check(b"\xff\n|--\n/32 host LOCAL\n", b"x\n\n", &[]);
    }

    #[test]
    fn interfaces_of_a_real_node() {
        let found = interfaces(FIB_TRIE, IF_INET6, ROUTE);
        let found: Vec<(String, &str)> = found
            .iter()
            .map(|(address, name)| (address.to_string(), name.as_str()))
            .collect();
        let expected = [
            ("10.244.0.1".to_owned(), "cni0"),
            ("172.31.0.10".to_owned(), "eth0"),
            ("fd54:616c:6f73::1".to_owned(), "eth0"),
            ("fe80::bc2a:8bff:fe93:a204".to_owned(), "eth0"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn names_of_interfaces() {
        let text = b"Inter-|   Receive  |  Transmit\n face |bytes    packets\n    lo:  10 0\n  eth0:99 1\n\xff\n";
        assert_eq!(interface_names(text), ["lo", "eth0"]);
        assert!(interface_names(b"").is_empty());
    }
}
