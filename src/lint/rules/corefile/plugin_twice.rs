#![doc = include_str!("plugin_twice.md")]

use crate::kubelet::Version;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

/// Plugins that a block can have once.
///
/// Source: `CoreDNS`, the `setup.go` of each: `plugin.ErrOnce`; of `geoip`: one database.
const ONCE: [&str; 16] = [
    "errors",
    "cache",
    "hosts",
    "kubernetes",
    "loop",
    "ready",
    "dnssec",
    "metadata",
    "nsid",
    "pprof",
    "prometheus",
    "grpc",
    "tsig",
    "view",
    "geoip",
    "shed",
];

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let version = blocks::version(file, context);
    let is_old = version.is_some_and(|it| it.value < Version::minor(1, 1));
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        // Before 1.1 another `prometheus` was taken.
        for name in ONCE.into_iter().filter(|it| !is_old || *it != "prometheus") {
            let mut found = blocks::named(block, name);
            let (Some(first), Some(second)) = (found.next(), found.next()) else {
                continue;
            };
            let (Some(at), Some(first_at)) = (places.first(&second.name), file.at(first.name.at))
            else {
                continue;
            };
            let finding = report
                .add(
                    at,
                    format!("CoreDNS does not start: {name} can be used once in a server block"),
                )
                .also(first_at, "the first time")
                .help("remove one of them")
                .note(blocks::KEEPS_OLD);
            let is_same =
                first.arguments.is_empty() && second.arguments.is_empty() && first.lines.is_empty();
            if is_same && found.next().is_none() {
                let line = std::slice::from_ref(&second.name);
                let change = blocks::without(file, line)
                    .filter(|_| second.lines.is_empty() && first_at != at);
                finding.fix(format!("remove the second {name}"), [change]);
            }
        }
    }
}
