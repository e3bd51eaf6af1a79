//! Warnings about a target, and why a word leads to none.

use std::fmt;

use crate::text::some_of;

/// What to know before believing an answer. Sentences without a full stop.
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

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostNetwork => f.write_str(
                "the target is on the node's network: 127.0.0.53 and the like are the node's own servers",
            ),
            Self::Drift(kept) => write!(
                f,
                "the target sees another resolv.conf than its sandbox's, {kept}, which its next container gets"
            ),
            Self::MountedOver(kept) => write!(
                f,
                "the pod's spec mounts a resolv.conf of its own over its sandbox's, {kept}: this container gets it again"
            ),
            Self::Dead(container) => write!(
                f,
                "container {container} does not run; what it gets at its next start stands in for it: \
                 its sandbox's network and resolv.conf"
            ),
            Self::NoProcess => f.write_str(
                "no process of the pod runs; the network namespace is the one that is kept for it",
            ),
            Self::Hidden => f.write_str(
                "its processes cannot be seen here: its sandbox's network and resolv.conf stand in for them",
            ),
            Self::OneOf { chosen, others } => write!(
                f,
                "of the pod's containers this is about {chosen}; the others are {}: name one by its id",
                others.join(", ")
            ),
            Self::NodeFiles => f.write_str(
                "the namespace has no files of its own in /etc/netns: its programs read the node's",
            ),
        }
    }
}
