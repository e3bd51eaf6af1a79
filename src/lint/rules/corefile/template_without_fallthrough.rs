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
    const ALL: [&str; 5] = ["", ".", ".*", ".+", "*"];
    let class = template.arguments.first().map(|it| it.text.as_str());
    let fits_all = |pattern: &str| ALL.contains(&pattern.trim_matches(['^', '$', '(', ')', '"']));
    let patterns = || {
        template
            .options("match")
            .flatten()
            .map(|it| it.text.as_str())
    };
    matches!(class, Some("IN" | "ANY"))
        && template.options("fallthrough").next().is_none()
        && patterns().next().is_some()
        && !patterns().any(fits_all)
}
