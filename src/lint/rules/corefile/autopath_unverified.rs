#![doc = include_str!("autopath_unverified.md")]

use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        let Some(kubernetes) = blocks::named(block, "kubernetes").next() else {
            continue;
        };
        let is_verified = |it: &[crate::config::corefile::Word]| {
            it.first()
                .is_some_and(|it| it.text == "verified" || it.has_variable())
        };
        if kubernetes.options("pods").any(is_verified) {
            continue;
        }
        for autopath in blocks::named(block, "autopath") {
            let asks_kubernetes = autopath
                .arguments
                .last()
                .filter(|it| it.text == "@kubernetes");
            let (Some(word), Some(other)) = (asks_kubernetes, file.at(kubernetes.name.at)) else {
                continue;
            };
            if let Some(at) = places.first(word) {
                report
                    .add(at, "autopath does nothing: kubernetes does not know which pod asks")
                    .also(other, "without pods verified")
                    .help("write pods verified into the block of kubernetes, or take autopath away")
                    .note("pods verified makes CoreDNS watch every pod of the cluster, which needs memory");
            }
        }
    }
}
