//! `iptables-save` and `ip6tables-save`, also of `-S`, also pasted.

mod command;
mod dress;
mod index;
mod matches;
mod rule;
mod target;
#[cfg(test)]
mod tests;
mod which;
mod words;

pub(super) use command::Command;
pub(super) use index::Indexer;
pub(super) use matches::{group, number};
pub(super) use rule::{link, protocol};
pub(super) use target::target;
pub(super) use which::{Evidence, begins_table};

use std::net::IpAddr;

use crate::rules::View;
use crate::rules::rule::Rule;

/// The rules of `chain` among the lines of a view; without those that are for
/// one other address than `towards`.
pub(super) fn rules(bytes: &[u8], view: View, chain: &str, towards: Option<IpAddr>) -> Vec<Rule> {
    let wanted = towards.map(|it| it.to_string());
    let mut rules = Vec::new();
    for (line, view) in view.lines(bytes) {
        if wanted.as_ref().is_some_and(|it| is_for_another(line, it)) {
            continue;
        }
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        if let Some(split) = rule::split(&text)
            && split.chain == chain
        {
            rules.push(rule::parse(&split, view));
        }
    }
    rules
}

/// Whether a rule is for one address, and that is another one.
fn is_for_another(line: &[u8], address: &str) -> bool {
    let Some(at) = memchr::memmem::find(line, b" -d ") else {
        return false;
    };
    let before = line.get(..at).unwrap_or_default();
    // It can be turned around, or stand in a comment.
    if before.ends_with(b"!") || memchr::memchr(b'"', before).is_some() {
        return false;
    }
    let rest = line.get(at + 4..).unwrap_or_default();
    let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
    let network = rest.get(..end).unwrap_or(rest);
    let one = network
        .strip_suffix(b"/32")
        .or(network.strip_suffix(b"/128"));
    one.is_some_and(|it| it != address.as_bytes())
}

/// A rule without its counters and what stands in front of it.
pub(super) fn plain(line: &str) -> &str {
    let line = line.trim();
    match line.find("-A ") {
        Some(at) => line.get(at..).unwrap_or(line),
        None => line,
    }
}
