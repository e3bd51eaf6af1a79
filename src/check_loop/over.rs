//! What logs show of a while ago: an upstream server that did not answer, and of which
//! no such line was written since.

use jiff::Timestamp;

use super::facts::Remark;
use super::report::Sighting;
use super::{log, servers};
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
pub(super) fn remarks(node: &Node, evidence: &[Sighting]) -> Vec<Remark> {
    let over = evidence.iter().filter(|it| is_over(node, it));
    over.cloned().map(Remark::Earlier).collect()
}

/// Whether an upstream server did not answer, and nothing more was seen of that for a
/// while.
pub(super) fn is_over(node: &Node, sighting: &Sighting) -> bool {
    let label = sighting.pod.as_ref();
    let pod = node.pods.iter().find(|it| Some(&it.label()) == label);
    // What has ended writes no lines.
    if !sighting.kind.starts_with("upstream-") || !pod.is_some_and(runs) {
        return false;
    }
    let last = sighting.last.as_deref().and_then(time);
    let from = logs_count_from(node);
    last.zip(from).is_some_and(|(last, from)| last < from)
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
