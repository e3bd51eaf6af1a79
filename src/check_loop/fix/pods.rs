//! Which pods have to be made anew for a new file, and how.

use std::collections::{BTreeMap, BTreeSet};

use super::walk::{Step as Hop, Who};
use super::{servers, verdict, view};
use crate::check_loop::facts::{Manifest, Step};
use crate::check_loop::graph::Graph;
use crate::check_loop::outcome::Outcome;
use crate::check_loop::report::{State, When};
use crate::check_loop::view::Policy;
use crate::node::{Node, Pod};
use crate::order::Order as _;
use crate::text::{escaped, ordered};
use crate::topology::Network;

/// The DNS pods whose queries come to an end with the files that they have, or
/// go round by no server that their files name.
pub(super) fn well<'n>(graph: &Graph<'n>, outcomes: &[Outcome]) -> Vec<&'n Pod> {
    let mut are_well: BTreeMap<String, bool> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|it| it.when == When::Now) {
        let server = graph.servers.get(outcome.start);
        if let Some(pod) = server.and_then(|it| it.pod) {
            let is_own = |it: &Hop| it.who == Who::Server(outcome.start) && it.is_from_file;
            let mut steps = outcome.paths.iter().flat_map(|it| &it.steps);
            let is_well = outcome.state == State::NoLoop
                || (verdict::is_bad(outcome.state) && !steps.any(is_own));
            *are_well.entry(pod.key()).or_insert(true) &= is_well;
        }
    }
    let is_well = |pod: &&Pod| are_well.get(&pod.key()) == Some(&true);
    graph.node.pods.iter().filter(is_well).collect()
}

/// Which pods have to be made anew for a new file: not those that do well.
pub(super) fn recreation(node: &Node, well: &[&Pod]) -> Vec<Step> {
    let networks = node.servers.iter().map(|it| &it.network);
    let networks: BTreeSet<&Network> = ordered(networks);
    let serves =
        |pod: &Pod| servers::is_dns_pod(pod) || networks.contains(&Network::Pod(pod.key()));
    let is_affected = |pod: &&Pod| {
        serves(pod) && view::policy(node, pod) == Policy::Host && !pod.mounts_resolv_conf()
    };
    let affected: Vec<&Pod> = node.pods.iter().filter(is_affected).collect();
    let well: BTreeSet<String> = ordered(well.iter().map(|it| it.key()));
    let is_well = |pod: &Pod| well.contains(&pod.key());
    let old: Vec<&Pod> = affected
        .iter()
        .copied()
        .filter(|pod| !is_well(pod))
        .collect();
    if affected.is_empty() {
        vec![recreation_of_all()]
    } else {
        recreations(node, &old)
    }
}

/// Whether it is a step that pods which run with a good file do not need.
pub(super) fn is_recreation(step: &Step) -> bool {
    matches!(step, Step::Recreate { .. })
}

/// How DNS pods are recreated of which no names are known.
pub(super) fn recreation_of_all() -> Step {
    Step::Recreate {
        namespace: "kube-system".to_owned(),
        pods: Vec::new(),
    }
}

/// The steps that recreate these pods.
pub(in crate::check_loop) fn recreations(node: &Node, pods: &[&Pod]) -> Vec<Step> {
    let (from_files, others): (Vec<&Pod>, Vec<&Pod>) = pods.iter().partition(|it| it.is_static());
    let mut namespaces: Vec<&str> = others
        .iter()
        .filter_map(|it| it.namespace.as_deref())
        .collect();
    namespaces.order();
    namespaces.dedup();
    let of_namespace = |namespace: &str| {
        let of_it = |pod: &&&Pod| pod.namespace.as_deref() == Some(namespace);
        let names = others.iter().filter(of_it);
        Step::Recreate {
            namespace: namespace.to_owned(),
            pods: names.filter_map(|it| it.name.clone()).collect(),
        }
    };
    let steps = namespaces.into_iter().map(of_namespace);
    steps
        .chain(from_files.into_iter().map(|pod| of_file(node, pod)))
        .collect()
}

/// Deleting a static pod takes away what the API server shows of it, and not
/// the pod itself.
fn of_file(node: &Node, pod: &Pod) -> Step {
    let folder = node
        .kubelet
        .as_ref()
        .and_then(|it| it.static_pods.as_deref());
    let manifest = match (&pod.manifest, folder) {
        (Some(path), _) => Manifest::File(path.clone()),
        (None, Some(folder)) => Manifest::In(escaped(folder.as_bytes())),
        (None, None) => Manifest::Unknown,
    };
    Step::RecreateStatic {
        pod: pod.label(),
        manifest,
    }
}
