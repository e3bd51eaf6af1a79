//! The name servers of machines that run Talos.

use crate::config::yaml::{Entry, Kind, Node};
use crate::kubelet::Version;
use crate::lint::form::Form;
use crate::lint::inner::Inner;
use crate::lint::inner::objects::{lines, resolv_conf};
use crate::lint::inner::pieces::Pieces;

/// Whether it is the configuration of a machine of Talos, or a patch for one, in which
/// the version is not written.
///
/// Source: siderolabs/talos `pkg/machinery/config/types/v1alpha1`.
pub fn is_talos(object: &Node) -> bool {
    let is_part = |it: &Entry| {
        let key = it.key.as_scalar().map(|it| it.text.as_str());
        key.is_some_and(|it| ["cluster", "debug", "machine", "persist"].contains(&it))
    };
    let is_patch = || object.as_mapping().is_some_and(|it| it.iter().all(is_part));
    object.get("machine").is_some_and(|it| {
        let is_versioned = object.word(&["version"]) == Some("v1alpha1");
        it.get("kubelet").is_some() || is_versioned || is_patch()
    })
}

/// The name servers that Talos gives a machine. What pods get of them is not known in a
/// patch, and where they ask the machine's own server, which asks these.
pub(super) fn talos(object: &Node) -> Option<Inner<'_>> {
    let network = object.at(&["machine", "network"])?;
    is_talos(object).then_some(())?;
    let (servers, domains) = (network.get("nameservers")?, network.get("searchDomains"));
    let forwards = object.at(&["machine", "features"]).and_then(pods_ask_host);
    Some(Inner {
        is_part: object.get("version").is_none() || forwards == Some(true),
        ..resolv_conf(lines(servers, domains)?)
    })
}

/// Whether pods with the node's file ask the machine's own server, if that is said.
///
/// Source: siderolabs/talos `pkg/machinery/config/types/v1alpha1`: `HostDNSConfig`.
fn pods_ask_host(features: &Node) -> Option<bool> {
    match features.at(&["hostDNS", "forwardKubeDNSToHost"])?.kind()? {
        Kind::Bool(it) => Some(it),
        _ => None,
    }
}

/// The name servers that talhelper gives each machine of a cluster, and the patches
/// that stand there as texts.
///
/// Source: budimanjojo/talhelper `pkg/config/config.go: TalhelperConfig`, `NodeConfigs`;
/// siderolabs/talos `pkg/machinery/config/contract.go: HostDNSForwardKubeDNSToHost`.
pub(super) fn talhelper(object: &Node) -> Vec<Inner<'_>> {
    let is_cluster = ["clusterName", "endpoint"]
        .iter()
        .all(|it| object.get(it).is_some());
    // Before 1.8 pods asked the machine's own server only where that was said.
    let version = object.word(&["talosVersion"]).and_then(Version::find);
    let asks_host = version.is_none_or(|it| it >= Version::release(1, 8, 0));
    let nodes = || object.items(&["nodes"]).iter().filter(|_| is_cluster);
    let files = nodes().enumerate().filter_map(|(index, node)| {
        let made = lines(node.get("nameservers")?, None)?;
        let path = format!("{:03}/etc/resolv.conf", index + 1);
        Some(Inner {
            is_part: asks_host,
            ..Inner::made(&path, made, Form::ResolvConf)
        })
    });
    let groups = ["controlPlane", "worker"].iter();
    let groups = groups.filter_map(|it| object.get(it)).chain([object]);
    let holders = groups.filter(|_| is_cluster).chain(nodes());
    let patches = holders.flat_map(|it| it.items(&["patches"]));
    let patches = patches.enumerate().filter_map(|(index, patch)| {
        let is_object = patch.as_scalar()?.text.contains("machine:");
        let inner = Inner::scalar(&format!("patch-{:03}", index + 1), patch)?;
        is_object.then(|| inner.of_form(Form::Yaml))
    });
    files.chain(patches).collect()
}

/// The same in a document of its own, since Talos 1.12.
///
/// Source: siderolabs/talos `pkg/machinery/config/types/network/resolver.go`.
pub(super) fn resolver_config(object: &Node) -> Option<Inner<'_>> {
    let servers = object.get("nameservers")?;
    let mut pieces = Pieces::new(servers);
    for server in servers.as_sequence()? {
        pieces.text("nameserver ");
        pieces.scalar(server.get("address").unwrap_or(server));
        pieces.text("\n");
    }
    Some(Inner {
        is_part: pods_ask_host(object) != Some(false),
        ..resolv_conf(pieces)
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::inner::tests::check;

    /// Since Talos 1.8 pods ask the machine's own DNS.
    #[test]
    fn name_servers_are_for_pods_where_the_version_hands_them_on() {
        let talhelper = "clusterName: lab\ntalosVersion: v1.7.6\nendpoint: https://192.0.2.1:6443\nnodes:\n- hostname: a\n  nameservers: [10.0.0.53]\n- hostname: b\n";
        let found = &["nameserver 10.0.0.53 @10.0.0.53"];
        check("talconfig.yaml", talhelper, found);
        check("other.yaml", &talhelper.replace("clusterName", "name"), &[]);
        let newer = talhelper.replace("v1.7.6", "v1.8.0");
        check("talconfig.yaml", &newer, &[]);
        let own = "version: v1alpha1\nmachine:\n  features:\n    hostDNS:\n      forwardKubeDNSToHost: false\n  network:\n    nameservers: [10.0.0.53]\n";
        check("worker.yaml", own, found);
        check("worker.yaml", &own.replace("false", "true"), &[]);
        let resolver =
            "apiVersion: v1alpha1\nkind: ResolverConfig\nnameservers:\n- address: 10.0.0.53\n";
        check("resolver.yaml", resolver, &[]);
        let own = format!("{resolver}hostDNS:\n  forwardKubeDNSToHost: false\n");
        check("resolver.yaml", &own, found);
    }
}
