#![doc = include_str!("dns_pods_not_spread.md")]

use crate::config::yaml::Node;
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let labels = ["spec", "template", "metadata", "labels", "k8s-app"];
    let is_dns = object.kind() == "Deployment" && object.word(&labels) == "kube-dns";
    let Some(spec) = object.get(&["spec", "template", "spec"]).filter(|_| is_dns) else {
        return;
    };
    let replicas = object.get(&["spec", "replicas"]);
    let number = |it: &&Node| {
        let text = it.as_scalar().map(|it| it.text.parse::<u32>());
        matches!(text, Some(Ok(2..)))
    };
    let Some(replicas) = replicas.filter(number) else {
        return;
    };
    // A patch can be for an object that has them.
    let is_patch = spec.items(&["containers"]).is_empty();
    let is_said = ["affinity", "topologySpreadConstraints"]
        .iter()
        .any(|it| spec.get(it).is_some_and(|it| !it.is_null()));
    if is_patch || is_said {
        return;
    }
    report
        .add(
            object.at(replicas),
            "nothing says that the pods of the cluster's DNS are to be on different nodes",
        )
        .help("write topologySpreadConstraints with topologyKey: kubernetes.io/hostname, or a podAntiAffinity")
        .note("by default the scheduler only prefers nodes with fewer of them: all can be on one, and end with it");
}
