#![doc = include_str!("unready_name_kept.md")]

use crate::lint::rules::prelude::*;

/// So long programs seldom try again, in seconds.
const LONG: u32 = 30;

pub(super) fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
    let set = workload.object;
    let count = set.word(&["spec", "replicas"]);
    let has_peers = count.is_some_and(|it| it.parse::<u32>().is_ok_and(|it| it > 1));
    let named = set.at(&["spec", "serviceName"]);
    let Some(service) = named.filter(|_| workload.kind == "StatefulSet" && has_peers) else {
        return;
    };
    let name = service.as_scalar().map_or("", |it| it.text.as_str());
    if !context.has_headless(set.word(&["metadata", "namespace"]), name) {
        return;
    }
    let corefiles = context.corefiles(workload.document.file);
    let clusters = corefiles.iter().filter(|it| !it.cluster_zones.is_empty());
    let kept: Option<Vec<_>> = clusters.map(|it| it.negative).collect();
    // Nobody tells which of several answers.
    let shortest = kept.unwrap_or_default().into_iter().min_by_key(|it| it.0);
    let Some((seconds, at)) = shortest.filter(|it| it.0 >= LONG) else {
        return;
    };
    report
        .add(
            workload.at(service),
            format!("the name of a pod that is looked up before the pod is ready stays unknown for {seconds} s"),
        )
        .also(at, "for how long CoreDNS keeps that a name does not exist")
        .help("write publishNotReadyAddresses: true in the Service if the pods look each other up at their start, or a shorter ttl in the Corefile");
}
