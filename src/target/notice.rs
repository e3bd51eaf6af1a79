//! Warnings about a target, and why a word leads to none.

use crate::text::some_of;

/// What to know before believing an answer. `render` has the words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Warning {
    /// The target is on the node's network.
    HostNetwork,
    /// The process sees another file than its sandbox's.
    Drift(String),
    /// The pod's spec mounts another file over its sandbox's.
    MountedOver(String),
    /// The container does not run: its sandbox stands in for it.
    Dead(String),
    /// No process of the pod runs: its network namespace and file are there.
    NoProcess,
    /// The pod's processes cannot be seen: its sandbox stands in for them.
    Hidden,
    /// The pod has several containers, and one of them was chosen.
    OneOf {
        /// Which.
        chosen: String,
        /// The others.
        others: Vec<String>,
    },
    /// A named namespace without files of its own has the node's.
    NodeFiles,
}

/// Why a target leads nowhere.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Nothing on the node fits.
    #[error("there is no {what} on this node; {}", nearest(near))]
    Unknown {
        /// What was named, safe to print.
        what: String,
        /// The pods with the nearest names, safe to print.
        near: Vec<String>,
    },
    /// The pod has no such container.
    #[error(
        "pod {pod} has no container {container}; it has {}",
        all_of(containers)
    )]
    NoContainer {
        /// The pod, safe to print.
        pod: String,
        /// What was named, safe to print.
        container: String,
        /// What it has, safe to print.
        containers: Vec<String>,
    },
    /// More than one thing fits.
    #[error("{what} can be {}; write one of these", first_of(candidates))]
    Ambiguous {
        /// What was named, safe to print.
        what: String,
        /// What fits, safe to print.
        candidates: Vec<String>,
    },
    /// The pod is known, but nothing of it is left.
    #[error("nothing of {0} is left to enter: no process, and no file keeps its network namespace")]
    Gone(String),
}

fn nearest(near: &[String]) -> String {
    if near.is_empty() {
        return "`kdns pods` lists its pods".to_owned();
    }
    format!("the nearest is {}", first_of(near))
}

fn all_of(containers: &[String]) -> String {
    if containers.is_empty() {
        return "none".to_owned();
    }
    containers.join(", ")
}

/// `a, b or c`; of many the first few, and how many more.
fn first_of(words: &[String]) -> String {
    const SHOWN: usize = 5;
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if words.len() <= SHOWN => format!("{} or {last}", first.join(", ")),
        _ => some_of(words, SHOWN),
    }
}
