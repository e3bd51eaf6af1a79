//! What the files below a directory say: of a node that does not run here, or
//! whose tools are not to be started.

use std::net::{IpAddr, Ipv6Addr};

use procfs::FromBufRead as _;
use procfs::net::{ArpEntries, RouteEntries, RouteEntry};

use super::{NetworkSeen, has_lines, listeners, settings};
use crate::host::node::kernel::{is_own_network, of_network};
use crate::host::node::networks;
use crate::host::root::Root;
use crate::path::{Address, Conntrack, Neighbour, Route, RouteKind, RulesKnown};
use crate::text::Source;

/// The table `main`, the only one that files have.
const MAIN: u32 = 254;

/// Bits of a route's flags.
///
/// Source: Linux `include/uapi/linux/route.h`, `ipv6_route.h`.
const GATEWAY: u32 = 0x2;
const REJECT: u32 = 0x200;
/// Learnt for a connection, not written by anybody.
const CACHE: u32 = 0x0100_0000;
/// One of the node's own addresses.
const LOCAL: u32 = 0x8000_0000;

/// Reads the node's own network namespace from the files below `root`. Rules of
/// iptables and nftables are in no file.
pub fn read_files(root: &Root) -> NetworkSeen {
    let mut seen = NetworkSeen::default();
    let file = |name: &str| of_network(root, name);
    seen.texts.extend(file("ip_vs"));
    let host = &mut seen.host;
    host.known = RulesKnown::Part;
    let (addresses, links) = networks::of_node(root);
    if !addresses.is_empty() {
        let own = addresses.into_iter().map(|ip| {
            let link = links.iter().find(|it| it.0 == ip).map(|it| it.1.as_str());
            let prefix = if ip.is_ipv4() { 32 } else { 128 };
            Address {
                ip,
                prefix,
                link: link.unwrap_or_default().into(),
            }
        });
        host.addresses = Some(own.collect());
    }
    host.routes = routes(file("route").as_ref(), file("ipv6_route").as_ref());
    host.neighbours = file("arp").map(|it| neighbours(&it.bytes));
    if is_own_network(root) {
        host.sysctls = settings::read(root, std::iter::empty());
    }
    let setting = |name: &str| host.sysctls.get(name)?.parse().ok();
    let count = setting("net.netfilter.nf_conntrack_count");
    let max = setting("net.netfilter.nf_conntrack_max");
    let counters = super::counters(file("stat/nf_conntrack").as_ref());
    let table = file("nf_conntrack");
    if max.is_some() || counters.is_some() || table.is_some() {
        host.conntrack = Some(Conntrack {
            count,
            max,
            counters,
            ..Conntrack::default()
        });
    }
    seen.texts.extend(table.filter(has_lines));
    host.listeners = listeners(file);
    seen
}

/// Routes of both families; `None`: not all of them are there.
fn routes(four: Option<&Source>, six: Option<&Source>) -> Option<Vec<Route>> {
    let four = RouteEntries::from_buf_read(four?.bytes.as_slice()).ok()?;
    let mut routes: Vec<Route> = four.0.iter().map(route).collect();
    // A kernel without IPv6 has no such file, and no such packet.
    let six = six.map(|it| String::from_utf8_lossy(&it.bytes).into_owned());
    routes.extend(six.iter().flat_map(|it| it.lines()).filter_map(route_6));
    Some(routes)
}

fn kind(flags: u32) -> RouteKind {
    match flags & REJECT {
        0 => RouteKind::Unicast,
        _ => RouteKind::Unreachable,
    }
}

fn route(entry: &RouteEntry) -> Route {
    let flags = u32::from(entry.flags);
    Route {
        table: MAIN,
        kind: kind(flags),
        destination: entry.destination.into(),
        prefix: u8::try_from(u32::from(entry.mask).count_ones()).unwrap_or_default(),
        gateway: (flags & GATEWAY != 0).then(|| entry.gateway.into()),
        link: (entry.iface != "*").then(|| entry.iface.as_str().into()),
        source: None,
        metric: entry.metrics,
    }
}

/// Source: Linux `net/ipv6/route.c: rt6_info_route`.
fn route_6(text: &str) -> Option<Route> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [
        destination,
        prefix,
        _,
        _,
        gateway,
        metric,
        _,
        _,
        flags,
        link,
    ] = words.as_slice()
    else {
        return None;
    };
    let ip = |text: &str| Some(Ipv6Addr::from(u128::from_str_radix(text, 16).ok()?));
    let number = |text: &str| u32::from_str_radix(text, 16).ok();
    let flags = number(flags)?;
    let gateway = ip(gateway)
        .filter(|it| !it.is_unspecified())
        .map(IpAddr::from);
    (flags & (CACHE | LOCAL) == 0).then_some(Route {
        table: MAIN,
        kind: kind(flags),
        destination: ip(destination)?.into(),
        prefix: u8::try_from(number(prefix)?).ok()?,
        gateway,
        link: Some((*link).into()),
        source: None,
        metric: number(metric)?,
    })
}

fn neighbours(arp: &[u8]) -> Vec<Neighbour> {
    let entries = ArpEntries::from_buf_read(arp)
        .map(|it| it.0)
        .unwrap_or_default();
    let entries = entries.into_iter().map(|it| Neighbour {
        ip: it.ip_address.into(),
        link: it.device.into(),
        // One without an address was looked for in vain; one with it may be old.
        answers: it.hw_address.is_none().then_some(false),
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_of_both_families_are_read() {
        let source = |text: &str| Source::new("f", text);
        let four = source(
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
             eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
             cni0\t0000F40A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n\
             *\t0000F50A\t00000000\t0200\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
        );
        let six = source(
            "fd000000000000000000000000000000 40 00000000000000000000000000000000 00 \
             00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0\n\
             fd000000000000000000000000000002 80 00000000000000000000000000000000 00 \
             00000000000000000000000000000000 00000000 00000003 00000000 80200001     eth0\n",
        );
        let shown: Vec<String> = routes(Some(&four), Some(&six))
            .unwrap()
            .iter()
            .map(|it| {
                let (link, gateway) = (it.link.as_deref(), it.gateway);
                format!(
                    "{}/{} {link:?} {gateway:?} {:?}",
                    it.destination, it.prefix, it.kind
                )
            })
            .collect();
        let expected = [
            "0.0.0.0/0 Some(\"eth0\") Some(172.17.0.1) Unicast",
            "10.244.0.0/24 Some(\"cni0\") None Unicast",
            "10.245.0.0/24 None None Unreachable",
            "fd00::/64 Some(\"eth0\") None Unicast",
        ];
        assert_eq!(shown, expected);
        assert_eq!(routes(None, Some(&six)), None);
    }
}
