#![doc = include_str!("resolvconf_stops_at_loopback.md")]

use crate::lint::rules::prelude::*;
use crate::node::HostFile;

use super::look;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let Some(conf) = look::kubelet_file(node) else {
        return;
    };
    let is_made = |it: &HostFile| {
        let mut paths = it.links.iter().chain([&it.path]);
        paths.any(|it| MADE.contains(&it.as_str()))
    };
    let listed: Vec<_> = look::servers(conf).collect();
    let Some((last, place)) = listed.last().filter(|it| look::is_own(it.0)) else {
        return;
    };
    if !node.kubelet_file.as_ref().is_some_and(is_made) {
        return;
    }
    let is_one = |it: &&HostFile| it.path.starts_with("/run/resolvconf/interface/");
    let left_out = node
        .files
        .iter()
        .filter(is_one)
        .filter_map(|it| look::content(Some(it)));
    let mut left_out = left_out.flat_map(look::servers);
    let Some((server, from)) =
        left_out.find(|it| !look::is_own(it.0) && listed.iter().all(|own| own.0 != it.0))
    else {
        return;
    };
    let finding = report.add(
        place.clone(),
        format!("resolvconf stopped its list at {last} and left out {server}"),
    );
    finding
        .also(from, "this server is not in the list")
        .help("write a file with the real servers for the kubelet, and name it in resolvConf; or set TRUNCATE_NAMESERVER_LIST_AFTER_LOOPBACK_ADDRESS=no in /etc/default/resolvconf")
        .note("the node has a server of its own there; in a pod the address is the pod itself: CoreDNS forwards to itself");
    finding.also_each(
        look::resolv_conf_place(node),
        "the kubelet hands the file out because of this",
    );
}

/// Where Debian's resolvconf writes its list.
const MADE: [&str; 2] = [
    "/run/resolvconf/resolv.conf",
    "/etc/resolvconf/run/resolv.conf",
];
