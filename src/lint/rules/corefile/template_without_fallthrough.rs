#![doc = include_str!("template_without_fallthrough.md")]

use crate::config::corefile::{Directive, ServerBlock, zones};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        let behind = blocks::others_behind(block);
        for template in blocks::named(block, "template") {
            let kind = template.arguments.get(1).map_or("", |it| it.text.as_str());
            if behind.is_empty() || !is_of_root(block, template) || !leaves_some(template) {
                continue;
            }
            let kind = match kind {
                "ANY" => "queries".to_owned(),
                kind => format!("queries for {kind}"),
            };
            if let Some(at) = places.first(&template.name) {
                report
                    .add(
                        at,
                        format!("{kind} that no match fits get SERVFAIL: none reaches {behind}"),
                    )
                    .help("write fallthrough into its block, on a line of its own");
            }
        }
    }
}

/// Whether it is asked about every name of its type.
pub(super) fn is_of_root(block: &ServerBlock, template: &Directive) -> bool {
    let of_its_own = template.arguments.get(2..).unwrap_or_default();
    let mut all = of_its_own.iter().flat_map(|it| zones(&it.text));
    if of_its_own.is_empty() {
        return blocks::key_of(block, ".").is_some();
    }
    all.any(|zone| zone == ".")
}

/// Whether names are left that it does not answer for, and hands to nobody.
fn leaves_some(template: &Directive) -> bool {
    let class = template.arguments.first().map(|it| it.text.as_str());
    let mut patterns = template.options("match").flatten().peekable();
    matches!(class, Some("IN" | "ANY"))
        && template.options("fallthrough").next().is_none()
        && patterns.peek().is_some()
        && patterns.all(|it| !it.has_variable() && has_letter(&it.text))
}

/// Whether names need a letter to fit a pattern: one behind a backslash, in brackets or in
/// the beginning of a group is none.
fn has_letter(pattern: &str) -> bool {
    let mut rest = pattern.chars();
    while let Some(first) = rest.next() {
        match first {
            '\\' => _ = rest.next(),
            '[' => _ = rest.find(|it| *it == ']'),
            '(' if rest.as_str().starts_with('?') => {
                _ = rest.find(|it| matches!(it, '>' | ':' | ')'));
            }
            first if first.is_ascii_alphabetic() => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_with_letters_leave_names() {
        for (pattern, expected) in [
            (r"(^|\.)example\.com\.$", true),
            (r"^(?P<name>[^.]+)\.lan\.$", true),
            (r"(?i)LAN", true),
            (r"(?:a)", true),
            (r"[a-z]+\.x", true),
            ("", false),
            (".*", false),
            (r"^(?P<name>.*)\.$", false),
            ("(?i).*", false),
            (r"[\w.-]{1,253}", false),
            (r"\S+\.\z", false),
            ("[a", false),
            ("(?P<a", false),
            ("\\", false),
        ] {
            assert_eq!(has_letter(pattern), expected, "{pattern}");
        }
    }
}
