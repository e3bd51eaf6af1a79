//! Settings of the kernel that decide about the way of packets.

use std::collections::BTreeMap;
use std::path::Path;

use crate::host::root::Root;
use crate::text::WordList;

/// By their names as `sysctl` has them.
const NAMES: WordList = WordList(
    "net.bridge.bridge-nf-call-ip6tables net.bridge.bridge-nf-call-iptables \
     net.ipv4.conf.all.route_localnet net.ipv4.conf.all.rp_filter \
     net.ipv4.conf.all.src_valid_mark net.ipv4.ip_forward net.ipv4.ip_local_port_range \
     net.ipv4.ip_no_pmtu_disc net.ipv4.vs.conntrack net.ipv4.vs.conn_reuse_mode \
     net.ipv4.vs.expire_nodest_conn net.ipv4.vs.expire_quiescent_template \
     net.ipv6.conf.all.forwarding net.netfilter.nf_conntrack_buckets \
     net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max \
     net.netfilter.nf_conntrack_tcp_be_liberal net.netfilter.nf_conntrack_udp_timeout \
     net.netfilter.nf_conntrack_udp_timeout_stream net.netfilter.nf_conntrack_acct",
);

/// Those of each link.
const OF_LINKS: [&str; 2] = ["rp_filter", "route_localnet"];

/// The settings that are there below the root, which are those of the network
/// namespace of whoever reads them.
pub(super) fn read<'n>(
    root: &Root,
    links: impl Iterator<Item = &'n str>,
) -> BTreeMap<String, String> {
    // A dot in the name of a link is a slash, as the other way round.
    let of_link = |link: &str| {
        let link = link.replace('.', "/");
        OF_LINKS.map(|it| format!("net.ipv4.conf.{link}.{it}"))
    };
    let names = NAMES.iter().map(str::to_owned);
    let names = names.chain(links.flat_map(of_link));
    let read = names.filter_map(|name| {
        let value = root.read_once(Path::new(&path(&name))).ok()?;
        let value = String::from_utf8_lossy(&value.source.bytes)
            .trim()
            .to_owned();
        Some((name, value))
    });
    read.collect()
}

/// Where a setting is: `net.ipv4.conf.eth0/1.rp_filter` is below `eth0.1`.
fn path(name: &str) -> String {
    let swapped = name.chars().map(|it| match it {
        '.' => '/',
        '/' => '.',
        other => other,
    });
    format!("/proc/sys/{}", swapped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_its_path() {
        assert_eq!(path("net.ipv4.ip_forward"), "/proc/sys/net/ipv4/ip_forward");
        let expected = "/proc/sys/net/ipv4/conf/eth0.1/rp_filter";
        assert_eq!(path("net.ipv4.conf.eth0/1.rp_filter"), expected);
    }
}
