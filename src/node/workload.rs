//! What made a pod, by the name that it has from there.

use std::ops::RangeInclusive;

/// The kind and the name of what makes pods of this name, which installers give to a
/// `ConfigMap` of theirs, too; `None`: the name does not tell.
///
/// Source: kubernetes `pkg/controller/deployment/sync.go: getNewReplicaSet`,
/// `staging/src/k8s.io/apiserver/pkg/storage/names/generate.go`.
pub fn maker(pod: &str) -> Option<(&'static str, &str)> {
    let (rest, last) = pod.rsplit_once('-')?;
    if !is_random(last, 5..=5) {
        return None;
    }
    match rest.rsplit_once('-') {
        Some((name, set)) if is_random(set, 6..=10) => Some(("deployment", name)),
        _ => Some(("daemonset", rest)),
    }
}

/// Whether a part of a name is so long, and of the letters that Kubernetes makes names of:
/// none of them is a vowel.
///
/// Source: kubernetes `staging/src/k8s.io/apimachinery/pkg/util/rand/rand.go: alphanums`.
pub fn is_random(part: &str, lengths: RangeInclusive<usize>) -> bool {
    let is_one = |byte: u8| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte);
    lengths.contains(&part.len()) && part.bytes().all(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_named_without_what_each_start_makes() {
        for (name, expected) in [
            ("coredns-57c679d4f5-kkqld", Some(("deployment", "coredns"))),
            (
                "node-local-dns-x2x4z",
                Some(("daemonset", "node-local-dns")),
            ),
            ("coredns-node-a", None),
            ("dns", None),
        ] {
            assert_eq!(maker(name), expected);
        }
    }
}
