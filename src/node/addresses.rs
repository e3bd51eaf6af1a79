//! The addresses of a network namespace, as procfs has them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The local addresses in `/proc/PID/net/fib_trie`, loopback ones left out, in
/// numerical order. Those of `kube-ipvs0` are among them: a node in IPVS mode
/// has every service's address.
///
/// Source: Linux `net/ipv4/fib_trie.c` `fib_trie_seq_show`: a leaf, then its
/// routes with scope and type.
pub fn v4(fib_trie: &[u8]) -> Vec<IpAddr> {
    let mut found = Vec::new();
    let mut leaf = None;
    for line in fib_trie.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
        if let Some(address) = line.strip_prefix(b"|-- ") {
            let text = std::str::from_utf8(address).ok();
            leaf = text.and_then(|text| text.parse::<Ipv4Addr>().ok());
        } else if line.starts_with(b"/32 host LOCAL") {
            found.extend(leaf.filter(|it| !it.is_loopback()).map(IpAddr::V4));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The addresses in `/proc/PID/net/if_inet6`, loopback ones left out, in
/// numerical order.
///
/// Source: Linux `net/ipv6/addrconf.c` `if6_seq_show`: 32 digits first.
pub fn v6(if_inet6: &[u8]) -> Vec<IpAddr> {
    let address = |line: &[u8]| -> Option<IpAddr> {
        let digits = std::str::from_utf8(line.get(..32)?).ok()?;
        let bits = u128::from_str_radix(digits, 16).ok()?;
        Some(IpAddr::V6(Ipv6Addr::from_bits(bits))).filter(|it| !it.is_loopback())
    };
    let lines = if_inet6.split(|&byte| byte == b'\n');
    let mut found: Vec<IpAddr> = lines.filter_map(address).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[IpAddr], expected: &[&str]) {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn local_addresses_are_hosts_of_the_trie() {
        let text = include_bytes!("../../testdata/nodes/cgroup-v2/proc/1/net/fib_trie");
        check(
            &v4(text),
            &["10.96.0.1", "10.96.0.10", "10.244.0.1", "172.31.0.10"],
        );
        check(
            &v4(b"/32 host LOCAL\n|-- x\n/32 host LOCAL\n|-- 10.0.0.1\n/32 link UNICAST"),
            &[],
        );
    }

    #[test]
    fn lines_begin_with_the_address() {
        let text = b"00000000000000000000000000000001 01 80 10 80       lo\n\
            fe8000000000000050a5bdfffe37a4f2 03 40 20 80     eth0\nfd000000\n+1\n";
        check(&v6(text), &["fe80::50a5:bdff:fe37:a4f2"]);
    }
}
