//! What is wrong with the cluster's DNS of a node where it does not loop.

use std::cmp::Reverse;
use std::net::{IpAddr, SocketAddr};

use super::facts::{Concern, FileRemark, Remark, Step, Trouble};
use super::fix;
use super::log::{self, SightingKind};
use super::over::Past;
use super::report::{Sighting, State, Verdict};
use super::servers::{self, Others};
use crate::node::{Container, Node, Pod, Presence, is_cluster_dns, is_node_cache};
use crate::order::Order as _;

/// What logs and remarks show of it, with the verdict and the state after the
/// next start.
pub(super) fn find(
    node: &Node,
    past: &Past<'_>,
    (verdict, next): (Verdict, State),
    evidence: &[Sighting],
    remarks: &[Remark],
) -> Option<Concern> {
    let others = Others::of_node(node);
    // Of those there is a remark where they do not work.
    let is_of_others = |it: &Sighting| past.pod(it).is_some_and(|it| others.has(it));
    let is_over = |it: &Sighting| past.has_restarted(it) || past.is_over(it);
    let is_trouble_now =
        |it: &&Sighting| it.kind != SightingKind::OwnAddress && !is_of_others(it) && !is_over(it);
    let logs = evidence.iter().filter(is_trouble_now);
    let mut logs: Vec<Sighting> = logs.cloned().collect();
    logs.order_by_key(|it| Reverse(it.count));
    let files = remarks.iter().filter(|it| is_trouble(it));
    let troubles: Vec<Trouble> = down(node)
        .chain(logs.into_iter().map(Trouble::Log))
        .chain(files.cloned().map(Trouble::Files))
        .collect();
    if troubles.is_empty() || verdict != Verdict::NoLoop {
        return None;
    }
    let mut then = match next {
        State::NoLoop => fix::recreations(node, &with_old_files(node, &troubles)),
        _ => Vec::new(),
    };
    if then.is_empty() {
        let questions = troubles.iter().find_map(|it| questions(node, it));
        then.extend(questions.into_iter().flatten());
    }
    Some(Concern { troubles, then })
}

/// The servers of the cluster's DNS that never began, have ended with an error, or are frozen.
/// What their logs show beside stands for itself.
fn down(node: &Node) -> impl Iterator<Item = Trouble> {
    let of_pod = |pod: &Pod| {
        let label = pod.label();
        let of_container = move |it: &Container| {
            if it.is_paused && servers::is_dns_container(&it.name) {
                return Some(Trouble::Paused {
                    pod: label.clone(),
                    container: it.name.clone(),
                    id: it.id.clone(),
                });
            }
            let ended = it.ended.clone().filter(|ended| ended.code != 0)?;
            let is_down = it.pid.is_none() && servers::is_dns_container(&it.name);
            is_down.then(|| Trouble::Down {
                pod: label.clone(),
                container: it.name.clone(),
                ended,
                last: it.logs.first().and_then(log::last_line),
            })
        };
        let found: Vec<Trouble> = pod.containers.iter().filter_map(of_container).collect();
        found
    };
    let ended = of_cluster(node).flat_map(of_pod);
    waiting(node).map(Trouble::Waits).chain(ended)
}

/// Its DNS pods of which no container was ever made.
pub(super) fn waiting(node: &Node) -> impl Iterator<Item = String> {
    let waits = |it: &&Pod| it.presence == Presence::Waits;
    of_cluster(node).filter(waits).map(Pod::label)
}

fn of_cluster(node: &Node) -> impl Iterator<Item = &Pod> {
    let is_its = |it: &&Pod| servers::is_dns_pod(it) && (is_cluster_dns(it) || is_node_cache(it));
    node.pods.iter().filter(is_its)
}

/// Whether lookups fail by it, or will.
fn is_trouble(remark: &Remark) -> bool {
    match remark {
        Remark::File(remark) => matches!(
            remark,
            FileRemark::Drift { .. } | FileRemark::ClusterFirst(_) | FileRemark::Refused { .. }
        ),
        Remark::Unlike { .. } | Remark::Other { .. } | Remark::Noticed(_) => true,
        Remark::Restart(state, _) => *state != State::NoLoop,
        _ => false,
    }
}

/// The pods that have other servers than the kubelet would now write, where one of
/// these is what goes wrong, or nothing else does.
fn with_old_files<'n>(node: &'n Node, troubles: &[Trouble]) -> Vec<&'n Pod> {
    let mut logs = troubles.iter().filter_map(|it| match it {
        Trouble::Log(sighting) => Some(sighting),
        _ => None,
    });
    let failing: Option<Vec<IpAddr>> = logs.next().map(|first| {
        let all = std::iter::once(first).chain(logs);
        all.flat_map(|it| &it.servers).map(SocketAddr::ip).collect()
    });
    let is_old = |it: &Trouble, own: &Pod| match it {
        Trouble::Files(Remark::File(FileRemark::Drift { pod, now, next, .. })) => {
            let is_left = |it: &IpAddr| now.contains(it) && !next.contains(it);
            *pod == own.label() && failing.as_ref().is_none_or(|it| it.iter().any(is_left))
        }
        _ => false,
    };
    let has_old_file = |own: &&Pod| troubles.iter().any(|it| is_old(it, own));
    node.pods.iter().filter(has_old_file).collect()
}

/// How to see it with one's own eyes, if the pod of the log runs.
fn questions(node: &Node, trouble: &Trouble) -> Option<Vec<Step>> {
    let Trouble::Log(Sighting {
        kind, pod, servers, ..
    }) = trouble
    else {
        return None;
    };
    if *kind == SightingKind::ApiForbidden {
        return Some(vec![Step::MayRead]);
    }
    let (pod, server) = (pod.clone()?, *servers.first()?);
    let own = node.pods.iter().find(|it| it.label() == pod)?;
    let runs = own.containers.iter().any(|it| it.pid.is_some());
    if *kind == SightingKind::ApiUnreachable {
        return runs.then(|| vec![Step::Walk { pod, server }]);
    }
    let mut steps = vec![Step::Ask { pod, server }];
    // A server that passes queries back to who asks it keeps them waiting, too.
    if *kind == SightingKind::UpstreamTimeout {
        steps.push(Step::Probe);
    }
    runs.then_some(steps)
}
