#![doc = include_str!("upstream_option.md")]

use crate::config::corefile::{Directive, Word};
use crate::kubelet::Version;
use crate::lint::document::{At, Change};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::corefile::gone::Gone;
use crate::lint::rules::prelude::*;

/// From here on they are errors; since 1.5.0 they did nothing.
/// Source: `CoreDNS`, notes/coredns-1.7.0.md, plugin/kubernetes/setup.go.
const GONE: Version = blocks::release(1, 7, 0);

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(gone) = Gone::since(GONE, file, context) else {
        return;
    };
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        for directive in &block.directives {
            match directive.name.text.as_str() {
                "kubernetes" => {
                    for line in &directive.lines {
                        let Some(word) = line.first().filter(|it| is_gone(&it.text)) else {
                            continue;
                        };
                        let Some(at) = places.first(word) else {
                            continue;
                        };
                        let change = blocks::without(file, line);
                        let what = format!("{} in kubernetes", word.text);
                        said(&gone, report, at, &what, change);
                    }
                }
                "federation" => {
                    if let Some(at) = places.first(&directive.name) {
                        said(&gone, report, at, "federation", None);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether this rule speaks of a line of a directive's block.
pub(super) fn is_gone_from(directive: &Directive, option: &Word) -> bool {
    directive.name.text == "kubernetes" && is_gone(&option.text)
}

fn is_gone(option: &str) -> bool {
    matches!(option, "upstream" | "resyncperiod")
}

fn said(gone: &Gone<'_, '_>, report: &mut Report, at: At, what: &str, change: Option<Change>) {
    let help = match what {
        "federation" => "remove it, or build github.com/coredns/federation in",
        _ => "remove the line: the versions before took no notice of it",
    };
    gone.said(report, at, what, ("remove the line", change))
        .help(help)
        .note("the pod ends with an error in parsing at its next start");
}
