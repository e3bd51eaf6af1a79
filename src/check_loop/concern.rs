//! What is wrong with the cluster's DNS of a node where it does not loop.

use std::cmp::Reverse;

use super::facts::{Concern, FileRemark, Remark, Step, Trouble};
use super::fix;
use super::log::OWN_ADDRESS;
use super::report::{Sighting, State, Verdict};
use crate::node::{Node, Pod};

/// What logs and remarks show of it, with the verdict and the state after the
/// next start.
pub(super) fn find(
    node: &Node,
    (verdict, next): (Verdict, State),
    evidence: &[Sighting],
    remarks: &[Remark],
) -> Option<Concern> {
    let logs = evidence.iter().filter(|it| it.kind != OWN_ADDRESS);
    let mut logs: Vec<Sighting> = logs.cloned().collect();
    logs.sort_by_key(|it| Reverse(it.count));
    let files = remarks.iter().filter(|it| is_trouble(it));
    let troubles: Vec<Trouble> = logs
        .into_iter()
        .map(Trouble::Log)
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
        then.extend(troubles.iter().find_map(|it| question(node, it)));
    }
    Some(Concern { troubles, then })
}

/// Whether lookups fail by it, or will.
fn is_trouble(remark: &Remark) -> bool {
    match remark {
        Remark::File(remark) => matches!(
            remark,
            FileRemark::Drift { .. } | FileRemark::ClusterFirst(_) | FileRemark::Refused { .. }
        ),
        Remark::Unlike { .. } | Remark::Other { .. } | Remark::Noticed(_) => true,
        Remark::Restart(state) => *state != State::NoLoop,
        _ => false,
    }
}

/// The pods that have other servers than the kubelet would now write.
fn with_old_files<'n>(node: &'n Node, troubles: &[Trouble]) -> Vec<&'n Pod> {
    let has_old_file = |own: &&Pod| {
        troubles.iter().any(|it| match it {
            Trouble::Files(Remark::File(FileRemark::Drift { pod, .. })) => *pod == own.label(),
            _ => false,
        })
    };
    node.pods.iter().filter(has_old_file).collect()
}

/// How to see it with one's own eyes, if the pod of the log runs.
fn question(node: &Node, trouble: &Trouble) -> Option<Step> {
    let Trouble::Log(Sighting { pod, servers, .. }) = trouble else {
        return None;
    };
    let (pod, server) = (pod.clone()?, *servers.first()?);
    let own = node.pods.iter().find(|it| it.label() == pod)?;
    let runs = own.containers.iter().any(|it| it.pid.is_some());
    runs.then_some(Step::Ask { pod, server })
}
