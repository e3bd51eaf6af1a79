#![doc = include_str!("runtime_copied_node_file.md")]

use crate::lint::rules::prelude::*;
use crate::node::Pod;

use super::look;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let Some(nodes) = look::content(node.node_file.as_ref()) else {
        return;
    };
    let own = |it| look::servers(it).find(|it| look::is_own(it.0));
    let is_handed_out =
        look::kubelet_file(node).is_none_or(|it| look::servers(it).next().is_some());
    if is_handed_out || own(nodes).is_none() {
        return;
    }
    let is_copy = |it: &&Pod| {
        let conf = it.resolv_conf.as_ref();
        it.host_network == Some(false)
            && conf.is_some_and(|it| it.source.bytes == nodes.source.bytes)
    };
    let pods: Vec<&Pod> = node.pods.iter().filter(is_copy).collect();
    let first = pods.first().and_then(|it| it.resolv_conf.as_ref());
    let Some((address, place)) = first.and_then(own) else {
        return;
    };
    let finding = report.add(
        place,
        format!(
            "{} {} the node's own file with {address}: {}",
            counted(pods.len(), "pod", "pods"),
            if pods.len() == 1 { "has" } else { "have" },
            look::named(&pods)
        ),
    );
    finding
        .help("write a server into the file that resolvConf names, and recreate the pods")
        .note("the kubelet's file has nothing in it, and the runtime then copies /etc/resolv.conf of the node: CRI-O does, containerd did before 1.6.34 and 1.7.20");
    if let Some((_, place)) = look::servers(nodes).find(|it| it.0 == address) {
        finding.also(place, "it comes from here");
    }
}
