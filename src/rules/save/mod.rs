//! `iptables-save` and `ip6tables-save`, also of `-S`, also pasted.

mod index;
mod matches;
mod rule;
mod target;
#[cfg(test)]
mod tests;
mod words;

pub(super) use index::Indexer;

use crate::rules::View;
use crate::rules::rule::Rule;

/// The rules of `chain` among the lines of a view.
pub(super) fn rules(bytes: &[u8], view: View, chain: &str) -> Vec<Rule> {
    let mut rules = Vec::new();
    let (mut start, mut number) = (view.start, view.line);
    for line in bytes.split_inclusive(|it| *it == b'\n') {
        let end = start + line.len() as u64;
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        if let Some(split) = rule::split(&text)
            && split.chain == chain
        {
            let view = View {
                start,
                end,
                line: number,
                ..view
            };
            rules.push(rule::parse(&split, view));
        }
        (start, number) = (end, number + 1);
    }
    rules
}

/// A rule without its counters and what stands in front of it.
pub(super) fn plain(line: &str) -> &str {
    let line = line.trim();
    match line.find("-A ") {
        Some(at) => line.get(at..).unwrap_or(line),
        None => line,
    }
}
