#![doc = include_str!("one_dns_pod.md")]

use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let labels = ["spec", "template", "metadata", "labels", "k8s-app"];
    let is_dns = object.kind() == "Deployment" && object.word(&labels) == "kube-dns";
    let replicas = object.get(&["spec", "replicas"]).filter(|_| is_dns);
    let Some(replicas) = replicas.filter(|it| it.as_scalar().is_some_and(|it| it.text == "1"))
    else {
        return;
    };
    report
        .add(
            object.at(replicas),
            "the cluster's DNS is one pod: while it moves, no name is answered",
        )
        .help("write replicas: 2 in a cluster of more than one node");
}
