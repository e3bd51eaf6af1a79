//! `iptables -L`, with and without `-n`, `-v` and `--line-numbers`: what people
//! paste. Without `-v` it does not show interfaces.

mod extensions;
mod index;
mod row;
#[cfg(test)]
mod tests;

pub(super) use index::Indexer;

use super::View;
use super::rule::Rule;
use row::Columns;

/// The rules of one chain, whose heading and rows a view has.
pub(super) fn rules(bytes: &[u8], view: View, chain: &str) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut columns = None;
    for (line, place) in view.lines(bytes) {
        let text = String::from_utf8_lossy(line);
        let text = bare(&text);
        match columns {
            None => columns = Columns::from_heading(text),
            Some(columns) => rules.extend(row::rule(text, columns, chain, place)),
        }
    }
    rules
}

/// A line without what quotations put in front of it. A row can begin with the
/// blanks of an empty target.
fn bare(text: &str) -> &str {
    let quoted = text.trim_start();
    match quoted.strip_prefix(['>', '|']) {
        Some(rest) => rest.trim_end(),
        None => text.trim_end(),
    }
}
