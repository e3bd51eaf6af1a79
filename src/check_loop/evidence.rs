//! What logs show, beside what the files say.

use super::report::Sighting;
use super::{log, servers};
use crate::node::Node;

/// What the logs of DNS pods and those that the caller named show.
pub(super) fn of(node: &Node) -> Vec<Sighting> {
    let pods = node.pods.iter().filter(|pod| servers::is_dns_pod(pod));
    let logs = pods.flat_map(|pod| &pod.containers).flat_map(|it| &it.logs);
    logs.chain(&node.logs).flat_map(log::sightings).collect()
}

/// A DNS server that does not run because its own query came back, while no
/// file shows a loop: what it says counts as much as what the files say.
pub(super) fn contradiction(node: &Node) -> Option<String> {
    let dns_pods = node.pods.iter().filter(|pod| servers::is_dns_pod(pod));
    let dead = dns_pods
        .flat_map(|pod| &pod.containers)
        .filter(|container| container.pid.is_none());
    let newest = dead.filter_map(|container| container.logs.first());
    let mut sightings = newest.flat_map(log::sightings);
    let fatal = sightings.find(|it| it.kind == log::LOOP_FATAL)?;
    Some(format!(
        "The log of CoreDNS ends with its own query coming back ({}), but no file of this node \
         shows how: the way back leads through another machine, or was fixed since; ask with \
         --probe when it runs again",
        fatal.place
    ))
}

/// A loop that a log shows and no file.
pub(super) fn unexplained(evidence: &[Sighting]) -> Option<String> {
    let fatal = evidence.iter().find(|it| it.kind == log::LOOP_FATAL)?;
    Some(format!(
        "The log {} shows that CoreDNS did loop: with other files than these, or by a way that \
         comes back from outside the node",
        fatal.place.file
    ))
}
