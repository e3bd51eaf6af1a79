#![doc = include_str!("proxy_directive.md")]

use crate::config::corefile::{Directive, ServerBlock, Word};
use crate::kubelet::Version;
use crate::lint::document::Change;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::corefile::gone::Gone;
use crate::lint::rules::prelude::*;

/// From here on the plugin is not built in.
/// Source: `CoreDNS`, notes/coredns-1.5.0.md.
const GONE: Version = blocks::release(1, 5, 0);

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(gone) = Gone::since(GONE, file, context) else {
        return;
    };
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        for proxy in blocks::named(block, "proxy") {
            let Some(at) = places.first(&proxy.name) else {
                continue;
            };
            let fix = ("write forward", fixed(file, block, proxy));
            gone.said(report, at, "proxy", fix)
                .label("unknown directive")
                .help("write forward in its place")
                .note("the pod ends with Unknown directive 'proxy' at its next start, and reload keeps the old configuration until then");
        }
    }
}

/// `forward` in its place, where that means the same: the only one of its
/// block, to addresses and files, without options.
fn fixed(file: &CorefileText<'_>, block: &ServerBlock, proxy: &Directive) -> Option<Change> {
    let is_known = |it: &Word| {
        let is_file = it.text.starts_with('/');
        is_file || blocks::address(&it.text).is_some()
    };
    let targets = blocks::targets(proxy);
    let is_same = (1..=15).contains(&targets.len()) && targets.iter().all(is_known);
    let is_plain = proxy.lines.is_empty() && blocks::forwards(block).count() == 1;
    (is_same && is_plain && proxy.name.at.source == 0)
        .then(|| file.document.change(proxy.name.at.span, "forward"))
        .flatten()
}
