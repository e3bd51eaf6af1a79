#![doc = include_str!("wanted_search_truncation.md")]

use crate::lint::rules::prelude::*;
use crate::pod::{Rules, kubelet_file, limits};

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let file = node.kubelet_file.as_ref();
    let conf = file.and_then(|it| it.content.as_ref().ok());
    let (Some(kubelet), Some(conf)) = (&node.kubelet, conf) else {
        return;
    };
    let rules = Rules::of_version(kubelet.version);
    // What it refuses has no search domains.
    let Ok(host) = kubelet_file::read_kubelet_file(conf, &rules) else {
        return;
    };
    let has_domain = !kubelet.cluster_domain.value.is_empty();
    let path = &kubelet.resolv_conf.value;
    let Some(event) = limits::check_host(path, &host.searches, has_domain, rules.limits) else {
        return;
    };
    let mut lines = conf.lines();
    let is_search = |it: &crate::config::resolv_conf::Line<'_>| {
        it.words().next().is_some_and(|it| it.bytes == b"search")
    };
    let line = lines.rfind(is_search);
    let start = line
        .and_then(|it| it.words().next())
        .map_or(0, |it| it.span.start);
    report
        .add(
            conf.source.place_of(start),
            "the search domains here and those of the cluster are more than a pod's file takes",
        )
        .help("give the kubelet a file of its own with fewer search domains")
        .note(format!(
            "the node has an event {}: {}",
            event.reason, event.message
        ))
        .note("pods lose the last of these domains");
}
