#![doc = include_str!("unparseable_corefile.md")]

use crate::config::corefile::split_key;
use crate::lint::document::At;
use crate::lint::report::Draft;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    if blocks::is_template(file) {
        return;
    }
    // CoreDNS ends at the first one; what follows can come of it.
    if let Some(finding) = file.corefile.stop() {
        let text = String::from_utf8_lossy(&file.document.source.bytes);
        // What is filled in can have what is missing.
        let is_open = text.split_whitespace().any(is_filled_in);
        if let Some(at) = file.at(finding.at).filter(|_| !is_open) {
            said(report, at, &finding.message);
        }
        return;
    }
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        for key in block.keys.iter().filter(|it| !it.has_variable()) {
            let wrong = split_key(&key.text).err();
            let has_brace = key.text.ends_with('{');
            if wrong.is_none() && !has_brace {
                continue;
            }
            let Some(at) = places.first(key) else {
                continue;
            };
            if let Some(message) = wrong {
                let finding = said(report, at, &message);
                if has_brace {
                    finding.help(BLANK);
                }
                continue;
            }
            report
                .add(
                    at,
                    format!(
                        "the {{ belongs to the zone: {} is what this server block serves",
                        key.text
                    ),
                )
                .help(BLANK)
                .note("CoreDNS starts, and answers no query that anybody asks");
        }
        for forward in blocks::named(block, "forward") {
            let is_short = forward.arguments.len() < 2;
            let at = is_short.then(|| places.first(&forward.name)).flatten();
            if let Some(at) = at {
                said(report, at, "forward needs a zone and at least one server");
            }
        }
    }
}

/// Whether a tool puts something in place of a word, other than the environment.
fn is_filled_in(word: &str) -> bool {
    has_placeholder(word)
        && !["{$", "{%", "__PILLAR__"]
            .iter()
            .any(|it| word.contains(it))
}

/// What to do about a `{` that is a part of a name.
const BLANK: &str = "write a blank before the {";

fn said<'r>(report: &'r mut Report, at: At, message: &str) -> &'r mut Draft {
    report
        .add(
            at,
            format!("CoreDNS does not start with this Corefile: {message}"),
        )
        .note(blocks::KEEPS_OLD)
}
