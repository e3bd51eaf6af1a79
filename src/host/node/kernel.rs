//! Reads what the kernel keeps about connections.

use std::path::Path;

use crate::host::modules;
use crate::host::root::Root;
use crate::node::kernel::{self, Kernel, Room};
use crate::text::Source;

/// What the kernel of the node below `root` says.
pub fn read_kernel(root: &Root) -> Kernel {
    let mut kernel = Kernel {
        uptime: uptime(root),
        disk: disk(root),
        ..Kernel::default()
    };
    if let Some(it) = of_network(root, "stat/nf_conntrack") {
        kernel.statistics = kernel::statistics(&it.name, &it.bytes);
    }
    if let Some(it) = of_network(root, "nf_conntrack") {
        kernel.flows = kernel::flows(&it.name, &it.bytes);
    }
    if let Some(it) = of_network(root, "ip_vs") {
        kernel.services = Some(kernel::services(&it.name, &it.bytes));
    }
    if let Some(it) = of_network(root, "ip_vs_conn") {
        kernel.service_flows = kernel::service_flows(&it.name, &it.bytes);
    }
    if is_own_network(root) {
        let setting = |name: &str| number(root, &format!("/proc/sys/net/{name}"));
        let count = setting("netfilter/nf_conntrack_count");
        let max = setting("netfilter/nf_conntrack_max").filter(|it| *it > 0);
        kernel.conntrack = count.zip(max).map(|(count, max)| Room { count, max });
        let is_on = |it: u64| it != 0;
        kernel.bridge_calls_iptables = setting("bridge/bridge-nf-call-iptables").map(is_on);
        // What is built in has the setting and is not in the list.
        let has_settings = setting("ipv4/ip_forward").is_some();
        let is_unset = has_settings && kernel.bridge_calls_iptables.is_none();
        kernel.lacks_bridge_module =
            is_unset && modules::is_loaded(root, "br_netfilter") == Ok(false);
        kernel.expires_without_server = setting("ipv4/vs/expire_nodest_conn").map(is_on);
    }
    kernel
}

/// Of a node that runs here; a copy of its files has another disk.
fn disk(root: &Root) -> Option<Room> {
    let is_live = root.enter(Path::new("/proc")).ok()?.is_procfs();
    let room = || root.enter(Path::new(KUBELET)).ok()?.room();
    is_live.then(room)?
}

/// Where the kubelet keeps its pods, by its own default.
const KUBELET: &str = "/var/lib/kubelet";

/// How long the node has run, in seconds.
pub fn uptime(root: &Root) -> Option<u64> {
    number(root, "/proc/uptime")
}

/// A table of the node's own network namespace.
pub fn of_network(root: &Root, name: &str) -> Option<Source> {
    let paths = [format!("/proc/1/net/{name}"), format!("/proc/net/{name}")];
    let mut read = paths.iter().map(|it| root.read_once(Path::new(it)));
    Some(read.find_map(Result::ok)?.source)
}

/// Whether the settings below `/proc/sys/net` are those of the node: they are
/// those of the network namespace of whoever reads them, but in a copy of them.
pub fn is_own_network(root: &Root) -> bool {
    let network = |process: &str| root.read_link(Path::new(&format!("/proc/{process}/ns/net")));
    match (network("self"), network("1")) {
        (None, _) => true,
        (own, nodes) => own == nodes,
    }
}

/// The whole number at the beginning of a file.
fn number(root: &Root, path: &str) -> Option<u64> {
    let file = root.read_once(Path::new(path)).ok()?;
    let text = String::from_utf8_lossy(&file.source.bytes);
    let end = text.find(|it: char| !it.is_ascii_digit());
    text.get(..end.unwrap_or(text.len()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::fixture::root_with;

    #[test]
    fn settings_are_those_of_whoever_reads_them() {
        let count = ("proc/sys/net/netfilter/nf_conntrack_count", "7\n");
        let max = ("proc/sys/net/netfilter/nf_conntrack_max", "1000\n");
        let own = ("proc/self/ns/net", "->net:[2]");
        for (links, is_seen) in [
            (vec![], true),
            (vec![own, ("proc/1/ns/net", "->net:[2]")], true),
            (vec![own, ("proc/1/ns/net", "->net:[1]")], false),
            // It may not be looked at.
            (vec![own], false),
        ] {
            let (_directory, root) = root_with(&[vec![count, max], links].concat());
            assert_eq!(read_kernel(&root).conntrack.is_some(), is_seen);
        }
    }
}
