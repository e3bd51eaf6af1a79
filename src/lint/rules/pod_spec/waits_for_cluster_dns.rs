#![doc = include_str!("waits_for_cluster_dns.md")]

use crate::config::yaml::Node;
use crate::lint::rules::prelude::*;

use super::spec::{containers, field, image_name};

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let is_cluster = |it: &crate::lint::facts::Text| it.text == "ClusterFirstWithHostNet";
    let Some(policy) = workload.policy().filter(is_cluster) else {
        return;
    };
    let mut controllers = containers(workload).filter(|it| is_controller(it));
    let (Some(_), Some(controller)) = (workload.host_network(), controllers.next()) else {
        return;
    };
    let message = format!(
        "{} waits for the cluster's DNS, which waits for the nodes that it makes ready",
        workload.label()
    );
    report
        .add(policy.at, message)
        .label("the cluster's DNS is asked")
        .also(workload.at(controller), "this makes nodes ready")
        .help("write dnsPolicy: Default")
        .note("in a new cluster every node has the taint node.cloudprovider.kubernetes.io/uninitialized, under which no CoreDNS pod starts: the controller cannot look up its cloud's API, and the taint stays");
}

/// Whether it is the controller that takes the taint of new nodes away, and CoreDNS
/// does not tolerate that taint, as it does in Talos.
///
/// Source: siderolabs/talos `internal/app/machined/pkg/controllers/k8s/internal/k8stemplates/coredns.go`.
fn is_controller(container: &Node) -> bool {
    [
        image_name(field(container, "image")),
        field(container, "name"),
    ]
    .iter()
    .filter(|it| !it.contains("talos"))
    .any(|it| it.contains("cloud-controller-manager") || it.ends_with("-ccm"))
}
