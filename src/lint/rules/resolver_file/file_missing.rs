#![doc = include_str!("file_missing.md")]

use std::net::IpAddr;

use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::Found;
use crate::kubelet::choice::{NODE_FILE, UPLINK_FILE};
use crate::lint::rules::prelude::*;
use crate::loopback::{is_local, name_servers};
use crate::text::Place;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let (Some(kubelet), Some(file)) = (&node.kubelet, &node.kubelet_file) else {
        return;
    };
    let is_missing = file.content.as_ref().is_err_and(|it| it.is_missing);
    // What programs write when they start is not on a disk that nobody runs.
    let mut paths = std::iter::once(&file.path).chain(&file.links);
    let is_made_at_start = paths.any(|it| it.starts_with("/run/") || it.starts_with("/var/run/"));
    let runs = matches!(kubelet.found, Found::Process { .. });
    if !is_missing || is_made_at_start && !runs {
        return;
    }
    let (path, last) = (&file.path, file.links.last());
    let message = match last {
        Some(last) => format!("{path} leads to {last}, which is not there"),
        None => format!("{path} is not there"),
    };
    let set = kubelet.resolv_conf.origin.place().cloned();
    let place = set.unwrap_or_else(|| Place::nowhere(path));
    let finding = report
        .add(place, message)
        .note("no pod of the node starts, whatever its policy: the kubelet reads the file for each of them");
    if path == NODE_FILE && last.is_some_and(|it| it.starts_with("/run/systemd/resolve/")) {
        finding.help("start systemd-resolved, or write a file in place of the link");
    } else if path == UPLINK_FILE {
        if node.resolved.is_none() {
            finding.note("systemd-resolved, which writes it, does not run");
        }
        // One of the node's own addresses in it would make DNS loop.
        let has_servers = |conf: &ResolvConf| {
            let mut all = name_servers(conf).map(|it| it.0).peekable();
            let is_own = |ip: IpAddr| is_local(ip) || node.addresses.contains(&ip);
            all.peek().is_some() && !all.any(is_own)
        };
        let other = node.node_file.as_ref().and_then(|it| it.conf());
        let name = if other.is_some_and(has_servers) {
            format!("name another file: resolvConf: {NODE_FILE}")
        } else {
            "name a file with the servers of the node's network in resolvConf".to_owned()
        };
        finding.help(format!("start systemd-resolved, or {name}"));
    } else {
        finding.help("create the file, or name one that is there in resolvConf");
    }
}
