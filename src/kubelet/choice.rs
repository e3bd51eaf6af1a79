//! The file that a distribution gives the kubelet where nobody names one.

use std::net::IpAddr;

use crate::config::resolv_conf::ResolvConf;

/// The node's own file.
pub const NODE_FILE: &str = "/etc/resolv.conf";
/// The file in which systemd-resolved lists its own servers.
pub const UPLINK_FILE: &str = "/run/systemd/resolve/resolv.conf";

/// The distribution whose program chooses the kubelet's file where nobody names one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Chooser {
    /// k3s and rke2: the first file in which every server is a global unicast
    /// address; else a file of their own.
    ///
    /// Source: k3s-io/k3s `pkg/agent/config/config.go: locateOrGenerateResolvConf`.
    Rancher,
    /// MicroK8s: the first file whose servers are not loopback addresses.
    ///
    /// Source: canonical/microk8s `scripts/find-resolv-conf.py`.
    MicroK8s,
    /// k0s: systemd-resolved's file if 127.0.0.53 is the only server.
    ///
    /// Source: k0sproject/k0s `pkg/component/worker/kubelet.go:
    /// determineKubeletResolvConfPath`.
    K0s,
}

/// The path that is chosen. `node` and `uplink` are [`NODE_FILE`] and
/// [`UPLINK_FILE`], `own` is the path of the file that the chooser would write.
pub fn choose(
    chooser: Chooser,
    node: Option<&ResolvConf>,
    uplink: Option<&ResolvConf>,
    own: &str,
) -> String {
    let accepts = |conf: Option<&ResolvConf>| conf.is_some_and(|conf| accepts(chooser, conf));
    let path = match chooser {
        Chooser::K0s => {
            let servers = node.map(servers).unwrap_or_default();
            let stub: IpAddr = [127, 0, 0, 53].into();
            if servers == [Some(stub)] {
                UPLINK_FILE
            } else {
                NODE_FILE
            }
        }
        _ if accepts(node) => NODE_FILE,
        _ if accepts(uplink) => UPLINK_FILE,
        Chooser::Rancher => own,
        Chooser::MicroK8s => NODE_FILE,
    };
    path.to_owned()
}

fn accepts(chooser: Chooser, conf: &ResolvConf) -> bool {
    let servers = servers(conf);
    let is_good = |server: &Option<IpAddr>| match (chooser, server) {
        (Chooser::Rancher, Some(address)) => is_global_unicast(*address),
        (Chooser::Rancher, None) => false,
        (_, Some(address)) => !address.is_loopback(),
        (_, None) => true,
    };
    !servers.is_empty() && servers.iter().all(is_good)
}

/// The words after `nameserver`, `None` for those that are no address.
fn servers(conf: &ResolvConf) -> Vec<Option<IpAddr>> {
    let mut servers = Vec::new();
    for line in conf.lines() {
        let mut words = line.words();
        // A line that begins with a blank is none to k3s.
        if line.bytes().starts_with(b"nameserver") && words.next().is_some() {
            let word = words.next().map(|word| word.bytes).unwrap_or_default();
            let text = std::str::from_utf8(word).unwrap_or_default();
            servers.push(text.parse().ok());
        }
    }
    servers
}

/// Go's `net.IP.IsGlobalUnicast`; since 2025 k3s takes the metadata server of
/// the clouds, too (k3s-io/k3s#12701).
fn is_global_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            let is_metadata = it.octets() == [169, 254, 169, 254];
            is_metadata
                || !(it.is_unspecified()
                    || it.is_broadcast()
                    || it.is_loopback()
                    || it.is_multicast()
                    || it.is_link_local())
        }
        IpAddr::V6(it) => {
            let is_link_local = it
                .segments()
                .first()
                .is_some_and(|it| it & 0xffc0 == 0xfe80);
            !(it.is_unspecified() || it.is_loopback() || it.is_multicast() || is_link_local)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Source;

    fn check(chooser: Chooser, node: &str, uplink: &str, expected: &str) {
        let conf = |text: &str| {
            let source = Source::new("f", text);
            (!text.is_empty()).then(|| ResolvConf::parse(source))
        };
        let (node_file, uplink_file) = (conf(node), conf(uplink));
        let found = choose(chooser, node_file.as_ref(), uplink_file.as_ref(), "/own");
        assert_eq!(found, expected, "{chooser:?} {node:?} {uplink:?}");
    }

    #[test]
    fn each_distribution_has_its_own_rule() {
        let stub = "nameserver 127.0.0.53\n";
        let good = "search a\nnameserver 10.0.0.2\n";
        let mixed = "nameserver 10.0.0.2\nnameserver fe80::1%2\n";
        for (chooser, node, uplink, expected) in [
            (Chooser::Rancher, good, stub, NODE_FILE),
            (Chooser::Rancher, stub, good, UPLINK_FILE),
            (Chooser::Rancher, stub, stub, "/own"),
            (Chooser::Rancher, "search a\n", good, UPLINK_FILE),
            (Chooser::Rancher, mixed, "", "/own"),
            (
                Chooser::Rancher,
                "nameserver 169.254.169.254",
                "",
                NODE_FILE,
            ),
            (Chooser::MicroK8s, stub, good, UPLINK_FILE),
            (Chooser::MicroK8s, mixed, good, NODE_FILE),
            (Chooser::MicroK8s, stub, stub, NODE_FILE),
            (Chooser::K0s, stub, "", UPLINK_FILE),
            (
                Chooser::K0s,
                "nameserver 127.0.0.53\nnameserver 10.0.0.2",
                good,
                NODE_FILE,
            ),
        ] {
            check(chooser, node, uplink, expected);
        }
    }
}
