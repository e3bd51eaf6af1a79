//! The rules: one file for each, its page beside it.
//!
//! A group is a folder; its `mod.rs` lists its rules.

/// The rules of a group: of each its file, with the page beside it, and what its
/// `check` looks at, a variant of `Check`.
macro_rules! rules {
    ($($name:ident: $subject:ident,)+) => {
        &[$(&Rule::new(
            include_str!(concat!(stringify!($name), ".md")),
            Check::$subject($name::check),
        )),+]
    };
}

pub mod cluster;
pub mod corefile;
pub mod envoy;
pub mod haproxy;
pub mod kubelet;
pub mod nginx;
pub mod node;
pub mod pod_spec;
pub mod reading;
pub mod resolver_file;
pub mod search;
mod service_address;

use crate::kubelet::choice::NODE_FILE;
use crate::lint::Rule;
use crate::topology::coredns::UPSTREAM_SERVERS;

/// What a rule is made of, and what it can look at.
pub mod prelude {
    pub use crate::finding::Severity;
    pub use crate::lint::context::Context;
    pub use crate::lint::options::Role;
    pub use crate::lint::report::Report;
    pub use crate::lint::subject::{
        CorefileText, DaemonText, Entry, Kubelet, KubeletText, Object, ResolverFile, SettingsText,
        Workload,
    };
    pub use crate::node::Node;
    pub use crate::text::{counted, has_placeholder};
}

/// Every rule, by group, in the order of their codes.
pub const GROUPS: [&[&Rule]; 10] = [
    resolver_file::ALL,
    kubelet::ALL,
    corefile::ALL,
    pod_spec::ALL,
    cluster::ALL,
    node::ALL,
    nginx::ALL,
    haproxy::ALL,
    envoy::ALL,
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

/// That no rule has a word, and which ones are nearest.
pub fn unknown(word: &str) -> String {
    let shown = crate::text::escaped(word.as_bytes());
    let near = near(word).into_iter();
    let near: Vec<String> = near
        .map(|it| format!("{} ({})", it.code, it.name))
        .collect();
    let more = match near.join(", ") {
        near if near.is_empty() => "kdns rule lists them".to_owned(),
        near => format!("the nearest: {near}"),
    };
    format!("no rule has the code or name {shown}; {more}")
}

/// The rules that are most likely meant by a word that is none's: of its code
/// without zeros, with the word in their names, or with names like it.
fn near(word: &str) -> Vec<&'static Rule> {
    const MOST: usize = 5;
    let lower = word.to_ascii_lowercase();
    let short = |code: &str| -> String {
        let end = code.trim_start_matches(|it: char| it.is_ascii_alphabetic());
        let begin = code.strip_suffix(end).unwrap_or_default();
        let end = end.trim_start_matches('0');
        format!("{begin}{end}").to_ascii_lowercase()
    };
    let wanted = short(&lower);
    if let Some(rule) = all().find(|it| short(it.code) == wanted) {
        return vec![rule];
    }
    let has_word = |it: &&Rule| !lower.is_empty() && it.name.contains(&lower);
    let mut found: Vec<&'static Rule> = all().filter(has_word).collect();
    if found.is_empty() {
        let names = all().flat_map(|it| [it.name, it.code]);
        let near = crate::text::nearest::nearest(&lower, names.filter(|it| it.len() > 5));
        found.extend(near.and_then(find));
    }
    if found.is_empty() {
        // Pages say `ndots` where names say something else.
        let has_it = |it: &&Rule| it.summary.to_ascii_lowercase().contains(&lower);
        found.extend(all().filter(has_it).filter(|_| lower.len() > 3));
    }
    found.truncate(MOST);
    found
}

/// Whether a target of `forward` is the server's own `/etc/resolv.conf`. In
/// `NodeLocal` `DNSCache`'s template a word becomes it unless the cluster says
/// otherwise.
fn is_own_file(target: &str) -> bool {
    target == NODE_FILE || target == UPSTREAM_SERVERS
}

/// Whether so many letters changed, added, removed or exchanged with their
/// neighbours make one word of the other.
fn is_near(one: &str, other: &str, most: usize) -> bool {
    one.len().abs_diff(other.len()) <= most && strsim::osa_distance(one, other) <= most
}
