//! Rules of a chain.

use serde_json::Value;

use super::listing;
use super::scan::objects;
use super::statement::statement;
use crate::rules::rule::{Part, Rule};
use crate::rules::table::Table;
use crate::rules::{Family, View};

/// The rules of a view, all of which are of one chain: objects of JSON, or lines.
pub(in crate::rules) fn rules(bytes: &[u8], view: View, table: &Table) -> Vec<Rule> {
    if !bytes.starts_with(b"{") {
        return listing::rules(bytes, view, table);
    }
    let is_six = is_six(table);
    let (all, ..) = objects(bytes);
    let rule = |it: super::scan::Object| {
        let bytes = bytes.get(it.start..it.end)?;
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let rule = value.get("rule")?;
        let statements = rule.get("expr")?.as_array()?;
        let view = View {
            start: view.start + it.start as u64,
            end: view.start + it.end as u64,
            line: view.line + it.line,
            ..view
        };
        let comment = rule.get("comment").and_then(Value::as_str);
        Some(of_statements(
            statements,
            view,
            is_six,
            comment.map(Into::into),
        ))
    };
    all.into_iter().filter_map(rule).collect()
}

/// Whether a table is of IPv6; `None`: of both families.
pub(super) fn is_six(table: &Table) -> Option<bool> {
    table.family.map(|it| it == Family::V6)
}

/// The rule that has these statements.
pub(super) fn of_statements(
    statements: &[Value],
    view: View,
    is_six: Option<bool>,
    comment: Option<Box<str>>,
) -> Rule {
    let parts: Vec<Part> = statements
        .iter()
        .flat_map(|it| statement(it, is_six))
        .collect();
    let counter = statements.iter().find_map(|it| it.get("counter"));
    Rule {
        view,
        packets: counter.and_then(|it| it.get("packets")?.as_u64()),
        parts,
        comment,
    }
}
