//! Which of several pods is meant.

use crate::node::Pod;
use crate::order::Order as _;
use crate::target::PlanError;
use crate::text::escaped;

/// The one pod: of several, what lives counts before what is left of others.
pub(super) fn one_pod<'n>(
    what: &str,
    pods: impl Iterator<Item = &'n Pod>,
    others: &[Pod],
) -> Result<&'n Pod, PlanError> {
    let all: Vec<&Pod> = pods.collect();
    let rank = |pod: &&Pod| match pod {
        pod if !pod.processes.is_empty() => 2,
        pod if pod.netns_path.is_some() => 1,
        _ => 0,
    };
    let best = all.iter().map(rank).max();
    let mut best = all.iter().filter(|pod| Some(rank(pod)) == best);
    let shown = escaped(what.as_bytes());
    match (best.next(), best.next()) {
        (Some(pod), None) => Ok(pod),
        (None, _) => Err(PlanError::Unknown {
            near: nearest(what, others),
            what: shown,
        }),
        _ => Err(PlanError::Ambiguous {
            what: shown,
            candidates: all.iter().map(|it| candidate(it, &all)).collect(),
        }),
    }
}

/// What to write for this one of several pods: its name, or its uid where
/// another one has the same name.
fn candidate(pod: &Pod, all: &[&Pod]) -> String {
    let label = pod.label();
    let twins = all.iter().filter(|it| it.label() == label).count();
    let line = match &pod.uid {
        Some(uid) if twins > 1 => format!("{uid} ({label})"),
        _ => label,
    };
    escaped(line.as_bytes())
}

/// The pods whose names are nearest to what was named: at most three, those
/// with nothing in common left out.
fn nearest(what: &str, pods: &[Pod]) -> Vec<String> {
    const SHOWN: usize = 3;
    /// More letters in a hundred may not be wrong.
    const MAX_WRONG: usize = 40;
    let wanted = what.rsplit(['/', ' ']).next().unwrap_or(what);
    let mut near: Vec<(usize, String)> = Vec::new();
    for pod in pods {
        let name = pod.name.as_deref().unwrap_or_default();
        // Workloads' pods have ends that nobody types.
        let beginnings = name.match_indices('-').map(|(at, _)| name.get(..at));
        let names = beginnings.flatten().chain([name]);
        let distance = names.map(|it| strsim::osa_distance(it, wanted)).min();
        let distance = distance.unwrap_or(usize::MAX);
        if distance.saturating_mul(100) <= wanted.len() * MAX_WRONG {
            near.push((distance, escaped(pod.label().as_bytes())));
        }
    }
    near.order();
    near.dedup();
    near.truncate(SHOWN);
    near.into_iter().map(|(_, label)| label).collect()
}
