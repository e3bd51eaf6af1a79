#![doc = include_str!("edited_in_place.md")]

use crate::config::resolv_conf::{Line, ResolvConf};
use crate::lint::rules::node::look;
use crate::lint::rules::prelude::*;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let copied = [
        look::content(node.node_file.as_ref()),
        look::kubelet_file(node),
    ];
    for pod in &node.pods {
        let Some(conf) = pod.resolv_conf.as_ref() else {
            continue;
        };
        // Docker's own files have comments, and some runtimes copy the node's.
        let is_dockers = conf.source.name.contains("/docker/");
        let is_copy = copied
            .iter()
            .flatten()
            .any(|it| it.source.bytes == conf.source.bytes);
        if is_dockers || is_copy || conf.source.is_cut() {
            continue;
        }
        let Some(line) = odd_line(conf) else {
            continue;
        };
        let place = conf.source.place_of(line.span().start);
        report
            .add(place, format!("the resolv.conf of pod {} was edited in place: no runtime writes such a line there", pod.label()))
            .help("recreate the pod to have it as the kubelet would write it")
            .note("a program in a container can do it, as VPN clients do: it counts for all containers of the pod, and is lost with the pod");
    }
}

/// The first line that neither containerd nor CRI-O writes: they write the
/// search list, the servers and the options, in this order, and nothing else.
///
/// Source: containerd `parseDNSOptions`, CRI-O `ParseDNSOptions`.
fn odd_line(conf: &ResolvConf) -> Option<Line<'_>> {
    let mut last = 0;
    conf.lines().find(|line| {
        let text = line.bytes();
        let rank = match line.words().next().map(|it| it.bytes) {
            Some(b"search") => 1,
            Some(b"nameserver") => 2,
            Some(b"options") => 3,
            _ => return !text.is_empty() || line.ends_in_newline(),
        };
        let is_in_order = rank > last || rank == 2 && last == 2;
        last = rank;
        let is_plain = !text.starts_with(b" ")
            && !text.contains(&b'\t')
            && !text.windows(2).any(|it| it == b"  ");
        !(is_in_order && is_plain && line.ends_in_newline())
    })
}
