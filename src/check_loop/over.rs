//! What logs show of a while ago: an upstream server that did not answer, and of which
//! no such line was written since.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::facts::Remark;
use super::log::{self, SightingKind};
use super::report::Sighting;
use super::servers;
use crate::node::{Container, Node, Pod};

/// Lookups come every few seconds, and each that fails leaves a line: what a log has
/// not shown for so many nanoseconds is no trouble of now.
///
/// Source: policy.
const QUIET: i64 = 600 * 1_000_000_000;

/// From when on the lines of the logs of DNS pods say how it is now, in nanoseconds
/// since 1970; `None`: it is not known what time it is there.
pub fn logs_count_from(node: &Node) -> Option<i64> {
    end(node)?.checked_sub(QUIET)
}

/// What was a while ago, a remark for each.
pub(super) fn remarks(past: &Past<'_>, evidence: &[Sighting]) -> Vec<Remark> {
    let over = evidence.iter().filter(|it| past.is_over(it));
    over.cloned().map(Remark::Earlier).collect()
}

/// What tells whether what a log shows is still so.
#[derive(Debug)]
pub(super) struct Past<'n> {
    /// The DNS pods by their labels: there can be thousands.
    pods: BTreeMap<String, &'n Pod>,
    /// As [`logs_count_from`] says.
    from: Option<i64>,
}

impl<'n> Past<'n> {
    pub(super) fn of_node(node: &'n Node) -> Self {
        let mut pods = BTreeMap::new();
        for pod in node.pods.iter().filter(|it| servers::is_dns_pod(it)) {
            pods.entry(pod.label()).or_insert(pod);
        }
        Self {
            pods,
            from: logs_count_from(node),
        }
    }

    /// The pod whose log shows it.
    pub(super) fn pod(&self, sighting: &Sighting) -> Option<&'n Pod> {
        self.pods.get(sighting.pod.as_ref()?).copied()
    }

    /// Whether another server did not answer, and nothing more was seen of that for a while.
    pub(super) fn is_over(&self, sighting: &Sighting) -> bool {
        // What has ended writes no lines.
        if !sighting.kind.is_of_another() || !self.pod(sighting).is_some_and(runs) {
            return false;
        }
        let last = sighting.last.as_deref().and_then(time);
        last.zip(self.from).is_some_and(|(last, from)| last < from)
    }

    /// Whether a log shows the end of a server that runs again since its pod was
    /// made anew: a static pod keeps its uid, and so its logs.
    pub(super) fn has_restarted(&self, sighting: &Sighting) -> bool {
        let pod = self.pod(sighting).filter(|it| it.is_static());
        let has_ended = matches!(
            sighting.kind,
            SightingKind::LoopFatal | SightingKind::StartFailed
        );
        has_ended && pod.is_some_and(runs)
    }
}

fn runs(pod: &Pod) -> bool {
    let is_server = |it: &Container| it.pid.is_some() && servers::is_dns_container(&it.name);
    pod.containers.iter().any(is_server)
}

/// What time it is on the node; where its files are of another time, that of the
/// newest line in the logs of its DNS pods.
fn end(node: &Node) -> Option<i64> {
    let pods = node.pods.iter().filter(|it| servers::is_dns_pod(it));
    let logs = pods.flat_map(|it| &it.containers).flat_map(|it| &it.logs);
    let newest = || {
        logs.filter_map(log::last_time)
            .filter_map(|it| time(&it))
            .max()
    };
    node.read_at.or_else(newest)
}

fn time(text: &str) -> Option<i64> {
    let moment: Timestamp = text.parse().ok()?;
    i64::try_from(moment.as_nanosecond()).ok()
}
