//! Paths of files that were given, and paths of nodes.

use crate::kubelet::effective::absolute;

/// The directories above a path, the nearest first, each with its final `/`;
/// at last the empty one, below which everything is.
pub(super) fn parents(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let path = rest?;
        let slash = path.strip_suffix('/').unwrap_or(path).rfind('/');
        let parent = slash.map_or("", |at| path.get(..=at).unwrap_or_default());
        rest = (!parent.is_empty()).then_some(parent);
        Some(parent)
    })
}

/// An absolute path of a node below a directory, which ends in `/` or is empty.
pub(super) fn joined(root: &str, path: &str) -> String {
    format!("{root}{}", path.trim_start_matches('/'))
}

/// Where a link at `path` leads, as a path of the node.
pub(super) fn linked(path: &str, to: &str) -> String {
    let directory = path.rsplit_once('/').map_or("", |it| it.0);
    let start = if to.starts_with('/') { "" } else { directory };
    absolute(start, to)
}

/// The tree of a node that a path lies in: what stands before the first of
/// its directories that every node has. `None`: it has none of them.
pub(super) fn tree_of(path: &str) -> Option<&str> {
    let tops = ["etc", "var", "run", "usr", "lib", "opt"];
    let mut start = 0;
    for part in path.split_inclusive('/') {
        let name = part.trim_end_matches('/');
        if tops.contains(&name) && part.ends_with('/') {
            return path.get(..start);
        }
        start += part.len();
    }
    None
}

/// Whether a file's name says that dnsmasq reads it, which asks all of its servers.
///
/// Source: dnsmasq, dnsmasq(8), `--resolv-file`.
pub(super) fn is_of_dnsmasq(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.contains("dnsmasq")
}
