#![doc = include_str!("bridge_passes_iptables_by.md")]

use crate::lint::rules::prelude::*;
use crate::text::Place;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let mut bridges = node
        .interfaces
        .iter()
        .filter(|it| BRIDGES.contains(&it.1.as_str()));
    let is_missing = node.kernel.lacks_bridge_module;
    let is_off = is_missing || node.kernel.bridge_calls_iptables == Some(false);
    let Some((_, bridge)) = bridges.next().filter(|_| is_off) else {
        return;
    };
    let place = if is_missing { MODULES } else { SETTING };
    report
        .add(Place::nowhere(place), format!("answers that cross the bridge {bridge} come from another address than was asked"))
        .help("load br_netfilter and set net.bridge.bridge-nf-call-iptables = 1, in /etc/modules-load.d and /etc/sysctl.d")
        .note("a pod asks the address of the Service; a DNS pod on the same node answers directly, the kernel does not put the Service's address back, and the resolver drops it: reply from unexpected source");
}

const SETTING: &str = "/proc/sys/net/bridge/bridge-nf-call-iptables";

/// Where `br_netfilter` would be.
const MODULES: &str = "/proc/modules";

/// The bridges that pods of a node are joined with: the CNI plugin bridge's
/// and flannel's, kubenet's, kube-router's.
const BRIDGES: [&str; 3] = ["cni0", "cbr0", "kube-bridge"];
