#![doc = include_str!("too_many_upstreams.md")]

use crate::lint::rules::prelude::*;

/// Source: `CoreDNS`, plugin/forward/setup.go `max`.
const MAX_UPSTREAMS: usize = 15;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let blocks = file.corefile.blocks.iter();
    let directives = blocks.flat_map(|block| &block.directives);
    for forward in directives.filter(|it| it.name.text == "forward") {
        let targets = forward.arguments.get(1..).unwrap_or_default();
        let Some(first) = targets.get(MAX_UPSTREAMS) else {
            continue;
        };
        if let Some(at) = file.at(first.at) {
            let count = targets.len();
            report
                .add(at, format!("forward has {count} servers, and more than {MAX_UPSTREAMS} keep CoreDNS from starting"))
                .label("the first one too many")
                .help(format!("leave at most {MAX_UPSTREAMS} servers, or put zones into blocks of their own"));
        }
    }
}
