#![doc = include_str!("unknown_property.md")]

use crate::config::corefile::{Directive, Word};
use crate::lint::context::Known;
use crate::lint::rules::corefile::plugins::{self, Line, Property};
use crate::lint::rules::corefile::{blocks, upstream_option};
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let version = blocks::version(file, context);
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        for directive in &block.directives {
            for line in plugins::wrong_lines(directive, version.as_ref().map(|it| it.value)) {
                let (word, property) = match line {
                    Line::Unknown(word) => (word, None),
                    Line::Other(word, property) => (word, Some(property)),
                    Line::Refused(..) => continue,
                };
                if upstream_option::is_gone_from(directive, word) {
                    continue;
                }
                let Some(at) = places.first(word) else {
                    continue;
                };
                let message = said(directive, word, property, version.as_ref());
                let finding = report.add(at, message);
                finding.note(blocks::KEEPS_OLD);
                if property.is_some() {
                    finding.also_each(version.as_ref().and_then(|it| it.at), "the version");
                }
            }
        }
    }
}

fn said(
    directive: &Directive,
    word: &Word,
    property: Option<&Property>,
    version: Option<&Known<crate::kubelet::Version>>,
) -> String {
    let (plugin, name) = (&directive.name.text, &word.text);
    let program = version.map_or("CoreDNS".to_owned(), |it| blocks::shown(it.value));
    let since = property.and_then(|it| it.since);
    let gone = property.and_then(|it| it.gone);
    match (since, gone) {
        (Some(since), _) if version.is_some_and(|it| it.value < since) => {
            format!("{program} does not start: {plugin} knows {name} since {since}")
        }
        (_, Some(gone)) => {
            format!("{program} does not start: {plugin} does not know {name} since {gone}")
        }
        _ => format!("{program} does not start: {plugin} has no property {name}"),
    }
}
