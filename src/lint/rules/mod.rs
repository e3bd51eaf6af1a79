//! The rules: one file for each, its page beside it.
//!
//! A group is a folder; its `mod.rs` lists its rules.

pub mod corefile;
pub mod kubelet;
pub mod node;
pub mod pod_spec;
pub mod reading;
pub mod resolver_file;

use crate::lint::Rule;

/// Every rule, by group, in the order of their codes.
pub const GROUPS: [&[&Rule]; 6] = [
    resolver_file::ALL,
    kubelet::ALL,
    corefile::ALL,
    pod_spec::ALL,
    node::ALL,
    reading::ALL,
];

/// Every rule, in the order of [`GROUPS`].
pub fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.into_iter().flatten().copied()
}

/// The rule with this code or name.
pub fn find(word: &str) -> Option<&'static Rule> {
    all().find(|it| it.code.eq_ignore_ascii_case(word) || it.name == word)
}

/// Whether so many letters changed, added, removed or exchanged with their
/// neighbours make one word of the other.
fn is_near(one: &str, other: &str, most: usize) -> bool {
    one.len().abs_diff(other.len()) <= most && strsim::osa_distance(one, other) <= most
}
