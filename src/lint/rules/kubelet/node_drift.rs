#![doc = include_str!("node_drift.md")]

use crate::kubelet::choice::NODE_FILE;
use crate::kubelet::flags::Name;
use crate::lint::document::At;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::{has_form, names, shown};
use crate::lint::rules::prelude::*;

/// Among more kubelets than this nothing is compared.
const MAX_KUBELETS: usize = 1000;

pub(super) fn check(kubelet: &Kubelet<'_>, context: &Context<'_>, report: &mut Report) {
    let kubelets = context.kubelets();
    let Some(pool) = Pool::for_kubelet(kubelet, context).filter(|_| kubelets.len() <= MAX_KUBELETS)
    else {
        return;
    };
    let members: Vec<&Kubelet<'_>> = kubelets
        .iter()
        .filter(|it| Pool::for_kubelet(it, context).as_ref() == Some(&pool))
        .collect();
    for key in [Name::ResolvConf, Name::ClusterDns, Name::ClusterDomain] {
        let Some(own) = value(kubelet, key) else {
            continue;
        };
        let values: Vec<(String, &Kubelet<'_>)> = members
            .iter()
            .filter_map(|it| Some((value(it, key)?, *it)))
            .collect();
        let count = |text: &str| values.iter().filter(|it| it.0 == text).count();
        // The first of those that most nodes have.
        let Some(most) = values.iter().map(|it| count(&it.0)).max() else {
            continue;
        };
        let Some((usual, example)) = values.iter().find(|it| count(&it.0) == most) else {
            continue;
        };
        if *usual == own {
            continue;
        }
        let Some((at, other)) = at(kubelet, key).zip(at(example, key)) else {
            continue;
        };
        let (_, name) = names(key);
        let total = values.len();
        report
            .add(at, format!("{name} is {own} here, and {usual} on {most} of the {total} nodes of this pool"))
            .also(other, "one of the others")
            .help(format!("write {name}: {usual}, or give the nodes that need something else a pool of their own"))
            .note("whether a pod works depends on the node that it is scheduled to");
    }
}

/// Nodes whose names differ in their last part only: `worker-1`, `worker-2`.
#[derive(Debug, Eq, PartialEq)]
struct Pool<'k> {
    /// What stands before the node's name in the path.
    folder: &'k str,
    /// What the names of its nodes begin with.
    name: &'k str,
    /// What stands behind the node's name.
    rest: &'k str,
}

/// Words that folders of nodes have in their names.
const WORDS: [&str; 8] = [
    "node", "worker", "master", "control", "server", "agent", "host", "ip-",
];

/// What folders are called that hold nothing but nodes.
const FOLDERS: [&str; 4] = ["nodes", "workers", "hosts", "machines"];

/// Directories that every node has.
const TOPS: [&str; 3] = ["/etc/", "/var/", "/usr/"];

impl<'k> Pool<'k> {
    fn for_kubelet(kubelet: &'k Kubelet<'_>, context: &Context<'_>) -> Option<Self> {
        let path = kubelet.path;
        let file = kubelet.at?.file;
        if !has_form(file, KubeletForm::Configuration, context) {
            return None;
        }
        let top = TOPS.iter().filter_map(|top| path.find(top)).min()?;
        let (tree, rest) = (path.get(..top)?, path.get(top..)?);
        let slash = tree.rfind('/').map_or(0, |it| it + 1);
        let (folder, node) = (tree.get(..slash)?, tree.get(slash..)?);
        let above = folder.trim_end_matches('/').rsplit('/').next();
        let above = above.unwrap_or_default();
        if above.contains("pool") {
            return Some(Self {
                folder,
                name: "",
                rest,
            });
        }
        let name = pool_name(node);
        let has_word = WORDS.iter().any(|it| name.contains(it)) || FOLDERS.contains(&above);
        (has_word && name.len() < node.len()).then_some(Self { folder, name, rest })
    }
}

/// A node's name without its last part: digits, or what follows the last
/// `-`, `_` or `.`.
fn pool_name(node: &str) -> &str {
    if node.starts_with("ip-") {
        return "ip-";
    }
    let without_digits = node.trim_end_matches(|it: char| it.is_ascii_digit());
    if without_digits.len() < node.len() {
        return without_digits;
    }
    let part = node.rfind(['-', '_', '.']).unwrap_or(0);
    node.get(..part).unwrap_or_default()
}

/// What counts of a key; `None`: not known, or not yet.
fn value(kubelet: &Kubelet<'_>, key: Name) -> Option<String> {
    let text = match kubelet.setting(key) {
        Some(setting) => shown(setting),
        None if key == Name::ResolvConf => NODE_FILE.to_owned(),
        None => return None,
    };
    (!has_placeholder(&text)).then_some(text)
}

fn at(kubelet: &Kubelet<'_>, key: Name) -> Option<At> {
    kubelet.setting(key).map(|it| it.at).or(kubelet.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_a_name_is_the_node() {
        for (node, expected) in [
            ("worker-1", "worker-"),
            ("worker12", "worker"),
            ("node-a", "node"),
            ("gpu-worker-3", "gpu-worker-"),
            ("ip-10-0-1-2", "ip-"),
            ("node", ""),
        ] {
            assert_eq!(pool_name(node), expected, "{node}");
        }
    }
}
