#![doc = include_str!("template_answers_all.md")]

use crate::config::corefile::{Directive, ServerBlock};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::corefile::template_without_fallthrough::is_of_root;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        let behind = blocks::others_behind(block);
        for template in blocks::named(block, "template") {
            if behind.is_empty() || !is_for_all(block, template) {
                continue;
            }
            if let Some(at) = places.first(&template.name) {
                report
                    .add(
                        at,
                        format!("this template answers every query: none reaches {behind}"),
                    )
                    .help("name the zones that it is for, or write match and fallthrough into its block");
            }
        }
    }
}

/// Whether it answers for every type in the root zone, whatever the name.
fn is_for_all(block: &ServerBlock, template: &Directive) -> bool {
    let [class, kind, ..] = template.arguments.as_slice() else {
        return false;
    };
    let is_every = matches!(class.text.as_str(), "IN" | "ANY") && kind.text == "ANY";
    is_every && template.options("match").next().is_none() && is_of_root(block, template)
}
