//! How well a word names a pod: by its whole name, as its workload, or by the
//! beginning of its name.

use std::collections::BTreeSet;

use super::Target;
use crate::node::Pod;
use crate::node::logs::Owner;
use crate::text::ordered;

/// Better ones are greater.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Fit {
    /// Its name begins so.
    Beginning,
    /// It is named as pods of this workload are.
    Workload,
    /// It is its name or uid, or it has the container's id.
    Whole,
}

/// What can stand in front of a workload's name, as for kubectl.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Pod,
    /// Its pods are named after one of its replica sets.
    Deployment,
    /// Its pods have a random end: `DaemonSet`, Job, `ReplicaSet`.
    Random,
    /// Its pods are counted.
    StatefulSet,
    /// Its pods can have any names; mostly that of a workload like it.
    Service,
}

const KINDS: &[(&str, Kind)] = &[
    ("po", Kind::Pod),
    ("pod", Kind::Pod),
    ("pods", Kind::Pod),
    ("deploy", Kind::Deployment),
    ("deployment", Kind::Deployment),
    ("deployments", Kind::Deployment),
    ("ds", Kind::Random),
    ("daemonset", Kind::Random),
    ("job", Kind::Random),
    ("rs", Kind::Random),
    ("replicaset", Kind::Random),
    ("sts", Kind::StatefulSet),
    ("statefulset", Kind::StatefulSet),
    ("svc", Kind::Service),
    ("service", Kind::Service),
];

/// Whether the word in front of a name is a kind and no namespace.
pub(super) fn is_kind(word: &str) -> bool {
    kind(word).is_some()
}

fn kind(word: &str) -> Option<Kind> {
    let mut kinds = KINDS.iter();
    kinds.find(|(name, _)| *name == word).map(|(_, kind)| *kind)
}

impl Target {
    /// How well it fits this pod, something in it, or one of its processes;
    /// `None`: not at all. A file that keeps a namespace does not tell by itself.
    pub fn fit(&self, pod: &Pod) -> Option<Fit> {
        let begins =
            |it: &Option<String>, id: &str| it.as_deref().is_some_and(|it| it.starts_with(id));
        let name = pod.name.as_deref();
        let is_whole = match self {
            Self::Pid(pid) => pod.processes.iter().any(|it| it.pid == *pid),
            Self::File(_) => false,
            Self::Id(id) => {
                let mut containers = pod.containers.iter();
                begins(&pod.sandbox, id)
                    || containers.any(|it| begins(&it.id, id))
                    || name == Some(id)
            }
            Self::Pod { .. } => {
                let uid = pod.uid.as_deref();
                return self.named(pod.namespace.as_deref(), name.unwrap_or_default(), uid);
            }
        };
        is_whole.then_some(Fit::Whole)
    }

    /// The same by the names of a pod's directory of logs.
    pub(super) fn fit_owner(&self, owner: &Owner) -> Option<Fit> {
        match self {
            Self::Pid(_) | Self::File(_) => None,
            Self::Id(id) => (owner.name == *id).then_some(Fit::Whole),
            Self::Pod { .. } => self.named(Some(&owner.namespace), &owner.name, Some(&owner.uid)),
        }
    }

    /// The uids of the pods that it names whole, by their directories of logs; `None`:
    /// there are none, or it can be something else as well.
    pub fn uids<'o>(&self, logs: &'o [Owner]) -> Option<BTreeSet<&'o str>> {
        let is_pod = matches!(self, Self::Pod { .. });
        let whole = logs
            .iter()
            .filter(|it| self.fit_owner(it) == Some(Fit::Whole));
        let uids: BTreeSet<&str> = ordered(whole.map(|it| it.uid.as_str()));
        (is_pod && !uids.is_empty()).then_some(uids)
    }

    fn named(&self, namespace: Option<&str>, pod: &str, uid: Option<&str>) -> Option<Fit> {
        let Self::Pod {
            namespace: wanted,
            kind: of,
            name,
            ..
        } = self
        else {
            return None;
        };
        let is_there = wanted.is_none() || wanted.as_deref() == namespace;
        // A namespace can be called like a kind.
        let is_whole = pod == name || uid == Some(name);
        if is_whole && of.is_some() && namespace == of.as_deref() && wanted.is_none() {
            return Some(Fit::Whole);
        }
        if !is_there {
            return None;
        }
        let kind = of.as_deref().and_then(kind);
        match kind {
            None | Some(Kind::Pod) if is_whole => Some(Fit::Whole),
            _ if pod == name && kind == Some(Kind::Service) => Some(Fit::Workload),
            _ => {
                let end = pod.strip_prefix(name.as_str())?;
                let is_workload = end.strip_prefix('-').is_some_and(|it| is_end(it, kind));
                match kind {
                    _ if is_workload => Some(Fit::Workload),
                    None | Some(Kind::Pod) => Some(Fit::Beginning),
                    Some(Kind::Service) => end.starts_with('-').then_some(Fit::Beginning),
                    Some(_) => None,
                }
            }
        }
    }
}

/// Whether controllers of this kind put this end, without its dash, behind
/// their own name; of any kind without one.
///
/// Source: kubernetes `pkg/controller/deployment/sync.go: getNewReplicaSet`
/// (a hash of up to 10 characters), apiserver `pkg/storage/names/generate.go`
/// (5 random ones), `pkg/controller/statefulset/stateful_set_utils.go`
/// (an ordinal).
fn is_end(end: &str, kind: Option<Kind>) -> bool {
    let is_of = |word: &str, lengths: std::ops::RangeInclusive<usize>| {
        let is_safe = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
        lengths.contains(&word.len()) && word.bytes().all(is_safe)
    };
    let is_random = || is_of(end, 5..=5);
    let has_hash = || {
        let parts = end.split_once('-');
        parts.is_some_and(|(hash, random)| is_of(hash, 6..=10) && is_of(random, 5..=5))
    };
    let is_ordinal = || super::is_digits(end);
    match kind {
        Some(Kind::Deployment) => has_hash(),
        Some(Kind::Random) => is_random(),
        Some(Kind::StatefulSet) => is_ordinal(),
        None | Some(Kind::Pod | Kind::Service) => is_random() || has_hash() || is_ordinal(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_pods_as_kubectl_users_expect() {
        let check = |word: &str, pod: &str, expected: Option<Fit>| {
            let target: Target = word.parse().unwrap();
            let (namespace, name) = pod.split_once('/').unwrap();
            let owner = Owner {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                uid: "uid".to_owned(),
            };
            assert_eq!(target.fit_owner(&owner), expected, "{word} {pod}");
        };
        let web = "shop/web-7d9c6b8f5-x2x4z";
        for word in [
            "web",
            "shop/web",
            "deploy/web",
            "svc/web",
            "pod/web",
            "shop/deploy/web",
            "deployment/web",
        ] {
            check(word, web, Some(Fit::Workload));
        }
        check("we", web, Some(Fit::Beginning));
        check("pod/web-7d9c6b8f5", web, Some(Fit::Workload));
        check("web-7d9c6b8f5-x2x4z", web, Some(Fit::Whole));
        check("pod/web-7d9c6b8f5-x2x4z", web, Some(Fit::Whole));
        for word in [
            "other/web",
            "sts/web",
            "ds/web",
            "deploy/we",
            "eb",
            "other/deploy/web",
        ] {
            check(word, web, None);
        }
        check("sts/db", "shop/db-0", Some(Fit::Workload));
        check("ds/proxy", "kube-system/proxy-x2x4z", Some(Fit::Workload));
        check("deploy/web", "shop/web-api-7d9c6b8f5-x2x4z", None);
        check("web", "shop/web-api-7d9c6b8f5-x2x4z", Some(Fit::Beginning));
        check("svc/web", "shop/webhook-7d9c6b8f5-x2x4z", None);
        check("web", "shop/webhook-7d9c6b8f5-x2x4z", Some(Fit::Beginning));
        // A namespace of this name, and a pod in it.
        check("deploy/web", "deploy/web", Some(Fit::Whole));
        check("uid", web, Some(Fit::Whole));
    }
}
