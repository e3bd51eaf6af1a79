//! What logs show, beside what the files say.

use super::facts::Remark;
use super::log;
use super::report::Sighting;
use super::servers::{self, Others};
use crate::node::{Node, Pod};
use crate::text::Place;

/// What the logs of DNS pods and those that the caller named show.
pub(super) fn sightings(node: &Node) -> Vec<Sighting> {
    let pods = node.pods.iter().filter(|pod| servers::is_dns_pod(pod));
    let of_pods = pods.flat_map(|pod| {
        let logs = pod.containers.iter().flat_map(|it| &it.logs);
        logs.flat_map(log::sightings).map(|it| Sighting {
            pod: Some(pod.label()),
            ..it
        })
    });
    let named = node.logs.iter().flat_map(log::sightings);
    of_pods.chain(named).collect()
}

/// A server of the cluster's DNS that does not run because its own query came
/// back, while no file shows a loop: where its log says so, which counts as much
/// as what the files say.
pub(super) fn contradiction(node: &Node) -> Option<Place> {
    let others = Others::of_node(node);
    let is_asked = |pod: &&Pod| servers::is_dns_pod(pod) && !others.has(pod);
    let dns_pods = node.pods.iter().filter(is_asked);
    let dead = dns_pods
        .flat_map(|pod| &pod.containers)
        .filter(|container| container.pid.is_none());
    let newest = dead.filter_map(|container| container.logs.first());
    let mut sightings = newest.flat_map(log::sightings);
    let fatal = sightings.find(|it| it.kind == log::SightingKind::LoopFatal)?;
    Some(fatal.place)
}

/// A loop that a log shows and no file.
pub(super) fn unexplained(evidence: &[Sighting]) -> Option<Remark> {
    let fatal = evidence
        .iter()
        .find(|it| it.kind == log::SightingKind::LoopFatal)?;
    Some(Remark::Unexplained(fatal.place.file.clone()))
}
